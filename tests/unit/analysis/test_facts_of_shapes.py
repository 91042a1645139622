"""True facts of results of every shape, worked out by hand."""

import re
from dataclasses import dataclass, field
from datetime import date

from pydantic import JsonValue

from app.core.language import Language
from app.modules.analysis.facts import FactSheet
from app.modules.analysis.facts.sheet import fact_sheet
from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.facts.wording import Wording
from app.modules.analysis.figures import DataSpan, figures
from graph.state import Column, Rows
from tests.support.cases import assert_each

Cells = list[list[JsonValue]]
BY_MONTH = "SELECT STRFTIME('%Y-%m', d) AS month, SUM(amount) AS revenue FROM orders GROUP BY 1 ORDER BY 1"
BY_MONTH_AND_GROUP = (
    "SELECT STRFTIME('%Y-%m', d) AS month, category, SUM(amount) AS revenue FROM orders GROUP BY 1, 2"
)
PER_COUNTRY = "SELECT country, SUM(amount) AS revenue FROM orders GROUP BY country"
ORDERS = "SELECT country, COUNT(*) AS orders FROM orders GROUP BY country"
AVERAGE = "SELECT country, AVG(price) AS average_price FROM orders GROUP BY country"
TOP = (
    "SELECT product, SUM(a) AS revenue, SUM(q) AS units FROM t GROUP BY product ORDER BY revenue DESC LIMIT 3"
)
CROSS = "SELECT region, channel, COUNT(*) AS orders FROM orders GROUP BY region, channel"
TEXT = {"country": "text", "revenue": "number"}
COUNTED = {"country": "text", "orders": "integer"}
MONTHS = {"month": "text", "revenue": "number"}
GROUPED = {"month": "text", "category": "text", "revenue": "number"}
CROSSED = {"region": "text", "channel": "text", "orders": "integer"}


@dataclass(frozen=True)
class Case:
    """What the analysis without a model must say of a result, and what no fact of it may."""

    question: str
    sql: str
    columns: dict[str, str]
    rows: Cells
    says: list[str]
    never: list[str] = field(default_factory=list)
    span: DataSpan | None = None
    today: date | None = None
    cut: bool = False
    keys: frozenset[str] = frozenset()
    dialect: str = "sqlite"


def months(first: str, values: list[float]) -> Cells:
    year, month = map(int, first.split("-"))
    start = year * 12 + month - 1
    return [[f"{at // 12}-{at % 12 + 1:02}", value] for at, value in enumerate(values, start)]


YEAR = [10.0, 9, 11, 12, 13, 12, 11, 12, 13, 14, 20, 30]

ONE_ROW = {
    "a single number": Case(
        "How many orders?",
        "SELECT COUNT(*) AS n FROM t",
        {"n": "integer"},
        [[1234567]],
        ["**Number of rows: 1,234,567**"],
    ),
    "a number with cents": Case(
        "total", "SELECT SUM(a) AS total FROM t", {"total": "number"}, [[19366.140000000014]], ["19,366.14**"]
    ),
    "nothing to add up": Case(
        "total",
        "SELECT SUM(a) AS total FROM t",
        {"total": "number"},
        [[None]],
        ["**Total: (none)**.", "no value to compute it from"],
    ),
    "a year is written as a year": Case(
        "which year",
        "SELECT y AS year, SUM(a) AS n FROM t GROUP BY y LIMIT 1",
        {"year": "integer", "n": "number"},
        [[2025, 5]],
        ["Year: 2025, n: 5"],
        ["2,025"],
    ),
    "the lowest of all": Case(
        "Which product has the lowest revenue?",
        "SELECT p, SUM(a) AS revenue FROM t GROUP BY p ORDER BY revenue LIMIT 1",
        {"p": "text", "revenue": "number"},
        [["Heron", 2.5]],
        ["**Heron** has the lowest revenue: 2.50."],
        ["highest"],
    ),
    "the fewest of all may tie": Case(
        "Which genre has the fewest tracks?",
        "SELECT g, COUNT(*) AS tracks FROM t GROUP BY g ORDER BY tracks LIMIT 1",
        {"g": "text", "tracks": "integer"},
        [["Opera", 1]],
        ["**Opera** has the fewest tracks: 1.", "a tie would not show"],
    ),
    "the end that was not asked for is not claimed": Case(
        "Which product has the lowest revenue?",
        "SELECT p, SUM(a) AS revenue FROM t GROUP BY p ORDER BY revenue DESC LIMIT 1",
        {"p": "text", "revenue": "number"},
        [["Heron", 2.5]],
        ["Heron", "2.50"],
        ["has the lowest", "has the highest"],
    ),
    "the lowest year is partial": Case(
        "Which of these has the lowest revenue?",
        "SELECT STRFTIME('%Y', d) AS year, SUM(a) AS revenue FROM t GROUP BY 1 ORDER BY 2 LIMIT 1",
        {"year": "text", "revenue": "number"},
        [["2024", 50.0]],
        ["**2024** has the lowest revenue: 50.", "2024 is partial: the data begins on 30 June 2024."],
        span=DataSpan(date(2024, 6, 30), date(2026, 6, 30), 9000),
    ),
    "a group goes by all its names": Case(
        "Which of these has the lowest revenue?",
        f"{BY_MONTH_AND_GROUP} ORDER BY revenue LIMIT 1",
        GROUPED,
        [["2025-03", "phone", 5.0]],
        ["**March 2025 / phone** has the lowest revenue: 5."],
    ),
    "the highest of a selection is not the highest of all": Case(
        "Which of these has the highest revenue?",
        f"SELECT * FROM ({PER_COUNTRY} ORDER BY 2 LIMIT 5) AS previous ORDER BY revenue DESC LIMIT 1",
        TEXT,
        [["Chad", 5.0]],
        ["Of the at most 5 rows picked before, **Chad** has the highest revenue: 5."],
    ),
    "many columns": Case(
        "x",
        "SELECT * FROM t",
        {f"c{at}": "integer" for at in range(60)},
        [[3] * 60],
        ["C0: 3", "and 52 more columns."],
    ),
}

