"""What was measured of models."""

from collections.abc import Mapping
from typing import Literal

ReplyFormat = Literal["text", "json_schema", "tools"]
"""How an object is asked for: in words, by `response_format`, or as the arguments of a tool call."""

ReplyFormatSetting = Literal["auto", "text", "json_schema", "tools"]

_MEASURED: Mapping[str, ReplyFormat] = {
    "qwen2.5-coder-1.5b": "text",
}
"""The format with the most right answers by `kai eval`, by a part of the model's name in lower case."""


def reply_format_for(model: str, setting: ReplyFormatSetting = "auto") -> ReplyFormat:
    """The format to ask a model for. `auto` is text unless another was measured to be better."""
    if setting != "auto":
        return setting
    name = model.lower()
    return next((reply_format for part, reply_format in _MEASURED.items() if part in name), "text")
