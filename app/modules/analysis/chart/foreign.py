"""Vega-Lite specifications from outside: validated, and given the rows of the result as their only data."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from math import prod

from pydantic import JsonValue

from app.modules.analysis.chart.foreign_parts import (
    Mistake,
    composition_fault,
    depth_fault,
    path_text,
    refused_parts,
)
from app.modules.analysis.chart.plan import NotDrawable, Spec
from app.modules.analysis.chart.specification import SCHEMA, mapping
from app.modules.analysis.chart.values import numbered, plotted
from graph.state import Rows

MAX_BYTES = 64 * 1024
MAX_ROWS = 2_000
_MAX_COLUMNS = 20
_LONGEST_CELL = 200
_MAX_FACETS = 30
_NAMED = 5
_WIDTH, _HEIGHT = 880, 300
_NUMERIC = ("integer", "number")
_FACETS = ("facet", "row", "column")
_COMPOSED = ("hconcat", "vconcat", "concat", "facet", "repeat")


def read_foreign(specification: Mapping[str, JsonValue], rows: Rows) -> Spec:
    """The specification with the rows as its data, under the columns' own names. Raises `NotDrawable`.

    Its top-level `data` is replaced, and its `usermeta` is KAI's own. At most `MAX_ROWS` rows are drawn.
    """
    from app.modules.analysis.chart.vega_schema import TooLong, mistake_in  # noqa: PLC0415 - loads slowly

    _check(specification, rows)
    own = {key: value for key, value in specification.items() if key not in ("data", "usermeta", "$schema")}
    checked: Spec = {"$schema": SCHEMA, "data": {"name": "rows", "values": []}, **own}
    try:
        mistake = mistake_in(checked)
    except TooLong:
        raise NotDrawable("The specification is too large to validate. Draw less in it.") from None
    if mistake is not None:
        raise NotDrawable(f"The specification is not Vega-Lite 6. {_sentence(mistake)}")
    _check_fields(checked, rows)
    shown = min(len(rows["rows"]), MAX_ROWS)
    how = ["This picture is drawn by its reader's own specification."]
    if shown < rows["row_count"]:
        how.append(f"It has the first {shown:,} of {rows['row_count']:,} rows.")
    checked["data"] = {"name": "rows", "values": _values(checked, rows)}
    if not any(key in checked for key in _COMPOSED):
        checked = {"width": _WIDTH, "height": _HEIGHT, **checked}
    checked["usermeta"] = {"kai": {"rows": rows["row_count"], "shown": shown, "how": [*how]}}
    return checked


def _check(specification: Mapping[str, JsonValue], rows: Rows) -> None:
    """Raises `NotDrawable` for what is refused whatever the schema says."""
    own = dict(specification)
    if (fault := depth_fault(own)) is not None:
        raise NotDrawable(f"The specification is refused: {fault.reason}.")
    try:
        size = len(json.dumps(own, ensure_ascii=False, allow_nan=False).encode())
    except (UnicodeEncodeError, ValueError):
        raise NotDrawable("The specification is refused: it has text or numbers that JSON has not.") from None
    if size > MAX_BYTES:
        raise NotDrawable(
            f"The specification is refused: it takes {size:,} bytes, and {MAX_BYTES:,} are allowed."
        )
    if (fault := composition_fault(own)) is not None:
        raise NotDrawable(f"The specification is refused: {fault.reason}.")
    data = mapping(own.pop("data", None))
    own.pop("usermeta", None)
    refused = list(refused_parts(own, rows=min(len(rows["rows"]), MAX_ROWS)))
    for key in sorted(data.keys() - {"name", "values", "format"}):
        refused.insert(0, Mistake(("data", key), "the data is always that of the rows"))
    if refused:
        more = f" {len(refused) - _NAMED} more parts are refused." if len(refused) > _NAMED else ""
        named = " ".join(_sentence(each) for each in refused[:_NAMED])
        raise NotDrawable(f"Parts of the specification are refused. {named}{more}")
    if not rows["rows"]:
        raise NotDrawable("There are no rows to draw.")


def _sentence(mistake: Mistake) -> str:
    return f"{path_text(mistake.path)}: {mistake.reason}."


def _names(rows: Rows) -> list[str]:
    """The columns' own names; a repeated one gets a number."""
    return numbered([column["name"] for column in rows["columns"]])


