"""Rules about charts, applied to what KAI proposes."""

from typing import Any

from app.modules.analysis.chart.choice import ChartChoice
from app.modules.analysis.chart_rules import ChartRule, apply_rule, choice_of, proposed_chart, rule_of
from app.modules.analysis.figures import figures
from graph.state import Column, Rows

COLUMNS = [Column(name="month", type="date"), Column(name="revenue", type="number")]
ROWS = Rows(
    columns=COLUMNS,
    rows=[[f"2025-{month:02}-01", month * 10] for month in range(1, 13)],
    row_count=12,
    truncated=False,
    cut_by=None,
)
SQL = "SELECT date_trunc('month', day) AS month, sum(amount) AS revenue FROM sales GROUP BY 1 ORDER BY 1"


def drawn(rule: ChartRule | None, question: str = "Revenue per month") -> Any:
    found = figures(question, SQL, "postgres", rows=ROWS)
    return proposed_chart(question, ROWS, found, rule=rule)


def test_a_rule_draws_the_proposed_chart_and_the_chart_says_so() -> None:
    chart = drawn(ChartRule("sales", "as bars per quarter"))
    note = chart["usermeta"]["kai"]
    assert (note["mark"], note["time"]) == ("bar", "quarter")
    assert "Drawn as your rule sales asks." in note["how"]
    assert "Drawn as your rule sales asks." in chart["title"]["subtitle"]
    assert rule_of(chart) == ChartRule("sales", "as bars per quarter")
    german = drawn(ChartRule("sales", "als Balken"), "Wie ist der Umsatz pro Monat?")
    assert "Gezeichnet, wie Ihre Regel sales es verlangt." in german["usermeta"]["kai"]["how"]


def test_the_proposed_chart_stays_where_a_rule_cannot_be_followed() -> None:
    plain = drawn(None)
    assert drawn(ChartRule("odd", "as a pie with fireworks")) == plain
    assert drawn(ChartRule("days", "per day")) == plain
    assert rule_of(plain) is None


def test_a_readers_choice_counts_over_the_rule() -> None:
    rule = ChartRule("sales", "as bars, in green")
    assert choice_of(rule, COLUMNS) == ChartChoice(mark="bar", color="#2e7d32")
    chosen = apply_rule(ChartChoice(mark="line", title="Own"), rule, COLUMNS)
    assert chosen == ChartChoice(mark="line", title="Own", color="#2e7d32")
