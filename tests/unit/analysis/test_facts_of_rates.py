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


def test_a_german_quote_of_more_than_one_is_per_cent() -> None:
    sql = "SELECT shop, AVG(x) * 100 AS stornoquote FROM t GROUP BY shop"
    text = lead(sql, {"shop": "text", "stornoquote": "number"}, [["A", 12.5], ["B", 4.0], ["C", 2.1]])
    assert "12.5%" in text
    assert "2.1%" in text
