"""The measure and the end of the scale that the facts of a result begin with."""

import pytest
from pydantic import JsonValue

from app.modules.analysis.facts import FactSheet
from app.modules.analysis.figures import figures
from app.modules.analysis.figures.ends import direction_of
from tests.unit.analysis.facts.readings import read, rows_of

Cells = list[list[JsonValue]]

BY_PLANT: Cells = [["P1", 900, 9, 1.0], ["P2", 400, 12, 3.0], ["P3", 100, 8, 8.0]]
PLANTS = "plant:text parts:integer faults:integer fault_rate_pct:number"
PER_PLANT = "SELECT plant, parts, faults, fault_rate_pct FROM plants"
BY_CITY: Cells = [["Bonn", 7, 31.5], ["Köln", 9, 24.0], ["Trier", 4, 52.25]]
CITIES = "city:text rides:integer avg_fare:number"
PER_CITY = "SELECT city, COUNT(*) AS rides, AVG(fare) AS avg_fare FROM rides GROUP BY city"


def main_of(question: str, sql: str, columns: str, cells: Cells) -> str | None:
    main = figures(question, sql, "sqlite", rows=rows_of(columns, cells)).main
    return main.name if main is not None else None


def sheet_of(question: str, sql: str, columns: str, cells: Cells) -> FactSheet:
    return read(rows_of(columns, cells), sql, question)[0]


@pytest.mark.parametrize(
    ("question", "sorted_by", "main"),
    [
        ("Which plant has the highest fault rate?", " ORDER BY fault_rate_pct DESC", "fault_rate_pct"),
        ("Which plant has the highest fault rate?", "", "fault_rate_pct"),
        ("At what % do the plants make faults?", "", "fault_rate_pct"),
        ("Which plant makes faults most often?", " ORDER BY fault_rate_pct DESC", "fault_rate_pct"),
        ("Which plants are over their parts?", " ORDER BY faults DESC", "faults"),
        ("How many parts does each plant make?", " ORDER BY faults DESC", "parts"),
        ("What about the plants?", " ORDER BY faults", "faults"),
        ("How many faults are there, and at what rate?", " ORDER BY faults DESC", "fault_rate_pct"),
        ("How many parts did each plant make, and at what rate?", " ORDER BY parts DESC", "parts"),
    ],
)
def test_the_column_sorted_by_is_the_measure_unless_another_is_named_whole(
    question: str, sorted_by: str, main: str
) -> None:
    assert main_of(question, PER_PLANT + sorted_by, PLANTS, BY_PLANT) == main


@pytest.mark.parametrize(
    ("question", "sorted_by", "main"),
    [
        ("Where is the average ride dearest?", " ORDER BY avg_fare DESC", "avg_fare"),
        ("What do people pay per ride?", "", "avg_fare"),
        ("How many rides per city?", "", "rides"),
        ("Rides per month and city", "", "rides"),
        ("Wie hoch ist der Durchschnitt je Stadt?", "", "avg_fare"),
        ("Cuál es el promedio por ciudad", "", "avg_fare"),
        ("Quelle est la moyenne par ville ?", "", "avg_fare"),
        ("How do the rides of the cities differ in fare?", " ORDER BY avg_fare DESC", "avg_fare"),
    ],
)
def test_a_question_for_a_rate_prefers_the_column_that_is_one(
    question: str, sorted_by: str, main: str
) -> None:
    assert main_of(question, PER_CITY + sorted_by, CITIES, BY_CITY) == main


def test_averages_and_percentages_of_rows_are_not_averaged_again() -> None:
    sheet = sheet_of("Average fare of each city", f"{PER_CITY} ORDER BY avg_fare DESC", CITIES, BY_CITY)
    assert sheet.lead[0].statement == "**Trier** has the highest average fare: 52.25."
    assert not [
        fact for fact in sheet.facts if fact.kind in ("average", "median") and "avg_fare" in fact.columns
    ]
    sheet = sheet_of("What percentage is faulty?", PER_PLANT, PLANTS, BY_PLANT)
    assert sheet.lead[0].statement == "**P3** has the highest fault rate: 8%."
    assert not [
        fact
        for fact in sheet.facts
        if fact.kind in ("average", "median") and "fault_rate_pct" in fact.columns
    ]


