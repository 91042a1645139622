"""The lead is about the column that the question asks for, and not about the count beside it."""

from typing import NamedTuple

import pytest
from pydantic import JsonValue

from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.facts.wording import wording_for
from app.modules.analysis.figures import figures
from app.modules.analysis.figures.requested_measures import measure_asked_for
from graph.state import Column, Rows
from tests.support.cases import assert_each
from tests.unit.analysis.test_facts_of_shapes import Case, sheet_of


class Asked(NamedTuple):
    """A question, the measures of a result, and the one that it asks for."""

    question: str
    columns: list[str]
    measure: str | None
    sorted_by: str | None = None
    groups: tuple[str, ...] = ()


COUNTS = frozenset({"calls", "visits", "anrufe", "llamadas", "appels", "shops"})
RATES = frozenset({"avg_delay", "avg_rating", "conversion_pct", "part_refusee_pct", "avg_fare_eur"})
ASKED = [
    Asked("How delayed are trains by call type?", ["calls", "avg_delay"], "avg_delay", groups=("call_type",)),
    Asked("Are weekend calls worth more?", ["calls", "avg_fare_eur"], "avg_fare_eur"),
    Asked("Sind Anrufe am Wochenende mehr wert als andere?", ["anrufe", "avg_fare_eur"], "avg_fare_eur"),
    Asked("Wie verteilen sich die Anrufe auf Orte?", ["anrufe", "avg_delay"], "anrufe"),
    Asked("Wie lange dauern Anrufe?", ["anrufe", "avg_delay"], "avg_delay"),
    Asked("¿Valen más las llamadas del fin de semana?", ["llamadas", "avg_fare_eur"], "avg_fare_eur"),
    Asked("Les appels du soir valent-ils plus ?", ["appels", "avg_fare_eur"], "avg_fare_eur"),
    Asked("Wie zufrieden sind die Kunden je Anruf?", ["anrufe", "avg_rating"], "avg_rating"),
    Asked("How does conversion from visits develop?", ["visits", "conversion_pct"], "conversion_pct"),
    Asked("Quelle part des appels est refusée ?", ["appels", "part_refusee_pct"], "part_refusee_pct"),
    Asked("Running balance of costs", ["costs_eur", "running_balance_eur"], "running_balance_eur"),
    Asked("Week over week change of calls", ["calls", "change_vs_previous"], "change_vs_previous"),
    Asked("How did calls change by week?", ["calls", "change_vs_previous"], "calls"),
    Asked("How many calls by type?", ["calls", "avg_delay"], "calls"),
    Asked("Do more calls come at night than by day?", ["calls", "avg_delay"], "calls"),
    Asked("How many shops have air conditioning?", ["ac_shops", "shops"], "ac_shops", "shops"),
    Asked("Costs against budget", ["costs", "budget", "variance"], "variance", "variance"),
]


def test_the_column_that_the_question_asks_for_leads() -> None:
    def check(asked: Asked) -> None:
        found = measure_asked_for(
            asked.question,
            asked.columns,
            sorted_by=asked.sorted_by,
            rates=RATES & set(asked.columns),
            counts=COUNTS & set(asked.columns),
            groups=asked.groups,
        )
        assert found == asked.measure

    assert_each(ASKED, check, ids=lambda each: each.question)


def test_of_rows_cut_by_the_order_of_a_date_the_date_is_said_and_no_other_measure() -> None:
    case = Case(
        "Which machines have not been serviced for the longest time?",
        "SELECT m.name AS machine, MAX(s.day) AS last_service, COUNT(*) AS services FROM s JOIN m "
        "GROUP BY m.id ORDER BY last_service LIMIT 3",
        {"machine": "text", "last_service": "date", "services": "integer"},
        [["Lathe", "2024-02-01", 3], ["Mill", "2024-05-07", 9], ["Drill", "2025-01-02", 4]],
        [],
    )
    lead = " ".join(fact.statement for fact in sheet_of(case).lead)
    assert lead == (
        "**Lathe** has the earliest last service: 1 February 2024; Drill is last of the 3 shown with "
        "2 January 2025."
    )


