"""Checks the names of `KAI_...` variables, and describes an invalid one in a line."""

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import SettingsError
from rapidfuzz import fuzz, process

from app.core.errors import CannotRun

PREFIX = "KAI_"
_OF_OPTIONS = {"KAI_API_KEY", "KAI_DB"}
_OF_MODELS = {"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"}
_CLOSE_PERCENT = 65
_TUNING = "TUNING__"
_TUNED = "tuned"
_INSTEAD = {"KAI_CONVERSATIONS__ENABLED": "KAI_CONVERSATIONS__MAX_CACHE_MEMORY_MB=0 switches the cache off."}
"""What does the work of a name that was a setting."""
_FIXED = "KAI chooses its value itself: take it out."
# Kubernetes sets these in every pod of a namespace with a Service whose name begins with "kai".
_OF_KUBERNETES = re.compile(
    r"KAI_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)"
)

_LIST = 'it must be a JSON list, such as ["..."]'
_WORDS = {"tuple_type": _LIST, "list_type": _LIST}


Value = TypeVar("Value")
Tuned: TypeAlias = Annotated[Value, _TUNED]
"""A value that is no setting, because no operator needs another one. Tests set it by `KAI_TUNING__...`."""


class UnknownVariable(CannotRun):
    """A variable begins with KAI_ and names no setting."""


def unknown_names(variables: Iterable[tuple[str, str]], settings: type[BaseModel]) -> list[str]:
    """Returns a sentence for each name that is no setting, in order of the variables. Empty ones are ignored.

    A group may be given as a whole, as one JSON object, whose names are checked, too.
    """
    fields, groups = dict(_fields(settings, PREFIX)), set(_groups(settings, PREFIX))
    leaves = {name for name, info in fields.items() if not is_tuned(info)}
    instead = {**dict.fromkeys(set(fields) - leaves, _FIXED), **_INSTEAD}
    tuning = {name.replace(PREFIX, PREFIX + _TUNING, 1) for name in instead}
    given = [
        each
        for name, value in sorted(variables)
        if name.upper().startswith(PREFIX) and value and not is_of_kubernetes(name, value)
        for each in (_names_in(name, value, groups) if name.upper() in groups else [name])
    ]
    known = leaves | groups | tuning | _OF_OPTIONS
    return [
        f"There is no setting {name}. {instead.get(name.upper()) or _advice(name.upper(), leaves)}"
        for name in given
        if name.upper() not in known
    ]


def check_names(variables: Iterable[tuple[str, str]], settings: type[BaseModel]) -> None:
    """Raises `UnknownVariable` for the first name that is no setting."""
    for sentence in unknown_names(variables, settings):
        raise UnknownVariable(sentence)


def _names_in(group: str, text: str, groups: Container[str]) -> list[str]:
    """Returns the names that a group's JSON object sets. Empty if the text is no JSON object."""
    try:
        held = json.loads(text)
    except ValueError:
        return []
    names = list[str]()
    for field, value in held.items() if isinstance(held, dict) else ():
        name = f"{group}__{field.upper()}"
        names += _names_in(name, json.dumps(value), groups) if name.upper() in groups else [name]
    return names


def is_of_kubernetes(name: str, value: str) -> bool:
    """True if Kubernetes sets such a variable for a Service."""
    port = name.upper().endswith("_PORT") and value.startswith(("tcp://", "udp://", "sctp://"))
    return port or _OF_KUBERNETES.fullmatch(name.upper()) is not None


def is_tuned(info: FieldInfo) -> bool:
    """True for a field that is `Tuned`, so no setting."""
    return _TUNED in info.metadata


def apply_tuning(
    model: type[BaseModel], given: Mapping[str, Any], tuning: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns the given values of a group; those of its tuned fields come from `tuning` alone."""
    values: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        if isinstance(info.default, BaseModel) and isinstance(held := given.get(name, {}), Mapping):
            values[name] = apply_tuning(type(info.default), held, tuning.get(name, {}))
        elif name in (source := tuning if is_tuned(info) else given):
            values[name] = source[name]
    return values


def _fields(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, FieldInfo]]:
    for field, info in model.model_fields.items():
        if isinstance(info.default, BaseModel):
            yield from _fields(type(info.default), f"{prefix}{field.upper()}__")
        else:
            yield f"{prefix}{field.upper()}", info


def _groups(model: type[BaseModel], prefix: str) -> Iterator[str]:
    for field, info in model.model_fields.items():
        if isinstance(info.default, BaseModel):
            yield f"{prefix}{field.upper()}"
            yield from _groups(type(info.default), f"{prefix}{field.upper()}__")


def _advice(name: str, settings: Iterable[str]) -> str:
    names = sorted({*settings, *_OF_OPTIONS, *_OF_MODELS})
    rests = [each.removeprefix(PREFIX) for each in names]
    close = process.extractOne(
        name.removeprefix(PREFIX), rests, scorer=fuzz.ratio, score_cutoff=_CLOSE_PERCENT
    )
    return f"Did you mean {names[close[2]]}?" if close else "docs/settings.md lists all of them."


def value_error_text(error: ValidationError) -> str:
    """Describes the first invalid value without showing it, because it may be secret."""
    first = error.errors(include_input=False, include_url=False)[0]
    prefix = "KAI" if error.title == "Settings" else "OPENAI"
    name = "__".join(part.upper() for part in first["loc"] if isinstance(part, str))
    wrong = _WORDS.get(first["type"], first["msg"])
    return f"{prefix}_{name}: {wrong.removeprefix('Value error, ')}"


def variable_error_text(error: SettingsError) -> str:
    """Describes a value that is no JSON; pydantic-settings names only its group."""
    group = str(error).split('"')[1].upper()
    return f'One of the variables KAI_{group}__... has to be JSON, such as ["..."] for a list.'
