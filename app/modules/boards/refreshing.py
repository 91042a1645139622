"""Refreshing of pins: the same statement runs again under the same guard and limits, without a model.

A pin is marked before its statement waits, so that every process and every reader sees that it runs. The
mark of a process that has died is ignored after a while.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Literal, get_args
from weakref import WeakValueDictionary

from prometheus_client import CollectorRegistry, Counter
from pydantic import JsonValue

from app.core.auth.caller import current_database_claim
from app.core.clock import now_ms
from app.core.llm.calls import metered
from app.core.storage.port import Equals, StorageUnavailable
from app.core.tasks import end_tasks
from app.modules.boards.drawing import result_of_pin
from app.modules.boards.model import Board, Pin, PinFailure, PinPeriod
from app.modules.boards.period import Days, NotByPeriod, PeriodStatement
from app.modules.boards.repository import BoardRepository
from app.modules.database_connection.errors import ConnectionNotFound, DatabaseBytesSpent, PersonUnknown
from app.modules.database_connection.model import Connection
from app.modules.database_connection.roles import DatabaseRoleMissing
from app.modules.database_connection.service import DatabaseConnections
from app.modules.database_connection.statement_audit import Asker, Purpose
from app.modules.run.messages import metered_cost
from graph.answer import DatabaseCost
from graph.errors import DatabaseUnavailable, StatementFailed, StatementTimedOut
from graph.state import Rows

logger = logging.getLogger(__name__)

AT_ONCE = 4
"""Statements of an owner's boards that run at a time, in a process."""

_LOOK_SECONDS = 1.0

_Outcome = Literal["current", "failed", "no_right"]

_REPAIR = (
    "The statement no longer fits the database: a table or a column may have been renamed or removed. Run it "
    "in a session about this database, correct it there, and pin the answer in place of this one."
)
_CHEAPER = "Run it in a session, make it cheaper there, and pin the answer in place of this one."


