"""A count is named by what the statement counts: of joined rows, and of rows that others have or lack."""

import pytest

from app.core.language import Language
from app.modules.analysis.facts.sheet import fact_sheet
from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.facts.wording import Wording
from app.modules.analysis.figures import figures
from graph.state import Column, Rows
from tests.unit.analysis.test_facts_of_shapes import Case, Cells, sheet_of

LOANS = "FROM genres g JOIN books b ON b.genre_id = g.id JOIN loans l ON l.book_id = b.id GROUP BY g.name"
LOANED = "FROM books b JOIN loans l ON l.book_id = b.id GROUP BY l.genre"
ORDERED = "FROM orders o JOIN order_lines l ON l.order_id = o.id GROUP BY o.city"
SEEKING = "FROM books b JOIN genres g ON g.id = b.genre_id WHERE {} GROUP BY g.name"
LOAN = "(SELECT 1 FROM loans l WHERE l.book_id = b.id)"
BOOKS = "SELECT g.name AS genre, COUNT(*) AS books "


def first(sql: str, name: str = "books", language: Language = "en") -> str:
    rows: Cells = [["Crime", 70], ["Poetry", 20], ["Travel", 9]]
    columns = {"genre": "text", name: "integer"}
    case = Case("books by genre", f"{sql} ORDER BY 2 DESC", columns, rows, [])
    return sheet_of(case, language).facts[0].statement.replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("sql", "name", "things"),
    [
        (BOOKS + SEEKING.format(f"EXISTS {LOAN}"), "books", "most books with loans"),
        (BOOKS + SEEKING.format(f"g.id > 2 AND NOT EXISTS {LOAN}"), "books", "most books without loans"),
        (BOOKS + SEEKING.format("b.id IN (SELECT book_id FROM loans)"), "books", "most books with loans"),
        (BOOKS + SEEKING.format("g.id IN (SELECT id FROM popular)"), "books", "most books"),
        (f"SELECT g.name AS genre, COUNT(DISTINCT b.id) AS books {LOANS}", "books", "most books with loans"),
        (f"SELECT g.name AS genre, COUNT(b.id) AS books {LOANS}", "books", "most loans"),
        (f"{BOOKS}{LOANS}", "books", "most loans"),
        (f'SELECT g.name AS genre, COUNT(*) AS "number of books" {LOANS}', "number of books", "most loans"),
        (f"SELECT g.name AS genre, COUNT(*) AS n {LOANS}", "n", "most loans"),
        (f"SELECT g.name AS genre, COUNT(*) AS loans {LOANS}", "loans", "most loans"),
        (BOOKS + "FROM books b JOIN genres g ON g.id = b.genre_id GROUP BY g.name", "books", "most books"),
        (
            "SELECT g.name AS genre, COUNT(DISTINCT b.id) AS books "
            + LOANS.replace("JOIN loans", "LEFT JOIN loans"),
            *("books", "most books"),
        ),
        (
            "SELECT l.genre AS genre, COUNT(DISTINCT b.id) AS books " + LOANED,
            *("books", "most books"),
        ),
        (
            "SELECT o.city AS genre, COUNT(DISTINCT o.id) AS orders " + ORDERED,
            *("orders", "most orders"),
        ),
    ],
)
def test_a_count_is_named_by_what_is_counted(sql: str, name: str, things: str) -> None:
    assert first(sql, name).startswith(f"**Crime** has the {things}: 70")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "**Crime** hat die meisten Books mit Loans: 70"),
        ("es", "**Crime** tiene el mayor número de books con loans: 70"),
        ("fr", "**Crime** a le plus grand nombre de books avec loans : 70"),
    ],
)
def test_what_the_counted_things_have_is_said_in_the_language_of_the_question(
    language: Language, text: str
) -> None:
    assert first(BOOKS + SEEKING.format(f"EXISTS {LOAN}"), language=language).startswith(text)


@pytest.mark.parametrize(
    ("name", "table", "things"),
    [
        ("customers", "orders", "orders"),
        ("number of customers", "orders", "orders"),
        ("orders", "orders", "orders"),
        ("visits", "orders", "visits"),
        ("customers", "customers", "customers"),
    ],
)
def test_a_count_is_not_called_by_what_its_rows_refer_to(name: str, table: str, things: str) -> None:
    columns = [Column(name="city", type="text"), Column(name=name, type="integer")]
    rows = Rows(columns=columns, rows=[["Ulm", 7], ["Bonn", 2]], row_count=2, truncated=False)
    sql = f'SELECT city, COUNT(*) AS "{name}" FROM {table} GROUP BY city ORDER BY 2 DESC'
    found = figures("", sql, "sqlite", rows=rows, keys=frozenset({"customer_id", "id"}))
    made = fact_sheet(FactTable(question="", rows=rows, found=found, wording=Wording("en")))
    assert made.facts[0].statement.startswith(f"**Ulm** has the most {things}: 7")


@pytest.mark.parametrize(
    ("low", "high", "things"),
    [
        ("SUM(priority = 'low')", "SUM(priority = 'high')", "the most low tickets: 210"),
        (
            "SUM(CASE WHEN priority = 'low' THEN 1 ELSE 0 END)",
            *("COUNT(CASE WHEN priority = 'high' THEN id END)", "the most low tickets: 210"),
        ),
        (
            "COUNT(*) FILTER (WHERE priority = 'low')",
            *("COUNT(*) FILTER (WHERE priority = 'high')", "the most low tickets: 210"),
        ),
        (
            "SUM(CASE WHEN priority = 'low' THEN hours END)",
            *("SUM(CASE WHEN priority = 'high' THEN hours END)", "the most low hours: 210"),
        ),
        ("SUM(CASE WHEN priority = 'low' THEN 2 END)", "SUM(priority = 'high')", "the highest low: 210"),
        ("SUM(a)", "SUM(b)", "the highest low: 210"),
        ("COUNT(priority = 'low')", "COUNT(priority = 'high')", "the highest low: 210"),
        (
            "COUNT(CASE WHEN priority = 'low' THEN 1 ELSE 0 END)",
            *("COUNT(CASE WHEN priority = 'high' THEN 1 ELSE 0 END)", "the highest low: 210"),
        ),
        (
            "COUNT(DISTINCT customer_id) FILTER (WHERE priority = 'low')",
            *("COUNT(DISTINCT customer_id) FILTER (WHERE priority = 'high')", "the highest low: 210"),
        ),
    ],
)
def test_columns_for_single_values_are_called_by_what_they_count(low: str, high: str, things: str) -> None:
    rows: Cells = [["Billing", 120, 90], ["Onboarding", 210, 40]]
    columns = {"team": "text", "low": "integer", "high": "integer"}
    sql = f"SELECT team, {low} AS low, {high} AS high FROM tickets GROUP BY team"
    found = sheet_of(Case("Tickets per team and priority", sql, columns, rows, [])).facts
    assert things in " ".join(fact.statement for fact in found)