@pytest.mark.parametrize(
    ("question", "order", "lead"),
    [
        ("Which courier is quickest?", "ORDER BY minutes", "**Ann** has the lowest minutes: 12."),
        ("Which courier is slowest?", "ORDER BY minutes DESC", "**Cy** has the highest minutes: 50."),
        ("Which courier is fastest?", "", "**Ann** has the lowest minutes: 12."),
        ("Which courier is slowest?", "", "**Cy** has the highest minutes: 50."),
        ("Which courier has the highest minutes?", "ORDER BY minutes", "**Cy** has the highest minutes: 50."),
        ("The couriers", "ORDER BY minutes", "**Ann** has the lowest minutes: 12."),
        ("The best courier", "ORDER BY minutes LIMIT 3", "**Ann** has the lowest minutes: 12."),
        ("The slowest courier", "ORDER BY minutes DESC LIMIT 3", "**Cy** has the highest minutes: 50."),
    ],
)
def test_the_sort_order_decides_which_end_leads(question: str, order: str, lead: str) -> None:
    cells: Cells = [["Ann", 12.0], ["Bo", 31.0], ["Cy", 50.0]]
    if "DESC" in order:
        cells.reverse()
    sheet = sheet_of(
        question, f"SELECT courier, minutes FROM runs {order}", "courier:text minutes:number", cells
    )
    assert sheet.lead[0].statement == lead


def test_what_fell_the_most_is_the_lowest_change() -> None:
    cells: Cells = [["Tea", -80], ["Milk", -35], ["Rice", -2]]
    sql = "SELECT item, now - before AS delta FROM items ORDER BY delta LIMIT 3"
    sheet = sheet_of("Which items dropped most?", sql, "item:text delta:integer", cells)
    assert [fact.statement for fact in sheet.lead] == [
        "**Tea** has the lowest delta: -80.",
        "Next by delta, in order, come Milk (-35) and Rice (-2).",
    ]


@pytest.mark.parametrize(
    ("question", "measure", "end"),
    [
        ("Welcher Anbieter ist am günstigsten?", "preis", "lowest"),
        ("Welche Leitung ist die schnellste?", "speed kmh", "highest"),
        ("¿Cuál es el más barato?", "precio", "lowest"),
        ("Quel est le train le plus rapide ?", "durée", "lowest"),
        ("¿Quién vende más y quién menos?", "ventas", None),
    ],
)
def test_an_end_without_a_sort_order_is_that_of_the_measure(
    question: str, measure: str, end: str | None
) -> None:
    assert direction_of(question, measure) == end


def test_the_gap_is_that_of_the_end_that_leads() -> None:
    cells: Cells = [["Ann", 12.0], ["Bo", 31.0], ["Cy", 50.0]]
    sql = "SELECT courier, minutes FROM runs ORDER BY minutes"
    sheet = sheet_of("The fastest couriers", sql, "courier:text minutes:number", cells)
    gaps = [fact.statement for fact in sheet.facts if fact.kind == "gap"]
    assert gaps == ["Ann is 19 below Bo in minutes."]


def test_of_at_most_five_rows_all_are_named_once() -> None:
    cells: Cells = [["A", 9], ["B", 7], ["C", 7], ["D", 2]]
    sql = "SELECT shop, SUM(x) AS sold FROM t GROUP BY shop ORDER BY sold DESC LIMIT 4"
    sheet = sheet_of("Top 4 shops", sql, "shop:text sold:integer", cells)
    assert [fact.statement for fact in sheet.lead] == [
        "**A** has the highest sold: 9.",
        "Next by sold, in order, come B (7), C (7) and D (2).",
    ]


def test_those_that_tie_have_the_value_each() -> None:
    cells: Cells = [["A", 4], ["B", 4], ["C", 2]]
    sql = "SELECT shop, COUNT(*) AS visits FROM t GROUP BY shop"
    sheet = sheet_of("Visits of each shop", sql, "shop:text visits:integer", cells)
    assert (
        sheet.lead[0].statement
        == "**A** and **B** share the most visits: 4 each, 40% each of the total of 10."
    )


@pytest.mark.parametrize("question", ["Which shops make a loss?", "Which shops are below zero?"])
def test_losses_asked_for_come_first_with_their_names(question: str) -> None:
    cells: Cells = [["A", -9], ["B", -4], ["C", 12]]
    sql = "SELECT shop, SUM(x) AS profit FROM t GROUP BY shop ORDER BY profit"
    sheet = sheet_of(question, sql, "shop:text profit:integer", cells)
    assert sheet.lead[0].statement == "2 of 3 rows have profit below zero: A (-9) and B (-4)."


