"""`kai eval --compare-agent`: ask with investigations off and on, and compare the scores."""

from dataclasses import replace
from pathlib import Path

from rich.console import Console

from app.core.errors import Invalid
from app.core.settings import Settings, read_settings
from app.evaluation.report import print_comparison
from app.evaluation.results import Results
from app.evaluation.run import ENDING, Evaluation, evaluate_with, with_model
from app.evaluation.summary import EvaluationComparison, compare


async def compare_agent(wanted: Evaluation) -> None:
    """Compare with the settings of this process. Raises as `compare_agent_with` does."""
    await compare_agent_with(wanted, with_model(read_settings(), wanted.model), Console(highlight=False))


async def compare_agent_with(
    wanted: Evaluation, settings: Settings, console: Console
) -> EvaluationComparison:
    """Ask every question without and with investigations, and print how the answers differ.

    Both times the model gets the long instructions as text: no others offer investigations. Raises
    `Problem` before the first question when the evaluation cannot start.
    """
    if not settings.llm.configured:
        raise Invalid("Investigations are for a language model: set OPENAI_API_KEY or KAI_LLM__BASE_URL.")
    without = await _measured(wanted, settings, console, is_on=False)
    with_them = await _measured(wanted, settings, console, is_on=True)
    comparison = compare(without, with_them, wanted.mode)
    print_comparison(console, comparison, names=("off", "on"))
    investigated = sum(each.investigated for each in with_them.outcomes.values())
    console.print(f"Investigated: {investigated} of {len(with_them.outcomes)} questions.")
    return comparison


async def _measured(wanted: Evaluation, settings: Settings, console: Console, *, is_on: bool) -> Results:
    given = wanted.output or Path(f"{wanted.questions.stem}{ENDING}")
    name = given.name.removesuffix(ENDING).removesuffix(".jsonl")
    output = given.with_name(f"{name}.agent-{'on' if is_on else 'off'}{ENDING}")
    console.print(f"With investigations {'on' if is_on else 'off'}:", style="bold")
    llm = settings.llm.model_copy(update={"instruction": "long", "reply_format": "text"})
    agent = settings.agent.model_copy(update={"enabled": is_on})
    chosen = settings.model_copy(update={"llm": llm, "agent": agent})
    return await evaluate_with(replace(wanted, output=output), chosen, console)
