"""A statement whose call has asked runs only once it is approved, and its call says how it ended."""

from dataclasses import dataclass, field

import pytest

from app.core.ids import new_id
from app.core.storage.sqlite import SqliteStorage
from app.modules.database_connection.model import Connection
from app.modules.records.model import Run
from app.modules.records.steps import CallRecord, CallStatus, InvestigationRecords
from app.modules.run.statement_approval import RunStatementAsker, StatementApprovals
from graph.errors import StatementFailed, StatementNotApproved
from graph.events import SessionEvent, ToolReturned
from graph.state import Rows, ToolCallRef

SQL = "SELECT count(*) AS n FROM orders"
ROWS = Rows(columns=[{"name": "n", "type": "integer"}], rows=[[7]], row_count=1, truncated=False)
CONNECTION = Connection(
    id="c",
    owner="o",
    name="Shop",
    description="",
    dialect="postgres",
    masked_url="",
    encrypted_url="",
    created_at=0,
)


@dataclass
class Database:
    """Counts the statements that reach it."""

    fails: bool = False
    ran: int = 0

    async def run(self, sql: str, *, is_approved: bool) -> Rows:
        assert (sql, is_approved) == (SQL, True)
        self.ran += 1
        if self.fails:
            raise StatementFailed("Division by zero.")
        return ROWS


@dataclass
class Asked:
    """A statement of a new run, whose call waits."""

    records: InvestigationRecords
    database: Database = field(default_factory=Database)
    emitted: list[SessionEvent] = field(default_factory=list)

    def __post_init__(self) -> None:
        message = new_id()
        run = Run(id=new_id(), owner="o", session_id="s", message_id=message, question="q", created_at=0)
        self.asker = RunStatementAsker(
            approvals=StatementApprovals(self.records, minutes=5),
            connection=CONNECTION,
            runner=self.database,
            run_of=run,
        )

    async def ask(self) -> CallRecord:
        self.call: ToolCallRef = await self.asker.ask(SQL, "It is large.", 1, emit=self.emitted.append)
        (waiting,) = await self.asker.find_undecided([self.call], self.emitted.append)
        found = await self.records.call(waiting)
        assert found is not None
        return found

    async def run(self) -> Rows:
        return await self.asker.run(self.call, SQL, self.emitted.append)

    async def stored(self) -> CallRecord:
        found = await self.records.call(self.call["id"])
        assert found is not None
        return found


@pytest.fixture
def records(storage: SqliteStorage) -> InvestigationRecords:
    return InvestigationRecords(storage)


async def test_a_call_that_is_not_approved_runs_nothing_whatever_its_status(
    records: InvestigationRecords,
) -> None:
    statuses: list[CallStatus] = ["proposed", "waiting", "denied", "expired", "withdrawn"]
    for status in statuses:
        asked = Asked(records)
        waiting = await asked.ask()
        asked_at = None if status == "proposed" else waiting.asked_at
        await records.change_call(waiting, {"status": status, "asked_at": asked_at}, was=("waiting",))
        with pytest.raises(StatementNotApproved):
            await asked.run()
        assert asked.database.ran == 0, status


async def test_an_approved_statement_ends_its_call_and_runs_again_only_for_another_attempt(
    records: InvestigationRecords,
) -> None:
    asked = Asked(records)
    await records.approve(await asked.ask(), "key", None)
    assert await asked.run() == ROWS
    ended = await asked.stored()
    assert (ended.status, ended.text, ended.begun_at is not None) == ("done", "1 row.", True)
    assert await asked.run() == ROWS  # an attempt that has not known of it
    returned = [each for each in asked.emitted if isinstance(each, ToolReturned)]
    assert [each.status for each in returned] == ["done"]


async def test_an_approved_statement_that_fails_is_no_call_that_was_never_made(
    records: InvestigationRecords,
) -> None:
    asked = Asked(records, Database(fails=True))
    await records.approve(await asked.ask(), "key", None)
    with pytest.raises(StatementFailed, match="Division by zero"):
        await asked.run()
    await records.settle(asked.asker.run_of.message_id, 1)
    ended = await asked.stored()
    assert (ended.status, ended.text, ended.is_error) == ("failed", "Division by zero.", True)
    (returned,) = [each for each in asked.emitted if isinstance(each, ToolReturned)]
    assert (returned.status, returned.content, returned.is_error) == ("failed", "Division by zero.", True)
