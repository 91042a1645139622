"""A statement is laid out for reading, and is still the same statement."""

import pytest

from app.modules.sql.layout import laid_out


def test_each_clause_has_its_line_and_names_stay_as_written() -> None:
    assert laid_out('select "Name" from t where a = 1', "postgres") == (
        'SELECT\n  "Name"\nFROM t\nWHERE\n  a = 1'
    )


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT (1",
        "SELECT " + "(" * 5_000 + "1" + ")" * 5_000,
        "SELECT " + "(" * 30 + "1 IN (" + ", ".join(["1"] * 20_000) + ")" + ")" * 30,
    ],
    ids=["no statement", "too deep", "too long when laid out"],
)
def test_what_cannot_be_laid_out_stays_as_it_is(statement: str) -> None:
    assert laid_out(statement, "sqlite") == statement
