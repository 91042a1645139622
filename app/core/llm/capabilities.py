"""Capabilities of models: as set, as their services list them, as measured, or as their names indicate."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

ReplyFormat = Literal["text", "json_schema", "tools"]
"""Ways to request an object: in the prompt, by `response_format`, or as the arguments of a tool call."""

ReplyFormatSetting = Literal["auto", "text", "json_schema", "tools"]

_BETTER_THAN_TEXT: Mapping[str, ReplyFormat] = {}
"""Best formats of models that answered more questions correctly in another format than text in `kai eval`.
The keys are parts of model names, in lower case. None so far."""


def reply_format_for(model: str, setting: ReplyFormatSetting = "auto") -> ReplyFormat:
    """Returns the reply format for a model. `auto` is text unless another format was measured to be
    better.
    """
    if setting != "auto":
        return setting
    name = model.lower()
    return next((reply_format for part, reply_format in _BETTER_THAN_TEXT.items() if part in name), "text")


InstructionForm = Literal["short", "long"]
"""The form of the instructions for SQL that a model gets."""

InstructionSetting = Literal["auto", "short", "long"]

_SMALL_BILLIONS = 15
"""Models with fewer parameters write better SQL with the short form, as measured with 1.5 billion."""

_SMALL_CONTEXT = 16
"""Thousands of tokens. A context of this size or less has too little room for the long form and a schema."""

_SIZE = re.compile(r"(?<![a-z0-9.])(?:(\d+)x)?[a-z]?(\d+(?:\.\d+)?)([bm])(?![a-z0-9])")
_ACTIVE = re.compile(r"(?<![a-z0-9.])a(\d+(?:\.\d+)?)b(?![a-z0-9])")
_CONTEXT = re.compile(r"(?<![a-z0-9.])(\d+)k(?![a-z0-9])")
_ACTIVE_EXPERTS = 2

_SMALL_WORDS = frozenset({"mini", "nano", "micro", "small", "tiny", "lite", "haiku", "ministral"})
_SMALL_BEGINNINGS = ("tiny", "smol", "gpt-3.5-turbo")


def instruction_for(
    model: str, setting: InstructionSetting = "auto", measured: InstructionForm | None = None
) -> InstructionForm:
    """Returns the form for a model: the setting, else the measured form, else a guess from its name.

    A name without a size, a word such as `mini`, or a small context counts as a large hosted model.
    """
    if setting != "auto":
        return setting
    return measured or ("short" if _is_small(model.lower()) else "long")


def _is_small(name: str) -> bool:
    context = _CONTEXT.search(name)
    if context is not None and int(context[1]) <= _SMALL_CONTEXT:
        return True
    billions = _billions(name)
    if billions is not None:
        return billions < _SMALL_BILLIONS
    words = re.split(r"[^a-z0-9]+", name)
    return not _SMALL_WORDS.isdisjoint(words) or name.rpartition("/")[2].startswith(_SMALL_BEGINNINGS)


def _billions(name: str) -> float | None:
    """Returns billions of parameters from a size in the name (`1.5b`, `360m`), or None without one.

    Mixtures of experts (`8x7b`, `30b-a3b`) count as the geometric mean of all and the active parameters,
    a common estimate of the equivalent dense model.
    """
    total = next((found for found in _SIZE.finditer(name) if not _ACTIVE.fullmatch(found[0])), None)
    if total is None:
        return None
    size = float(total[2]) / (1_000 if total[3] == "m" else 1)
    if total[1] is not None:
        return math.sqrt(int(total[1]) * size * _ACTIVE_EXPERTS * size)
    active = _ACTIVE.search(name)
    return size if active is None else math.sqrt(size * float(active[1]))


AnalysisForm = Literal["builtin", "choose"]
"""Author of the choice of an analysis' statements: `choose` is the model, `builtin` the program."""

AnalysisFormSetting = Literal["auto", "builtin", "choose"]

_SMALL_FAMILIES = ("phi", "smol", "tiny", "ministral")


def analysis_form_for(model: str, setting: AnalysisFormSetting = "auto") -> AnalysisForm:
    """Returns the form for a model: the setting, else a guess from its name.

    A model of 1.5 billion parameters chooses no better than the order of the statements, as measured. A name
    without a size counts as a large model.
    """
    if setting != "auto":
        return setting
    name = model.lower()
    billions = _billions(name)
    if billions is None:
        is_small = name.rpartition("/")[2].startswith(_SMALL_FAMILIES)
    else:
        is_small = billions < _SMALL_BILLIONS
    return "builtin" if is_small else "choose"


ToolSetting = Literal["auto", "native", "text", "off"]
"""Setting of the way in which a model calls tools."""

ToolMode = Literal["native", "text", "off"]
"""`native`: by the service's own protocol. `text`: by a block in the reply, described in the prompt."""

WindowSource = Literal["setting", "service", "profile", "default"]
ToolSource = Literal["setting", "service", "profile", "refusal", "default"]
"""Where a capability is known from: KAI's settings, the service that runs the model, LangChain's data on the
model, a request that the service refused, or nothing."""

_DEFAULT_WINDOW = 8_192
_OPENAI_WINDOW = 128_000


@dataclass(frozen=True, kw_only=True)
class ModelTraits:
    """What a source says of a model; None for what it does not say."""

    context_window: int | None = None
    """Tokens that prompt and reply may take together."""
    takes_tools: bool | None = None


NO_TRAITS = ModelTraits()


@dataclass(frozen=True, kw_only=True)
class ListedModel:
    """A model as its service lists it."""

    name: str
    traits: ModelTraits = NO_TRAITS
    is_of_ollama: bool = False
    """The service is Ollama, which says more about each model at an address of its own."""


@dataclass(frozen=True, kw_only=True)
class ModelCapabilities:
    """What is known of a model."""

    context_window: int
    window_source: WindowSource
    tools: ToolMode
    tools_source: ToolSource


def capabilities_from(
    *,
    tools: ToolSetting,
    context_window: int | None,
    service: ModelTraits,
    profile: ModelTraits,
    has_refused_tools: bool,
    is_openai: bool,
) -> ModelCapabilities:
    """Returns the capabilities: of each, the first that is known counts. `tools` and `context_window` are
    settings, `is_openai` is True for a model at OpenAI's own address.
    """
    window, window_source = _window(context_window, service, profile, is_openai=is_openai)
    mode, tools_source = _tool_mode(tools, service, profile, has_refused_tools=has_refused_tools)
    return ModelCapabilities(
        context_window=window, window_source=window_source, tools=mode, tools_source=tools_source
    )


def _window(
    setting: int | None, service: ModelTraits, profile: ModelTraits, *, is_openai: bool
) -> tuple[int, WindowSource]:
    if setting is not None:
        return setting, "setting"
    if service.context_window is not None:
        return service.context_window, "service"
    if profile.context_window is not None:
        return profile.context_window, "profile"
    return _OPENAI_WINDOW if is_openai else _DEFAULT_WINDOW, "default"


def _tool_mode(
    setting: ToolSetting, service: ModelTraits, profile: ModelTraits, *, has_refused_tools: bool
) -> tuple[ToolMode, ToolSource]:
    if setting != "auto":
        return setting, "setting"
    if has_refused_tools:
        return "text", "refusal"
    if service.takes_tools is not None:
        return "native" if service.takes_tools else "text", "service"
    if profile.takes_tools is not None:
        return "native" if profile.takes_tools else "text", "profile"
    return "native", "default"
