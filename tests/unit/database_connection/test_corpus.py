"""The guard alone, against everything hostile and honest that the corpus holds."""

import pytest

from app.modules.database_connection.guard.check import check
from graph.errors import StatementFailed
from tests.support.cases import assert_each
from tests.support.corpus import DIALECTS, RUNS_ON, attacks, honest, shop_schema

HOSTILE = [(dialect, line) for dialect in DIALECTS for line in attacks(dialect) if line.category != RUNS_ON]
HONEST = [(dialect, line) for dialect in DIALECTS for line in honest(dialect)]


def test_the_corpus_is_large_enough_to_mean_something() -> None:
    assert len(HOSTILE) >= 500
    assert len(HONEST) >= 200


def test_the_guard_alone_refuses_an_attack() -> None:
    def try_out(dialect: str, line: tuple[str, str]) -> None:
        with pytest.raises(StatementFailed):
            check(line[1], shop_schema(dialect))

    assert_each(HOSTILE, try_out)


def test_the_guard_lets_an_honest_question_pass() -> None:
    def try_out(dialect: str, line: tuple[str, str]) -> None:
        assert check(line[1], shop_schema(dialect))

    assert_each(HONEST, try_out)


def test_what_the_guard_has_written_passes_it_again_unchanged() -> None:
    def try_out(dialect: str, line: tuple[str, str]) -> None:
        written = check(line[1], shop_schema(dialect))
        assert check(written, shop_schema(dialect)) == written

    assert_each(HONEST, try_out)
