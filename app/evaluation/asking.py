"""Ask conversations and score their answers, several at a time, with a progress bar."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from app.bootstrap import Services
from app.core.auth.caller import LOCAL_OWNER
from app.core.errors import problem_kind
from app.core.llm.model import LanguageModel
from app.evaluation.answering import KaiSession, PlainPrompt, Respondent, RunCosts, SystemAnswer
from app.evaluation.gold import EVALUATION, Gold, GoldFailed, run_gold
from app.evaluation.question_set import BenchmarkConversation, BenchmarkQuestion
from app.evaluation.results import OutcomeKind, QuestionOutcome, ShownRows, append
from app.evaluation.verdict import Judgement, judge
from app.modules.database_connection.model import Connection
from graph.errors import (
    DatabaseUnavailable,
    QuestionBeyondWriter,
    StatementFailed,
    StatementRefused,
    StatementTimedOut,
    StepTimedOut,
)


async def play(
    services: Services,
    connection: Connection,
    conversation: BenchmarkConversation,
    *,
    costs: RunCosts,
    baseline: LanguageModel | None,
    instructed: bool,
) -> AsyncGenerator[QuestionOutcome]:
    """Ask the questions of one conversation in order and yield the outcome of each.

    KAI answers, or, when `baseline` is given, that model with a plain prompt. `instructed` is true when
    each question is sent with its instructions.
    """
    respondent = await _respondent(services, connection, costs=costs, baseline=baseline)
    for question in conversation:
        answer = await respondent.ask(_text(question, instructed), last=question is conversation[-1])
        yield await _score(services, connection, question, answer=answer)


async def _respondent(
    services: Services, connection: Connection, *, costs: RunCosts, baseline: LanguageModel | None
) -> Respondent:
    if baseline is not None:
        return PlainPrompt(services.database_connections, baseline, connection)
    session = await services.sessions.create(LOCAL_OWNER, connection.id, None, mode="ask", metadata={})
    return KaiSession(services, session.id, costs)


def _text(question: BenchmarkQuestion, instructed: bool) -> str:
    if not instructed or not question.instructions:
        return question.question
    return f"{question.question}\n\n{question.instructions}"


async def _score(
    services: Services, connection: Connection, question: BenchmarkQuestion, *, answer: SystemAnswer
) -> QuestionOutcome:
    ran = [await run_gold(services.database_connections, connection, sql) for sql in question.gold_sql]
    golds = [each for each in ran if isinstance(each, Gold)]
    outcome = _outline(question, answer)
    if not golds:
        failed = next(each for each in ran if isinstance(each, GoldFailed))
        return outcome.model_copy(update={"kind": "gold_failed", "detail": failed.error})
    shown = {"gold_sql": golds[0].sql, "gold": ShownRows.of(golds[0].result)}
    if answer.result is None or answer.model_failed:
        kind, detail = await _why_no_rows(services, connection, answer)
        return outcome.model_copy(update={**shown, "kind": kind, "detail": detail})
    judgement = await asyncio.to_thread(judge, answer.result, golds)
    return outcome.model_copy(update=_judged(judgement))


def _outline(question: BenchmarkQuestion, answer: SystemAnswer) -> QuestionOutcome:
    """The outcome before the rows are compared with the gold: its `kind` is preliminary."""
    return QuestionOutcome(
        id=question.id,
        question=question.question,
        db=question.db,
        conversation_id=question.conversation_id,
        turn=question.turn,
        tags=question.tags,
        kind="no_answer",
        gold_sql=question.gold_sql[0],
        sql=answer.sql,
        predicted=None if answer.result is None else ShownRows.of(answer.result),
        corrections=answer.corrections,
        repairs=answer.repairs,
        calls=answer.used.calls,
        prompt_tokens=answer.used.input_tokens,
        completion_tokens=answer.used.output_tokens,
        tokens=answer.used.tokens,
        seconds=round(answer.seconds, 3),
        investigated=answer.investigated,
    )


def _judged(judgement: Judgement) -> dict[str, object]:
    return {
        "kind": judgement.kind,
        "bird": judgement.bird,
        "empty": judgement.empty,
        "gold_sql": judgement.gold.sql,
        "gold": ShownRows.of(judgement.gold.result),
    }


async def _why_no_rows(
    services: Services, connection: Connection, answer: SystemAnswer
) -> tuple[OutcomeKind, str]:
    if answer.clarification is not None:
        return "clarification", answer.clarification
    failure = answer.failure
    if failure is None:
        return ("from_rows" if answer.from_rows else "no_answer"), answer.reply or ""
    if answer.model_failed:
        return "model_error", failure.detail
    match problem_kind(failure.type):
        case StepTimedOut.problem:
            return "timeout", failure.detail
        case DatabaseUnavailable.problem:
            return "execution_error", failure.detail
        case StatementFailed.problem | QuestionBeyondWriter.problem if answer.sql is not None:
            return await _why_it_failed(services, connection, answer.sql), failure.detail
        case QuestionBeyondWriter.problem:
            return "beyond", failure.detail
        case _:
            return "kai_error", failure.detail


async def _why_it_failed(services: Services, connection: Connection, sql: str) -> OutcomeKind:
    """The kind of a statement's failure. The run reports it only in words, so this runs it once more."""
    try:
        await services.database_connections.run(connection, sql, EVALUATION)
    except StatementRefused:
        return "refused"
    except StatementTimedOut:
        return "timeout"
    except (StatementFailed, DatabaseUnavailable):
        pass
    return "execution_error"


class Asking:
    """Asks KAI or the baseline. Each outcome is written to `file` as soon as it is known."""

    def __init__(
        self,
        services: Services,
        databases: Mapping[str | None, Connection],
        file: TextIO,
        *,
        baseline: LanguageModel | None,
        instructed: bool,
    ) -> None:
        self._services = services
        self._databases = databases
        self._file = file
        self._baseline = baseline
        self._instructed = instructed
        self._costs = RunCosts()
        self._asked = self._right = 0
        services.calls.listen(self._costs.add)

    async def ask(self, conversations: Sequence[BenchmarkConversation], jobs: int) -> None:
        """Ask all conversations, `jobs` at a time. The first exception cancels the others and is raised."""
        waiting = iter(conversations)
        with _progress() as bar:
            task = bar.add_task("", total=sum(map(len, conversations)))
            workers = [
                asyncio.create_task(self._work(waiting, bar, task), name=f"evaluation {number}")
                for number in range(jobs)
            ]
            try:
                await asyncio.gather(*workers)
            finally:
                for worker in workers:
                    worker.cancel()
                await asyncio.gather(*workers, return_exceptions=True)

    async def _work(self, waiting: Iterator[BenchmarkConversation], bar: Progress, task: TaskID) -> None:
        for conversation in waiting:
            connection = self._databases[conversation[0].db]
            outcomes = play(
                self._services,
                connection,
                conversation,
                costs=self._costs,
                baseline=self._baseline,
                instructed=self._instructed,
            )
            async for outcome in outcomes:
                append(self._file, outcome)
                self._asked += 1
                self._right += outcome.kind == "correct"
                bar.update(task, advance=1, description=f"{self._right / self._asked:.0%} right")


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
