"""Two measures that a result sets side by side are compared, and months that are not over are left out."""

from datetime import date

import pytest
from pydantic import JsonValue

from app.modules.analysis.facts.sheet import fact_sheet
from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.facts.wording import wording_for
from app.modules.analysis.figures import figures
from app.modules.analysis.figures.comparing import comparisons
from graph.state import Column, Rows

PLANTS: list[list[JsonValue]] = [["Ulm", 90, 70], ["Bonn", 40, 55], ["Jena", 30, 20]]
BY_MONTH: list[list[JsonValue]] = [
    [f"{month:02}", 10 + month, 12 if month < 5 else None] for month in range(1, 7)
]
SAID = {
    "Compare the output with its budget by plant": (
        "Output is above output budget in 2 of 3 rows, most for Ulm (90 against 70), and below it for Bonn "
        "(40 against 55). Over the 3 rows, output is 160 and output budget 145: a difference of 15 (+10.3%)."
    ),
    "Vergleiche die Leistung der Werke mit dem Budget": (
        "Output liegt in 2 von 3 Zeilen über Output Budget, am weitesten bei Ulm (90 gegenüber 70), und "
        "darunter bei Bonn (40 gegenüber 55). Über die 3 Zeilen beträgt Output 160 und Output Budget 145: "
        "ein Abstand von 15 (+10,3 %)."
    ),
    "¿Cómo queda la producción de las plantas frente al presupuesto?": (
        "Output supera a output budget en 2 de 3 filas, sobre todo en Ulm (90 frente a 70), y queda por "
        "debajo en Bonn (40 frente a 55). En 3 filas, output es de 160 y output budget, de 145: "
        "una diferencia de 15 (+10,3 %)."
    ),
    "Quelle est la production des usines par rapport au budget ?": (
        "Output dépasse output budget dans 2 cas sur 3 lignes, surtout pour Ulm (90 contre 70), et reste en "
        "dessous pour Bonn (40 contre 55). Sur 3 lignes, output est de 160 et output budget de 145 : "
        "un écart de 15 (+10,3 %)."
    ),
}


def lead(
    question: str, sql: str, columns: list[str], rows: list[list[JsonValue]], today: date | None = None
) -> str:
    read = Rows(
        columns=[
            Column(name=name, type="integer" if at or not isinstance(rows[0][0], str) else "text")
            for at, name in enumerate(columns)
        ],
        rows=rows,
        row_count=len(rows),
        truncated=False,
    )
    found = figures(question, sql, "sqlite", rows=read, today=today)
    sheet = fact_sheet(FactTable(question=question, rows=read, found=found, wording=wording_for(question)))
    return " ".join(fact.statement for fact in sheet.lead)


@pytest.mark.parametrize("question", SAID)
def test_a_measure_is_compared_with_its_budget(question: str) -> None:
    sql = "SELECT plant, SUM(a) AS output, SUM(b) AS output_budget FROM t GROUP BY plant"
    said = lead(question, sql, ["plant", "output", "output_budget"], PLANTS)
    assert said.replace("\u00a0", " ").startswith(SAID[question])


def test_months_of_a_year_that_are_not_over_are_not_compared_with_those_of_the_year_before() -> None:
    sql = (
        "SELECT STRFTIME('%m', d) AS month, SUM(CASE WHEN y = 2024 THEN a END) AS trips_2024, "
        "SUM(CASE WHEN y = 2025 THEN a END) AS trips_2025 FROM t GROUP BY 1 ORDER BY 1"
    )
    columns = ["month", "trips_2024", "trips_2025"]
    said = lead("Compare trips of 2025 and 2024", sql, columns, BY_MONTH, date(2025, 4, 11))
    assert said.startswith(
        "Trips 2025 is above trips 2024 in 1 of 3 months, most for January (12 against 11), and below it for "
        "March (12 against 13). Over the 3 months, trips 2025 is 36 and trips 2024 36 (0%)."
    )
    assert "April 2025 is partial: it still runs on 11 April 2025." in said
    assert "no trips" not in said


