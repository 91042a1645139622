"""A statement that contradicts its question is found, and one that answers it is not."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest

from app.core.language import Language
from app.modules.context_store.model import Term
from app.modules.database_connection.schema import Schema, Table, TableColumn
from app.modules.sql.parsing import parsed_one
from app.modules.sql_generation.checking.names import SchemaNames
from app.modules.sql_generation.contradictions.find import find_contradictions
from app.modules.sql_generation.contradictions.periods import Span, periods_of
from app.modules.sql_generation.contradictions.terms import find_ignored_terms

TODAY = date(2026, 6, 15)
CORPUS = Path(__file__).parents[2] / "corpus"
FALSE_ALARMS = 0.01


@dataclass(frozen=True)
class Pair:
    """A question and a statement; `kind` is what contradicts, or `ok`."""

    kind: str
    question: str
    sql: str


def pairs() -> list[Pair]:
    lines = (CORPUS / "contradictions.tsv").read_text(encoding="utf-8").splitlines()
    return [Pair(kind, question, sql) for _, kind, question, sql in (line.split("\t") for line in lines)]


def found(question: str, sql: str, dialect: str = "sqlite") -> list[str]:
    return said_in("en", question, sql, dialect)


def said_in(language: Language, question: str, sql: str, dialect: str = "sqlite") -> list[str]:
    contradictions = find_contradictions(question, parsed_one(sql, dialect), TODAY)
    return [each.say(language) for each in contradictions]


def right() -> Iterator[tuple[str, str]]:
    for each in pairs():
        if each.kind == "ok":
            yield each.question, each.sql
    for name in ("questions_chinook.tsv", "questions_sample.tsv"):
        for line in (CORPUS / name).read_text(encoding="utf-8").splitlines():
            question, sql = line.split("\t")[:2]
            if sql != "select 0":  # what no statement answers
                yield question, sql


def test_wrong_statements_of_the_corpus_are_found() -> None:
    wrong = [each for each in pairs() if each.kind != "ok"]
    assert len(wrong) >= 80
    assert [each for each in wrong if not found(each.question, each.sql)] == []


def test_right_statements_raise_no_alarm() -> None:
    asked = list(right())
    alarms = [(question, sql, said) for question, sql in asked if (said := found(question, sql))]
    assert len(asked) > 300
    assert len(alarms) <= FALSE_ALARMS * len(asked), alarms


@pytest.mark.parametrize(
    ("question", "wrong", "said"),
    [
        (
            "Which product sold the least?",
            "select name, sum(units) as u from sales group by name order by u desc limit 1",
            "The question asks for the lowest, and the statement keeps the highest.",
        ),
        (
            "top 3 shops by sales",
            "select shop, sum(units) from sales group by shop order by 2 desc limit 10",
            "The question asks for 3, and the statement returns at most 10.",
        ),
        (
            "sales in May 2026",
            "select sum(units) from sales where sold >= '2026-04-01' and sold < '2026-05-01'",
            "The question asks for 2026-05, and the statement reads another period.",
        ),
        (
            "shops that never sold anything",
            "select distinct name from shops join sales on sales.shop = shops.id",
            "The question asks for what is missing (“never”), and the statement excludes nothing.",
        ),
        (
            "sales outside Norway are not needed: only those in Norway and not in Sweden",
            "select * from sales where country = 'Sweden'",
            "The question excludes “sweden”, and the statement asks for it.",
        ),
        (
            "sales in Norway",
            "select * from sales where country <> 'Norway'",
            "The statement excludes “norway”, which the question asks for.",
        ),
        (
            "shops with more than 20 staff",
            "select * from shops where staff <= 20",
            "The question asks for values over 20, and the statement compares the other way round.",
        ),
        (
            "shops with at least 20 staff",
            "select * from shops where staff <= 20",
            "The question asks for values from 20 upwards, and the statement compares the other way round.",
        ),
        (
            "shops with no more than 20 staff",
            "select * from shops where staff > 20",
            "The question asks for values up to 20, and the statement compares the other way round.",
        ),
    ],
)
def test_a_contradiction_is_said_in_one_sentence(question: str, wrong: str, said: str) -> None:
    assert found(question, wrong) == [said]


@pytest.mark.parametrize(
    ("language", "question", "wrong", "said"),
    [
        (
            "de",
            "Welches Produkt wurde am wenigsten verkauft?",
            "select name, sum(units) as u from sales group by name order by u desc limit 1",
            "Die Frage gilt dem niedrigsten Wert, die Abfrage behält den höchsten.",
        ),
        (
            "de",
            "Verkäufe seit 2024",
            "select sum(units) from sales where sold < '2023-01-01'",
            "Die Frage gilt dem Zeitraum seit 2024, die Abfrage liest einen anderen.",
        ),
        (
            "es",
            "las 3 tiendas con más ventas",
            "select shop, sum(units) from sales group by shop order by 2 desc limit 10",
            "La pregunta pide 3 y la consulta devuelve como máximo 10.",
        ),
        (
            "fr",
            "ventes en mai 2026",
            "select sum(units) from sales where sold >= '2026-04-01' and sold < '2026-05-01'",
            "La question porte sur la période 2026-05 et la requête en lit une autre.",
        ),
        (
            "fr",
            "magasins sans vente",
            "select distinct name from shops join sales on sales.shop = shops.id",
            "La question demande ce qui manque («\u00a0sans\u00a0») et la requête n'exclut rien.",
        ),
    ],
)
def test_a_contradiction_is_said_in_the_language_of_the_question(
    language: Language, question: str, wrong: str, said: str
) -> None:
    assert said_in(language, question, wrong) == [said]


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("Läden, die nie verkauft haben", "nie"),
        ("tiendas sin ventas", "sin"),
        ("magasins sans vente", "sans"),
    ],
)
def test_negation_is_read_in_german_spanish_and_french(question: str, word: str) -> None:
    wrong = "select distinct name from shops join sales on sales.shop = shops.id"
    assert found(question, wrong) == [
        f"The question asks for what is missing (“{word}”), and the statement excludes nothing."
    ]


@pytest.mark.parametrize("part", ["without tax", "without shipping", "ohne Versand", "sin iva"])
def test_an_amount_without_a_part_of_it_excludes_no_rows(part: str) -> None:
    assert found(f"revenue {part}", "select sum(amount) from sales join shops on shops.id = shop") == []


@pytest.mark.parametrize(
    "question", ["nicht in Norway", "no en Norway", "pas en Norway", "Norway ausgenommen"]
)
def test_what_a_question_excludes_in_its_language_may_be_excluded(question: str) -> None:
    assert found(f"sales {question}", "select * from sales where country <> 'Norway'") == []


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("postgres", "select sum(units) from sales where date_trunc('month', sold) = date '2026-03-01'"),
        ("postgres", "select sum(units) from sales where extract(year from sold) = 2026"),
        ("mysql", "select sum(units) from sales where year(sold) = 2026 and month(sold) = 4"),
        (
            "duckdb",
            "select sum(units) from sales where sold >= date '2026-03-01' and sold < date '2026-04-01'",
        ),
        ("duckdb", "select sum(units) from sales where sold >= current_date - interval 1 year"),
    ],
)
def test_periods_are_read_in_every_dialect(dialect: str, sql: str) -> None:
    assert found("sales in 2026", sql, dialect) == []


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("postgres", "select sum(units) from sales where date_trunc('year', sold) = date '2025-01-01'"),
        ("postgres", "select sum(units) from sales where extract(year from sold) = 2025"),
        ("mysql", "select sum(units) from sales where year(sold) = 2025 and month(sold) = 4"),
        (
            "duckdb",
            "select sum(units) from sales where sold >= date '2025-03-01' and sold < date '2025-04-01'",
        ),
    ],
)
def test_other_periods_are_found_in_every_dialect(dialect: str, sql: str) -> None:
    assert found("sales in 2026", sql, dialect)


@pytest.mark.parametrize(
    ("asked", "span"),
    [
        ("revenue in 2025", Span(date(2025, 1, 1), date(2026, 1, 1))),
        ("revenue of q4 2025", Span(date(2025, 10, 1), date(2026, 1, 1))),
        ("revenue in dec. 2025", Span(date(2025, 12, 1), date(2026, 1, 1))),
        ("revenue last month", Span(date(2026, 5, 1), date(2026, 6, 1))),
        ("revenue last year", Span(date(2025, 1, 1), date(2026, 1, 1))),
        ("films of the 1990s", Span(date(1990, 1, 1), date(2000, 1, 1))),
        ("from 2023 to 2025", Span(date(2023, 1, 1), date(2026, 1, 1))),
        ("since 2024", Span(date(2024, 1, 1), date.max)),
        ("after march 2024", Span(date(2024, 4, 1), date.max)),
        ("before the year 2000", Span(date.min, date(2000, 1, 1))),
    ],
)
def test_periods_of_a_question_are_read(asked: str, span: Span) -> None:
    assert [each.span for each in periods_of(asked, TODAY)] == [span]


@pytest.mark.parametrize(
    "asked", ["cars that weigh more than 2000", "a price of $1999", "2000 units", "id 1984"]
)
def test_other_numbers_are_no_years(asked: str) -> None:
    assert list(periods_of(asked, TODAY)) == []


def column(name: str) -> TableColumn:
    return TableColumn(name=name, type="text", database_type="TEXT")


NAMES = SchemaNames(
    Schema(
        "sqlite",
        [
            Table(
                name="customers", kind="table", columns=list(map(column, ("id", "name", "status", "spent")))
            ),
            Table(name="active_customers", kind="view", columns=list(map(column, ("id", "name")))),
        ],
    )
)


def term(name: str, sql: str | None) -> Term:
    return Term(
        id=name, owner="me", db_connection_id="db", term=name, meaning="", sql=sql, created_at=0, updated_at=0
    )


def ignored(question: str, sql: str, *terms: Term) -> list[str]:
    found = find_ignored_terms(question, parsed_one(sql, "sqlite"), terms, names=NAMES)
    return [each.say("en") for each in found]


ACTIVE = term("active customer", "status = 'active' AND spent > 0")


def test_a_term_whose_sql_the_statement_does_not_use_is_named() -> None:
    (said,) = ignored("How many active customers?", "select count(*) from customers", ACTIVE)
    assert said == (
        "The glossary defines “active customer” as `status = 'active' AND spent > 0`, and the statement does "
        "not use that."
    )
    other = "select count(*) from customers where status = 'open' and spent > 0"
    assert ignored("How many active customers?", other, ACTIVE)


@pytest.mark.parametrize(
    ("question", "sql", "known"),
    [
        (
            "How many active customers?",
            "select count(*) from customers c where c.spent >= 1 and c.status in ('Active')",
            ACTIVE,
        ),
        ("How many customers?", "select count(*) from customers", ACTIVE),
        ("How many active customers?", "select count(*) from active_customers", ACTIVE),
        ("How many active customers?", "select count(*) from customers", term("active customer", None)),
        ("How many active customers?", "select count(*) from customers", term("active customer", "gone = 1")),
    ],
)
def test_a_term_that_is_used_or_does_not_apply_is_not(question: str, sql: str, known: Term) -> None:
    assert ignored(question, sql, known) == []