RANKINGS = {
    "the highest with its share": Case(
        "revenue per country",
        PER_COUNTRY,
        TEXT,
        [["Brazil", 60.0], ["Norway", 30.0], ["Chad", 10.0]],
        [
            "**Brazil** has the highest revenue: 60, 60% of the total of 100.",
            "Norway is second by revenue with 30.",
            "Chad has the lowest revenue: 10.",
        ],
    ),
    "the lowest is answered first": Case(
        "Which country has the lowest revenue?",
        PER_COUNTRY,
        TEXT,
        [["Brazil", 60.0], ["Norway", 30.0], ["Chad", 10.0]],
        [
            "**Chad** has the lowest revenue: 10, 10% of the total of 100.",
            "Brazil has the highest revenue: 60.",
        ],
    ),
    "the fewest": Case(
        "Who has the fewest orders?",
        ORDERS,
        COUNTED,
        [["A", 5], ["B", 2], ["C", 9]],
        ["**B** has the fewest orders: 2", "C has the most orders: 9"],
    ),
    "the cheapest": Case(
        "What is the cheapest product?",
        "SELECT product, price FROM products",
        {"product": "text", "price": "number"},
        [["A", 5.5], ["B", 2.25], ["C", 9]],
        ["**B** has the lowest price: 2.25"],
        ["%", "total"],
    ),
    "ties at the top": Case(
        "orders per country",
        ORDERS,
        COUNTED,
        [["A", 5], ["B", 5], ["C", 1]],
        ["**A** and **B** share the most orders: 5"],
        ["**A** has"],
    ),
    "ties at the bottom": Case(
        "orders per country",
        ORDERS,
        COUNTED,
        [["A", 5], ["B", 1], ["C", 1]],
        ["B and C share the fewest orders: 1 each."],
    ),
    "all alike": Case(
        "orders per country",
        ORDERS,
        COUNTED,
        [["A", 2], ["B", 2]],
        ["All 2 have the same number of orders: 2."],
    ),
    "averages are not added": Case(
        "average price per country",
        AVERAGE,
        {"country": "text", "average_price": "number"},
        [["A", 5.0], ["B", 3.0]],
        ["**A** has the highest average price: 5."],
        ["8", "%"],
    ),
    "distinct counts are not added": Case(
        "customers per country",
        "SELECT country, COUNT(DISTINCT customer) AS customers FROM t GROUP BY country",
        {"country": "text", "customers": "integer"},
        [["A", 5], ["B", 3]],
        ["**A** has the most customers: 5."],
        ["total", "%"],
    ),
    "ratios are not added": Case(
        "return rate per country",
        "SELECT country, SUM(r) * 100.0 / COUNT(*) AS returned FROM t GROUP BY country",
        {"country": "text", "returned": "number"},
        [["A", 20.0], ["B", 30.0]],
        ["**B** has the highest returned: 30."],
        ["total", "%"],
    ),
    "prices of rows are not added": Case(
        "price of products",
        "SELECT name, unit_price FROM products",
        {"name": "text", "unit_price": "number"},
        [["A", 20.0], ["B", 30.0]],
        ["**B** has the highest unit price: 30."],
        ["total", "%"],
    ),
    "amounts of rows are added by label": Case(
        "amounts by customer",
        "SELECT customer, amount FROM payments",
        {"customer": "text", "amount": "number"},
        [["A", 20.0], ["B", 30.0], ["A", 15.0]],
        ["**A** has the highest amount over the 3 rows: 35, 53.8% of the total of 65."],
    ),
    "groups of one name are different things": Case(
        "revenue per customer",
        "SELECT name, SUM(a) AS revenue FROM t GROUP BY id, name",
        {"name": "text", "revenue": "number"},
        [["Ann", 20.0], ["Ben", 30.0], ["Ann", 15.0]],
        [
            "**Ben** has the highest revenue: 30, 46.2% of the total of 65.",
            "Ann (row 1) is second",
            "Ann (row 3) has the lowest",
        ],
        ["35"],
    ),
    "negative values have no shares": Case(
        "profit per country",
        "SELECT country, SUM(p) AS profit FROM t GROUP BY country",
        {"country": "text", "profit": "number"},
        [["A", 20.0], ["B", -30.0]],
        ["**A** has the highest profit: 20.", "B has the lowest profit: -30."],
        ["%"],
    ),
    "a total of zero has no shares": Case(
        "orders per country",
        ORDERS,
        COUNTED,
        [["A", 0], ["B", 0]],
        ["All 2 have the same number of orders: 0."],
        ["%"],
    ),
    "nulls are counted": Case(
        "revenue per country",
        PER_COUNTRY,
        TEXT,
        [["A", 20.0], ["B", None], ["C", 5.0], ["D", None]],
        ["**A** has the highest revenue: 20, 80% of the total of 25.", "B and D have no revenue."],
    ),
    "rows without a label are no category": Case(
        "revenue per country",
        PER_COUNTRY,
        TEXT,
        [[None, 20.0], ["", 6.0], ["A", 5.0], ["B", 9.0]],
        [
            "Of the rows with known country, **B** has the highest revenue: 9, 22.5% of the total of 40.",
            "Revenue of the 2 rows without country: 26, 65% of the total of 40.",
        ],
        ["(none)", "(empty)"],
    ),
    "rows without any label": Case(
        "revenue per country",
        PER_COUNTRY,
        TEXT,
        [[None, 20.0], ["", 5.0]],
        [
            "The total of revenue is 25.",
            "Revenue of the 2 rows without country: 25, 100% of the total of 25.",
        ],
        ["highest"],
    ),
    "a sum without noise": Case(
        "revenue per country",
        PER_COUNTRY,
        TEXT,
        [["A", 0.1], ["B", 0.2]],
        ["66.7% of the total of 0.30."],
        ["0.3 "],
    ),
    "decimals beyond a double": Case(
        "revenue per country",
        PER_COUNTRY,
        TEXT,
        [["A", "90071992547409.93"], ["B", "0.07"]],
        ["of the total of 90,071,992,547,410."],
    ),
    "subtotals of a rollup are not added": Case(
        "revenue per country",
        "SELECT country, SUM(a) AS revenue FROM t GROUP BY ROLLUP (country)",
        TEXT,
        [["A", 20.0], ["B", 5.0], [None, 25.0]],
        ["**A** has the highest revenue: 20.", "1 row has no country."],
        ["%", "50", "total", "average"],
    ),
    "a numeric key names its rows": Case(
        "reviews per stars",
        "SELECT stars, COUNT(*) AS reviews FROM r GROUP BY stars",
        {"stars": "integer", "reviews": "integer"},
        [[5, 40], [4, 60]],
        ["**Stars 4** has the most reviews: 60, 60% of the total of 100."],
    ),
    "two of two": Case(
        "revenue per country",
        PER_COUNTRY,
        TEXT,
        [["A", 3.0], ["B", 1.0]],
        ["75% of the total of 4."],
        ["second"],
    ),
}