@pytest.mark.parametrize(
    ("question", "column", "name"),
    [
        ("Is the price of the rented ones higher?", "is_rented", "rented = yes"),
        ("Wie hoch ist der Preis der vermieteten?", "ist_vermietet", "Vermietet = ja"),
        ("¿Cuál es el precio de los alquilados?", "es_alquilado", "alquilado = sí"),
        ("Quel est le prix des biens loués ?", "est_loue", "loue = oui"),
    ],
)
def test_a_flag_of_0_and_1_is_named_in_words(question: str, column: str, name: str) -> None:
    cells: list[list[JsonValue]] = [[1, 30.5], [0, 20.5]]
    rows = Rows(
        columns=[Column(name=column, type="integer"), Column(name="avg_price", type="number")],
        rows=cells,
        row_count=2,
        truncated=False,
    )
    found = figures(question, "", "sqlite", rows=rows)
    table = FactTable(question=question, rows=rows, found=found, wording=wording_for(question))
    assert table.cell_name(0, 0).lower() == name.lower()
    assert table.cell_text(0, 0) == name.split(" = ")[1]


def test_a_number_of_0_and_1_that_is_no_flag_stays_a_number() -> None:
    case = Case(
        "Average price by number of rooms",
        "SELECT rooms, AVG(price) AS avg_price FROM t GROUP BY rooms",
        {"rooms": "integer", "avg_price": "number"},
        [[1, 30.5], [0, 20.5]],
        [],
    )
    assert "**Rooms 1** has the highest average price: 30.50." in sheet_of(case).lead[0].statement


def test_rows_below_an_average_have_no_average_of_their_own_and_no_highest_of_all() -> None:
    case = Case(
        "Which lakes are below the average depth?",
        "SELECT lake, depth, (SELECT AVG(depth) FROM lakes) AS average_depth FROM lakes "
        "WHERE depth < (SELECT AVG(depth) FROM lakes) ORDER BY depth",
        {"lake": "text", "depth": "integer", "average_depth": "number"},
        [["Arend", 12, 80.5], ["Schaal", 30, 80.5], ["Stechlin", 49, 80.5], ["Walchen", 71, 80.5]],
        [],
    )
    said = " ".join(fact.statement for fact in sheet_of(case).facts)
    assert "average of depth" not in said
    assert "median of depth" not in said
    assert "Of the 4 shown, Walchen has the highest depth: 71." in said


def test_the_lead_says_both_measures_that_the_question_asks_for() -> None:
    case = Case(
        "How do speed and consumption depend on the class?",
        "SELECT class, COUNT(*) AS cars, AVG(s) AS avg_speed, AVG(l) AS avg_litres FROM t GROUP BY class",
        {"class": "text", "cars": "integer", "avg_speed": "number", "avg_litres": "number"},
        [["A", 20, 160.5, 5.5], ["B", 12, 190.5, 7.5], ["C", 4, 140.5, 4.5]],
        [],
    )
    assert [fact.statement for fact in sheet_of(case).lead][:2] == [
        "**B** has the highest average speed: 190.5.",
        "**B** has the highest average litres: 7.5.",
    ]


def test_some_months_of_many_are_called_months() -> None:
    case = Case(
        "Worst months by margin",
        "SELECT month, SUM(m) AS margin FROM t GROUP BY month ORDER BY margin LIMIT 3",
        {"month": "date", "margin": "number"},
        [["2024-03-01", 3.5], ["2026-02-01", 4.5], ["2025-09-01", 9.5]],
        [],
    )
    assert "**March 2024** has the lowest margin: 3.5." in sheet_of(case).lead[0].statement


def test_a_number_of_days_is_a_measure() -> None:
    case = Case(
        "How many claims are open per team, and how old is the oldest?",
        "SELECT team, COUNT(*) AS claims, CAST(MAX(age) AS INTEGER) AS oldest_days FROM t GROUP BY team",
        {"team": "text", "claims": "integer", "oldest_days": "integer"},
        [["North", 9, 31], ["South", 7, 240], ["West", 3, 12]],
        [],
    )
    assert "**South** has the highest oldest days: 240." in [fact.statement for fact in sheet_of(case).lead]
