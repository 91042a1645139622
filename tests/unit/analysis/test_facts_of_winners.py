"""Rows that lead their group each: the winners are named, and no figure of theirs is given to the group."""

import pytest
from pydantic import JsonValue

from app.core.language import LANGUAGES, Language
from app.modules.analysis.facts import FactSheet
from app.modules.analysis.facts.sheet import fact_sheet
from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.facts.wording import Wording
from app.modules.analysis.figures import figures
from app.modules.analysis.figures.statement import read_statement
from app.modules.analysis.figures.winners import Winners
from graph.state import Column, Rows

INNER = "SELECT city, driver, SUM(n) AS trips FROM t GROUP BY 1, 2"
QUALIFIED = (
    f"WITH s AS ({INNER}) SELECT city, driver, trips FROM s "
    "QUALIFY ROW_NUMBER() OVER (PARTITION BY city ORDER BY trips DESC) = 1"
)
JOINED = (
    f"WITH s AS ({INNER}), m AS (SELECT city, MAX(trips) AS most FROM s GROUP BY city) "
    "SELECT s.city, s.driver, s.trips FROM s JOIN m ON m.city = s.city AND m.most = s.trips"
)
COMPARED = (
    f"WITH s AS ({INNER}) SELECT city, driver, trips FROM s "
    "WHERE trips = (SELECT MAX(trips) FROM s AS o WHERE o.city = s.city)"
)
TWICE = (
    f"WITH s AS ({INNER}), r AS (SELECT s.*, ROW_NUMBER() OVER (PARTITION BY city ORDER BY trips "
    "DESC) AS place FROM s), b AS (SELECT * FROM r WHERE place <= 1) SELECT * FROM b"
)
OF_ALL = (
    f"SELECT city, trips FROM (SELECT city, trips, RANK() OVER (ORDER BY trips) AS r FROM ({INNER})) "
    "WHERE r = 1"
)
RANKED = (
    "SELECT city, driver, trips FROM (SELECT city, driver, SUM(n) AS trips, RANK() OVER (PARTITION BY city "
    "ORDER BY SUM(n) DESC) AS r FROM t GROUP BY 1, 2) WHERE r = 1 ORDER BY trips DESC"
)
ROWS: list[list[JsonValue]] = [["Ulm", "Ada", 40], ["Bonn", "Ben", 31], ["Jena", "Ada", 12]]
SAID = {
    "en": "The most trips by city: Ulm – Ada (40), Bonn – Ben (31) and Jena – Ada (12).",
    "de": "Je City hat die meisten Trips: Ulm – Ada (40), Bonn – Ben (31) und Jena – Ada (12).",
    "es": "El mayor número de trips por city: Ulm – Ada (40), Bonn – Ben (31) y Jena – Ada (12).",
    "fr": "Le plus grand nombre de trips par city\u00a0: Ulm – Ada (40), Bonn – Ben (31) et Jena – Ada (12).",
}


def sheet(
    sql: str, rows: list[list[JsonValue]], *columns: str, language: Language = "en", kind: str = "integer"
) -> FactSheet:
    names = columns or ("city", "driver", "trips")
    types = ["text"] * (len(names) - 1) + [kind]
    read = Rows(
        columns=[Column(name=name, type=each) for name, each in zip(names, types, strict=True)],
        rows=rows,
        row_count=len(rows),
        truncated=False,
    )
    found = figures("Best driver of each city", sql, "sqlite", rows=read)
    return fact_sheet(FactTable(question="", rows=read, found=found, wording=Wording(language)))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_winners_are_named_and_not_their_groups(language: Language) -> None:
    made = sheet(RANKED, ROWS, language=language)
    assert made.lead[0].statement == SAID[language]
    assert not any("Ulm**" in fact.statement for fact in made.facts)


def test_a_headline_names_the_first_winner_of_all() -> None:
    made = sheet(RANKED.replace("ORDER BY trips DESC", "ORDER BY city"), sorted(ROWS, key=str))
    assert made.lead[0].headline == "The most trips by city, first Ulm – Ada (40)"


def test_who_leads_most_groups_is_said() -> None:
    rows: list[list[JsonValue]] = [[f"C{at}", "Ada" if at % 3 else "Ben", 90 - at] for at in range(9)]
    assert "**Ada** is the most frequent driver: 6 of 9 rows." in [
        fact.statement for fact in sheet(RANKED, rows).lead
    ]


@pytest.mark.parametrize(
    ("language", "each"),
    [("en", "4 each of 9"), ("de", "je 4 von 9"), ("es", "4 cada uno de 9"), ("fr", "4 chacune sur 9")],
)
def test_values_that_are_most_frequent_together_are_counted_each(language: Language, each: str) -> None:
    rows = Rows(
        columns=[Column(name="name", type="text"), Column(name="sex", type="text")],
        row_count=9,
        rows=[[f"N{at}", sex] for at, sex in enumerate("FFFFMMMMX")],
        truncated=False,
    )
    found = figures("", "SELECT name, sex FROM p", "sqlite", rows=rows)
    made = fact_sheet(FactTable(question="", rows=rows, found=found, wording=Wording(language)))
    assert each in " ".join(fact.statement for fact in made.facts)


def test_the_lowest_of_each_group_is_not_called_the_highest() -> None:
    said = sheet(RANKED.replace("SUM(n) DESC", "SUM(n)"), ROWS).lead[0].statement
    assert said.startswith("The fewest trips by city: Ulm – Ada (40)")


def test_of_the_latest_row_of_each_group_no_value_is_called_the_highest() -> None:
    sql = (
        "SELECT city, driver, fare FROM (SELECT city, driver, fare, ROW_NUMBER() OVER (PARTITION BY city "
        "ORDER BY day DESC) AS r FROM t) WHERE r = 1"
    )
    said = " ".join(fact.statement for fact in sheet(sql, ROWS, "city", "driver", "fare").facts)
    assert "highest" not in said
    assert said.startswith("3 rows with city, driver, fare.")


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("sqlite", RANKED),
        ("postgres", f"WITH s AS ({INNER}) SELECT DISTINCT ON (city) * FROM s ORDER BY city, trips DESC"),
        ("duckdb", QUALIFIED),
        ("mysql", JOINED),
        ("sqlite", COMPARED),
        ("sqlite", f"SELECT city, driver, MAX(trips) AS trips FROM ({INNER}) GROUP BY city"),
        ("postgres", TWICE),
    ],
)
def test_winners_are_read_from_every_way_to_write_them(dialect: str, sql: str) -> None:
    found = read_statement(sql, dialect)
    assert found.winners == Winners(frozenset({"city"}), "trips", descending=True)
    assert found.selective


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT city, MAX(trips) FROM t GROUP BY city",
        "SELECT city, trips FROM t WHERE trips = (SELECT MAX(trips) FROM t)",
        OF_ALL,
        f"SELECT driver, COUNT(*) AS n FROM ({RANKED}) GROUP BY driver",
    ],
)
def test_other_rows_are_no_winners(sql: str) -> None:
    assert read_statement(sql, "sqlite").winners is None
