"""A turn through the graph: what it says, what it remembers, and what survives its death."""

import asyncio
import re
import sys
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from pathlib import Path

import ormsgpack
import pytest
from cryptography.fernet import Fernet
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from app.core.secrets import ClearCheckpoints
from graph import SessionEvent, SessionGraph, Turn
from graph.answer import Draft, Repair
from graph.checkpoints import Checkpointer, sqlite_checkpointer
from graph.errors import StatementFailed
from graph.events import AnalysisChunk, ClarificationChunk, Reset, ResultsChunk, SqlChunk, Status
from graph.ports import Summarized, Written
from graph.state import Author, Option, PastExchange, Rows
from tests.fakes import (
    ROWS,
    TURN,
    DyingWriter,
    FailingWriter,
    FakeAnalyst,
    FakeChecker,
    FakeProfile,
    FakeResults,
    FakeRunner,
    FakeStepObserver,
    FakeSummarizer,
    FakeWriter,
    ProcessDied,
    fake_ports,
)


class _EndlessSummarizer(FakeSummarizer):
    async def summarize(self, summary: str | None, exchanges: Sequence[PastExchange]) -> Summarized:
        await asyncio.Event().wait()
        raise AssertionError


ALL_ROWS = Rows(**{**ROWS, "rows": [[3], [4]], "row_count": 2})
"""Of the result whose head is `ROWS`."""

summarizing = sys.modules["graph.nodes.summarize"]

CIPHER = ClearCheckpoints(Fernet.generate_key())


@pytest.fixture
async def saver(tmp_path: Path) -> AsyncGenerator[Checkpointer]:
    async with sqlite_checkpointer(tmp_path / "checkpoints.db", CIPHER) as opened:
        yield opened


@pytest.fixture
def graph(saver: Checkpointer) -> SessionGraph:
    return SessionGraph(saver)


def turn(number: int) -> Turn:
    return replace(TURN, run_id=f"r{number}", message_id=f"m{number}", question=f"Question {number}")


def kinds(events: list[SessionEvent]) -> list[str]:
    return [
        event.step if isinstance(event, Status) else getattr(event, "type", event.event) for event in events
    ]


async def test_a_data_question_goes_through_every_step(graph: SessionGraph) -> None:
    said = [event async for event in graph.ask(TURN, fake_ports())]
    assert kinds(said) == [
        *("loading_context", "generating_sql", "text", "sql", "executing_sql", "results"),
        *("analyzing", "text", "headline", "analysis", "references", "suggestions"),
    ]
    answer = await graph.answer(TURN)
    assert (answer.sql, answer.results, answer.tokens_used) == ("SELECT 3 AS n", ROWS, 15)


@pytest.mark.parametrize(
    ("route", "chunk"),
    [("clarify", ClarificationChunk(content="Which?")), ("chat", AnalysisChunk(content="Which?"))],
)
async def test_what_needs_no_data_runs_no_statement(
    graph: SessionGraph, route: str, chunk: SessionEvent
) -> None:
    runner = FakeRunner()
    written = Written(route="clarify" if route == "clarify" else "chat", text="Which?")
    said = [event async for event in graph.ask(TURN, fake_ports(FakeWriter([written]), runner))]
    assert chunk in said
    assert runner.ran == []


OPTIONS: list[Option] = [
    {"label": "revenue", "question": "Best customers by revenue"},
    {"label": "orders", "question": "Best customers by number of orders"},
]


async def test_the_profile_is_shown_in_a_turn_and_is_in_no_checkpoint(graph: SessionGraph) -> None:
    profile = FakeProfile("## About the user\nLikes zebras.")
    writer = FakeWriter([Written(route="sql", text="SELECT bad"), Written(route="sql", text="SELECT 3 AS n")])
    analyst = FakeAnalyst()
    [_ async for _ in graph.ask(TURN, fake_ports(writer, analyst=analyst, profile=profile))]
    assert [each.profile for each in writer.asked] == [profile.section, ""]
    assert [each.profile for each in analyst.asked] == [profile.section]
    for checkpoint in await graph.checkpoints(TURN.session_id, limit=100):
        assert "zebra" not in str(await graph.state_at(TURN.session_id, checkpoint.id))


