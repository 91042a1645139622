"""The commands `kai eval` and `kai eval-compare`.

`kai eval` asks a question set of the configured KAI, or of its model with a plain prompt, and scores the
answers. `kai eval-compare` compares two results files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from app.bootstrap import Services, open_services_for_once
from app.core.auth.caller import LOCAL_OWNER
from app.core.errors import Invalid
from app.core.settings import LlmSettings, Settings, read_settings
from app.evaluation.asking import Asking
from app.evaluation.question_set import BenchmarkConversation, QuestionSelection, read_question_set
from app.evaluation.report import print_comparison, print_summary, write_report
from app.evaluation.results import Header, MatchingMode, Results, System, appending, read_results, resumed
from app.evaluation.summary import compare, summarize
from app.modules.database_connection.model import Connection
from app.terminal.console import database_url

ENDING = ".results.jsonl"
BUILT_IN = "the built-in writer"
_MODEL_JOBS = 4
_PLACE = "{db}"
_MIDDLES: dict[System, str] = {"kai": "", "plain": ".plain"}


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """The options of `kai eval`.

    `database` is a URL or a path; `{db}` in it is replaced by each question's database. `jobs` is the number
    of concurrent conversations; None means 4 with a model and 1 without. `system` is the one that answers.
    """

    questions: Path
    database: str
    output: Path | None
    selection: QuestionSelection
    mode: MatchingMode
    jobs: int | None
    fresh: bool
    system: System = "kai"
    model: str | None = None
    """Model of every task, instead of those of the settings."""


async def evaluate(wanted: Evaluation) -> None:
    """Evaluate KAI with the settings of this process. Raises as `evaluate_with` does."""
    await evaluate_with(wanted, with_model(read_settings(), wanted.model), Console(highlight=False))


def with_model(settings: Settings, model: str | None) -> Settings:
    """Returns the settings with one model for every task. None leaves them as they are."""
    if model is None:
        return settings
    own = ("sql_model", "analysis_model", "agent_model", "summary_model")
    llm = settings.llm.model_copy(update={"model": model, **dict.fromkeys(own)})
    return settings.model_copy(update={"llm": llm})


async def evaluate_with(wanted: Evaluation, settings: Settings, console: Console) -> Results:
    """Ask what the results file does not hold yet, then print the summary and write the report.

    Returns the results of the selected questions. Raises `Problem` before the first question when the
    evaluation cannot start.
    """
    found = read_question_set(wanted.questions)
    conversations = wanted.selection.of(found.conversations)
    if wanted.system == "plain" and not settings.llm.configured:
        raise Invalid(
            "The baseline is a language model with a plain prompt: set OPENAI_API_KEY or KAI_LLM__BASE_URL."
        )
    output = wanted.output or Path(f"{wanted.questions.stem}{_MIDDLES[wanted.system]}{ENDING}")
    report = output.with_suffix(".html")
    if report == output:
        raise Invalid("--output names the file of results; the report goes beside it, with the ending .html.")
    async with open_services_for_once(settings) as services:
        header = Header(
            question_set=found.name,
            set_digest=found.digest,
            model=_writer(settings.llm),
            system=wanted.system,
            instruction=services.models.instruction if services.models and wanted.system == "kai" else None,
            investigations=wanted.system == "kai" and services.capabilities.investigations.on,
        )
        databases = await _register(services, conversations, wanted.database)
        rest = _rest(conversations, resumed(output, header, fresh=wanted.fresh), output, console=console)
        jobs = wanted.jobs or (_MODEL_JOBS if settings.llm.configured else 1)
        with appending(output) as file:
            baseline = services.models.sql if services.models and wanted.system == "plain" else None
            instructed = settings.llm.configured
            asking = Asking(services, databases, file, baseline=baseline, instructed=instructed)
            await asking.ask(rest, jobs)
    outcomes = read_results(output).of(conversations)
    summary = summarize(outcomes, wanted.mode)
    write_report(report, header, summary, outcomes=outcomes)
    print_summary(console, summary)
    console.print(f"Results: {output}, report: {report}", markup=False, soft_wrap=True)
    return Results(header, {each.id: each for each in outcomes})


async def compare_results(first: Path, second: Path, mode: MatchingMode) -> None:
    """Print how the second evaluation differs from the first. Raises `ResultsInvalid` or `OSError`."""
    results = read_results(first), read_results(second)
    comparison = compare(*results, mode)
    console = Console(highlight=False)
    for name, path, each in zip("AB", (first, second), results, strict=True):
        said = f"{name} is {path}: {each.header.answerer}"
        console.print(said, markup=False, soft_wrap=True)
    print_comparison(console, comparison)


def _rest(
    conversations: Sequence[BenchmarkConversation], known: Results, output: Path, *, console: Console
) -> list[BenchmarkConversation]:
    """The conversations left to ask; prints a notice when the file already holds some."""
    rest = [each for each in conversations if not known.has(each)]
    if len(rest) < len(conversations):
        said = f"{output} holds {len(conversations) - len(rest)} of {len(conversations)} already"
        console.print(f"{said}; --fresh would ask them again.", markup=False, soft_wrap=True)
    return rest


def _writer(settings: LlmSettings) -> str:
    return settings.writer if settings.configured else BUILT_IN


async def _register(
    services: Services, conversations: Sequence[BenchmarkConversation], database: str
) -> Mapping[str | None, Connection]:
    """Register a connection for each database of the questions, keyed by its name in the question set.

    Raises `Invalid` when `database` does not fit these names.
    """
    names = sorted({each[0].db for each in conversations}, key=str)
    if _PLACE in database and None in names:
        raise Invalid(f"Some questions name no db, so --db cannot hold {_PLACE}.")
    if _PLACE not in database and len(names) > 1:
        raise Invalid(
            f"The questions are of {len(names)} databases; put {_PLACE} where their names go in --db, "
            f"for example --db 'folder/{_PLACE}.sqlite'."
        )
    urls = {name: database_url(database.replace(_PLACE, name or "")) for name in names}
    register = services.database_connections.register
    return {
        name: await register(LOCAL_OWNER, url, name or "evaluated", description="")
        for name, url in urls.items()
    }
