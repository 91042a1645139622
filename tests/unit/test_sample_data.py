"""The sample business is plausible, sound, and the same everywhere."""

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path

import pytest

from app.sample_data.build import build_sample

TODAY = date(2026, 3, 15)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    path = tmp_path_factory.mktemp("sample") / "sample.db"
    path.write_text("what stood here before")
    build_sample(path, TODAY)
    with closing(sqlite3.connect(path)) as connection:
        yield connection


def one(sample: sqlite3.Connection, sql: str) -> float:
    return float(sample.execute(sql).fetchone()[0])


def digest(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        return hashlib.sha256("\n".join(connection.iterdump()).encode()).hexdigest()


def test_there_are_about_fifty_thousand_order_lines(sample: sqlite3.Connection) -> None:
    assert 48_000 <= one(sample, "SELECT count(*) FROM order_lines") <= 52_000


def test_every_reference_leads_somewhere(sample: sqlite3.Connection) -> None:
    assert sample.execute("PRAGMA foreign_key_check").fetchall() == []
    orphans = "SELECT count(*) FROM orders WHERE id NOT IN (SELECT order_id FROM order_lines)"
    assert one(sample, orphans) == 0


def test_two_years_of_orders_end_today(sample: sqlite3.Connection) -> None:
    first, last = sample.execute("SELECT min(order_date), max(order_date) FROM orders").fetchone()
    assert date.fromisoformat(last) == TODAY
    assert date.fromisoformat(first) == TODAY - timedelta(days=730)


def test_nothing_happens_before_it_can(sample: sqlite3.Connection) -> None:
    early = {
        "signup": "SELECT count(*) FROM orders o JOIN customers c ON c.id = o.customer_id"
        " WHERE o.order_date < c.signup_date",
        "hiring": "SELECT count(*) FROM orders o JOIN employees e ON e.id = o.employee_id"
        " WHERE o.order_date < e.hire_date",
        "launch": "SELECT count(*) FROM order_lines l JOIN orders o ON o.id = l.order_id"
        " JOIN products p ON p.id = l.product_id WHERE o.order_date < p.launch_date",
        "sale": "SELECT count(*) FROM returns r JOIN order_lines l ON l.id = r.order_line_id"
        f" JOIN orders o ON o.id = l.order_id WHERE r.return_date NOT BETWEEN o.order_date AND '{TODAY}'",
    }
    assert {name: one(sample, sql) for name, sql in early.items()} == dict.fromkeys(early, 0)


def test_few_customers_bring_most_of_the_revenue(sample: sqlite3.Connection) -> None:
    lines = "orders o JOIN order_lines l ON l.order_id = o.id"
    spent = f"SELECT sum(l.amount) AS spent FROM {lines} GROUP BY o.customer_id"
    fifth = one(sample, "SELECT count(*) / 5 FROM customers")
    best = one(sample, f"SELECT sum(spent) FROM ({spent} ORDER BY spent DESC LIMIT {int(fifth)})")
    assert best > 0.5 * one(sample, "SELECT sum(amount) FROM order_lines")


def test_december_is_above_the_average_month(sample: sqlite3.Connection) -> None:
    revenue = "SELECT sum(l.amount) FROM orders o JOIN order_lines l ON l.order_id = o.id"
    december = one(sample, f"{revenue} WHERE strftime('%m', o.order_date) = '12'")
    assert december > one(sample, revenue) / 12


def test_there_are_gaps_and_duplicates_as_in_life(sample: sqlite3.Connection) -> None:
    assert one(sample, "SELECT count(*) FROM customers WHERE email IS NULL") > 10
    assert one(sample, "SELECT count(*) - count(DISTINCT email) FROM customers WHERE email IS NOT NULL") > 5
    assert one(sample, "SELECT count(*) FROM orders WHERE employee_id IS NULL") > 100


def test_returns_are_a_few_percent_and_mostly_worn_things(sample: sqlite3.Connection) -> None:
    share = one(sample, "SELECT (SELECT count(*) FROM returns) * 1.0 / (SELECT count(*) FROM order_lines)")
    worst = (
        "SELECT p.category FROM returns r JOIN order_lines l ON l.id = r.order_line_id"
        " JOIN products p ON p.id = l.product_id GROUP BY 1 ORDER BY count(*) DESC LIMIT 1"
    )
    assert 0.03 < share < 0.07
    assert sample.execute(worst).fetchone()[0] in ("Footwear", "Clothing")


def test_it_is_the_same_everywhere(tmp_path: Path) -> None:
    build_sample(tmp_path / "one.db", TODAY)
    build_sample(tmp_path / "two.db", TODAY)
    assert digest(tmp_path / "one.db") == digest(tmp_path / "two.db")
