"""Kinds of results with their questions and statements. What each draws is recorded beside this file."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from pydantic import JsonValue

from app.modules.analysis.chart.choice import ChartChoice
from app.modules.analysis.figures import DataSpan
from graph.state import Column, Cut, Rows

Cells = list[list[JsonValue]]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A result: `columns` are names and types, as in "month:text revenue:number"."""

    name: str
    question: str
    sql: str
    columns: str
    rows: Cells
    cut_by: Cut | None = None
    row_count: int | None = None
    span: DataSpan | None = None
    today: date = date(2030, 1, 1)
    choice: ChartChoice | None = None

    @property
    def result(self) -> Rows:
        named = [each.split(":") for each in self.columns.split(" ")]
        return Rows(
            columns=[Column(name=name.replace("~", " "), type=kind) for name, kind in named],
            rows=self.rows,
            row_count=self.row_count or len(self.rows),
            truncated=self.cut_by is not None,
            cut_by=self.cut_by,
        )


def months(first: str, values: Sequence[JsonValue]) -> Cells:
    """A row for each value that is not "-", in consecutive months."""
    year, month = map(int, first.split("-"))
    named = [f"{year + (month - 1 + at) // 12}-{(month - 1 + at) % 12 + 1:02}" for at in range(len(values))]
    return [[name, value] for name, value in zip(named, values, strict=True) if value != "-"]


def days(first: str, values: Sequence[JsonValue]) -> Cells:
    start = date.fromisoformat(first)
    return [[(start + timedelta(days=at)).isoformat(), value] for at, value in enumerate(values)]


def wave(
    count: int, *, level: float = 100.0, swing: float = 30.0, trend: float = 0.0, phase: int = 0
) -> list[float]:
    """A season of twelve with a little noise that is the same every time."""
    return [
        round(
            level
            + trend * at
            + swing * math.sin((at + phase) * math.pi / 6)
            + (at * 7919 % 13 - 6) * swing / 40,
            2,
        )
        for at in range(count)
    ]


def bell(count: int, *, level: float, spread: float) -> list[float]:
    """Values that lie as a bell does, in a mixed order."""
    ordered = [level + spread * math.tan(math.pi * ((at + 0.5) / count - 0.5) * 0.86) for at in range(count)]
    return [round(ordered[at * 7919 % count], 2) for at in range(count)]


TENTS: list[JsonValue] = [
    *(1737.36, 1754.55, 940.31, 501.2, 1536.61, 243.85, 1660.19, 1276.68, 3945.72, 4170.23, 1276.73, 1919.79),
    *("-", "-", 507.46, "-", 1957.05, 1455.7, 1615.9, 4264.6, 5873.2, 1299.24, 4067.19, 3385.31, 612.72),
]
CUSTOMERS = [
    "Niko Brook",
    "Acker Alpine School",
    "Olga Yates",
    "Nadia Rand",
    "Moor Outfitters",
    "Freya Voss",
    "Celia Rook",
    "Celia Wren",
    "Jansen Expeditions",
    "Vera Birk",
    "Dara Voss",
    "Carlo Alder",
    "Pohl Rentals",
    "Fenn Outfitters",
    "Jette Voss",
]
COUNTRIES = [
    "Switzerland",
    "Germany",
    "Austria",
    "Sweden",
    "France",
    "Spain",
    "Netherlands",
    "Norway",
    "Italy",
    "Denmark",
    "United Kingdom",
]
REGIONS = ("Central", "North", "South", "West")
SERIES_SQL = "SELECT strftime('%Y-%m', d) AS month, SUM(amount) AS revenue_eur FROM o GROUP BY 1 ORDER BY 1"
BY_REGION = (
    "SELECT strftime('%Y-%m', d) AS month, region, SUM(amount) AS revenue_eur FROM o GROUP BY 1, 2 ORDER BY 1"
)
HOURS_OF_DAY = [12, 8, 5, 3, 2, 4, 9, 22, 41, 66, 80, 91, 95, 88, 84, 79, 83, 97, 110, 104, 86, 61, 38, 21]
WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def ranked(names: Sequence[str], top: float, fall: float = 0.8) -> Cells:
    return [[name, round(top * fall**at, 2)] for at, name in enumerate(names)]


