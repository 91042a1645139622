"""Rates: as many decimals as their values have, and per cent where they are parts."""

from tests.unit.analysis.test_facts_of_shapes import Case, Cells, sheet_of


def lead(sql: str, columns: dict[str, str], rows: Cells) -> str:
    return " ".join(fact.statement for fact in sheet_of(Case("", sql, columns, rows, [])).lead)


def test_exchange_rates_keep_their_decimals() -> None:
    sql = "SELECT pair, AVG(rate) AS rate FROM t GROUP BY pair ORDER BY rate DESC"
    text = lead(sql, {"pair": "text", "rate": "number"}, [["A", 1.0693], ["B", 1.0687], ["C", 0.95]])
    assert "**A** has the highest rate: 1.0693." in text
    assert "B is second by rate with 1.0687." in text
    assert "C has the lowest rate: 0.9500." in text


def test_a_rate_computed_as_a_part_is_per_cent() -> None:
    sql = "SELECT shop, ROUND(1.0 * SUM(won) / SUM(asked), 4) AS win_rate FROM t GROUP BY shop"
    text = lead(sql, {"shop": "text", "win_rate": "number"}, [["A", 0.125], ["B", 0.0519], ["C", 0.01]])
    assert "**A** has the highest win rate: 12.5%." in text


def test_a_sign_in_the_name_of_a_rate_stands_at_its_values() -> None:
    sql = """SELECT shop, COUNT(paid) * 100.0 / NULLIF(COUNT(*), 0) AS "paid rate (%)" FROM t GROUP BY shop"""
    columns = {"shop": "text", "paid rate (%)": "number"}
    text = lead(sql, columns, [["A", 13.86], ["B", 4.0], ["C", 2.1]])
    assert "**A** has the highest paid rate: 13.86%." in text
    assert "(%)" not in text
    small = lead(sql, columns, [["A", 0.8], ["B", 0.4], ["C", 0.2]])
    assert "**A** has the highest paid rate: 0.8%." in small


def test_a_german_quote_of_more_than_one_is_per_cent() -> None:
    sql = "SELECT shop, AVG(x) * 100 AS stornoquote FROM t GROUP BY shop"
    text = lead(sql, {"shop": "text", "stornoquote": "number"}, [["A", 12.5], ["B", 4.0], ["C", 2.1]])
    assert "12.5%" in text
    assert "2.1%" in text


def test_a_change_of_rates_is_a_difference_in_every_language() -> None:
    sql = "SELECT quarter, ROUND(100.0 * SUM(x) / COUNT(*), 1) AS {} FROM t GROUP BY quarter ORDER BY quarter"
    quarters = [(year, each) for year in (2025, 2026) for each in (1, 2, 3, 4)]
    rows: Cells = [[f"{year}-Q{each}", 2.0 + each + (year - 2025)] for year, each in quarters]
    for name in ("rate", "return_rate", "retourenquote", "tasa_devolucion"):
        text = lead(sql.format(name), {"quarter": "text", name: "number"}, rows)
        assert "rose by 1" in text, text
        assert "rose by 16" not in text, text


def test_values_have_the_decimals_of_their_column_and_money_has_two() -> None:
    columns = {"shop": "text", "rating": "number", "revenue": "number"}
    sql = "SELECT shop, MAX(rating) AS rating, SUM(revenue) AS revenue FROM t GROUP BY shop"
    case = Case("", sql, columns, [["A", 12.9, 7.5], ["B", 4, 2], ["C", 8.5, 1]], [])
    said = " ".join(fact.statement for fact in sheet_of(case).facts)
    assert "the highest rating: 12.9." in said
    assert "the lowest rating: 4.0." in said
    assert "the highest revenue: 7.50" in said
