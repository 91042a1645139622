"""Several statements for one question: the result that most of them agree on wins."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from app.modules.database_connection.cells import bag_of
from app.modules.database_connection.results import ResultColumn, ResultSet
from app.modules.sql_generation.candidates import Candidates, Tried
from graph.events import SessionEvent, Status
from graph.ports import Question, Written

FAILS = None


@dataclass
class Database:
    """Gives each statement its result; notes what ran."""

    results: dict[str, Tried | None]
    ran: list[str] = field(default_factory=list)

    async def try_out(self, question: Question, sql: str) -> Tried | None:
        self.ran.append(sql)
        return self.results[sql]


def fine(key: str) -> Tried:
    return Tried(key, has_warnings=False)


def doubtful(key: str) -> Tried:
    return Tried(key, has_warnings=True)


async def chosen(
    replies: Sequence[Written | None], database: Database, said: list[SessionEvent] | None = None
) -> Written:
    """Of replies of which the first has been written."""
    first, *others = replies
    assert first is not None

    async def write_another() -> Written | None:
        return others.pop(0)

    candidates = Candidates(len(replies), database.try_out, "sqlite", "r1")
    emit = (said if said is not None else []).append
    return await candidates.choose(Question(text="How many?"), first, write_another, emit=emit)


def statement(sql: str) -> Written:
    return Written(route="sql", text=sql, tokens_used=10)


@pytest.mark.parametrize(
    ("results", "winner"),
    [
        ([fine("x"), fine("y"), fine("y")], "SELECT 2"),
        ([fine("x"), fine("y"), fine("z")], "SELECT 1"),
        ([FAILS, fine("y"), fine("z")], "SELECT 2"),
        ([FAILS, FAILS, FAILS], "SELECT 1"),
        ([doubtful("x"), doubtful("x"), fine("z")], "SELECT 3"),
        ([doubtful("x"), doubtful("y"), doubtful("y")], "SELECT 2"),
    ],
)
async def test_the_first_statement_of_the_result_with_most_votes_wins(
    results: list[Tried | None], winner: str
) -> None:
    statements = [f"SELECT {number}" for number in (1, 2, 3)]
    database = Database(dict(zip(statements, results, strict=True)))
    assert (await chosen([*map(statement, statements)], database)).text == winner


async def test_equal_statements_run_once_and_vote_each() -> None:
    database = Database({"SELECT a": fine("x"), "SELECT b": fine("y")})
    replies = [statement("SELECT a"), statement("SELECT b"), statement("select  B;")]
    assert (await chosen(replies, database)).text == "SELECT b"
    assert sorted(database.ran) == ["SELECT a", "SELECT b"]


async def test_what_is_no_statement_has_no_vote_but_its_tokens_count() -> None:
    database = Database({"SELECT a": fine("x")})
    winner = await chosen(
        [statement("SELECT a"), Written(route="chat", text="Hm.", tokens_used=5), None], database
    )
    assert (winner.text, winner.tokens_used) == ("SELECT a", 15)
    assert database.ran == ["SELECT a"]


async def test_the_user_sees_that_statements_are_compared() -> None:
    said: list[SessionEvent] = []
    await chosen([statement("SELECT a"), statement("SELECT a")], Database({"SELECT a": fine("x")}), said)
    assert [each.message for each in said if isinstance(each, Status)] == [
        "Writing 1 more statements, to compare their results",
        "Comparing the results of 2 statements",
    ]


async def test_cancelling_ends_all_that_is_under_way() -> None:
    ended = asyncio.Event()
    under_way = asyncio.Event()

    async def write_another() -> Written | None:
        under_way.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return None

    candidates = Candidates(2, Database({}).try_out, "sqlite", "r1")
    choosing = asyncio.create_task(
        candidates.choose(Question(text="?"), statement("SELECT a"), write_another, emit=lambda _: None)
    )
    await asyncio.wait_for(under_way.wait(), 30)
    choosing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await choosing
    assert ended.is_set()


def test_results_are_equal_in_any_order_and_up_to_the_noise_of_sums() -> None:
    columns = (ResultColumn("n", "number"), ResultColumn("t", "text"))
    one = ResultSet(columns, [[0.1 + 0.2, "a"], [2, "b"], [2, "b"]], truncated=False)
    other = ResultSet(columns, [[2.0, "b"], [0.3, "a"], [2, "b"]], truncated=False)
    fewer = ResultSet(columns, [[2.0, "b"], [0.3, "a"]], truncated=False)
    assert bag_of(one) == bag_of(other) != bag_of(fewer)