def test_what_the_statement_asks_of_all_rows_is_not_counted() -> None:
    cells: Cells = [["A", -9], ["B", -4], ["C", -2]]
    sql = "SELECT shop, ROUND(SUM(profit), 2) AS profit FROM t WHERE profit < 0 GROUP BY shop ORDER BY 2"
    sheet = sheet_of("Which shops are below zero?", sql, "shop:text profit:integer", cells)
    assert not any("below zero" in fact.statement for fact in sheet.facts)


def test_a_date_asked_for_comes_before_the_measures() -> None:
    cells: Cells = [["Ada", "2026-11-02", 3], ["Bob", "2026-11-02", 8], ["Cleo", "2026-05-01", 5]]
    sql = (
        "SELECT member, MAX(day) AS last_visit, COUNT(*) AS visits FROM v GROUP BY member "
        "ORDER BY last_visit DESC"
    )
    columns = "member:text last_visit:date visits:integer"
    sheet = sheet_of("When was each member here last?", sql, columns, cells)
    assert sheet.lead[0].statement == (
        "**Ada** and **Bob** share the latest last visit: 2 November 2026; "
        "Cleo is last of the 3 shown with 1 May 2026."
    )
    assert sheet.lead[1].statement.startswith("**Bob** has the most visits: 8")
    sheet = sheet_of("How many calls of each member?", sql, columns, cells)
    assert sheet.lead[0].statement.startswith("**Bob** has the most visits: 8")


CHANGED = "SELECT land, SUM(nachher - vorher) AS change FROM sales GROUP BY land ORDER BY change"


@pytest.mark.parametrize(
    ("question", "sql", "change", "said"),
    [
        ("Which land fell the most?", f"{CHANGED} LIMIT 1", 12.5, "None fell: **Peru** has the lowest"),
        ("Which land fell the most?", f"{CHANGED} LIMIT 1", -12.5, "**Peru** has the lowest change: -12.5."),
        ("Which land grew the least?", f"{CHANGED} LIMIT 1", 12.5, "**Peru** has the lowest change: 12.5."),
        ("Which land grew the most?", f"{CHANGED} DESC LIMIT 1", -3.5, "None rose: **Peru** has the highest"),
        (
            "Welches Land ist am meisten gefallen?",
            f"{CHANGED} LIMIT 1",
            12.5,
            "Nichts ist gefallen: **Peru**",
        ),
        (
            "¿Qué país bajó más en ventas de este año?",
            f"{CHANGED} LIMIT 1",
            12.5,
            "Nada bajó: **Peru** tiene",
        ),
        (
            "Quel pays a le plus baissé dans les ventes ?",
            f"{CHANGED} LIMIT 1",
            12.5,
            "Rien n’a baissé : **Peru**",
        ),
    ],
)
def test_where_all_rose_none_is_said_to_have_fallen_the_most(
    question: str, sql: str, change: float, said: str
) -> None:
    sheet = sheet_of(question, sql, "land:text change:number", [["Peru", change]])
    assert sheet.lead[0].statement.startswith(said), sheet.lead[0].statement


def test_of_several_that_all_rose_none_is_said_to_have_fallen() -> None:
    cells: Cells = [["Peru", 2.5], ["Chile", 7.5], ["Cuba", 9.5]]
    sheet = sheet_of("Which lands fell the most?", CHANGED, "land:text change:number", cells)
    assert sheet.lead[0].statement.startswith("None fell: **Peru** has the lowest change: 2.5")


def test_where_a_change_is_not_known_none_is_said_to_have_fallen_or_risen() -> None:
    cells: Cells = [["Peru", 2.5], ["Chile", 7.5], ["Cuba", None]]
    sheet = sheet_of("Which lands fell the most?", CHANGED, "land:text change:number", cells)
    assert sheet.lead[0].statement.startswith("**Peru** has the lowest change: 2.5")
    relative = "SELECT land, SUM(x) * 100.0 / SUM(y) AS change_percent FROM t GROUP BY land"
    sheet = sheet_of(
        "Which land grew the most?",
        f"{relative} ORDER BY change_percent DESC LIMIT 1",
        "land:text change_percent:number",
        [["Peru", -3.5]],
    )
    assert sheet.lead[0].statement.startswith("**Peru** has the highest change")


def test_a_lowest_price_is_a_minimum_where_the_highest_is_named() -> None:
    cells: Cells = [["Tents", 88.95], ["Hats", 6.95]]
    sql = "SELECT category, MIN(price) AS lowest_price FROM products GROUP BY category"
    sheet = sheet_of(
        "What is the lowest price of each category?", sql, "category:text lowest_price:number", cells
    )
    said = [fact.statement.replace("*", "") for fact in sheet.lead]
    assert "Tents has the highest minimum price: 88.95." in said