def _values(specification: Spec, rows: Rows) -> list[JsonValue]:
    """A datum for each row; of many columns only those that the specification names."""
    names = _names(rows)
    drawn = [*range(len(names))]
    if len(names) > _MAX_COLUMNS:
        text = json.dumps({**specification, "data": None}, ensure_ascii=False).replace("\\", "")
        drawn = [at for at in drawn if names[at] in text]
    columns = rows["columns"]
    numeric = {at for at in drawn if columns[at]["type"] in _NUMERIC}
    return [
        {names[at]: plotted(row[at]) if at in numeric else _cell(row[at]) for at in drawn}
        for row in rows["rows"][:MAX_ROWS]
    ]


def _cell(cell: JsonValue) -> JsonValue:
    if isinstance(cell, dict | list):
        cell = json.dumps(cell, ensure_ascii=False)
    return f"{cell[: _LONGEST_CELL - 1]}…" if isinstance(cell, str) and len(cell) > _LONGEST_CELL else cell


def _check_fields(specification: Spec, rows: Rows) -> None:
    """Raises `NotDrawable` for a field that the rows do not have, a column that is written over, or a facet
    for each of many values.
    """
    names = _names(rows)
    made = set(_made(specification))
    if over := sorted(made & set(names)):
        raise NotDrawable(f"The column {over[0]} may not be replaced: give what is computed another name.")
    if not _transforms(specification):
        for field in _fields(specification, within=None):
            if _plain(field) not in names and field not in names:
                raise NotDrawable(f"There is no column {field}. There are: {', '.join(names[:20])}.")
    facets = [_count(rows, names, field) for field in _fields(specification, within=_FACETS)]
    if prod(facets) > _MAX_FACETS:
        raise NotDrawable(
            f"There would be {prod(facets):,} small pictures, and at most {_MAX_FACETS} are drawn. "
            "Choose a column with fewer values."
        )


def _plain(field: str) -> str:
    r"""The name of a column as Vega-Lite reads it: `a\.b` is a name, `['a']` is one too."""
    bracketed = re.fullmatch(r"\[(['\"])(.*)\1\]", field)
    return re.sub(r"\\(.)", r"\1", field if bracketed is None else bracketed[2])


def _count(rows: Rows, names: Sequence[str], field: str) -> int:
    if _plain(field) not in names:
        return _MAX_FACETS + 1
    at = names.index(_plain(field))
    return max(1, len({str(row[at]) for row in rows["rows"][:MAX_ROWS]}))


def _objects(part: JsonValue, key: str = "") -> Iterator[tuple[str, Mapping[str, JsonValue]]]:
    """Each object with the key that it stands under."""
    if isinstance(part, dict):
        yield key, part
        for name, inner in part.items():
            if name not in ("data", "config"):
                yield from _objects(inner, name)
    elif isinstance(part, list):
        for inner in part:
            yield from _objects(inner, key)


def _transforms(specification: Spec) -> list[Mapping[str, JsonValue]]:
    return [part for key, part in _objects(specification) if key == "transform"]


def _made(specification: Spec) -> Iterator[str]:
    """Names of what the transforms compute."""
    for _, part in _objects([dict(each) for each in _transforms(specification)]):
        given = part.get("as")
        yield from (each for each in (given if isinstance(given, list) else [given]) if isinstance(each, str))


def _fields(specification: Spec, *, within: Sequence[str] | None) -> Iterator[str]:
    """The fields of all channels, or of some."""
    for key, part in _objects(specification):
        if (within is None or key in within) and isinstance(field := part.get("field"), str):
            yield field
