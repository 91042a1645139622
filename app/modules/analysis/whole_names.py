"""Columns of first and last name as one, and the columns of a chart as the result has them."""

import re
from collections.abc import Sequence

from pydantic import JsonValue

from app.modules.analysis.chart.choice import NO_SERIES, ChartChoice
from app.modules.analysis.chart.plan import Spec
from app.modules.analysis.chart.specification import mapping, note_of
from app.modules.analysis.words import title
from graph.state import Column, Rows

_FIELD = re.compile(r"c\d+")
_IN_EXPRESSION = re.compile(r"\bdatum\.(c\d+)\b")
_EXPRESSIONS = ("filter", "test", "expr")


def merge_names(rows: Rows) -> Rows:
    """The rows with the columns of first and last name merged into a leading `name`; else unchanged."""
    names = _first_and_last(rows["columns"])
    if names is None:
        return rows
    first, last = names
    kept = [index for index in range(len(rows["columns"])) if index not in names]
    whole = [
        " ".join(str(part) for part in (row[first], row[last]) if part is not None) for row in rows["rows"]
    ]
    return Rows(
        **{
            **rows,
            "columns": [Column(name="name", type="text"), *(rows["columns"][index] for index in kept)],
            "rows": [
                [name, *(row[index] for index in kept)] for name, row in zip(whole, rows["rows"], strict=True)
            ],
        }
    )


def choice_with_whole_names(choice: ChartChoice, columns: Sequence[Column]) -> ChartChoice:
    """A choice among the result's columns, as one among those with whole names."""
    names = _first_and_last(columns)
    if names is None:
        return choice
    kept = [index for index in range(len(columns)) if index not in names]
    places = {old: new for new, old in enumerate(kept, 1)} | dict.fromkeys(names, 0) | {NO_SERIES: NO_SERIES}
    moved = {
        name: places.get(at, at)
        for name, at in (("across", choice.across), ("series", choice.series))
        if at is not None
    }
    values = [
        each.model_copy(update={"column": places.get(each.column, each.column)})
        for each in choice.values or ()
    ]
    return choice.model_copy(update={**moved, "values": values or None})


def spec_of_result(spec: Spec | None, columns: Sequence[Column]) -> Spec | None:
    """A specification of rows with whole names, whose fields and note name the result's own columns."""
    names = _first_and_last(columns)
    if spec is None or names is None:
        return spec
    places = [names[0], *(index for index in range(len(columns)) if index not in names)]
    note = dict(note_of(spec))
    for key in ("across", "series"):
        note[key] = _moved(note.get(key), places)
    if isinstance(values := note.get("values"), list):
        note["values"] = [
            {**each, "column": _moved(each.get("column"), places)} if isinstance(each, dict) else each
            for each in values
        ]
    drawn = {name: _move_fields(part, places) for name, part in spec.items() if name != "usermeta"}
    return {**drawn, "usermeta": {**mapping(spec.get("usermeta")), "kai": note}}


def _move_fields(part: JsonValue, places: Sequence[int], name: str = "") -> JsonValue:
    """A part of a specification with its fields moved; texts of the rows stay."""
    match part:
        case dict():
            return {_moved_field(key, places): _move_fields(each, places, key) for key, each in part.items()}
        case list():
            return [_move_fields(each, places, name) for each in part]
        case str() if name == "field":
            return _moved_field(part, places)
        case str() if name in _EXPRESSIONS:
            return _IN_EXPRESSION.sub(lambda found: f"datum.{_moved_field(found[1], places)}", part)
    return part


def _moved_field(field: str, places: Sequence[int]) -> str:
    return f"c{_moved(int(field[1:]), places)}" if _FIELD.fullmatch(field) else field


def _moved(at: JsonValue, places: Sequence[int]) -> JsonValue:
    return places[at] if isinstance(at, int) and 0 <= at < len(places) else at


def _first_and_last(columns: Sequence[Column]) -> tuple[int, int] | None:
    named = {title(column["name"]): index for index, column in enumerate(columns)}
    first, last = named.get("first name"), named.get("last name")
    return None if first is None or last is None else (first, last)