def test_a_year_that_is_not_over_is_said_to_be_partial() -> None:
    sql = "SELECT plant, SUM(a) AS output_2024, SUM(b) AS output_2025 FROM t GROUP BY plant"
    columns = ["plant", "output_2024", "output_2025"]
    said = lead("Output 2025 against 2024 by plant", sql, columns, PLANTS, date(2025, 4, 11))
    assert "2025 is partial: it still runs on 11 April 2025." in said


@pytest.mark.parametrize(
    ("names", "places"),
    [
        (["revenue_2023", "revenue_2024"], (1, 0)),
        (["umsatz_2025", "umsatz_2024"], (0, 1)),
        (["cost_usd", "budget_usd"], (0, 1)),
        (["sales_last_year", "sales"], None),
        (["previous_sales", "sales"], (1, 0)),
        (["ventas", "ventas_presupuesto"], (0, 1)),
        (["revenue", "orders"], None),
        (["min_price", "max_price"], None),
        (["share_2024", "revenue_2025"], None),
        (["actual", "budget"], (0, 1)),
        (["budget", "ist"], (1, 0)),
        (["orders", "sales", "target"], None),
        (["sales", "target", "attainment_pct"], (0, 1)),
        (["occupancy_pct", "target"], (0, 1)),
        (["orders", "actual", "plan"], (1, 2)),
        (["target", "plan"], None),
    ],
)
def test_measures_are_compared_whose_names_differ_in_a_year_or_a_word_for_a_plan(
    names: list[str], places: tuple[int, int] | None
) -> None:
    found = [(each.after, each.before) for each in comparisons(names, [], None)]
    assert found == ([] if places is None else [places])


def test_measures_are_paired_once_each() -> None:
    names = ["cost_2024", "cost_2025", "visits_2024", "visits_2025"]
    assert [(each.after, each.before) for each in comparisons(names, [], None)] == [(1, 0), (3, 2)]


TARGETS: list[list[JsonValue]] = [["North", 80, 100], ["South", 130, 120]]


@pytest.mark.parametrize(
    "question", ["Did the regions reach their target?", "Sales of each region", "Ventas por región"]
)
def test_a_target_beside_a_measure_is_compared_with_it_and_never_added(question: str) -> None:
    sql = "SELECT region, SUM(a) AS sales, SUM(b) AS target FROM t GROUP BY region"
    said = lead(question, sql, ["region", "sales", "target"], TARGETS)
    assert "South (130" in said.split(".")[0]
    assert ("210" in said, "220" in said, "430" in said) == (True, True, False)


def test_rows_that_are_sorted_by_one_of_them_are_ranked_by_it() -> None:
    sql = "SELECT region, SUM(a) AS sales, SUM(b) AS target FROM t GROUP BY region ORDER BY target DESC"
    said = lead("Which region has the largest target?", sql, ["region", "sales", "target"], TARGETS)
    assert said.startswith("**South** has the highest target: 120")


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What are actual and budget?", "Actual is 15 above budget (+10.3%): 160 against 145."),
        ("Wie hoch sind Ist und Budget?", "Actual liegt 15 über Budget (+10,3 %): 160 gegenüber 145."),
        (
            "¿Cuál es el gasto real y cuál el presupuesto?",
            "Actual supera a budget en 15 (+10,3 %): 160 frente a 145.",
        ),
        (
            "Quel est le montant réel et quel est le budget ?",
            "Actual dépasse budget de 15 (+10,3 %) : 160 contre 145.",
        ),
    ],
)
def test_two_values_of_one_row_are_said_with_their_difference(question: str, first: str) -> None:
    said = lead(
        question, "SELECT SUM(a) AS actual, SUM(b) AS budget FROM t", ["actual", "budget"], [[160, 145]]
    )
    assert said.replace("\u00a0", " ").startswith(first)


def test_each_pair_of_years_of_one_row_is_compared() -> None:
    columns = ["visits_2024", "visits_2025", "complaint_pct_2024", "complaint_pct_2025"]
    question = "How did the complaint percentage and visits of 2025 compare with 2024?"
    said = lead(question, "SELECT 1", columns, [[200, 190, 4, 5.5]])
    assert said.startswith(
        "Visits 2025 is 10 below visits 2024 (-5%): 190 against 200. "
        "Complaint percentage 2025 is 1.5 points above complaint percentage 2024: 5.5% against 4%."
    )
