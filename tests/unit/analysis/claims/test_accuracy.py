"""Counts with a condition, numbers bound to what is named, and matches by chance."""

import random
import re

import pytest
from pydantic import JsonValue

from app.modules.analysis.claims.check import check_claims
from graph.state import Claim, Column, Rows


def table(columns: dict[str, str], *rows: list[JsonValue]) -> Rows:
    named = [Column(name=name, type=kind) for name, kind in columns.items()]
    return Rows(columns=named, rows=list(rows), row_count=len(rows), truncated=False)


COUNTRIES = table(
    {"country": "text", "revenue": "number"},
    ["USA", 523.06],
    ["Canada", 303.96],
    ["France", 195.1],
    ["Brazil", 190.1],
    ["Germany", 156.48],
    ["United Kingdom", 112.86],
    ["Portugal", 77.24],
    ["India", 75.26],
    ["Chile", 46.62],
    ["Norway", 37.62],
)
ORDERS = [539, 488, 651, 708, 915, 861, 870, 866, 758, 833, 1202, 1504]
PER_MONTH: list[list[JsonValue]] = [[f"2025-{at:02}", orders] for at, orders in enumerate(ORDERS, start=1)]
MONTHS = table({"month": "text", "orders": "integer"}, *PER_MONTH)
CYLINDERS = table({"cylinders": "integer", "cars": "integer"}, [3, 4], [4, 207], [5, 3], [6, 84], [8, 108])
STATEMENTS = {
    "cylinders": "SELECT cylinders, COUNT(*) AS cars FROM cars GROUP BY cylinders",
    "name": "SELECT name, country, age FROM singer",
}
VIEWERS = table(
    {"episode": "text", "viewers_m": "number"}, ["Blowback", 6.05], ["Emily", 5.61], ["Keepers", 5.75]
)
SINGERS = table(
    {"name": "text", "country": "text", "age": "integer"},
    ["Ann", "UK", 63],
    ["Ben", "UK", 43],
    ["Cleo", "USA", 43],
    ["Dan", "USA", 40],
    ["Eve", "USA", 42],
)


def claims(text: str, rows: Rows, words: str) -> list[Claim]:
    """Those that overlap these words."""
    start = text.index(words)
    end = start + len(words)
    found = check_claims(text, rows, sql=STATEMENTS.get(rows["columns"][0]["name"], ""))
    return [each for each in found if each["span"][0] < end and each["span"][1] > start]


@pytest.mark.parametrize(
    ("text", "rows", "words", "says"),
    [
        ("Only five countries exceed 100.", COUNTRIES, "five", "6 of 10"),
        ("Four of the countries are below 80.", COUNTRIES, "Four", ""),
        ("Only three countries exceed 100.", COUNTRIES, "three", "6 of 10"),
        ("Five countries are above the average.", COUNTRIES, "Five", "4 of 10"),
        ("Only two months exceeded 1,000 orders.", MONTHS, "two", ""),
        ("Only four months exceeded 1,000 orders.", MONTHS, "four", "2 of 12"),
        ("Vier Länder liegen über 100.", COUNTRIES, "Vier", "6 of 10"),
        ("Three singers are from the UK.", SINGERS, "Three", "2 rows"),
        ("Three singers are 43 years old.", SINGERS, "Three", "2 of 5"),
        ("The USA leads with $423.06.", COUNTRIES, "423.06", "523.06"),
        ("Orders grew from 640 in January to 1,504 in December.", MONTHS, "640", "539"),
        ("Canada earned twice as much as Brazil.", COUNTRIES, "twice", "1.6"),
        ("Brazil has 40 % of the revenue of the USA.", COUNTRIES, "40 %", "36.3%"),
        ("The top three countries make up 70% of revenue.", COUNTRIES, "70%", "59.5%"),
        ("Orders rose over the year by 20%.", MONTHS, "20%", "+179.0%"),
        ("The average revenue is 191.83.", COUNTRIES, "191.83", "171.83"),
        ("The USA is 119.10 ahead of Canada.", COUNTRIES, "119.10", "219.1"),
        ("There are 270 cars with 4 cylinders.", CYLINDERS, "270", "207"),
    ],
)
def test_a_wrong_count_or_number_is_contradicted_with_what_is_right(
    text: str, rows: Rows, words: str, says: str
) -> None:
    found = claims(text, rows, words)
    assert [each["status"] for each in found] == ["contradicted" if says else "checked"]
    assert says in (found[0]["from"] or {"how": ""})["how"]