async def test_every_call_of_a_port_is_observed_as_its_step(graph: SessionGraph) -> None:
    observer = FakeStepObserver()
    writer = FakeWriter([Written(route="sql", text="SELECT bad"), Written(route="sql", text="SELECT 3 AS n")])
    [_ async for _ in graph.ask(TURN, fake_ports(writer, observer=observer))]
    assert observer.observed == [
        ("loading_context", {}),
        ("generating_sql", {"kai.route": "sql"}),
        ("executing_sql", {"error": "StatementFailed"}),
        ("repairing_sql", {"kai.route": "sql"}),
        ("executing_sql", {}),
        ("analyzing", {}),
    ]


async def test_the_options_of_a_question_back_are_emitted_and_known_to_the_next_turn(
    graph: SessionGraph,
) -> None:
    writer = FakeWriter(
        [
            Written(route="clarify", text="By what?", options=OPTIONS),
            Written(route="sql", text="SELECT 3 AS n"),
        ]
    )
    said = [event async for event in graph.ask(turn(1), fake_ports(writer))]
    assert ClarificationChunk(content="By what?", options=OPTIONS) in said
    assert list((await graph.answer(turn(1))).options) == OPTIONS
    again = [event async for event in graph.resume(turn(1), fake_ports(writer))]
    assert ClarificationChunk(content="By what?", options=OPTIONS) in again
    [_ async for _ in graph.ask(turn(2), fake_ports(writer))]
    assert writer.asked[-1].options == OPTIONS
    assert list((await graph.answer(turn(2))).options) == []
    [_ async for _ in graph.ask(turn(3), fake_ports(writer))]
    assert writer.asked[-1].options == []


async def test_a_follow_up_is_about_the_latest_answer_and_its_author(graph: SessionGraph) -> None:
    builtin, by_model = (
        Written(route="sql", text="SELECT 3 AS n", author="builtin"),
        Written(route="sql", text="SELECT 3 AS n"),
    )
    back, talk = Written(route="clarify", text="Which?"), Written(route="chat", text="You are welcome.")
    writer = FakeWriter([builtin, by_model, back, builtin, talk, builtin])
    for number in range(1, 7):
        [_ async for _ in graph.ask(turn(number), fake_ports(writer))]
    assert [asked.alone for asked in writer.asked] == [True, *[False] * 5]
    assert [asked.antecedent for asked in writer.asked] == [
        None,
        "builtin",
        "model",
        None,
        "builtin",
        "builtin",
    ]


async def test_a_follow_up_is_about_nothing_after_a_turn_that_failed(graph: SessionGraph) -> None:
    builtin, bad = (
        Written(route="sql", text="SELECT 3 AS n", author="builtin"),
        Written(route="sql", text="SELECT bad"),
    )
    [_ async for _ in graph.ask(turn(1), fake_ports(FakeWriter([builtin])))]
    with pytest.raises(StatementFailed):
        [_ async for _ in graph.ask(turn(2), fake_ports(FakeWriter([bad])))]
    writer = FakeWriter([builtin])
    [_ async for _ in graph.ask(turn(3), fake_ports(writer))]
    assert (writer.asked[0].antecedent, writer.asked[0].alone) == (None, False)
    [_ async for _ in graph.ask(turn(4), fake_ports(writer))]
    assert writer.asked[1].antecedent == "builtin"


async def test_a_failed_statement_comes_back_to_its_writer_with_its_error(graph: SessionGraph) -> None:
    writer = FakeWriter([Written(route="sql", text="SELECT bad"), Written(route="sql", text="SELECT 3 AS n")])
    said = [event async for event in graph.ask(TURN, fake_ports(writer))]
    assert kinds(said).count("repairing_sql") == 1
    repairing = next(event for event in said if isinstance(event, Status) and event.step == "repairing_sql")
    assert (repairing.failed_sql, repairing.error) == ("SELECT bad", "no such column: bad")
    first = Draft(sql="SELECT bad", dialect="sqlite")
    assert writer.asked[1].repair == Repair(first=first, cause="error", reasons=["no such column: bad"])


