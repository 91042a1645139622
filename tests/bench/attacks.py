"""How much of the corpus each layer stops by itself: `python -m tests.bench.attacks` (needs both servers).

The calls of SQLite's that build a gigabyte, which no session can interrupt, are counted as not stopped
instead of being run.
"""

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from app.modules.database_connection.engines.execution import UncheckedStatement
from app.modules.database_connection.guard.check import check
from app.modules.database_connection.limits import StatementLimits
from app.modules.database_connection.results import collect
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable, StatementFailed
from tests.support import targets
from tests.support.corpus import DIALECTS, Line, attacks, honest, shop_schema
from tests.support.mariadb_server import mariadb_server
from tests.support.postgres_server import postgres_server, programs
from tests.support.targets import Target

_UNSTOPPABLE = ("printf", "format")
_LIMITS = StatementLimits(timeout_seconds=0.3, max_rows=1_000)


def main() -> None:
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        postgres = programs()
        assert postgres is not None
        made = {
            "sqlite": targets.sqlite_target(_made(folder / "sqlite")),
            "postgres": targets.postgres_target(opened.enter_context(postgres_server(postgres))),
            "mysql": targets.mysql_target(opened.enter_context(mariadb_server())),
            "duckdb": targets.duckdb_target(_made(folder / "duckdb")),
        }
        for dialect in DIALECTS:
            _measure(dialect, made[dialect])


def _measure(dialect: str, target: Target) -> None:
    lines, before = attacks(dialect), target.state()
    guard = [line for line in lines if _stops(lambda line: _guarded(dialect, line), line)]
    session = [line for line in lines if _stops(lambda line: _in_session(dialect, line, target), line)]
    both = [line for line in lines if _stops(lambda line: _together(dialect, line, target), line)]
    refused = [line for line in honest(dialect) if _stops(lambda line: _guarded(dialect, line), line)]
    unchanged = target.state() == before
    print(
        f"{dialect}: {len(lines)} attacks; stopped by the guard alone {len(guard)}, by the session alone "
        f"{len(session)}, by both together {len(both)}; data and configuration unchanged: {unchanged}; "
        f"{len(refused)} of {len(honest(dialect))} honest questions refused"
    )
    for line in lines:
        if line not in session:
            print(f"  past the session: {line.category}: {line.sql}")


def _stops(run: Callable[[Line], None], line: Line) -> bool:
    try:
        run(line)
    except (StatementFailed, DatabaseUnavailable):
        return True
    return False


def _guarded(dialect: str, line: Line) -> None:
    check(line.sql, shop_schema(dialect))


def _in_session(dialect: str, line: Line, target: Target) -> None:
    if dialect == "sqlite" and line.category == "growth" and any(word in line.sql for word in _UNSTOPPABLE):
        return
    stop = Stop()
    with target.database.session(stop, 5) as session:
        stop.after(_LIMITS.timeout_seconds)
        collect(session.execute(line.sql), _LIMITS)


def _together(dialect: str, line: Line, target: Target) -> None:
    UncheckedStatement(
        sql=line.sql, schema=shop_schema(dialect), database=target.database, limits=_LIMITS, connect_seconds=5
    ).run(Stop())


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


if __name__ == "__main__":
    main()
