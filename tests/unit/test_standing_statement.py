"""Every field of a draft is that of the statement that stands, whatever became of the turn's repair."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import pytest
from cryptography.fernet import Fernet
from pydantic import JsonValue

from app.core.secrets import ClearCheckpoints
from app.modules.records.model import Run
from app.modules.run.messages import answer_message
from app.modules.run.record import AttemptRecord
from graph import SessionEvent, SessionGraph
from graph.answer import Analysis, Draft, StatementDetails, TurnAnswer, answer_of, draft_of, repair_of
from graph.checkpoints import Checkpointer, sqlite_checkpointer
from graph.events import SqlChunk
from graph.nodes.question import question_of
from graph.ports import Conclusion, Emit, Ports, Question, Written
from graph.state import NO_CONTEXT, Author, SessionState
from tests.fakes import (
    ROWS,
    TURN,
    DyingWriter,
    FailingWriter,
    FakeAnalyst,
    FakeChecker,
    FakeInvestigator,
    FakeRunner,
    FakeWriter,
    ProcessDied,
    fake_ports,
)

DOUBTED = {"first": ["Nothing joins a to b."]}
BAD, FIRST, SECOND = "SELECT bad", "SELECT first", "SELECT second"
RUN = Run(
    id="r1",
    owner="o",
    session_id="s1",
    message_id="m1",
    question="How many?",
    created_at=1,
    status="complete",
)


def drafted(sql: str, author: Author = "model") -> Draft:
    """A draft that differs in every field from those of other statements."""
    own: dict[str, JsonValue] = {"sql": sql, "author": author}
    for name, field in Draft.model_fields.items():
        own.setdefault(name, [f"{name} of {sql}"] if field.annotation == list[str] else f"{name} of {sql}")
    return Draft.model_validate(own)


def written(draft: Draft) -> Written:
    details = draft.model_dump(include=set(StatementDetails.model_fields))
    words = {"explanation": "Counting.", "standalone_question": "How many are there?"}
    if draft.sql != FIRST:
        words = {"explanation": f"Repaired: {draft.sql}", "standalone_question": f"How many {draft.sql}?"}
    return Written.model_validate(
        {
            **details,
            **words,
            "route": "sql",
            "text": draft.sql,
            "author": draft.author,
            "plan": draft.plan,
        }
    )


@dataclass
class _WriterOfDialects(FakeWriter):
    """Its dialect is that of the statement it has written last."""

    async def write(self, question: Question, emit: Emit) -> Written:
        reply = await super().write(question, emit)
        self.dialect = reply.dialect
        return reply


@dataclass
class _FailingWriter(_WriterOfDialects, FailingWriter): ...


@dataclass
class _DyingWriter(_WriterOfDialects, DyingWriter): ...


@dataclass
class _Investigator(FakeInvestigator):
    async def conclude(self, question: Question, step: int) -> Conclusion:
        return Conclusion(analysis=Analysis(text="It fell."), draft=drafted(SECOND), rows=ROWS)


@pytest.fixture
async def saver(tmp_path: Path) -> AsyncGenerator[Checkpointer]:
    cipher = ClearCheckpoints(Fernet.generate_key())
    async with sqlite_checkpointer(tmp_path / "checkpoints.db", cipher) as opened:
        yield opened


@pytest.fixture
def graph(saver: Checkpointer) -> SessionGraph:
    return SessionGraph(saver)


def test_drafts_of_two_statements_differ_in_every_field() -> None:
    one, other = drafted(FIRST).model_dump(), drafted(SECOND, "builtin").model_dump()
    assert [name for name in Draft.model_fields if one[name] == other[name]] == []


async def is_standing(
    graph: SessionGraph, draft: Draft, said: list[SessionEvent], explanation: str = "Counting."
) -> TurnAnswer:
    """Compares every field of the answer, the last `sql` event, both messages and the state."""
    answer = await graph.answer(TURN)
    chunk = [event for event in said if isinstance(event, SqlChunk)][-1]
    record = AttemptRecord()
    for event in said:
        record.observe(event)
    stopped = record.complement(TurnAnswer())
    for shown in (answer, chunk, answer_message(RUN, answer, 1), answer_message(RUN, stopped, 1)):
        for name in StatementDetails.model_fields:
            assert getattr(shown, name) == getattr(draft, name), f"{name} of {type(shown).__name__}"
        assert shown.explanation == explanation
    assert (answer.sql, chunk.content, stopped.sql) == (draft.sql,) * 3
    (latest,) = await graph.checkpoints(TURN.session_id, limit=1)
    state = await graph.state_at(TURN.session_id, latest.id)
    assert state is not None
    assert draft_of(state) == draft
    return answer


async def asked(graph: SessionGraph, ports: Ports) -> list[SessionEvent]:
    return [event async for event in graph.ask(TURN, ports)]


async def test_a_repaired_error_has_every_field_of_the_repaired_statement(graph: SessionGraph) -> None:
    writer = _WriterOfDialects([written(drafted(BAD)), written(drafted(SECOND, "builtin"))])
    said = await asked(graph, fake_ports(writer))
    await is_standing(graph, drafted(SECOND, "builtin"), said, f"Repaired: {BAD}")


@pytest.mark.parametrize("author", ["model", "builtin"])
async def test_a_better_repair_has_every_field_of_the_repaired_statement(
    graph: SessionGraph, author: Author
) -> None:
    writer = _WriterOfDialects([written(drafted(FIRST)), written(drafted(SECOND, author))])
    said = await asked(graph, fake_ports(writer, checker=FakeChecker(DOUBTED)))
    await is_standing(graph, drafted(SECOND, author), said)


@pytest.mark.parametrize(
    ("second", "reasons"),
    [
        (drafted(SECOND), {**DOUBTED, "second": ["It is no better."]}),
        (drafted(BAD), DOUBTED),
        (drafted(BAD, "builtin"), DOUBTED),
        (drafted(FIRST, "builtin"), DOUBTED),
    ],
)
async def test_a_repair_that_is_worse_leaves_every_field_of_the_first_statement(
    graph: SessionGraph, second: Draft, reasons: dict[str, list[str]]
) -> None:
    writer = _WriterOfDialects([written(drafted(FIRST)), written(second)])
    said = await asked(graph, fake_ports(writer, checker=FakeChecker(reasons)))
    await is_standing(graph, drafted(FIRST), said)


async def test_a_repair_that_fails_leaves_every_field_of_the_first_statement(graph: SessionGraph) -> None:
    writer = _FailingWriter([written(drafted(FIRST))])
    said = await asked(graph, fake_ports(writer, checker=FakeChecker(DOUBTED)))
    await is_standing(graph, drafted(FIRST), said)


async def test_an_attempt_that_died_in_the_repair_goes_on_with_every_field(graph: SessionGraph) -> None:
    writer = _DyingWriter([written(drafted(FIRST)), written(drafted(SECOND))], deaths=1)
    ports = fake_ports(writer, checker=FakeChecker(DOUBTED))
    with pytest.raises(ProcessDied):
        await asked(graph, ports)
    assert (await graph.answer(TURN)).sql_pretty == drafted(FIRST).sql_pretty
    said = [event async for event in graph.resume(TURN, ports)]
    await is_standing(graph, drafted(SECOND), said)


async def test_an_attempt_that_died_in_the_analysis_emits_every_field_again(graph: SessionGraph) -> None:
    writer = _WriterOfDialects([written(drafted(FIRST)), written(drafted(SECOND))])
    ports = fake_ports(writer, checker=FakeChecker(DOUBTED), analyst=FakeAnalyst(deaths=1))
    with pytest.raises(ProcessDied):
        await asked(graph, ports)
    said = [event async for event in graph.resume(TURN, ports)]
    await is_standing(graph, drafted(SECOND), said)


async def test_a_conclusion_has_every_field_of_the_statement_that_it_rests_on(graph: SessionGraph) -> None:
    plan = Written(route="investigate", text="Look closer.", explanation="Counting.")
    ports = replace(fake_ports(FakeWriter([plan])), investigator=_Investigator({1: []}))
    await is_standing(graph, drafted(SECOND), await asked(graph, ports))


OLD: dict[str, object] = {
    "session_id": TURN.session_id,
    "db_connection_id": TURN.db_connection_id,
    "current_query": TURN.question,
    "status": "processing",
    "metadata": {},
    "created_at": TURN.session_created_at,
    "updated_at": TURN.asked_at,
    "turns": 1,
    "run_id": TURN.run_id,
    "message_id": TURN.message_id,
    "context": NO_CONTEXT,
    "remembered": [],
    "route": "sql",
    "reply": "",
    "tokens_used": 7,
    "done": {},
    "investigation": None,
    "draft_sql": FIRST,
    "author": "model",
    "understanding": {
        **drafted(FIRST).model_dump(include=set(StatementDetails.model_fields)),
        "explanation": "Counting.",
        "standalone_question": "How many are there?",
    },
    "repair": None,
}
"""State of an earlier commit behind `write_sql`."""


def test_an_old_state_with_a_repair_is_read() -> None:
    first = drafted(FIRST)
    repair = {
        "sql": FIRST,
        "sql_pretty": first.sql_pretty,
        "corrections": first.corrections,
        "cause": "warnings",
        "reasons": ["Nothing joins a to b."],
    }
    second = drafted(SECOND).model_dump(include=set(StatementDetails.model_fields) - {"dialect"})
    understanding = {**cast("dict[str, JsonValue]", OLD["understanding"]), **second}
    old = cast(
        "SessionState",
        {**OLD, "draft_sql": SECOND, "understanding": understanding, "repair": repair},
    )
    found = repair_of(old)
    assert found is not None
    assert (found.first, found.reasons) == (first.model_copy(update={"plan": ""}), ["Nothing joins a to b."])
    assert question_of(old).text == "How many are there?"
    answer = answer_of(old)
    assert (answer.sql, answer.sql_pretty, answer.dialect) == (FIRST, first.sql_pretty, first.dialect)


async def test_a_turn_that_an_earlier_commit_began_goes_on_and_the_next_one_follows(
    graph: SessionGraph,
) -> None:
    await graph.begin(TURN.session_id, cast("SessionState", OLD))
    await graph._graph.aupdate_state({"configurable": {"thread_id": TURN.session_id}}, OLD, "write_sql")
    runner = FakeRunner()
    said = [event async for event in graph.resume(TURN, fake_ports(runner=runner))]
    assert runner.ran == [FIRST]
    answer = await graph.answer(TURN)
    assert (answer.sql, answer.sql_pretty) == (FIRST, drafted(FIRST).sql_pretty)
    assert answer.explanation == "Counting."
    assert [event.sql_pretty for event in said if isinstance(event, SqlChunk)] == [drafted(FIRST).sql_pretty]
    following = replace(TURN, run_id="r2", message_id="m2")
    writer = FakeWriter([written(drafted(SECOND))])
    [_ async for _ in graph.ask(following, fake_ports(writer))]
    assert writer.asked[0].previous_sql == FIRST
    answer = await graph.answer(following)
    assert (answer.sql, answer.sql_pretty) == (SECOND, drafted(SECOND).sql_pretty)