def series(names: Sequence[str], count: int, *, first: str = "2025-01", scale: float = 1000.0) -> Cells:
    rows: Cells = []
    for at, name in enumerate(names):
        values = wave(
            count, level=scale * (len(names) - at), swing=scale * 0.4, phase=at * 2, trend=scale / 50
        )
        rows += [[month, name, value] for month, value in months(first, list(values))]
    return sorted(rows, key=lambda row: str(row[0]))


_OF_THE_WORLD = (
    *("Germany", "France", "Brasilien", "USA", "China", "India", "Australia", "Canada", "México"),
    *("Argentina", "Spain", "Italy", "Norwegen", "Sweden", "Poland", "Türkei", "South Africa"),
    *("Nigeria", "Egypt", "Japan"),
)

CASES = (
    Case(
        name="one_number",
        question="How much revenue did we have in 2025?",
        sql="SELECT SUM(amount) AS revenue_eur FROM orders",
        columns="revenue_eur:number",
        rows=[[5320100.4]],
    ),
    Case(
        name="one_row_of_numbers",
        question="Orders, revenue and average order value of 2025?",
        sql="SELECT COUNT(*) AS orders, SUM(amount) AS revenue_eur, AVG(amount) AS average_order FROM orders",
        columns="orders:integer revenue_eur:number average_order:number",
        rows=[[10812, 5320100.4, 492.06]],
    ),
    Case(
        name="histogram",
        question="How are order values distributed?",
        sql="SELECT amount AS order_value_eur FROM orders",
        columns="order_value_eur:number",
        rows=[[abs(value)] for value in bell(400, level=480, spread=60)],
    ),
    Case(
        name="histogram_of_whole_numbers",
        question="Distribution of ages?",
        sql="SELECT age FROM customers",
        columns="age:integer",
        rows=[[18 + (at * at) % 23 + at % 7] for at in range(300)],
    ),
    Case(
        name="scatter",
        question="Is the price related to the quantity?",
        sql="SELECT unit_price, quantity FROM lines",
        columns="unit_price:number quantity:integer",
        rows=[[round(10 + at * 1.7, 2), max(1, 120 - at + (at * 37 % 41))] for at in range(110)],
    ),
    Case(
        name="scatter_with_size_and_colour",
        question="Correlation of price and rating by category?",
        sql="SELECT name, category, price_eur, rating, reviews FROM products",
        columns="name:text category:text price_eur:number rating:number reviews:integer",
        rows=[
            [
                f"P{at:02}",
                REGIONS[at % 3],
                round(20 + at * 9.5, 2),
                round(3 + (at * 17 % 20) / 10, 1),
                at * 29 % 400,
            ]
            for at in range(60)
        ],
    ),
    Case(
        name="scatter_of_many",
        question="Price against weight?",
        sql="SELECT weight_kg, price_eur FROM products",
        columns="weight_kg:number price_eur:number",
        rows=[
            [round(abs(x) / 10, 2), round(abs(x) * 3 + y, 2)]
            for x, y in zip(
                bell(5000, level=90, spread=20), bell(5000, level=200, spread=50)[::-1], strict=True
            )
            if abs(x) < 250 and abs(y) < 600
        ],
    ),
    Case(
        name="months_with_gaps_and_partial_ends",
        question="How do tents sell to businesses in the Netherlands?",
        sql=SERIES_SQL,
        columns="month:text revenue_eur:number",
        rows=months("2024-11", TENTS),
        span=DataSpan(date(2024, 11, 24), date(2026, 11, 24), 900),
        today=date(2026, 11, 24),
    ),
    Case(
        name="months_of_two_years",
        question="Revenue per month",
        sql=SERIES_SQL,
        columns="month:text revenue_eur:number",
        rows=months("2024-01", list(wave(24, level=450000, swing=120000, trend=4000))),
    ),
    Case(
        name="months_in_german",
        question="Wie hoch war der Umsatz pro Monat?",
        sql=SERIES_SQL.replace("revenue_eur", "umsatz_eur").replace("month", "monat"),
        columns="monat:text umsatz_eur:number",
        rows=months("2024-06", list(wave(18, level=1450000, swing=320000))),
        span=DataSpan(date(2024, 6, 1), date(2025, 11, 20), 4000),
        today=date(2025, 11, 20),
    ),
    Case(
        name="days",
        question="Orders per day in the last quarter",
        sql="SELECT day, COUNT(*) AS orders FROM orders GROUP BY day ORDER BY day",
        columns="day:date orders:integer",
        rows=days("2025-09-01", [30 + at % 7 * 4 + at * 11 % 9 for at in range(91)]),
    ),
    Case(
        name="days_without_weekends",
        question="Invoices per day",
        sql="SELECT day, COUNT(*) AS invoices FROM invoices GROUP BY day ORDER BY day",
        columns="day:date invoices:integer",
        rows=[
            row
            for at, row in enumerate(days("2025-09-01", [40 + at * 13 % 17 for at in range(60)]))
            if at % 7 < 5
        ],
    ),
    Case(
        name="weeks_numbered_from_monday",
        question="Orders per week",
        sql="SELECT strftime('%Y-%W', d) AS week, COUNT(*) AS orders FROM o GROUP BY 1 ORDER BY 1",
        columns="week:text orders:integer",
        rows=[
            [f"{2024 + at // 54}-{at % 54:02}", 48 + at % 5 * 3]
            for at in range(40, 64)  # 2024 has the weeks 1 to 53, 2025 begins with week 0
        ],
    ),
    Case(
        name="quarters_by_region",
        question="Revenue per quarter by region",
        sql="SELECT quarter, region, SUM(amount) AS revenue_eur FROM o GROUP BY 1, 2 ORDER BY 1",
        columns="quarter:text region:text revenue_eur:number",
        rows=[
            [f"{2025 + at // 4}-Q{at % 4 + 1}", region, round(value, 2)]
            for region, level in zip(REGIONS, (500000, 210000, 140000, 205000), strict=True)
            for at, value in enumerate(wave(8, level=level, swing=level / 4))
        ],
        span=DataSpan(date(2025, 1, 1), date(2026, 11, 24), 9000),
        today=date(2026, 11, 24),
    ),
    Case(
        name="years",
        question="Revenue by year",
        sql="SELECT strftime('%Y', d) AS year, SUM(amount) AS revenue_eur FROM o GROUP BY 1 ORDER BY 1",
        columns="year:text revenue_eur:number",
        rows=[
            [str(2015 + at), round(value, 2)]
            for at, value in enumerate(wave(11, level=2e6, swing=4e5, trend=2e5))
        ],
    ),
    Case(
        name="hours",
        question="Temperature over the day",
        sql="SELECT at, temperature FROM readings ORDER BY at",
        columns="at:datetime temperature:number",
        rows=[[f"2025-03-0{1 + at // 24} {at % 24:02}:00:00", 12 + at % 24 * 0.4] for at in range(48)],
    ),
    Case(
        name="two_measures_of_different_units",
        question="Is that more orders, or bigger ones?",
        sql="SELECT strftime('%Y-%m', d) AS month, COUNT(*) AS orders, AVG(amount) AS average_order_eur "
        "FROM o GROUP BY 1 ORDER BY 1",
        columns="month:text orders:integer average_order_eur:number",
        rows=[
            [month, round(float(str(value)) * 2), 480 + at * 7 % 40]
            for at, (month, value) in enumerate(months("2024-12", list(wave(24, level=420, swing=180))))
        ],
        span=DataSpan(date(2024, 12, 1), date(2026, 11, 24), 20000),
        today=date(2026, 11, 24),
    ),
    Case(
        name="two_measures_of_one_unit",
        question="Revenue and cost per month",
        sql="SELECT month, SUM(r) AS revenue_eur, SUM(c) AS cost_eur FROM o GROUP BY 1",
        columns="month:text revenue_eur:number cost_eur:number",
        rows=[
            [month, value, round(float(str(value)) * 0.7, 2)]
            for month, value in months("2025-01", list(wave(12, level=52000, swing=9000)))
        ],
    ),
    Case(
        name="six_series",
        question="Revenue per month by channel",
        sql=BY_REGION.replace("region", "channel"),
        columns="month:text channel:text revenue_eur:number",
        rows=series(["Web shop", "Marketplace", "Retail", "Partners", "Phone", "Outlet"], 18),
    ),
    Case(
        name="twelve_series",
        question="Revenue per month by country",
        sql=BY_REGION.replace("region", "country"),
        columns="month:text country:text revenue_eur:number",
        rows=series([*COUNTRIES, "Portugal"], 12),
    ),
    Case(
        name="series_with_close_ends",
        question="Average rating per month by team",
        sql="SELECT month, team, AVG(rating) AS rating FROM r GROUP BY 1, 2 ORDER BY 1",
        columns="month:text team:text rating:number",
        rows=[
            [month, team, round(4 + at * 0.01 + (index * 3 + at) % 5 * 0.05, 2)]
            for index, (month, _) in enumerate(months("2025-01", [0] * 10))
            for at, team in enumerate(["Support North", "Support South", "Sales", "Field service"])
        ],
    ),
    Case(
        name="a_series_with_a_gap",
        question="Revenue per month by region",
        sql=BY_REGION,
        columns="month:text region:text revenue_eur:number",
        rows=[
            row
            for row in series(REGIONS[:2], 12)
            if not (row[1] == "North" and row[0] in ("2025-05", "2025-06"))
        ],
    ),
    Case(
        name="a_rate_over_time",
        question="Return rate per month",
        sql="SELECT month, 100.0 * SUM(returned) / COUNT(*) AS return_rate_percent FROM l GROUP BY 1",
        columns="month:text return_rate_percent:number",
        rows=months("2025-01", [4.2, 4.4, 4.1, 4.8, 5.0, 4.6, 4.4, 4.9, 5.4, 5.2, 4.8, 4.5]),
    ),
    Case(
        name="ranking",
        question="Which customers bring in the most?",
        sql="SELECT name, SUM(amount) AS revenue_eur FROM o GROUP BY name ORDER BY 2 DESC",
        columns="name:text revenue_eur:number",
        rows=ranked([*CUSTOMERS, *(f"Customer {at}" for at in range(100))], 309605.04),
    ),
    Case(
        name="countries",
        question="Revenue by country",
        sql="SELECT country, SUM(amount) AS revenue_eur FROM o GROUP BY country ORDER BY 2 DESC",
        columns="country:text revenue_eur:number",
        rows=ranked(COUNTRIES, 1002601.79, 0.88),
    ),
    Case(
        name="top_five",
        question="Top 5 products by units",
        sql="SELECT product, SUM(quantity) AS units FROM l GROUP BY 1 ORDER BY 2 DESC LIMIT 5",
        columns="product:text units:integer",
        rows=[
            ["Heron Helmet", 2685],
            ["Granite Dome Tent", 1593],
            ["Pine Stove", 1204],
            ["Rope 60 m", 1204],
            ["Cup", 900],
        ],
    ),
    Case(
        name="lowest",
        question="Which products have the lowest revenue?",
        sql="SELECT product, SUM(amount) AS revenue FROM l GROUP BY 1",
        columns="product:text revenue:number",
        rows=[[f"Product {at}", 5 + at * 37 % 211] for at in range(60)],
    ),
    Case(
        name="averages_of_many",
        question="Average price by product",
        sql="SELECT product, AVG(price) AS average_price_eur FROM l GROUP BY product ORDER BY 2 DESC",
        columns="product:text average_price_eur:number",
        rows=[[f"Product {at}", 900 - at * 7.25] for at in range(50)],
    ),
    Case(
        name="long_names",
        question="Revenue by product",
        sql="SELECT product, SUM(amount) AS revenue_eur FROM l GROUP BY product ORDER BY 2 DESC",
        columns="product:text revenue_eur:number",
        rows=ranked(
            [
                "Expedition tent for four people with vestibule, green",
                "Expedition tent for four people with vestibule, red",
                "Expedition tent for four people with vestibule, blue and grey, second edition",
                "Sleeping bag, down, minus 20 degrees",
                "Cup",
                "Donaudampfschifffahrtsgesellschaftskapitänsmütze",
            ],
            84000,
        ),
    ),
    Case(
        name="signed",
        question="Change of revenue by region",
        sql="SELECT region, SUM(now) - SUM(before) AS change_eur FROM o GROUP BY region ORDER BY 2 DESC",
        columns="region:text change_eur:number",
        rows=[["North", 48200.5], ["West", 12100], ["East", 0], ["Central", -8350.25], ["South", -31000]],
    ),
    Case(
        name="only_losses",
        question="Profit by store",
        sql="SELECT store, SUM(profit) AS profit_eur FROM o GROUP BY store ORDER BY 2",
        columns="store:text profit_eur:number",
        rows=[["Basel", -4100], ["Bern", -2600.5], ["Chur", -900]],
    ),
    Case(
        name="parts",
        question="What share of revenue does each channel have?",
        sql="SELECT channel, SUM(amount) AS revenue_eur FROM o GROUP BY channel",
        columns="channel:text revenue_eur:number",
        rows=[["Web shop", 61000], ["Retail", 24000], ["Partners", 9000], ["Phone", 2100], ["Outlet", 400]],
    ),
    Case(
        name="pie_when_asked",
        question="Revenue by channel as a pie",
        sql="SELECT channel, SUM(amount) AS revenue_eur FROM o GROUP BY channel",
        columns="channel:text revenue_eur:number",
        rows=[["Web shop", 61000], ["Retail", 24000], ["Partners", 9000], ["Phone", 2100]],
    ),
    Case(
        name="pie_of_averages",
        question="Average price by category as a pie",
        sql="SELECT category, AVG(price) AS price_eur FROM p GROUP BY category",
        columns="category:text price_eur:number",
        rows=[["Tents", 310], ["Cups", 12.5], ["Ropes", 88]],
    ),
    Case(
        name="heat_map",
        question="Pieces per month and category",
        sql="SELECT category, month, SUM(quantity) AS pieces FROM l GROUP BY 1, 2",
        columns="category:text month:text pieces:integer",
        rows=[
            [category, month, 40 + (at * 31 + index * 17) % 90]
            for at, category in enumerate(
                ["Backpacks", "Clothing", "Cooking", "Footwear", "Lighting", "Sleeping Bags"]
            )
            for index, month in enumerate(
                ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
            )
        ],
    ),
    Case(
        name="heat_map_of_hours",
        question="Orders by weekday and hour",
        sql="SELECT weekday, hour, COUNT(*) AS orders FROM o GROUP BY 1, 2",
        columns="weekday:text hour:integer orders:integer",
        rows=[
            [weekday, hour, round(count * (1.4 if at > 4 else 1) * (1 + at / 10))]
            for at, weekday in enumerate(WEEKDAYS)
            for hour, count in enumerate(HOURS_OF_DAY)
        ],
    ),
    Case(
        name="grouped_bars",
        question="Average order by region and segment",
        sql="SELECT region, segment, AVG(amount) AS average_order_eur FROM o GROUP BY 1, 2",
        columns="region:text segment:text average_order_eur:number",
        rows=[
            [region, segment, round(120 + at * 23 + index * 61.5, 2)]
            for at, region in enumerate(REGIONS)
            for index, segment in enumerate(("Consumers", "Businesses", "Schools"))
        ],
    ),
    Case(
        name="shares_by_group",
        question="Share of channels in revenue per region",
        sql="SELECT region, channel, SUM(amount) AS revenue_eur FROM o GROUP BY 1, 2",
        columns="region:text channel:text revenue_eur:number",
        rows=[
            [region, channel, 1000 + at * 700 + index * 2300]
            for at, region in enumerate(REGIONS)
            for index, channel in enumerate(("Phone", "Retail", "Web shop"))
        ],
    ),
    Case(
        name="hours_of_the_day",
        question="Orders by hour of the day",
        sql="SELECT hour, COUNT(*) AS orders FROM o GROUP BY hour ORDER BY hour",
        columns="hour:integer orders:integer",
        rows=[[hour, count] for hour, count in enumerate(HOURS_OF_DAY)],
    ),
    Case(
        name="weekdays",
        question="Orders per weekday",
        sql="SELECT weekday, COUNT(*) AS orders FROM o GROUP BY weekday",
        columns="weekday:text orders:integer",
        rows=[[WEEKDAYS[at * 3 % 7], 120 + at * 37 % 60] for at in range(7)],
    ),
    Case(
        name="booleans",
        question="Customers by newsletter",
        sql="SELECT is_subscribed, COUNT(*) AS customers FROM c GROUP BY 1",
        columns="is_subscribed:integer customers:integer",
        rows=[[0, 1380], [1, 1038]],
    ),
    Case(
        name="missing_names_and_values",
        question="Revenue by region",
        sql="SELECT region, SUM(amount) AS revenue FROM o GROUP BY region ORDER BY 2 DESC",
        columns="region:text revenue:number",
        rows=[["North", 900], [None, 400], ["", 210], ["South", 80], ["East", None]],
    ),
    Case(
        name="a_table_that_says_more",
        question="Show the customers with address and phone",
        sql="SELECT name, street, city, phone, age, score FROM customers",
        columns="name:text street:text city:text phone:text age:integer score:number",
        rows=[
            [name, f"Street {at}", "Bern", f"0{at}1 22", 30 + at, at * 1.5]
            for at, name in enumerate(CUSTOMERS)
        ],
    ),
    Case(
        name="cut_result",
        question="Revenue by product",
        sql="SELECT product, SUM(amount) AS revenue FROM l GROUP BY product ORDER BY 2 DESC",
        columns="product:text revenue:number",
        rows=[[f"P{at:03}", 400 - at] for at in range(40)],
        cut_by="rows",
    ),
    Case(
        name="bars_over_time",
        question="Orders per month as bars",
        sql="SELECT strftime('%Y-%m', d) AS month, COUNT(*) AS orders FROM o GROUP BY 1 ORDER BY 1",
        columns="month:text orders:integer",
        rows=months("2025-02", [410, 388, 450, 512, "-", 600, 571, 640, 602, 130]),
        span=DataSpan(date(2025, 2, 1), date(2025, 11, 9), 9000),
        today=date(2025, 11, 9),
    ),
    Case(
        name="large_and_small_currencies",
        question="Umsatz je Land",
        sql="SELECT land, SUM(betrag) AS umsatz_chf FROM o GROUP BY land ORDER BY 2 DESC",
        columns="land:text umsatz_chf:number",
        rows=[["Schweiz", 1284500.5], ["Deutschland", 907138.12], ["Österreich", 12350], ["Italien", 980.4]],
    ),
    Case(
        name="single_rows_with_one_name",
        question="top 3 orders by amount",
        sql="SELECT customer, amount FROM orders ORDER BY amount DESC LIMIT 3",
        columns="customer:text amount:number",
        rows=[["Ada", 90], ["Ben", 80], ["Ada", 70]],
    ),
    Case(
        name="moving_average",
        question="Revenue per month",
        sql=SERIES_SQL,
        columns="month:text revenue_eur:number",
        rows=months("2023-01", list(wave(36, level=45000, swing=12000, trend=400))),
        choice=ChartChoice.model_validate({"computed": {"kind": "moving_average"}}),
    ),
    Case(
        name="change",
        question="Revenue per month",
        sql=SERIES_SQL,
        columns="month:text revenue_eur:number",
        rows=months("2025-01", list(wave(14, level=45000, swing=12000))),
        choice=ChartChoice.model_validate({"computed": {"kind": "change"}}),
    ),
    Case(
        name="outliers",
        question="Orders per month",
        sql=SERIES_SQL.replace("SUM(amount) AS revenue_eur", "COUNT(*) AS orders"),
        columns="month:text orders:integer",
        rows=months(
            "2023-01", [100 + at % 5 + (90 if at == 20 else 0) - (60 if at == 29 else 0) for at in range(36)]
        ),
        choice=ChartChoice.model_validate({"computed": {"kind": "outliers"}}),
    ),
    Case(
        name="projection",
        question="Revenue per month",
        sql=SERIES_SQL,
        columns="month:text revenue_eur:number",
        rows=months("2022-01", list(wave(46, level=45000, swing=12000, trend=300))),
        span=DataSpan(date(2022, 1, 1), date(2025, 10, 12), 9000),
        today=date(2025, 10, 12),
        choice=ChartChoice.model_validate({"computed": {"kind": "projection"}}),
    ),
    Case(
        name="small_pictures",
        question="Revenue per month by region",
        sql=BY_REGION,
        columns="month:text region:text revenue_eur:number",
        rows=series(REGIONS, 18),
        choice=ChartChoice.model_validate({"facet": True}),
    ),
    Case(
        name="stacked_months",
        question="Revenue per month by region, stacked",
        sql=BY_REGION,
        columns="month:text region:text revenue_eur:number",
        rows=series(REGIONS, 12),
    ),
    Case(
        name="area",
        question="Revenue per month",
        sql=SERIES_SQL,
        columns="month:text revenue_eur:number",
        rows=months("2025-01", list(wave(12, level=45000, swing=12000))),
        choice=ChartChoice.model_validate({"mark": "area", "color": "#a83246"}),
    ),
    Case(
        name="months_with_many_gaps",
        question="Revenue per month",
        sql=SERIES_SQL,
        columns="month:text revenue_eur:number",
        rows=months("2024-01", [5, "-", 9, 2, "-", "-", 7, 1, "-", 4, "-", 6, 3, "-", 8]),
    ),
    Case(
        name="days_with_few_rows",
        question="Revenue per day",
        sql="SELECT day, SUM(amount) AS revenue_eur FROM orders GROUP BY day ORDER BY day",
        columns="day:text revenue_eur:number",
        rows=[row for at, row in enumerate(days("2026-01-01", [*range(3, 63)])) if at % 7 in (0, 3)],
    ),
    Case(
        name="two_years_side_by_side",
        question="Compare revenue per month of 2025 with 2024",
        sql="SELECT month, SUM(a) AS revenue_2024, SUM(b) AS revenue_2025 FROM t GROUP BY month ORDER BY 1",
        columns="month:text revenue_2024:number revenue_2025:number",
        rows=[[f"{at:02}", 40 + at % 4, 42 + at % 5] for at in range(1, 13)],
    ),
    Case(
        name="names_with_another_column_of_theirs",
        question="Net worth of singers with their citizenship",
        sql="SELECT name, SUM(worth) AS net_worth, citizenship FROM singers GROUP BY 1, 3 ORDER BY 2 DESC",
        columns="name:text net_worth:number citizenship:text",
        rows=[[f"Singer {at}", 30 - at * 2.5, "Chile" if at % 3 else "France"] for at in range(8)],
    ),
    Case(
        name="years_of_names",
        question="Orchestras by year of founding",
        sql="SELECT orchestra, MAX(founded) AS founding_year FROM orchestras GROUP BY 1 ORDER BY 2",
        columns="orchestra:text founding_year:integer",
        rows=[["Kirov", 1783], ["Royal Danish", 1448], ["Chicago", 1891]],
    ),
    Case(
        name="many_signed",
        question="Change of revenue by country",
        sql="SELECT country, SUM(b) - SUM(a) AS revenue_change FROM t GROUP BY country ORDER BY 2 DESC",
        columns="country:text revenue_change:number",
        rows=[[f"Country {at}", 30.5 - at * 3] for at in range(24)],
    ),
    Case(
        name="scatter_by_levels",
        question="Is there a relationship of horsepower and weight, by cylinders?",
        sql="SELECT horsepower, weight, cylinders FROM cars",
        columns="horsepower:number weight:number cylinders:integer",
        rows=[[50 + at * 3 + at % 7, 1500 + at * 40 + at % 11 * 9, 4 + at // 15 * 2] for at in range(45)],
    ),
    Case(
        name="rates_of_one",
        question="Churn rate by segment",
        sql="SELECT segment, AVG(churned) AS churn_rate FROM customers GROUP BY 1 ORDER BY 2 DESC",
        columns="segment:text churn_rate:number",
        rows=[["B2B", 0.429], ["B2C", 0.25], ["Public", 0.075]],
    ),
    Case(
        name="year_and_month_in_two_columns",
        question="Average temperature by month",
        sql="SELECT order_year, order_month, AVG(temp) AS avg_temp FROM t GROUP BY 1, 2 ORDER BY 1, 2",
        columns="order_year:integer order_month:integer avg_temp:number",
        rows=[[2024 + at // 12, at % 12 + 1, value] for at, value in enumerate(wave(20))],
    ),
    Case(
        name="steps_of_a_funnel",
        question="How many visitors reach each step of the checkout?",
        sql="SELECT step, COUNT(*) AS visitors FROM e GROUP BY step, position ORDER BY position",
        columns="step:text visitors:integer",
        rows=[["Visited", 48210], ["Product viewed", 30122], ["Added to cart", 9040], ["Paid", 3977]],
    ),
    Case(
        name="bands",
        question="Customers by age band",
        sql="SELECT age_band, COUNT(*) AS customers FROM c GROUP BY 1 ORDER BY 1",
        columns="age_band:text customers:integer",
        rows=[["30-44", 822], ["45-59", 640], ["18-29", 410], ["60-74", 301], ["75+", 44], ["under 18", 20]],
    ),
    Case(
        name="lowest_average_and_highest",
        question="Lowest, average and highest order value per month",
        sql="SELECT month, MIN(v) AS min_value_eur, AVG(v) AS avg_value_eur, MAX(v) AS max_value_eur FROM o"
        " GROUP BY 1 ORDER BY 1",
        columns="month:text min_value_eur:number avg_value_eur:number max_value_eur:number",
        rows=[
            [month, round(value * 0.2, 2), value, round(value * 3.1, 2)]
            for month, value in zip(
                [f"2025-{at:02}" for at in range(1, 13)], wave(12, level=80, swing=12), strict=True
            )
        ],
    ),
    Case(
        name="one_month_of_regions",
        question="Revenue by region in October 2025",
        sql=BY_REGION,
        columns="month:text region:text revenue_eur:number",
        rows=[["2025-10", "North", 90200.5], ["2025-10", "South", 70021.0], ["2025-10", "West", 12000.0]],
    ),
    Case(
        name="codes_of_capitals",
        question="Revenue by country code",
        sql="SELECT country_code, SUM(a) AS revenue_eur FROM o GROUP BY 1 ORDER BY 2 DESC",
        columns="country_code:text revenue_eur:number",
        rows=ranked(["DE", "GB", "MM", "NO", "WW"], 910000, 0.02),
    ),
    Case(
        name="times_of_day",
        question="Calls per half hour",
        sql="SELECT strftime('%H:%M', t) AS time, COUNT(*) AS calls FROM c GROUP BY 1 ORDER BY 1",
        columns="time:text calls:integer",
        rows=[[f"{8 + at // 2:02}:{at % 2 * 30:02}", 4 + at * 7 % 40] for at in range(18)],
    ),
    Case(
        name="cohorts",
        question="Retention of customers by cohort",
        sql="SELECT cohort_month, months_since, retention_rate FROM c ORDER BY 1, 2",
        columns="cohort_month:text months_since:integer retention_rate:number",
        rows=[
            [f"2025-{month:02}", since, round(0.82**since, 3)]
            for month in range(1, 9)
            for since in range(9 - month)
        ],
    ),
    Case(
        name="two_periods",
        question="Revenue this year and last year",
        sql="SELECT period, SUM(a) AS revenue_eur FROM o GROUP BY 1",
        columns="period:text revenue_eur:number",
        rows=[["Last year", 4210000.4], ["This year", 4630500.1]],
    ),
    Case(
        name="cumulative_shares",
        question="Cumulative share of revenue by product",
        sql="SELECT product, cumulative_share FROM p ORDER BY revenue DESC",
        columns="product:text cumulative_share:number",
        rows=[["Tent", 0.4], ["Stove", 0.63], ["Rope", 0.82], ["Lamp", 0.94], ["Cup", 1.0]],
    ),
    Case(
        name="two_months",
        question="Revenue in September and October 2025",
        sql=SERIES_SQL,
        columns="month:text revenue_eur:number",
        rows=months("2025-09", [40210.5, 48777.2]),
    ),
    Case(
        name="quarters_side_by_side",
        question="Revenue per quarter by year",
        sql="SELECT year, SUM(q1) AS q1, SUM(q2) AS q2, SUM(q3) AS q3, SUM(q4) AS q4 FROM t GROUP BY 1"
        " ORDER BY 1",
        columns="year:integer q1:number q2:number q3:number q4:number",
        rows=[[2023, 100, 120, 130, 190], [2024, 110, 128, 140, 210], [2025, 125, 139, 151, 240]],
    ),
    Case(
        name="weeks_from_the_second_of_a_month",
        question="Conversion rate per week",
        sql="SELECT week, AVG(c) AS conversion_rate FROM o GROUP BY 1 ORDER BY 1",
        columns="week:date conversion_rate:number",
        rows=[
            row for at, row in enumerate(days("2025-06-02", wave(140, level=0.03, swing=0.01))) if at % 7 == 0
        ],
    ),
    Case(
        name="countries_of_the_world",
        question="Revenue per country",
        sql="SELECT country, SUM(amount) AS revenue FROM o GROUP BY country ORDER BY 2 DESC",
        columns="country:text revenue:number",
        rows=[[name, round(9e6 / (at + 1) ** 1.1, 2)] for at, name in enumerate(_OF_THE_WORLD)],
    ),
    Case(
        name="codes_of_countries_on_a_map",
        question="Umsatz nach Land auf einer Karte",
        sql="SELECT land, SUM(umsatz) - SUM(plan) AS abweichung FROM o GROUP BY land",
        columns="land:text abweichung:number",
        rows=[["DE", 12.0], ["AT", -5.0], ["CH", 3.0], ["FR", -9.5]],
    ),
)
