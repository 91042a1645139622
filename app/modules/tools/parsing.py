"""Strict reading of the calls that a model writes. Nothing is repaired: a wrong call is answered with what is
wrong.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from pydantic import BaseModel, JsonValue, ValidationError

from app.core.llm.model import ToolCall
from app.modules.tools.tool import Tool

MAX_ARGUMENTS = 65_536
"""Characters of the arguments of one call."""
_MOST_ERRORS = 5


@dataclass(frozen=True)
class ParsedCall:
    """A call that can be made."""

    tool: Tool
    arguments: BaseModel

    @property
    def values(self) -> dict[str, JsonValue]:
        """The arguments as they are stored and shown."""
        values: dict[str, JsonValue] = self.arguments.model_dump(mode="json")
        return values


class CallRefused(Exception):
    """The call cannot be made. The text tells the model why."""


def parse_call(call: ToolCall, offered: Mapping[str, Tool]) -> ParsedCall:
    """Returns the tool and its arguments. Raises `CallRefused`."""
    tool = offered.get(call.name)
    if tool is None:
        names = ", ".join(sorted(offered))
        raise CallRefused(f"There is no tool {call.name[:80]!r}. The tools are: {names}.")
    values = _object(call.arguments)
    try:
        return ParsedCall(tool, tool.arguments.model_validate(values))
    except ValidationError as error:
        raise CallRefused(f"The arguments of {tool.name} are wrong: {_errors(error)}") from None


def _object(text: str) -> dict[str, JsonValue]:
    if len(text) > MAX_ARGUMENTS:
        raise CallRefused(f"The arguments are longer than {MAX_ARGUMENTS:,} characters. Make a shorter call.")
    try:
        values: JsonValue = json.loads(text or "{}", parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise CallRefused(
            "The arguments are not valid JSON; the call may have been cut off. Write them again."
        ) from None
    if not isinstance(values, dict):
        raise CallRefused("The arguments have to be a JSON object.")
    try:
        json.dumps(values, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise CallRefused("The arguments hold half a surrogate pair.") from None
    return values


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _errors(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False, include_context=False)
    texts = [f"{'.'.join(map(str, each['loc'])) or 'arguments'}: {each['msg']}" for each in found]
    more = f" and {len(texts) - _MOST_ERRORS} more" if len(texts) > _MOST_ERRORS else ""
    return "; ".join(texts[:_MOST_ERRORS]) + more
