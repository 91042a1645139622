"""Measure forecasts and outliers on real and generated series: `python -m tests.bench.outlook`.

Forecasts are made from several places of each series, of the values before it only. The ratio is that of the
mean absolute error to that of repeating the last season; coverage is the share of the values that lie in the
range that is made to hold 80 %. Of outliers it counts the ordinary values that are called so, and the share
of planted ones that is found, beside a robust STL. `--chinook FILE` adds the invoices of a Chinook (SQLite).
"""

import argparse
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.datasets as datasets
from numpy.typing import NDArray
from statsmodels.tsa.seasonal import STL

from app.modules.analysis.computed.forecasting import forecast
from app.modules.analysis.computed.option import NotComputable
from app.modules.analysis.computed.outlying import find_outliers
from app.modules.analysis.computed.periods import PeriodValues
from app.modules.analysis.figures.calendar import CalendarUnit, Period, period_of
from app.sample_data.build import build_sample

SEASONS: dict[CalendarUnit, int] = {"day": 7, "week": 52, "month": 12, "quarter": 4, "year": 1}
PLACES = 6
REPEATED = 12
WEEK = np.array([1, 1, 1.1, 1.1, 1.3, 1.6, 0.5])


@dataclass(frozen=True)
class Series:
    name: str
    unit: CalendarUnit
    values: NDArray[np.float64]


def period_values(values: Sequence[float], unit: CalendarUnit) -> PeriodValues:
    first = period_of(date(2010, 1, 4), unit)
    return PeriodValues(
        unit=unit,
        periods=[first.after(step) for step in range(len(values))],
        values=[None if np.isnan(each) else Decimal(repr(round(float(each), 6))) for each in values],
        partial=frozenset[Period](),
        accumulates=False,
    )


def published() -> Iterator[Series]:
    """Series that statsmodels comes with."""
    carbon = datasets.co2.load_pandas().data["co2"].interpolate()
    yield Series("co2", "week", carbon.to_numpy()[-400:])
    yield Series("co2", "month", carbon.resample("MS").mean().to_numpy()[-240:])
    ocean = datasets.elnino.load_pandas().data
    yield Series("sea temperature", "month", ocean.iloc[-20:, 1:].to_numpy(float).ravel())
    economy = datasets.macrodata.load_pandas().data
    for column in ("realgdp", "realcons", "realinv", "unemp", "infl", "m1"):
        yield Series(column, "quarter", economy[column].to_numpy(float)[-100:])
    yield Series("nile", "year", datasets.nile.load_pandas().data["volume"].to_numpy(float))
    yield Series("sunspots", "year", datasets.sunspots.load_pandas().data["SUNACTIVITY"].to_numpy(float))


def sold(path: Path, table: str, moment: str, *, amount: str, name: str) -> Iterator[Series]:
    """Sums and counts of a table of sales, by day, week and month, without the first and the last."""
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute(f"SELECT date({moment}), {amount} FROM {table}").fetchall()
    frame = pd.Series([row[1] for row in rows], index=pd.to_datetime([row[0] for row in rows]))
    units: tuple[tuple[CalendarUnit, str], ...] = (("day", "D"), ("week", "W"), ("month", "MS"))
    for unit, rule in units:
        sums = frame.resample(rule).sum().to_numpy(float)[1:-1]
        if len(frame) > 2 * len(sums):
            yield Series(f"{name} sum", unit, sums[-700:])
            yield Series(f"{name} count", unit, frame.resample(rule).count().to_numpy(float)[1:-1][-700:])


def generated(random: np.random.Generator) -> Iterator[Series]:
    for months, growth, noise in ((40, 1.01, 0.05), (48, 0.99, 0.1), (60, 1.0, 0.05), (84, 1.02, 0.1)):
        yield Series("December peaks", "month", december(random, months, growth, noise))
    for days in (90, 200, 365):
        yield Series("orders", "day", orders(random, days))
    weeks = np.arange(160)
    yearly = 900 * (1 + 0.2 * np.cos(2 * np.pi * weeks / 52)) * np.exp(random.normal(0, 0.08, 160))
    yield Series("yearly season", "week", yearly)
    yield Series("random walk", "month", 500 + np.cumsum(random.normal(0, 10, 60)))
    yield Series("profit around zero", "month", 50 * np.sin(np.arange(48) / 1.9) + random.normal(0, 20, 48))
    yield Series("short", "month", 200 + 5 * np.arange(20) + random.normal(0, 15, 20))
    yield Series("noise", "quarter", random.normal(100, 10, 40))


def december(random: np.random.Generator, months: int, growth: float, noise: float) -> NDArray[np.float64]:
    at = np.arange(months)
    season = 1 + 0.2 * np.sin(2 * np.pi * at / 12) + 0.8 * (at % 12 == 11)
    values: NDArray[np.float64] = 1000 * growth**at * season * np.exp(random.normal(0, noise, months))
    return values


def orders(random: np.random.Generator, days: int) -> NDArray[np.float64]:
    at = np.arange(days)
    return random.poisson(60 * WEEK[at % 7] * (1 + 0.3 * np.sin(2 * np.pi * at / 365))).astype(float)


