"""Reading of specifications: KAI's own note in them, and the days that they cover."""

from collections.abc import Mapping

from pydantic import JsonValue, ValidationError

from app.modules.analysis.chart.covered import Covered

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"


def mapping(value: JsonValue) -> Mapping[str, JsonValue]:
    """Returns a part of a specification that is an object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def note_of(spec: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """Returns KAI's own note in a specification: its rows and how they were put together."""
    return mapping(mapping(spec.get("usermeta")).get("kai"))


def covered_of(spec: Mapping[str, JsonValue]) -> Covered | None:
    """The days that the time axis of a specification covers. None if it has none."""
    try:
        return Covered.model_validate(note_of(spec).get("covered"))
    except ValidationError:
        return None