LIMITED = {
    "the top three by the measure asked for": Case(
        "Top 3 products by revenue",
        TOP,
        {"product": "text", "revenue": "number", "units": "integer"},
        [["A", 50.0, 1], ["B", 30.0, 9], ["C", 20.0, 4]],
        [
            "**A** has the highest revenue: 50.",
            "Next by revenue, in order, come B (30) and C (20).",
        ],
        ["lowest", "average", "total", "%", "units"],
    ),
    "the lowest of a top three": Case(
        "Which of these has the lowest revenue?",
        TOP,
        {"product": "text", "revenue": "number", "units": "integer"},
        [["A", 50.0, 1], ["B", 30.0, 9], ["C", 20.0, 4]],
        ["Of the 3 shown, **C** has the lowest revenue: 20"],
    ),
    "a limit that was not reached is none": Case(
        "Top 3 products by revenue",
        TOP,
        {"product": "text", "revenue": "number", "units": "integer"},
        [["A", 50.0, 1], ["B", 30.0, 9]],
        ["62.5% of the total of 80."],
        ["shown"],
    ),
    "the bottom of a ranking": Case(
        "The 2 worst countries by revenue",
        f"{PER_COUNTRY} ORDER BY 2 LIMIT 2",
        TEXT,
        [["Chad", 1.0], ["Norway", 3.0]],
        ["**Chad** has the lowest revenue: 1. Next by revenue comes Norway (3)."],
        ["highest"],
    ),
    "groups kept by HAVING are not all": Case(
        "countries with more than 5 of revenue",
        f"{PER_COUNTRY} HAVING SUM(amount) > 5",
        TEXT,
        [["A", 20.0], ["B", 30.0]],
        ["Of the 2 shown, **B** has the highest revenue: 30. Of the 2 shown, A has"],
        ["of the total of 50"],
    ),
    "the best months are no course": Case(
        "Top 3 months by revenue",
        "SELECT STRFTIME('%Y-%m', d) AS month, SUM(a) AS revenue FROM t GROUP BY 1 ORDER BY 2 DESC LIMIT 3",
        MONTHS,
        [["2025-12", 30.0], ["2025-03", 20.0], ["2025-07", 10.0]],
        ["**December 2025** has the highest revenue: 30", "come March 2025 (20) and July 2025 (10)"],
        ["rose", "fell", "no row", "lowest"],
    ),
    "the lowest of the best, sorted again": Case(
        "revenue, lowest first",
        f"SELECT * FROM ({PER_COUNTRY} ORDER BY 2 DESC LIMIT 2) AS previous ORDER BY revenue",
        TEXT,
        [["Norway", 5.0], ["Brazil", 9.0]],
        ["Of the 2 shown, **Norway** has the lowest revenue: 5"],
    ),
    "the lowest months hold a partial one": Case(
        "The 2 worst months by revenue",
        f"{BY_MONTH.replace('ORDER BY 1', 'ORDER BY 2')} LIMIT 2",
        MONTHS,
        [["2024-06", 5.0], ["2025-02", 9.0]],
        ["**June 2024** has the lowest revenue: 5", "June 2024 is partial: the data begins on 30 June 2024."],
        span=DataSpan(date(2024, 6, 30), date(2026, 6, 30), 9000),
    ),
    "the best cells are no totals": Case(
        "top 3",
        f"{BY_MONTH_AND_GROUP} ORDER BY revenue DESC LIMIT 3",
        GROUPED,
        [["2025-12", "Tents", 30.0], ["2025-03", "Tents", 20.0], ["2025-07", "Mats", 19.0]],
        ["**Tents / December 2025** has the highest revenue: 30"],
        ["50", "rose"],
    ),
    "a cut result says so first": Case(
        "revenue per country",
        PER_COUNTRY,
        TEXT,
        [["A", 20.0], ["B", 30.0]],
        [
            "The result was cut off at 2 rows: all figures here are of these rows only.",
            "Of the 2 shown, **B** has the highest revenue: 30.",
        ],
        ["total", "lowest", "average"],
        cut=True,
    ),
}

