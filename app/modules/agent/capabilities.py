"""What this KAI can do, and why it cannot do the rest."""

from dataclasses import dataclass

from app.core.llm.capabilities import AnalysisForm, InstructionForm, analysis_form_for
from app.core.settings import Settings

_NO_MODEL = "No language model is configured: set OPENAI_API_KEY or KAI_LLM__BASE_URL."


@dataclass(frozen=True, kw_only=True)
class Capability:
    """Something that is on, or off for a reason."""

    on: bool
    reason: str | None = None
    """Why it is off. None if it is on."""


@dataclass(frozen=True, kw_only=True)
class AnalysisCapability:
    """The author of the choice of an analysis' statements."""

    form: AnalysisForm
    reason: str


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    model: Capability
    investigations: Capability
    agent_mode: Capability
    """Calls of tools that write, delete or leave KAI, each after an approval."""
    mcp_servers: Capability
    """Tools of the MCP servers of the configuration, each call after an approval."""
    extensions: Capability
    """Tools of other packages."""
    rules: Capability
    facts: Capability
    """New facts. Those that are kept can be read and forgotten in any case."""
    generating: Capability
    """SQL in one shot, and documentation of databases."""
    analysis: AnalysisCapability


def capabilities_of(settings: Settings, instruction: InstructionForm) -> Capabilities:
    """`instruction` is the form of the instructions for the SQL model."""
    has_model = settings.llm.configured
    off: str | None = None
    if not has_model:
        off = _NO_MODEL
    elif not settings.agent.enabled:
        off = "They are switched off by KAI_AGENT__ENABLED."
    reason = off
    if off is None and not settings.llm.shows_results:
        reason = "KAI_LLM__ALLOWED_CONTEXT withholds what investigations show (docs/security.md)."
    elif off is None and settings.llm.tools == "off":
        reason = "Calls of tools are switched off by KAI_LLM__TOOLS."
    elif off is None and instruction == "short":
        reason = (
            "The SQL model gets the short instructions (KAI_LLM__INSTRUCTION), which offer no investigations."
        )
    servers = reason
    if servers is None and settings.mcp.config is None:
        servers = "No MCP servers are configured: set KAI_MCP__CONFIG."
    extensions = reason
    if extensions is None and not settings.tools.extensions:
        extensions = "Extensions are switched off: set KAI_TOOLS__EXTENSIONS."
    return Capabilities(
        model=Capability(on=has_model, reason=None if has_model else _NO_MODEL),
        investigations=Capability(on=reason is None, reason=reason),
        agent_mode=Capability(on=reason is None, reason=reason),
        mcp_servers=Capability(on=servers is None, reason=servers),
        extensions=Capability(on=extensions is None, reason=extensions),
        rules=Capability(on=off is None, reason=off),
        facts=_facts(settings),
        generating=Capability(on=off is None, reason=off),
        analysis=_analysis(settings),
    )


def _facts(settings: Settings) -> Capability:
    on = settings.memory.facts
    return Capability(on=on, reason=None if on else "They are switched off by KAI_MEMORY__FACTS.")


def _analysis(settings: Settings) -> AnalysisCapability:
    llm = settings.llm
    setting = settings.analysis.form
    if not llm.configured:
        return AnalysisCapability(form="builtin", reason=_NO_MODEL)
    if not {"rows", "values"}.issubset(llm.allowed_context):
        return AnalysisCapability(
            form="builtin", reason="KAI_LLM__ALLOWED_CONTEXT withholds rows or values (docs/security.md)."
        )
    form = analysis_form_for(llm.analyst, setting)
    if setting != "auto":
        reason = f"KAI_ANALYSIS__FORM is {setting}."
    elif form == "builtin":
        reason = f"The name of model {llm.analyst} tells of fewer than 15 billion parameters."
    else:
        reason = f"The name of model {llm.analyst} tells of no small model."
    return AnalysisCapability(form=form, reason=reason)
