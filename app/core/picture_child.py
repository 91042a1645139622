"""Child process that draws Vega-Lite specifications; `pictures.py` starts it. Imports nothing of KAI.

It reads requests from standard input and answers on standard output, one line of JSON each. Its memory and
the processor time of a picture have limits, and the parent kills it when a picture takes too long.
"""

import base64
import json
import re
import resource
import sys
from typing import Any

import vl_convert

_LONGEST_SVG = 8 * 1024 * 1024  # characters
_MOST_PIXELS = 24_000_000
_SIZE = re.compile(r'<svg[^>]* width="([\d.]+)" height="([\d.]+)"')


def main() -> None:
    opened = json.loads(sys.stdin.readline())
    for bound, most in (
        (resource.RLIMIT_DATA, opened["memory_bytes"]),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(bound, (most, most))
    for line in sys.stdin:
        _limit_processor_time(opened["seconds"])
        sys.stdout.write(json.dumps(_draw(json.loads(line))) + "\n")
        sys.stdout.flush()


def _limit_processor_time(seconds: int) -> None:
    """Ends this process when its parent has died meanwhile and cannot: V8 holds Python's lock."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = int(used.ru_utime + used.ru_stime) + 4 * seconds  # of all threads
    resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _draw(request: dict[str, Any]) -> dict[str, str]:
    try:
        svg = vl_convert.vegalite_to_svg(
            request["spec"], vl_version="6.4", config=request["config"], allowed_base_urls=[]
        )
    except Exception as error:  # noqa: BLE001 - the library raises many kinds; the parent says which
        return {"error": str(error)[:500]}
    if len(svg) > _LONGEST_SVG:
        return {"error": "the picture has too many parts"}
    if request["scale"] is None:
        return {"svg": svg}
    scale = float(request["scale"])
    size = _SIZE.match(svg)
    if size is None or float(size[1]) * float(size[2]) * scale**2 > _MOST_PIXELS:
        return {"error": "the picture has too many pixels"}
    return {"png": base64.b64encode(vl_convert.svg_to_png(svg, scale=scale)).decode()}


if __name__ == "__main__":
    main()