async def test_after_one_repair_it_gives_up_with_the_error_of_the_second_statement(
    graph: SessionGraph,
) -> None:
    writer = FakeWriter(
        [Written(route="sql", text="SELECT bad"), Written(route="sql", text="SELECT bad, worse")]
    )
    with pytest.raises(StatementFailed, match="no such column: bad"):
        [event async for event in graph.ask(TURN, fake_ports(writer))]
    assert len(writer.asked) == 2


async def test_a_repair_that_says_the_same_is_not_run_again(graph: SessionGraph) -> None:
    writer, runner = FakeWriter([Written(route="sql", text="SELECT bad")]), FakeRunner()
    with pytest.raises(StatementFailed, match="no such column: bad"):
        [event async for event in graph.ask(TURN, fake_ports(writer, runner))]
    assert len(writer.asked) == 2
    assert runner.refused == ["SELECT bad"]


async def test_a_repair_keeps_how_the_question_was_understood(graph: SessionGraph) -> None:
    first = Written(
        route="sql",
        text="SELECT bad",
        explanation="Norway's customers.",
        standalone_question="Customers in Norway?",
    )
    writer = FakeWriter(
        [first, Written(route="sql", text="SELECT 3 AS n", explanation="Here is the repaired statement.")]
    )
    [_ async for _ in graph.ask(TURN, fake_ports(writer))]
    answer = await graph.answer(TURN)
    assert (answer.explanation, answer.standalone_question) == ("Norway's customers.", "Customers in Norway?")
    assert writer.asked[1].text == "Customers in Norway?"


FIRST, SECOND = (
    Written(route="sql", text="SELECT first", sql_pretty="First", explanation="Counting.", tokens_used=10),
    Written(route="sql", text="SELECT second", sql_pretty="Second", explanation="", tokens_used=10),
)
DOUBTED = {"first": ["Nothing joins a to b."]}


async def test_a_result_with_warnings_is_repaired_once_and_said_once(graph: SessionGraph) -> None:
    writer, runner = FakeWriter([FIRST, SECOND]), FakeRunner()
    ports = fake_ports(writer, runner, checker=FakeChecker(DOUBTED))
    said = [event async for event in graph.ask(TURN, ports)]
    assert kinds(said) == [
        *("loading_context", "generating_sql", "text", "sql", "executing_sql"),
        *("repairing_sql", "text", "sql", "executing_sql", "results"),
        *("analyzing", "text", "headline", "analysis", "references", "suggestions"),
    ]
    repairing = next(each for each in said if isinstance(each, Status) and each.step == "repairing_sql")
    assert "Nothing joins a to b." in repairing.message
    answer = await graph.answer(TURN)
    assert runner.stored == ["SELECT first", "SELECT second"]
    assert (answer.sql, answer.sql_pretty) == ("SELECT second", "Second")


@pytest.mark.parametrize(
    ("second", "reasons"),
    [
        (Written(route="sql", text="SELECT bad"), DOUBTED),
        (Written(route="sql", text="SELECT first"), DOUBTED),
        (Written(route="clarify", text="Which?"), DOUBTED),
        (Written(route="rows", text=""), DOUBTED),
        (SECOND, {**DOUBTED, "second": ["It is no better."]}),
    ],
)
async def test_a_repair_that_is_no_better_leaves_the_first_answer(
    graph: SessionGraph, second: Written, reasons: dict[str, list[str]]
) -> None:
    runner = FakeRunner()
    ports = fake_ports(FakeWriter([FIRST, second]), runner, checker=FakeChecker(reasons))
    said = [event async for event in graph.ask(TURN, ports)]
    answer = await graph.answer(TURN)
    assert (answer.sql, answer.explanation, answer.results) == ("SELECT first", "Counting.", ROWS)
    assert runner.stored == ["SELECT first"]
    statements = [(event.content, event.sql_pretty) for event in said if isinstance(event, SqlChunk)]
    assert statements[-1] == (answer.sql, answer.sql_pretty) == ("SELECT first", "First")
    assert kinds(said).count("results") == kinds(said).count("repairing_sql") == 1


