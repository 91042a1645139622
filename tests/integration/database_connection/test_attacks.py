"""The corpus against real databases: the session with the guard off, and both together."""

import pytest

from app.commands.check_sql import check_sql
from app.modules.database_connection.engines.execution import UncheckedStatement
from app.modules.database_connection.limits import StatementLimits
from app.modules.database_connection.results import ResultSet, collect
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable, StatementFailed
from tests.support.corpus import DIALECTS, RUNS_ON, attacks, categories, honest, shop_schema
from tests.support.targets import Target

LIMITS = StatementLimits(timeout_seconds=0.3, max_rows=1_000)
# One call of SQLite's that builds a gigabyte cannot be interrupted: only the guard stands before it.
UNSTOPPABLE = {("sqlite", "growth")}
HOSTILE = [(dialect, category) for dialect in DIALECTS for category in categories(attacks(dialect))]
HONEST = [(dialect, line.sql) for dialect in DIALECTS for line in honest(dialect)]


def in_session(sql: str, target: Target, limits: StatementLimits = LIMITS) -> ResultSet:
    """Run it with the guard off."""
    stop = Stop()
    with target.database.session(stop, 60) as session:
        stop.after(limits.timeout_seconds)
        return collect(session.execute(sql), limits)


@pytest.mark.parametrize(("dialect", "category"), [each for each in HOSTILE if each not in UNSTOPPABLE])
def test_a_session_alone_lets_nothing_be_changed(dialect: str, category: str, target: Target) -> None:
    before, passed = target.state(), list[str]()
    for line in attacks(dialect):
        if line.category == category:
            try:
                in_session(line.sql, target)
                passed.append(line.sql)
            except (StatementFailed, DatabaseUnavailable):
                pass
    assert target.state() == before
    harmless = {"reindex", "reindex customers"}  # SQLite finds nothing to do
    assert category not in {"write", "define", "several", RUNS_ON} or harmless.issuperset(passed)


@pytest.mark.parametrize(("dialect", "category"), HOSTILE)
def test_guard_and_session_together_stop_every_attack(dialect: str, category: str, target: Target) -> None:
    before = target.state()
    for line in attacks(dialect):
        if line.category == category:
            statement = UncheckedStatement(
                sql=line.sql,
                schema=shop_schema(dialect),
                database=target.database,
                limits=LIMITS,
                connect_seconds=60,
            )
            with pytest.raises(StatementFailed):
                statement.run(Stop())
    assert target.state() == before


@pytest.mark.parametrize(("dialect", "sql"), HONEST)
def test_an_honest_question_gets_what_the_database_would_answer(
    dialect: str, sql: str, target: Target
) -> None:
    limits = StatementLimits(timeout_seconds=60)
    answer = UncheckedStatement(
        sql=sql, schema=shop_schema(dialect), database=target.database, limits=limits, connect_seconds=60
    ).run(Stop())
    plain = in_session(sql, target, limits)
    assert answer.rows == plain.rows
    assert [column.type for column in answer.columns] == [column.type for column in plain.columns]


@pytest.mark.parametrize(
    ("dialect", "own"),
    [
        ("sqlite", "main.customers"),
        ("duckdb", "shop.main.customers"),
        ("postgres", "attacked.public.customers"),
        ("mysql", "shop.customers"),
    ],
)
def test_check_sql_knows_the_tables_and_columns_of_a_real_database(
    dialect: str, own: str, target: Target, capsys: pytest.CaptureFixture[str]
) -> None:
    foreign_table = "nowhere.salaries" if dialect == "duckdb" else "secret.salaries"
    for table, column in ((own, "name"), (own, "nme"), (foreign_table, "name")):
        check_sql(f"select {column} from {table}", dialect, target.database.url, jsonl=None)
    allowed, unknown, foreign = capsys.readouterr().out.splitlines()
    assert allowed == "allow"
    assert unknown.startswith("block (column): unknown column nme")
    assert foreign.startswith(f"block (table): There is no table {foreign_table} here")