def measure_forecasts(series: Sequence[Series]) -> None:
    ratios: list[float] = []
    covered: list[float] = []
    for each in series:
        season = SEASONS[each.unit] if len(each.values) >= 3 * SEASONS[each.unit] else 1
        own, naive, within, methods = [], [], [], []
        ends = np.linspace(max(12, len(each.values) * 0.7), len(each.values) - 1, PLACES, dtype=int)
        began = time.process_time()
        for end in ends:
            try:
                found = forecast(period_values(list(each.values[:end]), each.unit))
            except NotComputable:
                continue
            truth = each.values[end : end + len(found.steps)]
            repeated = each.values[end - season + np.arange(len(truth)) % season]
            for step, value, last in zip(found.steps, truth, repeated, strict=False):
                own.append(abs(float(step.value) - value))
                naive.append(abs(last - value))
                within.append(float(step.low) <= value <= float(step.high))
            methods.append(found.errors[0].method)
        if not own:
            continue
        ratios.append(float(np.mean(own) / max(float(np.mean(naive)), 1e-12)))
        covered.append(float(np.mean(within)))
        seconds = (time.process_time() - began) / PLACES
        print(
            f"{each.name:22}{each.unit:8}{len(each.values):4}  ratio {ratios[-1]:5.2f}  "
            f"covered {covered[-1]:4.0%}  {seconds:.2f} s  {max(set(methods), key=methods.count)}",
            flush=True,
        )
    print(
        f"{len(ratios)} series: ratio {np.exp(np.mean(np.log(ratios))):.2f} (geometric mean), better in "
        f"{sum(each < 1 for each in ratios)}; covered {np.mean(covered):.0%}, of the least "
        f"{min(covered):.0%}"
    )


def stl_outliers(values: NDArray[np.float64], season: int) -> set[int]:
    """The places whose residual of a robust STL has a robust z-score above 3.5."""
    away = STL(values, period=season, robust=True, seasonal=13).fit().resid
    away = away - np.median(away)
    scores = 0.6745 * away / np.median(np.abs(away))
    return {int(each) for each in np.flatnonzero(np.abs(scores) > 3.5)}


def measure_outliers(random: np.random.Generator) -> None:
    cases: list[tuple[str, CalendarUnit, Callable[[], NDArray[np.float64]]]] = [
        ("December peaks, 3 years", "month", lambda: december(random, 36, 1.01, 0.05)),
        ("December peaks, 6 years", "month", lambda: december(random, 72, 1.01, 0.05)),
        ("orders, 90 days", "day", lambda: orders(random, 90)),
        ("orders, 900 days", "day", lambda: orders(random, 900)),
        ("noise, 60 months", "month", lambda: random.normal(100, 10, 60)),
        ("few orders, 300 days", "day", lambda: random.poisson(3, 300).astype(float)),
        ("random walk, 110 weeks", "week", lambda: 500 + np.cumsum(random.normal(0, 8, 110))),
    ]
    for name, unit, make in cases:
        counts = np.zeros((2, 3))
        size = 0
        for _ in range(REPEATED):
            clean = make()
            size = len(clean)
            planted = make()
            at = random.choice(size, 2, replace=False)
            planted[at] = np.maximum(planted[at] * (1 + 0.6 * np.array([1, -1])), 0)
            for row, find in enumerate((own_outliers, stl_outliers)):
                season = max(SEASONS[unit] if unit != "week" else 2, 2)
                some = find(planted, season) if find is stl_outliers else own_outliers(planted, unit)
                none = find(clean, season) if find is stl_outliers else own_outliers(clean, unit)
                counts[row] += (len(none), len(some & set(at)), len(some - set(at)))
        counts /= REPEATED
        print(f"{name:24} by chance {size / 2000:.2f}", end="")
        for row, who in enumerate(("here", "STL")):
            print(
                f"  {who}: {counts[row, 0]:.2f} in ordinary ones, finds {counts[row, 1] / 2:.0%} of planted, "
                f"and {counts[row, 2]:.2f} others",
                end="",
            )
        print(flush=True)


def own_outliers(values: NDArray[np.float64], unit: CalendarUnit) -> set[int]:
    found = period_values(list(values), unit)
    outlying = {each.period for each in find_outliers(found).found}
    return {at for at, period in enumerate(found.periods) if period in outlying}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chinook", type=Path, help="a Chinook in SQLite")
    given = parser.parse_args()
    random = np.random.default_rng(7)
    series = [*published()]
    with tempfile.TemporaryDirectory() as folder:
        shop = Path(folder) / "shop.sqlite"
        build_sample(shop, date(2026, 11, 1))
        series += sold(
            shop,
            "orders JOIN order_lines l ON l.order_id = orders.id",
            "order_date",
            amount="l.quantity * l.unit_price",
            name="sample shop",
        )
    if given.chinook is not None:
        series += sold(given.chinook, "Invoice", "InvoiceDate", amount="Total", name="Chinook")
    measure_forecasts([*series, *generated(random)])
    measure_outliers(random)


if __name__ == "__main__":
    main()