COURSES = {
    "level and range where there is no year before": Case(
        "revenue by month",
        BY_MONTH,
        MONTHS,
        [["2025-01", 10], ["2025-02", 40], ["2025-03", 20]],
        [
            "Revenue in the 3 months: 23.33 on average, between 10 (January 2025)",
            "40 (February 2025), from 10 in the first to 20 in the last.",
            "Revenue in March 2025: 20.",
            "The total of revenue over the 3 months is 70.",
            "With fewer than 13 complete months, growth cannot be distinguished from a season.",
        ],
        ["rose by", "fell by", "%"],
    ),
    "in whatever order the rows come": Case(
        "revenue by month",
        BY_MONTH,
        MONTHS,
        [["2025-03", 20], ["2025-01", 10], ["2025-02", 40]],
        ["between 10 (January 2025) and 40 (February 2025)", "Revenue in March 2025: 20."],
    ),
    "no change": Case(
        "revenue by month",
        BY_MONTH,
        MONTHS,
        [["2025-01", 40], ["2025-02", 40], ["2025-03", 40]],
        ["Each of the 3 months has the same revenue: 40."],
        ["rose", "fell", "highest"],
    ),
    "against the same months of the year before": Case(
        "revenue by month",
        BY_MONTH,
        MONTHS,
        months("2024-10", [90.0, 90, 90, 10, 20, 30, 40, 40, 40, 40, 40, 40, 99, 108]),
        ["Revenue of October to November 2025 rose by 15% on October to November 2024, from 180 to 207."],
        ["fell by"],
    ),
    "a business that grows, from its peak to its trough": Case(
        "How did revenue develop?",
        BY_MONTH,
        MONTHS,
        months("2024-12", [100.0, *[50.0] * 11, 118.8, *[59.4] * 10]),
        ["Revenue of December 2025 to October 2026 rose by 18.8% on December 2024 to October 2025"],
        ["fell by"],
    ),
    "a business that really fell": Case(
        "How did revenue develop?",
        BY_MONTH,
        MONTHS,
        months("2024-01", [*YEAR, *(value * 0.5 for value in YEAR)]),
        ["Revenue in 2025 fell by 50% on 2024, from 167.00 to 83.50."],
        ["rose by"],
    ),
    "a difference where a percentage has no meaning": Case(
        "profit by year",
        "SELECT STRFTIME('%Y', d) AS year, SUM(p) AS profit FROM t GROUP BY 1",
        {"year": "text", "profit": "number"},
        [["2024", -20], ["2025", 30]],
        ["Profit in 2025 rose by 50 on 2024, from -20 to 30."],
        ["%"],
    ),
    "points between percentages": Case(
        "margin by year",
        "SELECT STRFTIME('%Y', d) AS year, SUM(p) * 100.0 / SUM(a) AS margin_percent FROM t GROUP BY 1",
        {"year": "text", "margin_percent": "number"},
        [["2024", 20.0], ["2025", 22.5]],
        ["Margin in 2025 rose by 2.5 points on 2024, from 20% to 22.5%."],
    ),
    "practically the same": Case(
        "revenue by year",
        "SELECT STRFTIME('%Y', d) AS year, SUM(a) AS revenue FROM t GROUP BY 1",
        {"year": "text", "revenue": "number"},
        [["2024", 1000.0], ["2025", 1001.0]],
        ["2025 and 2024 have practically the same revenue: 1,001 and 1,000."],
        ["rose by"],
    ),
    "the first month holds one day": Case(
        "revenue by month",
        BY_MONTH,
        MONTHS,
        months("2024-06", [6.0, 300, 400, 500]),
        [
            "Revenue in the 3 months covered whole: 400 on average, between 300 (July 2024) and 500",
            "June 2024 (6) is partial: the data begins on 30 June 2024.",
        ],
        ["between 6"],
        span=DataSpan(date(2024, 6, 30), date(2024, 9, 30), 3000),
    ),
    "partial months take part in no change": Case(
        "revenue by month",
        BY_MONTH,
        MONTHS,
        months("2024-06", [6.0, *[100.0] * 12, 110.0, 3.0]),
        ["Revenue in July 2025 rose by 10% on July 2024, from 100 to 110."],
        ["August 2025 rose", "of August 2025:"],
        span=DataSpan(date(2024, 6, 30), date(2025, 8, 1), 9000),
    ),
    "the last month ends early": Case(
        "revenue by month",
        BY_MONTH,
        MONTHS,
        months("2024-06", [300, 400, 500, 50]),
        [
            "between 300 (June 2024) and 500 (August 2024)",
            "September 2024 (50) is partial: the data ends on 4 September 2024.",
        ],
        ["50 (September"],
        span=DataSpan(date(2024, 6, 1), date(2024, 9, 4), 3000),
    ),
    "the month still runs": Case(
        "Which month has the lowest revenue?",
        BY_MONTH,
        MONTHS,
        months("2024-06", [300, 400, 500, 50]),
        [
            "Of the 3 months covered whole, **June 2024** has the lowest revenue: 300.",
            "September 2024 (50) is partial: it still runs on 4 September 2024.",
        ],
        today=date(2024, 9, 4),
    ),
    "a weekend at the end is no gap": Case(
        "revenue by month",
        BY_MONTH,
        MONTHS,
        months("2025-07", [300, 400]),
        ["between 300 (July 2025) and 400 (August 2025)"],
        ["partial"],
        span=DataSpan(date(2025, 7, 1), date(2025, 8, 29), 9000),
    ),
    "sparse data ends where its last value is": Case(
        "revenue by month",
        BY_MONTH,
        MONTHS,
        months("2025-07", [300, 400]),
        ["between 300 (July 2025) and 400 (August 2025)"],
        ["partial"],
        span=DataSpan(date(2025, 7, 3), date(2025, 8, 22), 12),
    ),
    "one full year of three": Case(
        "revenue by year",
        "SELECT STRFTIME('%Y', d) AS year, SUM(a) AS revenue FROM t GROUP BY 1",
        {"year": "text", "revenue": "number"},
        [["2024", 50], ["2025", 100], ["2026", 60]],
        ["2024 (50) is partial", "2026 (60) is partial", "Revenue in 2025: 100."],
        ["rose", "fell"],
        span=DataSpan(date(2024, 6, 30), date(2026, 6, 30), 9000),
    ),
    "missing months are named, and none of them is lowest": Case(
        "Which month had the lowest revenue?",
        BY_MONTH,
        MONTHS,
        [["2025-01", 10], ["2025-02", 40], ["2025-05", 20]],
        [
            "Of the 3 months that have a value, **January 2025** has the lowest revenue: 10.",
            "2 months have no row: March 2025 and April 2025.",
        ],
    ),
    "months without a value are counted": Case(
        "revenue by month",
        BY_MONTH,
        MONTHS,
        [["2025-01", 10], ["2025-02", None], ["2025-03", 20]],
        ["between 10 (January 2025) and 20 (March 2025)", "February 2025 has no revenue."],
        ["no row:"],
    ),
    "the lowest month is answered first": Case(
        "Which month had the lowest revenue?",
        BY_MONTH,
        MONTHS,
        [["2025-01", 10], ["2025-02", 40], ["2025-03", 20]],
        ["**January 2025** has the lowest revenue: 10. **February 2025** has the highest revenue: 40."],
    ),
    "the best month is answered first": Case(
        "What was our best month?",
        BY_MONTH,
        MONTHS,
        [["2025-01", 10], ["2025-02", 40], ["2025-03", 20]],
        ["**February 2025** has the highest revenue: 40. **January 2025** has the lowest revenue: 10."],
    ),
    "two years grow": Case(
        "revenue by month",
        BY_MONTH,
        MONTHS,
        months("2024-01", [*YEAR, *(value * 2 for value in YEAR)]),
        ["Revenue in 2025 rose by 100% on 2024, from 167 to 334."],
    ),
    "a gap is not compared across": Case(
        "revenue by month",
        BY_MONTH,
        MONTHS,
        months("2024-01", [*YEAR, *YEAR])[:5] + months("2024-01", [*YEAR, *YEAR])[6:],
        [
            "July to December 2025 and July to December 2024 have the same revenue: 100.",
            "1 month has no row: June 2024.",
        ],
    ),
    "averages over time are compared one by one": Case(
        "average price by month",
        "SELECT STRFTIME('%Y-%m', d) AS month, AVG(p) AS average_price FROM t GROUP BY 1",
        {"month": "text", "average_price": "number"},
        months("2024-01", [*YEAR, *YEAR[:-1], 33.0]),
        ["Average price in December 2025 rose by 10% on December 2024, from 30 to 33."],
        ["total", " on average"],
    ),
    "stocks are not added over time": Case(
        "stock by month",
        "SELECT STRFTIME('%Y-%m', d) AS month, SUM(stock) AS stock FROM t GROUP BY 1",
        {"month": "text", "stock": "integer"},
        [["2025-01", 10], ["2025-02", 40]],
        ["Stock in the 2 months: 25 on average, between 10 (January 2025) and 40 (February 2025)."],
        ["total", "50"],
    ),
    "running totals are not added": Case(
        "running total by month",
        "SELECT STRFTIME('%Y-%m', d) AS month, SUM(SUM(a)) OVER (ORDER BY 1) AS running FROM t GROUP BY 1",
        {"month": "text", "running": "number"},
        [["2025-01", 10], ["2025-02", 40]],
        ["Running up to February 2025: 40."],
        ["total of", "50", "average"],
    ),
    "a year and a month in two columns": Case(
        "revenue by year and month",
        "SELECT YEAR(d) AS year, MONTH(d) AS month, SUM(a) AS revenue FROM t GROUP BY 1, 2",
        {"year": "integer", "month": "integer", "revenue": "number"},
        [[2024, 12, 10], [2025, 1, 40], [2025, 2, 20]],
        ["between 10 (December 2024) and 40 (January 2025)"],
    ),
    "dates cut to months": Case(
        "revenue by month",
        "SELECT DATE_TRUNC('month', d) AS month, SUM(a) AS revenue FROM t GROUP BY 1",
        {"month": "datetime", "revenue": "number"},
        [["2025-01-01T00:00:00", 10], ["2025-02-01T00:00:00", 40]],
        ["between 10 (January 2025) and 40 (February 2025)"],
    ),
    "a view of months": Case(
        "revenue by month",
        "SELECT * FROM monthly",
        {"month": "text", "revenue": "number"},
        [["Jan 2025", 10], ["Feb 2025", 40]],
        ["between 10 (January 2025) and 40", "The total of revenue over the 2 months is 50."],
    ),
    "the latest three months are not all": Case(
        "latest 3 months",
        f"{BY_MONTH} DESC LIMIT 3",
        MONTHS,
        [["2025-03", 10], ["2025-02", 40], ["2025-01", 20]],
        ["The total of revenue of the 3 months shown is 70."],
    ),
    "a second measure": Case(
        "revenue and orders by year",
        "SELECT STRFTIME('%Y', d) AS year, SUM(a) AS revenue, COUNT(*) AS orders FROM t GROUP BY 1",
        {"year": "text", "revenue": "number", "orders": "integer"},
        [["2024", 10, 4], ["2025", 40, 2]],
        ["Revenue in 2025 rose by 300% on 2024, from 10 to 40."],
    ),
}