async def test_a_model_that_fails_while_repairing_warnings_leaves_the_first_answer(
    graph: SessionGraph,
) -> None:
    ports = fake_ports(FailingWriter([FIRST]), checker=FakeChecker(DOUBTED))
    said = [event async for event in graph.ask(TURN, ports)]
    assert kinds(said)[-1] == "suggestions"
    assert (await graph.answer(TURN)).sql == "SELECT first"


@pytest.mark.parametrize("author", ["builtin", "verified", "user"])
async def test_only_statements_of_a_model_are_repaired_for_warnings(
    graph: SessionGraph, author: Author
) -> None:
    writer = FakeWriter([FIRST.model_copy(update={"author": author})])
    said = [event async for event in graph.ask(TURN, fake_ports(writer, checker=FakeChecker(DOUBTED)))]
    assert "repairing_sql" not in kinds(said)


async def test_a_repaired_error_is_not_repaired_again_for_warnings(graph: SessionGraph) -> None:
    writer = FakeWriter([Written(route="sql", text="SELECT bad"), FIRST])
    said = [event async for event in graph.ask(TURN, fake_ports(writer, checker=FakeChecker(DOUBTED)))]
    assert kinds(said).count("repairing_sql") == 1
    assert (await graph.answer(TURN)).sql == "SELECT first"


async def test_a_turn_that_died_while_repairing_warnings_goes_on_with_the_first_result_at_hand(
    graph: SessionGraph,
) -> None:
    ports = fake_ports(DyingWriter([FIRST, SECOND], deaths=1), checker=FakeChecker(DOUBTED))
    with pytest.raises(ProcessDied):
        [event async for event in graph.ask(TURN, ports)]
    answer = await graph.answer(TURN)
    assert (answer.sql, answer.sql_pretty, answer.results) == ("SELECT first", "First", ROWS)
    said = [event async for event in graph.resume(TURN, ports)]
    assert kinds(said)[:6] == ["reset", "repairing_sql", "text", "sql", "executing_sql", "results"]
    assert (await graph.answer(TURN)).sql == "SELECT second"


async def test_a_failed_turn_leaves_the_previous_answer_for_follow_ups(graph: SessionGraph) -> None:
    [_ async for _ in graph.ask(turn(1), fake_ports())]
    with pytest.raises(StatementFailed):
        [
            _
            async for _ in graph.ask(
                turn(2), fake_ports(FakeWriter([Written(route="sql", text="SELECT bad")]))
            )
        ]
    writer = FakeWriter()
    [_ async for _ in graph.ask(turn(3), fake_ports(writer))]
    assert (writer.asked[0].previous_sql, writer.asked[0].previous_rows) == ("SELECT 3 AS n", ROWS)
    assert [each["query"] for each in writer.asked[0].exchanges] == ["Question 1"]


async def test_a_turn_that_died_goes_on_after_its_last_completed_step(graph: SessionGraph) -> None:
    writer, runner, analyst = FakeWriter(), FakeRunner(), FakeAnalyst(deaths=1)
    ports = fake_ports(writer, runner, analyst)
    with pytest.raises(ProcessDied):
        [event async for event in graph.ask(TURN, ports)]
    said = [event async for event in graph.resume(TURN, ports)]
    assert isinstance(said[0], Reset)
    assert [type(event) for event in said[1:3]] == [SqlChunk, ResultsChunk]
    assert kinds(said)[3:] == ["analyzing", "text", "headline", "analysis", "references", "suggestions"]
    assert (len(writer.asked), runner.ran) == (1, ["SELECT 3 AS n"])


async def test_a_turn_that_died_in_another_process_takes_the_rows_that_were_stored(
    graph: SessionGraph, saver: Checkpointer
) -> None:
    writer, runner, analyst = FakeWriter(), FakeRunner(), FakeAnalyst(deaths=1)
    ports = fake_ports(writer, runner, analyst)
    with pytest.raises(ProcessDied):
        [event async for event in graph.ask(TURN, ports)]
    said = [event async for event in SessionGraph(saver).resume(TURN, ports)]
    assert [type(event) for event in said[:3]] == [Reset, SqlChunk, ResultsChunk]
    assert kinds(said)[3:] == ["analyzing", "text", "headline", "analysis", "references", "suggestions"]
    assert (len(writer.asked), runner.ran) == (1, ["SELECT 3 AS n"])


