"""Reads a rule: Markdown, which may begin with front matter in YAML."""

import re
from collections.abc import Mapping
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.modules.rules.errors import RuleFault
from app.modules.rules.model import (
    DEFAULT_PRIORITY,
    MAX_BYTES,
    MAX_CHART_WORDS,
    MAX_PRIORITY,
    Apply,
    ChatMode,
    RuleScope,
    RuleText,
)

_FENCE = re.compile(r"^---[ \t]*$", re.MULTILINE)
_BROKEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_MOST = 100
"""Entries of a list in a scope."""

Entry = Annotated[str, Field(min_length=1, max_length=200)]


class ScopeFields(BaseModel):
    """Scope in front matter. Types are strict: the text "1" is no number."""

    model_config = ConfigDict(extra="forbid", strict=True)

    connections: Annotated[list[Entry], Field(max_length=_MOST)] = []
    chat_modes: Annotated[list[ChatMode], Field(max_length=2)] = []
    table_patterns: Annotated[list[Entry], Field(max_length=_MOST)] = []

    def scope(self) -> RuleScope:
        return RuleScope(
            connections=tuple(self.connections),
            chat_modes=tuple(self.chat_modes),
            table_patterns=tuple(self.table_patterns),
        )


class _Fields(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    apply: Apply = "always"
    active: bool = True
    priority: Annotated[int, Field(ge=-MAX_PRIORITY, le=MAX_PRIORITY)] = DEFAULT_PRIORITY
    scope: ScopeFields = ScopeFields()
    chart: Annotated[str, Field(min_length=1, max_length=MAX_CHART_WORDS)] | None = None
    chart_of: Annotated[list[Entry], Field(max_length=_MOST)] = []


def parse_rule(source: str) -> RuleText:
    """Returns the rule. Raises `RuleFault` for anything that is not as it should be."""
    if len(source.encode(errors="replace")) > MAX_BYTES:
        raise RuleFault(f"It is longer than {MAX_BYTES:,} bytes.")
    if _BROKEN.search(source):
        raise RuleFault("It contains control characters.")
    head, text = _parted(source.removeprefix("\ufeff"))
    fields = _fields(head)
    text = text.strip()
    if not text:
        raise RuleFault("It has no text.")
    return RuleText(
        text=text,
        apply=fields.apply,
        active=fields.active,
        priority=fields.priority,
        scope=fields.scope.scope(),
        chart=fields.chart,
        chart_of=tuple(fields.chart_of),
    )


def has_front_matter(source: str) -> bool:
    return _FENCE.match(source.removeprefix("\ufeff")) is not None


def _parted(source: str) -> tuple[str, str]:
    """Returns front matter and text."""
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    first = _FENCE.match(source)
    if first is None:
        return "", source
    last = _FENCE.search(source, first.end())
    if last is None:
        raise RuleFault("Its front matter has no closing ---.")
    return source[first.end() : last.start()], source[last.end() :]


def _fields(head: str) -> _Fields:
    try:
        _refuse_repeated(yaml.compose(head, Loader=yaml.SafeLoader))
        loaded: object = yaml.safe_load(head)
    except RuleFault:
        raise
    except yaml.YAMLError as error:
        raise RuleFault(f"Its front matter is not YAML{_place(error)}.") from None
    except (RecursionError, ValueError):
        raise RuleFault("Its front matter is not YAML.") from None
    if loaded is None:
        return _Fields()
    if not isinstance(loaded, Mapping):
        raise RuleFault("Its front matter is not a list of fields.")
    try:
        return _Fields.model_validate(loaded)
    except ValidationError as error:
        raise RuleFault(" ".join(map(_sentence, error.errors()))) from None


def _refuse_repeated(node: yaml.Node | None) -> None:
    """YAML keeps the last of two fields of one name, and says nothing of the first."""
    if isinstance(node, yaml.MappingNode):
        names = [key.value for key, _ in node.value]
        if repeated := next((name for name in names if names.count(name) > 1), None):
            raise RuleFault(f"{repeated}: the field is given twice.")
        for _, value in node.value:
            if isinstance(value, yaml.MappingNode):
                _refuse_repeated(value)


def _place(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    return "" if mark is None else f" (line {mark.line + 1})"


def _sentence(error: Mapping[str, object]) -> str:
    place = error["loc"]
    name = ".".join(map(str, place)) if isinstance(place, tuple) and place else "front matter"
    if error["type"] == "extra_forbidden":
        return f"{name}: there is no such field."
    said = str(error["msg"])
    return f"{name}: {said[:1].lower()}{said[1:]}."
