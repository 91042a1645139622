"""Parts of a specification from outside that are refused, each named with its path.

What is refused could read other data, reach a network, run a program, take a machine's time or memory, or
show figures that are not in the rows.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from app.modules.analysis.chart.expressions import fault_of_expression

Path = tuple[str | int, ...]
"""Keys and positions from the whole specification to one of its parts."""


@dataclass(frozen=True)
class Mistake:
    """A part of a specification that is refused, and what is wrong with it."""

    path: Path
    reason: str


MAX_DEPTH = 24
MAX_LAYERS = 5
MAX_VIEWS = 10
_MAX_TRANSFORMS = 8
_MAX_ROWS_TO_FILL = 200
_MAX_PARTS = 4_000
_LONGEST_TEXT = 500
_LONGEST_PATH = 120
_LARGEST = 10_000
_LARGEST_VALUE = 1e15

_GONE: Mapping[str, str] = {
    "url": "addresses are not allowed",
    "href": "links are not allowed",
    "params": "parameters are not allowed",
    "param": "parameters are not allowed",
    "selection": "selections are not allowed",
    "signal": "signals are not allowed",
    "signals": "signals are not allowed",
    "expr": "expressions are not allowed here",
    "labelExpr": "expressions are not allowed here",
    "bind": "inputs are not allowed",
    "lookup": "other data is not allowed",
    "from": "other data is not allowed",
    "datasets": "other data is not allowed",
    "customFormatTypes": "functions are not allowed",
    "locale": "the locale is KAI's own",
    "__proto__": "this name is not allowed",
    "prototype": "this name is not allowed",
    "constructor": "this name is not allowed",
}
_KEYS_OF_DATA = """
equal oneOf lt lte gt gte range domain domainMin domainMax domainMid sort values datum extent bins center
"""
_OF_DATA = frozenset(_KEYS_OF_DATA.split())
"""Keys with values of the data, which are of any size."""
_KEYS_OF_TEXTS = """
title text subtitle description field as groupby key name calculate filter test format oneOf equal domain sort
values datum joinaggregate fold pivot flatten column row repeat layer timeFormat numberFormat $schema
"""
_TEXTS = frozenset(_KEYS_OF_TEXTS.split())
_NOT_STYLE = re.compile(
    r"url\s*\(|image\s*\(|image-set|expression\s*\(|javascript:|data:|://|[\\<>{};@]", re.IGNORECASE
)
_LOADS = re.compile(r"url\s*\(|javascript:|\bdata:|<[/a-z!]", re.IGNORECASE)
_LONG_NUMBER = re.compile(r"\d{3,}")
_FINE = ("millisecond", "second", "minute", "hour", "utcmillisecond", "utcsecond", "utcminute", "utchour")
_LIMITS: Mapping[str, float] = {
    **dict.fromkeys(("width", "height"), 2_000),
    **dict.fromkeys(("maxbins", "tickCount", "steps", "minsteps", "maxsteps", "columns"), 500),
    **dict.fromkeys(("step", "padding", "spacing", "fontSize", "labelFontSize", "titleFontSize"), 200),
    "order": 10,
}
_COLOURS = ("color", "fill", "stroke", "shape", "description", "key")
_KINDS_OF_NAMES = ("field", "as", "groupby", "key", "name")


def path_text(path: Path) -> str:
    """`("layer", 2, "mark")` becomes `layer[2].mark`."""
    text = "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in path)
    return text.removeprefix(".")[:_LONGEST_PATH] or "the specification"


def depth_fault(specification: JsonValue) -> Mistake | None:
    """Also refuses too many parts. Does not recurse."""
    parts = deque[tuple[JsonValue, int]]([(specification, 1)])
    count = 0
    while parts:
        part, depth = parts.popleft()
        count += 1
        if depth > MAX_DEPTH:
            return Mistake((), f"it is nested more than {MAX_DEPTH} levels deep")
        if count > _MAX_PARTS:
            return Mistake((), f"it has more than {_MAX_PARTS:,} parts")
        inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        parts.extend((each, depth + 1) for each in inner)
    return None


def refused_parts(specification: Mapping[str, JsonValue], *, rows: int) -> Iterator[Mistake]:
    """The parts that are refused, without the parts of these. The specification is no deeper than
    `MAX_DEPTH`; `rows` is their number.
    """
    last: Path | None = None
    for path, key, value in _parts((), "", dict(specification)):
        if last is not None and path[: len(last)] == last:
            continue
        fault = _fault(path, key, value, rows=rows)
        if fault is not None:
            last = path
            yield Mistake(path, fault)


def composition_fault(specification: Mapping[str, JsonValue]) -> Mistake | None:
    """Refuses more layers in a view, and more views, than are allowed."""
    views, layers = _size(specification)
    if layers > MAX_LAYERS:
        return Mistake((), f"it has {layers} layers in a view; at most {MAX_LAYERS} are allowed")
    if views > MAX_VIEWS:
        return Mistake((), f"it has {views} views; at most {MAX_VIEWS} are allowed")
    return None


def _size(view: Mapping[str, JsonValue]) -> tuple[int, int]:
    """The number of views, and the largest number of layers of one."""
    times, most_layers = 1, 0
    repeat = view.get("repeat")
    if isinstance(repeat, list):
        times = max(1, len(repeat))
    elif isinstance(repeat, dict):
        sides = {key: len(each) if isinstance(each, list) else 1 for key, each in repeat.items()}
        most_layers = sides.pop("layer", 0)
        for count in sides.values():
            times *= max(1, count)
    views = 0
    for key in ("hconcat", "vconcat", "concat", "spec", "layer"):
        inner = view.get(key)
        sizes = [
            _size(each) for each in (inner if isinstance(inner, list) else [inner]) if isinstance(each, dict)
        ]
        if key == "layer" and sizes:
            views += 1
            most_layers = max(most_layers, sum(max(1, layers) for _, layers in sizes))
        else:
            views += sum(each for each, _ in sizes)
            most_layers = max([most_layers, *(layers for _, layers in sizes)])
    return times * max(1, views), most_layers


def _parts(path: Path, key: str, value: JsonValue) -> Iterator[tuple[Path, str, JsonValue]]:
    """Each part with its path and the key that it stands under; entries of a list have the list's key."""
    yield path, key, value
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _parts((*path, name), name, inner)
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _parts((*path, at), key, inner)