class Refreshing:
    """Refreshes pins in the background. `close` ends it."""

    def __init__(
        self, repository: BoardRepository, connections: DatabaseConnections, metrics: CollectorRegistry
    ) -> None:
        self._repository = repository
        self._connections = connections
        self._refreshed = Counter(
            "kai_pin_refreshes", "Refreshes of pins that ended, by outcome", ["outcome"], registry=metrics
        )
        for outcome in get_args(_Outcome):
            self._refreshed.labels(outcome)  # an increase from nothing would not be seen
        self._lanes: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        """By owner."""
        self._running: dict[asyncio.Task[None], Pin] = {}

    async def start(self, board: Board, pins: Sequence[Pin]) -> None:
        """Mark pins of a board and begin; of a pin that is being refreshed nothing is begun."""
        now = now_ms()
        for pin in pins:
            if not pin.is_running(now):
                same = [Equals("refreshing_since", pin.refreshing_since)]
                marked = await self._repository.change_pin(pin, {"refreshing_since": now}, same)
                if marked is not None:
                    self._begin(board, marked)

    async def refresh(self, board: Board, pin: Pin) -> Pin | None:
        """Refresh a pin for a schedule, in place of a refresh that is under way, and wait for it. If another
        one has taken its place, wait for that one.

        Returns the pin as it is afterwards. Returns None if it is gone. Raises `StorageUnavailable`.
        """
        while (marked := await self._repository.change_pin(pin, {"refreshing_since": now_ms()})) is not None:
            await self._refresh_in(self._lane(pin), board, marked, purpose="schedule")
            after = await self._waited_for(pin)
            if after is None or after.refreshing_since is None:
                return after
        return None

    async def _waited_for(self, pin: Pin) -> Pin | None:
        """Returns the pin once no living process refreshes it. Returns None if it is gone."""
        while True:
            found = await self._repository.find_pin(pin.id)
            if found is None or not found.is_running(now_ms()):
                return found
            await asyncio.sleep(_LOOK_SECONDS)

    async def close(self) -> None:
        """Stop the statements. Their pins say that the server was stopped."""
        stopped = dict(self._running)
        await end_tasks(stopped)
        for pin in stopped.values():
            try:
                await self._fail(pin, _not_refreshed("The server was stopped meanwhile."))
            except StorageUnavailable as error:
                logger.info("pin %s stays marked as running: %s", pin.id, error)

    def _begin(self, board: Board, pin: Pin) -> None:
        refreshing = self._refresh_behind(board, pin)
        task = asyncio.create_task(refreshing, name=f"boards: refresh pin {pin.id}")
        self._running[task] = pin
        task.add_done_callback(lambda done: self._running.pop(done, None))

    def _lane(self, pin: Pin) -> asyncio.Semaphore:
        return self._lanes.setdefault(pin.owner, asyncio.Semaphore(AT_ONCE))

    async def _refresh_behind(self, board: Board, pin: Pin) -> None:
        """Refresh a pin for which nothing waits."""
        try:
            await self._refresh_in(self._lane(pin), board, pin, purpose="board")
        except StorageUnavailable as error:
            logger.warning("pin %s was not refreshed: %s", pin.id, error)

    async def _refresh_in(self, lane: asyncio.Semaphore, board: Board, pin: Pin, *, purpose: Purpose) -> None:
        async with lane:
            try:
                await self._refresh(board, pin, purpose)
            except StorageUnavailable:
                raise
            except Exception:
                logger.exception("pin %s was not refreshed", pin.id)
                await self._fail(pin, _not_refreshed("KAI failed. Its log says why."))

    async def _refresh(self, board: Board, pin: Pin, purpose: Purpose) -> None:
        connection = await self._connection_of(pin)
        if connection is None:
            return
        asker = Asker(owner=pin.owner, purpose=purpose, claim=current_database_claim())
        rights: str | None = None
        try:
            rights = self._connections.rights_on(connection)
            with metered() as meter:
                if board.period_days is None:
                    rows, period = await self._run(connection, pin.sql, asker), None
                else:
                    rows, period = await self._run_for(connection, pin, board.period_days, asker=asker)
        except (StatementFailed, DatabaseUnavailable, DatabaseRoleMissing, PersonUnknown) as error:
            await self._fail(pin, replace(_failure_of(error), rights=rights))
        else:
            await self._keep(pin, rows, period, cost=metered_cost(meter), rights=rights)
            self._count("current")

    async def _keep(
        self, pin: Pin, rows: Rows, period: PinPeriod | None, *, cost: DatabaseCost, rights: str | None
    ) -> None:
        """Store fresh rows with their proposed chart, and with the chosen one."""
        ran_at = now_ms()
        sql = pin.sql if period is None or period.sql is None else period.sql
        result = await result_of_pin(self._connections, pin, rows, sql=sql, ran_at=ran_at)
        chart = await asyncio.to_thread(result.proposed)
        latest = await self._repository.find_pin(pin.id)  # its choice may have changed meanwhile
        chosen = await asyncio.to_thread(result.chosen, None if latest is None else latest.chart_choice)
        await self._repository.keep_result(
            pin,
            rows,
            chart=chart,
            ran_at=ran_at,
            cost=cost,
            period=period,
            chosen=chosen,
            rights=rights,
        )

    async def _run(self, connection: Connection, sql: str, asker: Asker) -> Rows:
        return (await self._connections.run(connection, sql, asker)).as_rows()

    async def _run_for(
        self, connection: Connection, pin: Pin, days: int, *, asker: Asker
    ) -> tuple[Rows, PinPeriod]:
        """Runs the statement of a pin for the last days, and for those before if it gives a single row.

        A statement that takes no period runs as it is, and its period says why.
        """
        schema = await self._connections.schema(connection)
        wanted = Days.last(days, datetime.now(UTC).date())
        try:
            statement = await self._connections.examine(
                pin.sql, PeriodStatement, pin.sql, schema, pin.period_by
            )
        except NotByPeriod as refused:
            rows = await self._run(connection, pin.sql, asker)
            return rows, _unrestricted(days, refused)
        sql = statement.restrict(wanted)
        rows = await self._run(connection, sql, asker)
        previous: list[JsonValue] | None = None
        if rows["row_count"] == 1:
            before = await self._run(connection, statement.restrict(wanted.before()), asker)
            previous = before["rows"][0] if before["row_count"] == 1 else None
        return rows, PinPeriod(
            days=days,
            column=statement.column,
            since=wanted.since.isoformat(),
            until=wanted.last_day.isoformat(),
            sql=sql,
            previous=previous,
            reason=None,
            choices=statement.choices,
        )

    async def _connection_of(self, pin: Pin) -> Connection | None:
        """Returns None if the owner may not use it: then that is the state of the pin, and no failure."""
        try:
            return await self._connections.repository.get(pin.owner, pin.db_connection_id)
        except ConnectionNotFound:
            await self._repository.settle(pin, {})
            self._count("no_right")
            return None

    async def _fail(self, pin: Pin, failure: PinFailure) -> None:
        await self._repository.settle(pin, {"failure": asdict(failure)})
        self._count("failed")

    def _count(self, outcome: _Outcome) -> None:
        self._refreshed.labels(outcome).inc()


def _failure_of(
    error: StatementFailed | DatabaseUnavailable | DatabaseRoleMissing | PersonUnknown,
) -> PinFailure:
    match error:
        case PersonUnknown():
            cure = (
                "Refresh the board while you are signed in. Schedules run with the attributes of your API "
                "keys and sign-ins, as long as all of these agree."
            )
        case DatabaseRoleMissing():
            cure = "Ask the owner of the database for a role."
        case DatabaseBytesSpent():
            cure = "Refresh again tomorrow, by UTC."
        case DatabaseUnavailable():
            cure = "Refresh again when the database answers."
        case StatementTimedOut():
            cure = _CHEAPER
        case _:
            cure = _REPAIR
    return PinFailure(problem=error.problem, title=error.title, detail=error.detail, cure=cure, at=now_ms())


def _unrestricted(days: int, refused: NotByPeriod) -> PinPeriod:
    return PinPeriod(
        days=days,
        column=None,
        since=None,
        until=None,
        sql=None,
        previous=None,
        reason=str(refused),
        choices=[*refused.choices],
    )


def _not_refreshed(detail: str) -> PinFailure:
    return PinFailure(
        problem="internal", title="Not refreshed", detail=detail, cure="Refresh again.", at=now_ms()
    )
