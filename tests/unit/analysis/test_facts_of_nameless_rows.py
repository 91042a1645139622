"""Rows whose name is missing: they count, are no winner, and no other row is first before them."""

import pytest
from pydantic import JsonValue

from app.core.language import Language
from tests.unit.analysis.test_facts_of_shapes import Case, Cells, sheet_of

TEAMS = "SELECT team, SUM(points) AS points FROM t GROUP BY team"
COLUMNS = {"team": "text", "points": "integer"}


def said(rows: Cells, sql: str = TEAMS, question: str = "points per team") -> str:
    return " ".join(fact.statement for fact in sheet_of(Case(question, sql, COLUMNS, rows, [])).facts)


@pytest.mark.parametrize("nothing", [None, "", "  "])
def test_the_first_of_the_named_rows_is_first_of_these_only(nothing: JsonValue) -> None:
    rows: Cells = [[nothing, 40], ["Red", 30], ["Blue", 15], ["Green", 10], ["Pink", 5]]
    text = said(rows)
    assert "Of the rows with known team, **Red** has the most points: 30, 30% of the total of 100." in text
    assert "Of the rows with known team, Blue is second by points with 15." in text
    assert "Of the rows with known team, the 3 highest by points, in order, are Red (30)" in text
    assert "Pink has the fewest points: 5." in text
    assert "of the rows with known team, Pink" not in text.lower()
    assert "Points of the row without team: 40, 40% of the total of 100." in text


def test_a_nameless_row_in_the_middle_leaves_the_ends_as_they_are() -> None:
    text = said([["Red", 60], ["Blue", 30], [None, 20], ["Green", 10], ["Pink", 5]])
    assert "**Red** has the most points: 60" in text
    assert "Of the rows with known team, the 3 highest" in text
    assert text.count("known team") == 1


def test_a_nameless_row_that_shares_the_first_place_is_said_too() -> None:
    assert "Of the rows with known team, **Red** has the most points: 60" in said(
        [["Red", 60], [None, 60], ["Blue", 30]]
    )


def test_named_rows_that_are_alike_are_not_all_rows() -> None:
    text = said([["Red", 60], ["Blue", 60], [None, 10]])
    assert "Red and Blue have the same number of points: 60." in text
    assert "All 2" not in text


def test_the_first_rows_of_a_limit_are_restricted_too() -> None:
    sql = f"{TEAMS} ORDER BY points DESC LIMIT 3"
    text = said([[None, 90], ["Red", 60], ["Blue", 30]], sql, "top 3 teams by points")
    assert "Of the rows with known team, **Red** has the most points: 60." in text
    assert "Points of the row without team: 90." in text


def test_rows_without_a_value_are_named_if_they_are_few() -> None:
    assert "Blue has no points." in said([["Red", 60], ["Blue", None], ["Green", 10]])
    many: Cells = [[f"Team {at}", None] for at in range(5)]
    assert "5 rows have no points." in said([["Red", 60], ["Green", 10], *many])


FLAGGED = "SELECT sms_consent, COUNT(*) AS patients FROM p GROUP BY 1"


@pytest.mark.parametrize(
    ("language", "unknown"),
    [
        ("en", "Patients with unknown sms consent: 34, 14.2% of the total of 240."),
        ("de", "Patients ohne Angabe zu Sms Consent: 34 ("),
        ("es", "Patients sin dato de sms consent: 34 ("),
        ("fr", "Patients de valeur inconnue pour sms consent\u00a0: 34 ("),
    ],
)
def test_the_nameless_rows_of_a_flag_are_unknown_and_the_others_yes_and_no(
    language: Language, unknown: str
) -> None:
    columns = {"sms_consent": "integer", "patients": "integer"}
    case = Case("patients by consent", FLAGGED, columns, [[1, 143], [0, 63], [None, 34]], [])
    text = " ".join(fact.statement for fact in sheet_of(case, language).facts)
    assert unknown in text
    assert "onsent = " in text
    assert "onsent 1" not in text