async def test_the_analyst_reads_all_rows_of_which_the_state_keeps_the_head(graph: SessionGraph) -> None:
    analyst, results = FakeAnalyst(), FakeResults({"m1": ALL_ROWS})
    [_ async for _ in graph.ask(turn(1), fake_ports(analyst=analyst, results=results))]
    assert analyst.read == [ALL_ROWS]
    assert (await graph.answer(turn(1))).results == ROWS


async def test_a_follow_up_about_rows_already_fetched_reads_those_of_their_own_message(
    graph: SessionGraph,
) -> None:
    analyst, results = FakeAnalyst(), FakeResults({"m1": ALL_ROWS})
    [_ async for _ in graph.ask(turn(1), fake_ports())]
    writer = FakeWriter([Written(route="chat", text="You are welcome.")])
    [_ async for _ in graph.ask(turn(2), fake_ports(writer))]
    writer = FakeWriter([Written(route="rows", text="")])
    [_ async for _ in graph.ask(turn(3), fake_ports(writer, analyst=analyst, results=results))]
    assert (results.read_of, analyst.read) == (["m1"], [ALL_ROWS])
    assert (await graph.answer(turn(3))).results is None


async def test_a_resumed_turn_reads_all_rows_too(graph: SessionGraph) -> None:
    analyst, results = FakeAnalyst(deaths=1), FakeResults({"m1": ALL_ROWS})
    ports = fake_ports(analyst=analyst, results=results)
    with pytest.raises(ProcessDied):
        [_ async for _ in graph.ask(TURN, ports)]
    [_ async for _ in graph.resume(TURN, ports)]
    assert analyst.read == [ALL_ROWS]


async def test_resuming_a_turn_of_which_nothing_is_stored_asks_it_again(graph: SessionGraph) -> None:
    said = [event async for event in graph.resume(TURN, fake_ports())]
    assert kinds(said)[:2] == ["reset", "loading_context"]
    assert (await graph.answer(TURN)).analysis is not None


async def test_resuming_a_turn_that_was_complete_says_its_answer_again(graph: SessionGraph) -> None:
    asked = [event async for event in graph.ask(TURN, fake_ports())]
    again = [event async for event in graph.resume(TURN, fake_ports())]
    assert kinds(again) == ["reset", "sql", "results", "headline", "analysis", "references", "suggestions"]
    assert [event for event in again[1:] if event not in asked] == []


async def test_six_exchanges_are_folded_to_three_and_a_summary(graph: SessionGraph) -> None:
    writer = FakeWriter()
    for number in range(6):
        [_ async for _ in graph.ask(turn(number), fake_ports())]
    [_ async for _ in graph.ask(turn(6), fake_ports(writer))]
    assert writer.asked[0].summary == "Asked: Question 0, Question 1, Question 2"
    assert [each["query"] for each in writer.asked[0].exchanges] == ["Question 3", "Question 4", "Question 5"]


async def test_summaries_fold_in_batches_and_nothing_is_in_neither(graph: SessionGraph) -> None:
    writer, summarizer = FakeWriter(), FakeSummarizer()
    for number in range(30):
        [_ async for _ in graph.ask(turn(number), fake_ports(writer, summarizer=summarizer))]
    assert summarizer.calls == [f"m{number}" for number in range(5, 30, 3)]
    for number, question in enumerate(writer.asked):
        known = [question.summary or "", *(each["query"] for each in question.exchanges)]
        assert [str(n) for n in range(number)] == re.findall(r"\d+", " ".join(known))


async def test_a_failed_summary_is_tried_again_at_the_next_turn_only(graph: SessionGraph) -> None:
    writer, summarizer = FakeWriter(), FakeSummarizer(failures=1)
    for number in range(12):
        [_ async for _ in graph.ask(turn(number), fake_ports(writer, summarizer=summarizer))]
    assert summarizer.calls == ["m5", "m6", "m11"]
    assert len(writer.asked[6].exchanges) == 6
    assert writer.asked[7].summary == "Asked: Question 0, Question 1, Question 2, Question 3"


