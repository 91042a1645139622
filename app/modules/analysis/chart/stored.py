"""Stored choices of charts, read as far as they are understood.

Any client may have stored one before choices had a form, and an earlier form had a computed chart of its own.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated

from pydantic import BeforeValidator, JsonValue, ValidationError

from app.modules.analysis.chart.choice import MOST_VALUES, NO_SERIES, ChartChoice, ChosenValue, Computed
from app.modules.analysis.chart.specification import mapping

_EARLIER_FORMATS = {"plain": "exact"}
_LONGEST: Mapping[str, int] = {"unit": 12, "title": 200}


def read_choice(raw: object) -> ChartChoice | None:
    """What is understood of a stored choice: unknown fields are ignored and wrong ones dropped.

    Returns None where nothing is left.
    """
    if isinstance(raw, ChartChoice):
        return raw if raw.is_given else None
    if not isinstance(raw, dict):
        return None
    given = {name: value for name, value in raw.items() if name in ChartChoice.model_fields}
    for name, most in _LONGEST.items():
        if isinstance(text := given.get(name), str):
            given[name] = text[:most]
    given["format"] = _EARLIER_FORMATS.get(str(given.get("format")), given.get("format"))
    if isinstance(values := given.get("values"), list):
        known = [value for each in values[:MOST_VALUES] if (value := _value(each)) is not None]
        given["values"] = known or None
    try:
        choice = ChartChoice.model_validate(given)
    except ValidationError as error:
        for each in error.errors():
            given.pop(str(each["loc"][0]), None)
        choice = ChartChoice.model_validate(given)
    return choice if choice.is_given else None


StoredChoice = Annotated[ChartChoice | None, BeforeValidator(read_choice)]
"""A choice as it is stored."""


def read_chosen_chart(stored: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """A stored message or pin, whose earlier computed chart becomes a part of its choice."""
    fields = dict(stored)
    computed = fields.pop("computed_chart", None)
    if not isinstance(computed, dict):
        return fields
    choice = read_earlier_computed(fields.get("chart_choice"), computed.get("option"))
    earlier: dict[str, JsonValue] = {
        "chart_choice": None if choice is None else choice.model_dump(mode="json"),
        "chosen_chart": computed.get("chart"),
        "chart_refusal": computed.get("refusal"),
    }
    return {**fields, **earlier}


def read_earlier_computed(raw: JsonValue, option: JsonValue) -> ChartChoice | None:
    """A stored choice with the option of an earlier computed chart, which was for one value in one series."""
    choice = read_choice(raw) or ChartChoice()
    earlier = mapping(option)
    try:
        computed = Computed.model_validate(earlier)
        value = ChosenValue.model_validate({"column": earlier.get("value"), "how": earlier.get("how")})
    except ValidationError:
        return read_choice(choice)
    own = {"across": earlier.get("across"), "time": earlier.get("unit"), "series": NO_SERIES}
    return read_choice({**choice.model_dump(), **own, "values": [value], "computed": computed})


def _value(raw: object) -> ChosenValue | None:
    """A value without a wrong way of putting it together."""
    for given in (raw, {"column": raw.get("column")} if isinstance(raw, dict) else None):
        with suppress(ValidationError):
            return ChosenValue.model_validate(given)
    return None
