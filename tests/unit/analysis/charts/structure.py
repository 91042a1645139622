"""What a specification draws, without its data, and its picture: recorded for each case by `make charts`."""

import asyncio
import hashlib
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from app.core.pictures import Pictures, Spec
from app.modules.analysis.chart import choose_chart
from app.modules.analysis.chart.pictures import ChartPictures
from app.modules.analysis.figures import Figures, figures
from tests.unit.analysis.charts.cases import CASES, Case

RECORDED = Path(__file__).parent / "recorded.json"
HASHES = Path(__file__).parent / "hashes.json"
_IDS = re.compile(r"""(?:id="|url\(#|href="#)[^")]*""")
_FONTS = "Inter Variable, Inter, system-ui, sans-serif"
_FRACTIONS = re.compile(r"-?\d+\.\d+")


def drawn(case: Case) -> Any:
    return choose_chart(case.question, case.result, _figures_of(case.name), choice=case.choice)


@cache
def _figures_of(name: str) -> Figures:
    """Those of a case, with whatever choice it is drawn."""
    (case,) = (each for each in CASES if each.name == name)
    return figures(case.question, case.sql, "sqlite", rows=case.result, span=case.span, today=case.today)


def structure(spec: Any) -> Any:
    """Marks, encodings and layers with their own data, what is said, and the first and last point."""
    if spec is None:
        return None
    values = spec["data"]["values"]
    note = {key: spec["usermeta"]["kai"].get(key) for key in ("rows", "shown", "mark", "across", "marks")}
    views = spec.get("vconcat", [spec])
    return {
        "title": spec["title"],
        "description": spec["description"],
        "note": note,
        "height": [view["height"] for view in views],
        "points": [len(values), values[0], values[-1]],
        "layers": [_layer(each) for view in views for each in view["layer"]],
    }


def _layer(layer: Any) -> Any:
    mark = layer["mark"]
    named = [layer.get("name", ""), mark["type"], mark.get("style", "")]
    channels = {
        name: " ".join(str(channel[key]) for key in ("field", "type") if key in channel)
        for name, channel in layer.get("encoding", {}).items()
    }
    own = layer.get("data", {}).get("values", [])
    texts = [each["label"] for each in own if "label" in each]
    filters = [each["filter"] for each in layer.get("transform", []) if "filter" in each]
    return {
        "is": " ".join(filter(None, named)),
        "by": channels,
        "own": len(own),
        "texts": texts,
        "only": filters,
    }


class PicturesOfOneFont(Pictures):
    """Pictures in the font that the drawing library brings along: a machine may have those of the theme."""

    async def svg(self, spec: Spec, config: Spec) -> str:
        themed = json.dumps(config)
        assert _FONTS in themed
        return await super().svg(spec, json.loads(themed.replace(_FONTS, "Liberation Sans")))


async def hashes() -> dict[str, str]:
    """A hash of the picture of each case: ids differ each time, and parts of a pixel between machines."""
    pictures = PicturesOfOneFont()
    found: dict[str, str] = {}
    for case in CASES:
        if (spec := drawn(case)) is not None:
            svg = _IDS.sub("", await ChartPictures(pictures).svg(spec))
            normal = _FRACTIONS.sub(lambda number: f"{round(float(number[0]))}", svg)
            found[case.name] = hashlib.sha256(normal.encode()).hexdigest()[:16]
    await pictures.close()
    return found


def record() -> None:
    """Write what is drawn now. Look at the pictures first."""
    found = {case.name: structure(drawn(case)) for case in CASES}
    RECORDED.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    HASHES.write_text(json.dumps(asyncio.run(hashes()), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record()