async def test_a_summary_that_takes_too_long_does_not_end_the_turn(
    graph: SessionGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summarizing, "SECONDS", 0.01)
    for number in range(6):
        [_ async for _ in graph.ask(turn(number), fake_ports(summarizer=_EndlessSummarizer()))]
    assert (await graph.answer(turn(5))).analysis is not None
    writer = FakeWriter()
    [_ async for _ in graph.ask(turn(6), fake_ports(writer))]
    assert len(writer.asked[0].exchanges) == 6


async def test_while_summaries_fail_the_oldest_exchanges_become_a_digest(
    graph: SessionGraph, caplog: pytest.LogCaptureFixture
) -> None:
    writer, summarizer = FakeWriter(), FakeSummarizer(failures=1_000)
    said: list[SessionEvent] = []
    for number in range(60):
        said += [event async for event in graph.ask(turn(number), fake_ports(writer, summarizer=summarizer))]
    assert len(summarizer.calls) <= 20
    assert max(len(question.exchanges) for question in writer.asked) <= 9
    known = [writer.asked[-1].summary or "", *(each["query"] for each in writer.asked[-1].exchanges)]
    assert [str(n) for n in range(59)] == re.findall(r"\d+", " ".join(known))
    assert "The summary failed twice; older exchanges are kept in short lines" in {
        event.message for event in said if isinstance(event, Status)
    }
    assert "session s1: the summary failed twice; 4 exchanges are kept as a digest" in caplog.text


async def test_long_exchanges_are_summarized_sooner_but_no_more_often(graph: SessionGraph) -> None:
    summarizer = FakeSummarizer()
    for number in range(16):
        long = replace(turn(number), question=f"Question {number} " + "why " * 1_000)
        [_ async for _ in graph.ask(long, fake_ports(summarizer=summarizer))]
    assert summarizer.calls == ["m3", "m6", "m9", "m12", "m15"]


async def test_a_checkpoint_does_not_grow_with_the_conversation(
    graph: SessionGraph, saver: Checkpointer
) -> None:
    sizes = []
    for number in range(20):
        [_ async for _ in graph.ask(turn(number), fake_ports())]
        kept = await saver.aget({"configurable": {"thread_id": "s1"}})
        sizes.append(len(JsonPlusSerializer().dumps_typed(kept)[1]))
    assert max(sizes[7:]) < 1.2 * max(sizes[:7]) + 500


async def test_a_tampered_checkpoint_cannot_run_code(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    # What LangGraph's serializer would rebuild by calling os.system, unless the class has to be allowed.
    call = ormsgpack.packb(["os", "system", f"touch {mark}"])
    tampered = ("msgpack", ormsgpack.packb(ormsgpack.Ext(0, call)))
    async with sqlite_checkpointer(tmp_path / "checkpoints.db", CIPHER) as saver:
        saver.serde.loads_typed(tampered)
    assert not mark.exists()
    JsonPlusSerializer(allowed_msgpack_modules=True).loads_typed(tampered)
    assert mark.exists()


async def test_a_deleted_session_leaves_no_checkpoint(graph: SessionGraph, saver: Checkpointer) -> None:
    [_ async for _ in graph.ask(TURN, fake_ports())]
    await graph.forget("s1")
    assert await saver.aget({"configurable": {"thread_id": "s1"}}) is None
    assert await graph.checkpoints("s1", limit=10) == []


async def test_a_fork_goes_its_own_way(graph: SessionGraph) -> None:
    [_ async for _ in graph.ask(turn(1), fake_ports())]
    [_ async for _ in graph.ask(turn(2), fake_ports())]
    first = [each for each in await graph.checkpoints("s1", limit=50) if not each.next_steps][-1]
    state = await graph.state_at("s1", first.id)
    assert state is not None
    await graph.begin("s2", state)
    writer = FakeWriter()
    [_ async for _ in graph.ask(replace(turn(3), session_id="s2"), fake_ports(writer))]
    assert [each["query"] for each in writer.asked[0].exchanges] == ["Question 1"]
    assert await graph.state_at("s1", "01970000-0000-7000-8000-000000000000") is None