@pytest.mark.parametrize(
    ("text", "rows", "words"),
    [
        ("Only six countries exceed 100.", COUNTRIES, "six"),
        ("Six of the 10 countries are above 100.", COUNTRIES, "10"),
        ("Six months were above the average of 850.", MONTHS, "Six"),
        ("Two singers are 43 years old.", SINGERS, "Two"),
        ("Three singers come from the USA.", SINGERS, "Three"),
        ("Ann is 20 years older than Ben.", SINGERS, "20"),
        ("Blowback drew 6.05 million viewers.", VIEWERS, "6.05 million"),
        ("Cars with 4 cylinders are the most common: 207.", CYLINDERS, "207"),
        ("8-cylinder cars number 108.", CYLINDERS, "108"),
        ("Orders grew in 2025.", MONTHS, "grew"),
    ],
)
def test_a_right_count_or_number_is_left_alone(text: str, rows: Rows, words: str) -> None:
    found = claims(text, rows, words)
    assert all(each["status"] == "checked" for each in found), found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Orders fell in 2025.", "fell"),
        ("Orders trended downward in 2025.", "downward"),
        ("Industry-wide, sales grew 7% in 2025.", "7%"),
    ],
)
def test_a_year_is_its_whole_course_and_no_pair_of_neighbours(text: str, words: str) -> None:
    assert all(each["status"] != "checked" for each in claims(text, MONTHS, words))


def test_an_unbound_number_is_seldom_found_by_chance() -> None:
    """Of numbers that are in no row, few may be some difference or ratio of others."""
    chance = random.Random(5)
    cells: list[list[JsonValue]] = [[f"Place {at}x", round(chance.uniform(10, 900), 2)] for at in range(60)]
    rows = table({"city": "text", "revenue": "number"}, *cells)
    found = 0
    for _ in range(200):
        number = f"{chance.uniform(10, 900):.1f}"
        found += any(
            each["status"] == "checked" and number in each["text"]
            for each in check_claims(f"The figure came to {number} here.", rows)
        )
    assert found <= 10


WORDS = re.findall(
    r"\S+",
    """five three 4 of 10 the exceed above average below 100 USA Canada 2025 January 22% twice half more than
    less by and , . ; : - ( ) negative without only countries months grew fell from to is are million 1.5 m €
    dritte Platz über unter Länder jeweils highest lowest followed second 1e5 9999999999999999999 ** 3 pp""",
)
CELLS: list[JsonValue] = [
    None,
    float("nan"),
    float("inf"),
    "",
    0,
    -1,
    1e300,
    2**70,
    True,
    "2025-01",
    "2025-13-45",
]
CELLS += [[1], {"a": 1}, "USA", "Canada", "12,5", 5, 5.5]
NAMES = ["country", "revenue", "month", "id", "year", "viewers_m", "age", "x", ""]


@pytest.mark.parametrize("seed", range(6))
def test_any_words_over_any_cells_are_checked_without_an_error(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(60):
        width = chance.randint(1, 4)
        columns = [
            Column(
                name=chance.choice(NAMES),
                type=chance.choice(["text", "integer", "number", "date", "boolean"]),
            )
            for _ in range(width)
        ]
        cells = [[chance.choice(CELLS) for _ in range(width)] for _ in range(chance.randint(1, 8))]
        rows = Rows(columns=columns, rows=cells, row_count=len(cells), truncated=False)
        text = " ".join(chance.choice(WORDS) for _ in range(chance.randint(3, 50)))
        sql = chance.choice(
            ["", "SELECT x FROM t GROUP BY 1", "SELECT id, COUNT(*) FROM country GROUP BY id"]
        )
        for claim in check_claims(text, rows, question="Revenue by country", sql=sql):
            assert text[claim["span"][0] : claim["span"][1]] == claim["text"]
