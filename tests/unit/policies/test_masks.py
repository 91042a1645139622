"""Masks on values that are stored otherwise than the type of their column says."""

import sqlite3
from contextlib import closing

import pytest
from sqlglot import exp

from app.modules.policies.masks import masked_column


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("2023-03-09", "2023-01-01"),
        ("2023-03-09 10:15:00", "2023-01-01"),
        ("09.03.2023", None),
        ("20230309", None),
        (1678320000, None),
        (2460012.5, None),
        (None, None),
    ],
)
def test_the_year_of_a_date_in_sqlite_shows_no_more_than_the_year(stored: object, shown: str | None) -> None:
    column = exp.column("day")
    mask = masked_column(column, "year", kind="date", database_type="DATE", dialect="sqlite", key="")
    with closing(sqlite3.connect(":memory:")) as database:
        statement = f"SELECT {mask.sql('sqlite')} FROM (SELECT ? AS day)"
        assert database.execute(statement, [stored]).fetchone() == (shown,)
