"""Decimals, dates and order on a real PostgreSQL server."""

import psycopg
import pytest

from app.evaluation.results import OutcomeKind
from tests.integration.evaluation.conftest import Shop
from tests.support.postgres_server import PostgresServer
from tests.support.scripted_model import ScriptedModel


@pytest.mark.parametrize(
    ("gold", "predicted", "kind"),
    [
        ("select 1.50::numeric, date '2024-01-01'", "select timestamp '2024-01-01', 1.5::float8", "correct"),
        ("select 12345678901234567890::numeric", "select 12345678901234567891::numeric", "wrong_rows"),
        ("select true, null::int", "select 1, null::text", "correct"),
        ("select i from generate_series(1, 3) i order by -i", "values (3), (2), (1)", "correct"),
        ("select i from generate_series(1, 3) i order by i % 2, i", "values (1), (2), (3)", "order"),
        ("select array[1, 2]", "select array[2, 1]", "wrong_rows"),
    ],
)
async def test_values_of_the_server_are_compared_by_what_they_mean(
    gold: str, predicted: str, kind: OutcomeKind, postgres: PostgresServer, shop: Shop, model: ScriptedModel
) -> None:
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
        connection.execute("create table if not exists any_table (i int)")  # else there is nothing to ask
    model.rule("", f"```sql\n{predicted}\n```")
    (outcome,) = await shop.evaluate({"gold_sql": gold}, database=postgres.url("postgres"))
    assert outcome.kind == kind, outcome.detail
