"""Picture files of specifications in the house theme."""

import hashlib
import json
import textwrap
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import JsonValue, TypeAdapter

from app.core.pictures import Pictures
from app.modules.analysis.chart.countries import read_world
from app.modules.analysis.chart.plan import Spec
from app.modules.analysis.chart.specification import SCHEMA, mapping, note_of
from app.modules.analysis.chart.world_map import WORLD

Theme = Literal["light", "dark"]
PictureFormat = Literal["svg", "png"]

MEDIA_TYPES: Mapping[PictureFormat, str] = {"svg": "image/svg+xml", "png": "image/png"}
SPEC_MEDIA_TYPE = "application/vnd.vegalite.v6+json"
WIDTH = 880
"""Width of every view that spans the picture."""
MIN_WIDTH = 240
MAX_WIDTH = 2_000

_THEME = Path(__file__).parent / "theme.json"
_THEMES: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])
_FILE_MARGIN = 16
_INLINE_MARGIN = 4
"""Texts at the edge are a little larger in some fonts than the theme counts on."""
_TITLE_HEIGHT = 27
_TITLE_LINE = 16
_NOTE_HEIGHT = 15
_TITLE_LETTER = 8.6
_NOTE_LETTER = 6.3
_SEVERAL = ("concat", "hconcat", "vconcat", "spec")

_Config: TypeAlias = dict[str, JsonValue]


class ChartPictures:
    """Methods raise `NoPicture` and `PicturesBusy`."""

    def __init__(self, pictures: Pictures) -> None:
        self._pictures = pictures

    async def inline_svg(self, spec: Spec) -> str:
        """Returns the picture for a light page that shows the title and the notes itself."""
        untitled = {name: part for name, part in spec.items() if name != "title"}
        return await self._pictures.svg(_add_margin(_add_shapes(untitled), _INLINE_MARGIN), _config("light"))

    async def svg(self, spec: Spec, *, theme: Theme = "light", width: int = WIDTH) -> str:
        """Returns a picture that stands alone, with its background."""
        return await self._pictures.svg(_as_file(spec, width), _file_config(theme))

    async def png(self, spec: Spec, *, theme: Theme = "light", width: int = WIDTH, scale: float = 2) -> bytes:
        """Returns a picture that stands alone, with `scale` pixels for each of the width."""
        return await self._pictures.png(_as_file(spec, width), _file_config(theme), scale=scale)

    async def file(
        self, spec: Spec, picture_format: PictureFormat, *, theme: Theme = "light", width: int = WIDTH
    ) -> bytes:
        if picture_format == "svg":
            return (await self.svg(spec, theme=theme, width=width)).encode()
        return await self.png(spec, theme=theme, width=width)


def picture_tag(spec: Spec, *parts: str | int) -> str:
    """Returns an ETag of what is drawn, not of the bytes: drawing the same again gives other ids."""
    drawn = json.dumps([spec, _themes(), *parts], sort_keys=True)
    return f'"{hashlib.sha256(drawn.encode()).hexdigest()[:32]}"'


def replace_width(spec: Spec, width: int) -> Spec:
    """Returns the specification with another width in every view that spans the picture."""
    if width == WIDTH:
        return spec
    changed = _resized(spec, width)
    return changed if any(name in spec for name in ("width", *_SEVERAL)) else {**changed, "width": width}


def _resized(view: Spec, width: int) -> Spec:
    changed: Spec = {**view}
    if changed.get("width") == WIDTH:
        changed["width"] = width
    for name in ("layer", *_SEVERAL):
        match changed.get(name):
            case dict() as inner:
                changed[name] = _resized(inner, width)
            case list() as views:
                changed[name] = [_resized(each, width) if isinstance(each, dict) else each for each in views]
    return changed


def _as_file(spec: Spec, width: int) -> Spec:
    inner = width - 2 * _FILE_MARGIN
    is_several = any(name in spec for name in _SEVERAL)  # their margin is not within their width
    wrapped = _wrapped(_add_shapes(spec), inner)
    return _add_margin(replace_width(wrapped, inner if is_several else width), _FILE_MARGIN)


def _wrapped(spec: Spec, width: int) -> Spec:
    """A specification whose title and notes have lines that fit the width."""
    if "title" not in spec:
        return spec
    lines = textwrap.wrap(heading_of(spec), int(width / _TITLE_LETTER))
    title: Spec = {**mapping(spec["title"]), "text": [*lines]}
    notes = mapping(spec["title"]).get("subtitle")
    said = notes if isinstance(notes, list) else [notes] if notes else []
    if said:
        title["subtitle"] = [
            line for note in said for line in textwrap.wrap(str(note), int(width / _NOTE_LETTER))
        ]
    return {**spec, "title": title}


def _add_margin(spec: Spec, margin: int) -> Spec:
    """Adds a margin. A chart that fits its size would give up height for it and for a title."""
    own = mapping(spec.get("padding"))
    sides = {side: own.get(side) for side in ("top", "right", "bottom", "left")}
    if spec.get("title"):
        sides["top"] = 0  # the title leaves room for the highest label
    padding: Spec = {
        side: margin + (each if isinstance(each, int | float) else 0) for side, each in sides.items()
    }
    found: Spec = {**spec, "padding": padding}
    height = spec.get("height")
    if mapping(spec.get("autosize")).get("type") == "fit" and isinstance(height, int | float):
        found["height"] = height + 2 * margin + _title_height(spec)
    return found


def _title_height(spec: Spec) -> int:
    title = spec.get("title")
    notes = mapping(title).get("subtitle")
    lines = len(notes) if isinstance(notes, list) else int(bool(notes))
    text = mapping(title).get("text")
    more = len(text) - 1 if isinstance(text, list) and text else 0
    return (_TITLE_HEIGHT + more * _TITLE_LINE if title else 0) + lines * _NOTE_HEIGHT


def heading_of(spec: Spec) -> str:
    """The title of a chart; empty if it has none."""
    title = spec.get("title")
    text = title if isinstance(title, str) else mapping(title).get("text")
    return " ".join(map(str, text)) if isinstance(text, list) else str(text or "")


def notes_of(spec: Spec) -> str:
    """Sentences on how the points were made, and what is left out."""
    how = note_of(spec).get("how")
    return " ".join(map(str, how)) if isinstance(how, list) else str(how or "")


def description_of(spec: Spec) -> str:
    """What the chart shows, for those who do not see it."""
    return str(spec.get("description") or heading_of(spec) or "Chart")


def portable_spec(spec: Spec) -> Spec:
    """Returns the specification as programs without KAI's theme draw it well, such as notebooks."""
    own = _add_margin(_add_shapes(spec), _FILE_MARGIN)
    return {"$schema": SCHEMA, **own, "config": _file_config("light")}


def _add_shapes(spec: Spec) -> Spec:
    """Adds the shapes of countries to a map: its specification only names them."""
    if note_of(spec).get("mark") != "map":
        return spec
    return {**spec, "datasets": {WORLD: dict(read_world())}}


def _file_config(theme: Theme) -> _Config:
    config = _config(theme)
    land = mapping(mapping(config.get("style")).get("kai-land"))
    return {**config, "background": land.get("stroke")}  # borders of countries are the page's ground


def _config(theme: Theme) -> _Config:
    return dict(mapping(_themes()[theme]))


@cache
def _themes() -> dict[str, JsonValue]:
    return _THEMES.validate_json(_THEME.read_bytes())