GROUPS_IN_TIME = {
    "totals per group and the course of all": Case(
        "Show monthly revenue by category",
        BY_MONTH_AND_GROUP,
        GROUPED,
        [
            ["2025-01", "Clothing", 90.0],
            ["2025-01", "Tents", 60.0],
            ["2025-02", "Clothing", 10.0],
            ["2025-02", "Tents", 70.0],
        ],
        [
            "**Tents** has the highest revenue over the 2 months: 130, 56.5% of the total of 230.",
            "Clothing has the lowest revenue over the 2 months: 100.",
            "Altogether, revenue in the 2 months: 115 on average, between 80 (February 2025) and 150",
        ],
        ["**Clothing** has", "fell by"],
    ),
    "averages of groups over time are not added": Case(
        "average price by month and category",
        "SELECT STRFTIME('%Y-%m', d) AS month, category, AVG(p) AS price FROM t GROUP BY 1, 2",
        {"month": "text", "category": "text", "price": "number"},
        [["2025-01", "C", 9.0], ["2025-01", "T", 6.0], ["2025-02", "C", 1.0], ["2025-02", "T", 7.0]],
        ["**C / January 2025** has the highest price: 9.", "C / February 2025 has the lowest price: 1."],
        ["13", "Altogether", "%"],
    ),
    "a partial month of groups": Case(
        "Show monthly revenue by category",
        BY_MONTH_AND_GROUP,
        GROUPED,
        [
            [month, category, value]
            for month, value in (("2025-01", 2.0), ("2025-02", 50.0), ("2025-03", 60.0))
            for category in ("C", "T")
        ],
        [
            "Altogether, revenue in the 2 months covered whole: 110 on average, between 100 (February",
            "January 2025 (4) is partial",
        ],
        span=DataSpan(date(2025, 1, 31), date(2025, 3, 31), 5000),
    ),
    "the lowest group": Case(
        "Which category has the lowest revenue?",
        BY_MONTH_AND_GROUP,
        GROUPED,
        [["2025-01", "C", 9.0], ["2025-01", "T", 6.0], ["2025-02", "C", 1.0], ["2025-02", "T", 7.0]],
        ["**C** has the lowest revenue over the 2 months: 10"],
    ),
}

