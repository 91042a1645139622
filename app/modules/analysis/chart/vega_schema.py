"""Validates specifications against the JSON Schema of Vega-Lite 6.

`vega_lite_6.json` is `build/vega-lite-schema.json` of the npm package vega-lite 6.4.3, without its
descriptions.
"""

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from time import thread_time

from jsonschema import Draft7Validator, ValidationError
from jsonschema.validators import extend
from pydantic import JsonValue

from app.modules.analysis.chart.foreign_parts import Mistake

_SECONDS = 2.0
"""Of the processor: a machine that is busy refuses nothing."""
_LONGEST = 120
_MOST_NAMED = 12


class TooLong(Exception):
    """A validation took more than its time of the processor."""


def mistake_in(specification: Mapping[str, JsonValue]) -> Mistake | None:
    """Returns the deepest mistake; None if there is none. Raises `TooLong`."""
    error = next(_Validation(_schema()).errors(specification), None)
    return None if error is None else Mistake(tuple(error.relative_path), _reason(error))


@cache
def _schema() -> dict[str, JsonValue]:
    text = files("app.modules.analysis.chart").joinpath("vega_lite_6.json").read_text("utf-8")
    return dict(json.loads(text))


@dataclass
class _Validation:
    """One validation. An object is compared with a definition once, so that the time is bounded."""

    schema: Mapping[str, JsonValue]
    until: float = field(default_factory=lambda: thread_time() + _SECONDS)
    known: dict[tuple[int, str], ValidationError | None] = field(default_factory=dict)

    def errors(self, instance: Mapping[str, JsonValue]) -> Iterator[ValidationError]:
        own = extend(Draft7Validator, {"$ref": self._reference, "anyOf": self._any})
        yield from own(self.schema).iter_errors(instance)

    def _reference(
        self, validator: Draft7Validator, name: str, instance: JsonValue, schema: JsonValue
    ) -> Iterator[ValidationError]:
        if thread_time() > self.until:
            raise TooLong
        key = (id(instance), name)
        if key not in self.known:
            definitions = self.schema["definitions"]
            found = definitions[name.removeprefix("#/definitions/")] if isinstance(definitions, dict) else {}
            self.known[key] = next(validator.descend(instance, found), None)
        error = self.known[key]
        if error is not None:
            yield _copy(error)

    def _any(
        self,
        validator: Draft7Validator,
        choices: Sequence[JsonValue],
        instance: JsonValue,
        schema: JsonValue,
    ) -> Iterator[ValidationError]:
        failed: list[ValidationError] = []
        for each in choices:
            error = next(validator.descend(instance, each), None)
            if error is None:
                return
            failed.append(error)
        yield _copy(max(failed, key=_helpful))


def _copy(error: ValidationError) -> ValidationError:
    """Without the places that the error was passed through: jsonschema adds them as it passes through."""
    return ValidationError(
        error.message,
        validator=error.validator,
        path=deque(error.relative_path),
        validator_value=error.validator_value,
        instance=error.instance,
        schema=error.schema,
    )


def _helpful(error: ValidationError) -> tuple[int, int, int]:
    """Sorts the deepest error last; of two as deep, that with the fewest unknown names."""
    is_name = error.validator == "additionalProperties"
    unknown = len(_unknown(error)) if is_name else 0
    return len(error.relative_path), int(is_name), -unknown


def _unknown(error: ValidationError) -> list[str]:
    known = error.schema.get("properties", {})
    return [name for name in error.instance if name not in known]


def _reason(error: ValidationError) -> str:
    match error.validator:
        case "additionalProperties":
            return f"Vega-Lite has no {', '.join(_unknown(error)[:3])} here"
        case "required":
            missing = [name for name in error.validator_value if name not in error.instance]
            return f"{', '.join(missing)} is missing"
        case "enum":
            names = [str(each) for each in error.validator_value]
            more = " ..." if len(names) > _MOST_NAMED else ""
            return f"{_short(error.instance)} is none of {', '.join(names[:_MOST_NAMED])}{more}"
        case "type":
            wanted = error.validator_value
            kinds = [wanted] if isinstance(wanted, str) else wanted
            return f"{_short(error.instance)} is not of type {' or '.join(kinds)}"
        case _:
            return f"{_short(error.instance)} is not allowed here"


def _short(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ..."
