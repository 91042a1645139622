"""`kai eval --compare-prompts`: ask with short and with long instructions, and record the better form."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import get_args

from rich.console import Console

from app.bootstrap import open_store
from app.bootstrap.store import bring_up_to_date
from app.core.clock import now_ms
from app.core.errors import Invalid
from app.core.exclusive import make_folder
from app.core.llm.capabilities import InstructionForm, instruction_for
from app.core.settings import Settings, read_settings
from app.evaluation.report import print_comparison
from app.evaluation.results import Results
from app.evaluation.run import ENDING, Evaluation, evaluate_with, with_model
from app.evaluation.summary import EvaluationComparison, Tally, compare
from app.modules.sql_generation.instruction_choice import (
    InstructionChoice,
    InstructionChoices,
    MeasuredForm,
    host_of,
)

_MOST_FAILED = 0.1
"""The largest share of questions on which the model may fail; above it, nothing is recorded."""


async def compare_prompts(wanted: Evaluation) -> None:
    """Ask with both forms, print how they differ, and record the better one for the model.

    Raises `Problem` before the first question when the evaluation cannot start.
    """
    settings = with_model(read_settings(), wanted.model)
    console = Console(highlight=False)
    if not settings.llm.configured:
        raise Invalid("Instructions are for a language model: set OPENAI_API_KEY or KAI_LLM__BASE_URL.")
    results = {
        form: await _measured(wanted, settings, form, console=console) for form in get_args(InstructionForm)
    }
    comparison = compare(results["short"], results["long"], wanted.mode)
    print_comparison(console, comparison, names=("short", "long"))
    if failed := _failed_too_often(results):
        said = f"The model failed for too many questions with the {failed} instructions: nothing is recorded."
        console.print(f"{said} The same command asks those again.", soft_wrap=True)
        return
    said = await _record(settings, _choice(settings, comparison, results["short"].header.question_set))
    console.print(said, markup=False, soft_wrap=True)


async def _measured(
    wanted: Evaluation, settings: Settings, form: InstructionForm, *, console: Console
) -> Results:
    given = wanted.output or Path(f"{wanted.questions.stem}{ENDING}")
    name = given.name.removesuffix(ENDING).removesuffix(".jsonl")
    output = given.with_name(f"{name}.{form}{ENDING}")
    console.print(f"With the {form} instructions:", style="bold")
    llm = settings.llm.model_copy(update={"instruction": form})
    asked = replace(wanted, output=output)
    return await evaluate_with(asked, settings.model_copy(update={"llm": llm}), console)


def _failed_too_often(results: Mapping[InstructionForm, Results]) -> InstructionForm | None:
    for form, each in results.items():
        failed = sum(outcome.kind == "model_error" for outcome in each.outcomes.values())
        if failed > _MOST_FAILED * len(each.outcomes):
            return form
    return None


def _choice(settings: Settings, comparison: EvaluationComparison, question_set: str) -> InstructionChoice:
    """The form with more right answers; on a tie, the one that uses fewer tokens, then the short one."""
    short = _figures(comparison.first)
    long = _figures(comparison.second)
    is_short = (short.right, -short.tokens) >= (long.right, -long.tokens)
    return InstructionChoice(
        model=settings.llm.writer,
        host=host_of(settings.llm.base_url, settings.llm.provider),
        instruction="short" if is_short else "long",
        short=short,
        long=long,
        p_value=comparison.p_value,
        question_set=question_set,
        measured_at=now_ms(),
    )


def _figures(tally: Tally) -> MeasuredForm:
    return MeasuredForm(
        right=tally.accuracy.right,
        asked=tally.accuracy.all,
        calls=tally.cost.calls,
        tokens=tally.cost.tokens,
    )


async def _record(settings: Settings, choice: InstructionChoice) -> str:
    """Record the choice in the configured store and return a sentence for the user about its effect.

    A running server may use the store at the same time.
    """
    make_folder(settings.data_dir)
    async with open_store(settings) as (storage, checkpointer):
        await bring_up_to_date(settings, storage, checkpointer)
        choices = InstructionChoices(storage)
        before = await choices.find(choice.model, choice.host)
        await choices.record(choice)
    used = instruction_for(choice.model, measured=before.instruction if before else None)
    said = f"Recorded for {choice.model} at {choice.host}: the {choice.instruction} instructions."
    if settings.llm.instruction != "auto":
        return f"{said} They are not used while KAI_LLM__INSTRUCTION is {settings.llm.instruction}."
    if used == choice.instruction:
        return f"{said} KAI used them for this model already."
    return f"{said} KAI used the {used} ones until now, and uses these from its next start."
