"""Rules of rows and columns on real databases: a statement gives what it gives on a copy of the data that
holds only what the person may see, or it is refused.
"""

import os
import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st

from app.modules.database_connection.guard.check import check
from app.modules.policies.barriers import BARRIERS
from tests.simulation.mutations import Mutation, mutated
from tests.support.corpus import honest
from tests.support.policy_corpus import HIDDEN, PEOPLE, policy_statements
from tests.support.policy_grammar import statements
from tests.support.policy_shops import Run, Shop, open_shop

DIALECTS = ("sqlite", "postgres", "mysql", "duckdb", "clickhouse")
MOST_REFUSED = 0.02
LEAST_STATEMENTS = 400
IS_WHOLE = "POLICY_STATEMENTS" in os.environ
BY_CHANCE = int(os.environ.get("POLICY_STATEMENTS") or 80)
SEED = int(os.environ.get("POLICY_SEED") or f"{datetime.now(UTC):%Y%m%d}")


_USED = {
    "sqlite": re.compile(r"USING (COVERING )?INDEX sales_region"),
    "postgres": re.compile(r"Index (Only )?Scan (using|on) sales_region"),
    "mysql": re.compile(r'"key": "sales_region"'),
}


def _people(dialect: str) -> Sequence[str]:
    """Returns the people whose statements run: all of them, one a day on ClickHouse, whose server is slow."""
    everyone = tuple(PEOPLE)
    return everyone if dialect != "clickhouse" or IS_WHOLE else (everyone[SEED % len(everyone)],)


def _part(dialect: str) -> slice:
    """Returns which statements run: all of them, a quarter a day on ClickHouse."""
    return slice(None) if dialect != "clickhouse" or IS_WHOLE else slice(SEED % 4, None, 4)


def _is_refused(sql: str) -> bool:
    """True for what no person may ask, and for the type of a column, which a mask has not."""
    return sql.lower().startswith("explain") or "typeof(total)" in sql


@pytest.fixture(scope="module")
def shops() -> dict[str, Shop]:
    return {}


@pytest.fixture
def shop(
    dialect: str,
    shops: dict[str, Shop],
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Shop:
    if dialect not in shops:
        people = _people(dialect)
        shops[dialect] = open_shop(dialect, tmp_path_factory.mktemp(dialect), request, people)
    return shops[dialect]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_statement_gives_what_it_gives_on_a_copy_of_what_the_person_may_see(
    dialect: str, shop: Shop
) -> None:
    honest_ones = [line.sql for line in honest(dialect) if not _is_refused(line.sql)]
    own = policy_statements(dialect)
    honest_ones += [sql for category, sql in own if category == "honest"]
    hostile = [sql for category, sql in own if category != "honest"]
    leaks: list[str] = []
    refused: list[str] = []
    asked = 0
    assert len(honest_ones) + len(hostile) > LEAST_STATEMENTS
    for sql in (*honest_ones, *hostile)[_part(dialect)]:
        for person in shop.copies:
            found = Run(sql, shop.limited[person])
            if any(each in found.error and each not in sql for each in HIDDEN[person]):
                leaks.append(f"{person}: {sql}\n  {found.error}")
            if found.is_refused and sql in hostile:
                continue
            expected = Run(sql, shop.copies[person])
            if found.tells_more_than(expected):
                leaks.append(f"{person}: {sql}\n  {found.given}\n  {expected.given}")
            if sql in honest_ones and expected.rows is not None:
                asked += 1
                if found.rows is None:
                    refused.append(f"{person}: {sql}\n  {found.error}")
    assert not leaks, "\n".join(leaks)
    assert len(refused) <= asked * MOST_REFUSED, "\n".join(refused)


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "mysql"])
def test_the_index_of_a_filtered_column_is_used_with_and_without_a_barrier(dialect: str, shop: Shop) -> None:
    for sql, has_barrier in (
        ("SELECT count(*), sum(amount) FROM sales", False),
        ("SELECT s.id FROM sales s JOIN categories c ON c.id = s.id", False),
        ("SELECT id FROM sales WHERE 1 / (amount + 1) < 2", True),
    ):
        place = shop.limited["anna"]
        assert (BARRIERS[dialect] in check(sql, place.schema)) is has_barrier
        assert _USED[dialect].search(place.plan(sql)), (sql, place.plan(sql))


_HOLES = {
    "no barrier": Mutation(
        "no barrier is put", "app.modules.policies.limiting:Limiter.limit", "if has_barrier:", "if False:"
    ),
    "no call": Mutation(
        "a call is taken for what cannot fail",
        "app.modules.policies.barriers:_can_fail",
        "isinstance(node, _CANNOT_FAIL)",
        "isinstance(node, (*_CANNOT_FAIL, exp.Func))",
    ),
    "no select list": Mutation(
        "the select lists of inner queries are not read",
        "app.modules.policies.barriers:_pushed_down",
        "or not is_top",
        "",
    ),
}
"""Holes planted in the barriers: statements made by chance have to find each."""


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_statements_made_by_chance_tell_no_more_than_on_a_copy(dialect: str, shop: Shop) -> None:
    outcomes = _run_by_chance(shop, BY_CHANCE)
    assert outcomes["rows"] > BY_CHANCE / 4, outcomes


@pytest.mark.skipif(not IS_WHOLE, reason="make policies runs it")
@pytest.mark.parametrize(
    ("dialect", "hole"),
    [("sqlite", "no barrier"), ("duckdb", "no barrier"), ("sqlite", "no call"), ("sqlite", "no select list")],
)
def test_statements_made_by_chance_find_a_planted_hole(dialect: str, hole: str, shop: Shop) -> None:
    with mutated(_HOLES[hole]), pytest.raises(AssertionError, match="POLICY_SEED"):
        _run_by_chance(shop, 2_000, [Phase.generate])


def _run_by_chance(shop: Shop, count: int, phases: Sequence[Phase] = tuple(Phase)) -> Counter[str]:
    """Returns how many statements gave what. Raises `AssertionError` for one that tells more than a copy."""
    outcomes: Counter[str] = Counter()

    @seed(SEED)
    @settings(max_examples=count, database=None, deadline=None, phases=phases)
    @given(statements(), st.sampled_from(sorted(PEOPLE)), st.booleans())
    def run(sql: str, person: str, is_slow: bool) -> None:
        found = Run(sql, (shop.limited_slowly if is_slow else shop.limited)[person])
        if found.is_refused:
            outcomes["refused"] += 1
            return
        expected = Run(sql, shop.copies[person])
        outcomes["failed" if expected.rows is None else "rows"] += 1
        assert not found.tells_more_than(expected), (
            f"POLICY_SEED={SEED} {person}: {sql}\n  {found.given}\n  {expected.given}"
        )

    run()
    return outcomes