CROSSES = {
    "totals of both groups": Case(
        "orders by region and channel",
        CROSS,
        CROSSED,
        [["N", "web", 5], ["N", "shop", 4], ["S", "web", 8], ["S", "shop", 3]],
        [
            "**S** has the most orders: 11, 55% of the total of 20.",
            "By channel, **web** has the most orders: 13, 65% of the total of 20.",
        ],
    ),
    "averages of two groups": Case(
        "average price by region and channel",
        "SELECT region, channel, AVG(p) AS price FROM t GROUP BY region, channel",
        {"region": "text", "channel": "text", "price": "number"},
        [["N", "web", 5.0], ["N", "shop", 4.0], ["S", "web", 8.0], ["S", "shop", 3.0]],
        ["**S / web** has the highest price: 8.", "S / shop has the lowest price: 3."],
        ["11", "20", "By channel"],
    ),
}

OTHERS = {
    "nothing": Case("x", PER_COUNTRY, TEXT, [], ["No rows match."]),
    "a list": Case(
        "List products",
        "SELECT id, name, category, unit_price FROM products",
        {"id": "integer", "name": "text", "category": "text", "unit_price": "number"},
        [[1, "A", "x", 5.0], [2, "B", "y", 7.0]],
        ["2 products with id, name, category, unit price.", "Unit price goes from 5 to 7, 6 on average."],
        ["highest", "%"],
    ),
    "the newest of a list": Case(
        "Newest customers",
        "SELECT id, name, email, city, signup_date FROM customers ORDER BY signup_date DESC LIMIT 2",
        {"id": "integer", "name": "text", "email": "text", "city": "text", "signup_date": "date"},
        [[7, "Ann", "a@x", "Rome", "2026-05-19"], [9, "Ben", "b@x", "Oslo", "2026-05-14"]],
        [
            "**Ann** has the latest signup date: 19 May 2026;",
            "Ben is last of the 2 shown with 14 May 2026.",
        ],
    ),
    "the newest of a list in which a name repeats": Case(
        "Newest tickets",
        "SELECT id, customer, subject, opened FROM tickets ORDER BY opened DESC LIMIT 3",
        {"id": "integer", "customer": "text", "subject": "text", "opened": "date"},
        [[9, "Ann", "a", "2026-05-19"], [8, "Ben", "b", "2026-05-17"], [7, "Ann", "c", "2026-05-14"]],
        ["By opened, the 3 rows shown go from 14 May 2026 to 19 May 2026."],
        ["Ann", "latest"],
    ),
    "the newest of a list by a column that names no date": Case(
        "Newest tickets",
        "SELECT id, customer, subject, created_at FROM tickets ORDER BY created_at DESC LIMIT 2",
        {"id": "integer", "customer": "text", "subject": "text", "created_at": "datetime"},
        [[9, "Ann", "a", "2026-05-19 10:30:00"], [8, "Ben", "b", "2026-05-17 09:00:00"]],
        ["By created at, the 2 rows shown go from 17 May 2026 to 19 May 2026."],
        ["latest created at"],
    ),
    "how often a value of a grouping stands there": Case(
        "What does churn look like?",
        "SELECT cohort, month_number, active, churned FROM cohorts",
        {"cohort": "text", "month_number": "integer", "active": "integer", "churned": "integer"},
        [["a", 0, 9, 0], ["a", 1, 8, 1], ["a", 2, 7, 2], ["b", 0, 9, 0], ["b", 1, 8, 1], ["c", 0, 5, 0]],
        [],
        ["frequent"],
    ),
    "the first by a date": Case(
        "First 2 customers by signup date",
        "SELECT id, name, email, city, signup_date FROM customers ORDER BY signup_date LIMIT 2",
        {"id": "integer", "name": "text", "email": "text", "city": "text", "signup_date": "date"},
        [[7, "Ann", "a@x", "Rome", "2022-05-19"], [9, "Ben", "b@x", "Oslo", "2022-06-14"]],
        ["**Ann** has the earliest signup date: 19 May 2022;"],
    ),
    "a list without numbers": Case(
        "names",
        "SELECT name, city FROM t",
        {"name": "text", "city": "text"},
        [["A", "x"], ["B", "y"]],
        ["2 rows with name, city."],
    ),
    "keys and flags are no measures": Case(
        "customers",
        "SELECT id, name, region_id, active FROM customers",
        {"id": "integer", "name": "text", "region_id": "integer", "active": "integer"},
        [[1, "A", 7, 1], [2, "B", 9, 0]],
        ["2 customers with id, name, region id, active."],
        ["highest", "average"],
    ),
    "a reference is no measure even when it is named": Case(
        "What are all the makers and models?",
        "SELECT maker, model FROM models",
        {"maker": "integer", "model": "text"},
        [[1, "amc"], [23, "hyundai"]],
        ["2 models with maker, model."],
        ["highest"],
        keys=frozenset({"maker"}),
    ),
    "an id written in one word is no measure": Case(
        "policies and their agents",
        "SELECT policy, party AS agentid FROM t",
        {"policy": "text", "agentid": "integer"},
        [["A", 2], ["B", 3]],
        ["2 rows with policy, agentid."],
        ["highest"],
    ),
    "amounts of different things at different times are no course": Case(
        "premium of all policies",
        "SELECT policy, effective_date, amount FROM t",
        {"policy": "text", "effective_date": "date", "amount": "number"},
        [["P1", "2015-01-01", 15.0], ["P1", "2016-01-01", 16.0], ["P2", "2019-06-01", 12.0]],
        ["**P1** has the highest amount"],
        ["fell", "rose", "no row"],
    ),
    "a count without a name": Case(
        "singers in each country",
        "SELECT country, COUNT(*) FROM singer GROUP BY country",
        {"country": "text", "COUNT(*)": "integer"},
        [["A", 4], ["B", 1]],
        ["**A** has the most singers: 4, 80% of the total of 5."],
        ["*)"],
    ),
    "rows are distinguished by the name that differs": Case(
        "loss of claims",
        "SELECT policy, claim, loss FROM t",
        {"policy": "text", "claim": "text", "loss": "number"},
        [["P", "C1", 5.0], ["P", "C2", 7.0], ["P", "C3", 6.0]],
        ["**C2** has the highest loss: 7.", "C1 has the lowest loss: 5."],
    ),
    "numbers alone": Case(
        "a and b",
        "SELECT weight, height FROM people",
        {"weight": "number", "height": "number"},
        [[50.0, 1.5], [70.0, None], [90.0, 1.9]],
        ["3 people", "Weight goes from 50 to 90, 70 on average.", "1 row has no height."],
    ),
    "all null": Case(
        "revenue per country",
        PER_COUNTRY,
        TEXT,
        [["A", None], ["B", None]],
        ["2 rows with country, revenue."],
    ),
    "text that looks like numbers is a label": Case(
        "orders per zip",
        "SELECT zip, COUNT(*) AS orders FROM t GROUP BY zip",
        {"zip": "text", "orders": "integer"},
        [["00501", 3], ["10001", 1]],
        ["**00501** has the most orders: 3"],
    ),
    "prices kept as text are numbers": Case(
        "price of products",
        "SELECT name, price FROM t",
        {"name": "text", "price": "text"},
        [["A", "9.99"], ["B", "12.50"]],
        ["**B** has the highest price: 12.50"],
    ),
    "a column of several types": Case(
        "score of names",
        "SELECT name, score FROM t",
        {"name": "text", "score": "text"},
        [["A", 7], ["B", 12], ["C", "n/a"], ["D", 3], ["E", 4], ["F", 5]],
        ["**B** has the highest score: 12", "C has no score."],
    ),
    "duplicated dates beside other things are no course": Case(
        "orders in January",
        "SELECT id, order_date, status FROM orders",
        {"id": "integer", "order_date": "date", "status": "text"},
        [[1, "2026-01-01", "paid"], [2, "2026-01-01", "paid"], [3, "2026-01-02", "sent"]],
        ["3 orders with id, order date, status."],
        ["rose", "fell"],
    ),
    "numbers beyond any use": Case(
        "n per country",
        "SELECT country, SUM(n) AS n FROM t GROUP BY country",
        {"country": "text", "n": "number"},
        [["A", 10**400], ["B", 1.0]],
        ["**A** has the highest n: 1.000e+400"],
    ),
    "NaN and infinities are no numbers": Case(
        "n per country",
        "SELECT country, SUM(n) AS n FROM t GROUP BY country",
        {"country": "text", "n": "number"},
        [["A", float("inf")], ["B", 1.0], ["C", float("nan")], ["D", 2.0]],
        ["**D** has the highest n: 2", "A and C have no n."],
    ),
}