def _fault(path: Path, key: str, value: JsonValue, *, rows: int) -> str | None:
    is_entry = bool(path) and isinstance(path[-1], int)
    if not is_entry and key in _GONE:
        return _GONE[key]
    if not is_entry and key == "data" and len(path) > 1:
        return None if value == {"name": "rows"} else "other data than the rows is not allowed"
    match key:
        case "mark" | "type" if _is_mark(path) and value == "image":
            return "images are not allowed"
        case "calculate" | "filter" | "test" if isinstance(value, str):
            return fault_of_expression(value)
        case "formatType" if value not in ("number", "time"):
            return "only number and time are allowed"
        case "transform" if isinstance(value, list) and not is_entry:
            return _transforms_fault(value)
        case "scale" if value is None and len(path) > 1 and path[-2] in _COLOURS:
            return "colours from the data are not allowed"
        case "impute" if rows > _MAX_ROWS_TO_FILL:
            return f"gaps are filled in at most {_MAX_ROWS_TO_FILL} rows"
        case _:
            return _value_fault(key, value)


def _is_mark(path: Path) -> bool:
    return path[-1] == "mark" or path[-2:] == ("mark", "type")


def _transforms_fault(transforms: Sequence[JsonValue]) -> str | None:
    if len(transforms) > _MAX_TRANSFORMS:
        return f"at most {_MAX_TRANSFORMS} transforms are allowed"
    growing = [
        each for each in transforms if isinstance(each, dict) and not {"fold", "flatten"}.isdisjoint(each)
    ]
    if len(growing) > 1:
        return "at most one fold is allowed"
    return None


def _value_fault(key: str, value: JsonValue) -> str | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return _number_fault(key, value)
    if isinstance(value, str):
        return _text_fault(key, value)
    if isinstance(value, dict):
        return _steps_fault(key, value)
    return None


def _number_fault(key: str, value: float) -> str | None:
    largest = _LIMITS.get(key, _LARGEST_VALUE if key in _OF_DATA else _LARGEST)
    if not -largest <= value <= largest:
        return f"the number may be {largest:,.0f} at most"
    return None


def _text_fault(key: str, value: str) -> str | None:
    if len(value) > _LONGEST_TEXT and key not in ("shape", "path"):
        return f"a text has at most {_LONGEST_TEXT} characters"
    if key in _TEXTS:
        if key.lower().endswith("format") and _LONG_NUMBER.search(value):
            return "a format has numbers of at most two digits"
        if key in _KINDS_OF_NAMES and re.search(r"__proto__|prototype|constructor", value):
            return "this name is not allowed"
        return "addresses and markup are not allowed" if _LOADS.search(value) else None
    if key == "tickCount" and value.lower() in _FINE:
        return "ticks are at most one a day"
    return f"{value[:40]!r} is not allowed here" if _NOT_STYLE.search(value) else None


def _steps_fault(key: str, value: Mapping[str, JsonValue]) -> str | None:
    """Refuses steps so small that an axis or a scale would have very many."""
    if key == "tickCount":
        return _text_fault(key, str(value.get("interval")))
    if key in ("bin", "bins", "keyvals") and "step" in value:
        return "choose maxbins in place of step" if key == "bin" else "steps are not allowed here"
    if "quantile" in value and "step" in value:
        return "choose probs in place of step"
    return None
