"""What this KAI can do, and why it cannot do the rest."""

from dataclasses import dataclass

from app.core.llm.capabilities import InstructionForm
from app.core.settings import Settings

_NO_MODEL = "No language model is configured: set OPENAI_API_KEY or KAI_LLM__BASE_URL."


@dataclass(frozen=True, kw_only=True)
class Capability:
    """Something that is on, or off for a reason."""

    on: bool
    reason: str | None = None
    """Why it is off. None if it is on."""


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    model: Capability
    investigations: Capability


def capabilities_of(settings: Settings, instruction: InstructionForm) -> Capabilities:
    """`instruction` is the form of the instructions for the SQL model."""
    has_model = settings.llm.configured
    reason: str | None = None
    if not has_model:
        reason = _NO_MODEL
    elif not settings.agent.enabled:
        reason = "They are switched off by KAI_AGENT__ENABLED."
    elif instruction == "short":
        reason = (
            "The SQL model gets the short instructions (KAI_LLM__INSTRUCTION), which offer no investigations."
        )
    return Capabilities(
        model=Capability(on=has_model, reason=None if has_model else _NO_MODEL),
        investigations=Capability(on=reason is None, reason=reason),
    )