CASES = {**ONE_ROW, **RANKINGS, **LIMITED, **COURSES, **GROUPS_IN_TIME, **CROSSES, **OTHERS}


def sheet_of(case: Case, language: Language = "en") -> FactSheet:
    rows = Rows(
        columns=[Column(name=name, type=kind) for name, kind in case.columns.items()],
        rows=case.rows,
        row_count=len(case.rows),
        truncated=case.cut,
    )
    found = figures(
        case.question, case.sql, case.dialect, rows=rows, span=case.span, keys=case.keys, today=case.today
    )
    return fact_sheet(FactTable(question=case.question, rows=rows, found=found, wording=Wording(language)))


def test_the_analysis_says_what_is_true_of_the_rows() -> None:
    def check(name: str) -> None:
        case = CASES[name]
        sheet = sheet_of(case)
        text = " ".join([sheet.notice, *(fact.statement for fact in sheet.lead)]).strip()
        said = " ".join(f"{fact.statement} {fact.headline or ''}" for fact in sheet.facts)
        assert [phrase for phrase in case.says if phrase not in text] == [], text
        assert [phrase for phrase in case.never if phrase in said] == [], said

    assert_each(CASES, check)


def test_every_fact_has_a_key_a_scope_and_cells_of_its_rows() -> None:
    def check(name: str) -> None:
        case = CASES[name]
        sheet = sheet_of(case)
        assert len(sheet.by_key) == len(sheet.facts) <= 24
        assert set(sheet.lead) <= set(sheet.facts)
        assert sheet.lead or sheet.notice
        for fact in sheet.facts:
            assert re.fullmatch("[a-z][a-z0-9_]{0,59}", fact.key)
            assert fact.statement.endswith(".")
            assert fact.how
            assert 0 < len(fact.headline.split(" ")) <= 12
            assert len(fact.cells) == min(fact.cell_count, 50)
            assert all(row < len(case.rows) and column in case.columns for row, column in fact.cells)
            assert fact.cells or fact.kind in ("note", "count")

    assert_each(CASES, check)
