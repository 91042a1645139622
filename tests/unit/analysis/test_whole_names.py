"""Charts of results whose first and last names are drawn as one name."""

from datetime import date

from app.modules.analysis.chart.choice import ChartChoice
from app.modules.analysis.drawn_result import DrawnResult
from app.terminal.text_chart import text_chart
from graph.state import Column, Rows

PEOPLE = Rows(
    columns=[
        Column(name="orders", type="integer"),
        Column(name="first_name", type="text"),
        Column(name="last_name", type="text"),
        Column(name="revenue", type="number"),
    ],
    rows=[[3, "Ann", "Lee", 30.5], [2, "Bob", "Lee", 20.5], [1, "Cy", "Orr", 10.5]],
    row_count=3,
    truncated=False,
    cut_by=None,
)
RESULT = DrawnResult(
    question="revenue per customer",
    sql="SELECT count(*) AS orders, first_name, last_name, sum(amount) AS revenue FROM sales GROUP BY 2, 3",
    dialect="postgres",
    rows=PEOPLE,
    today=date(2026, 1, 1),
)


def test_a_choice_and_the_note_of_its_chart_name_the_columns_of_the_result() -> None:
    chosen = RESULT.chosen(ChartChoice.model_validate({"values": [{"column": 3}], "across": 2}))
    assert chosen.refusal is None
    note = (chosen.chart or {})["usermeta"]
    assert isinstance(note, dict)
    kai = note["kai"]
    assert isinstance(kai, dict)
    assert (kai["across"], kai["values"]) == (1, [{"column": 3, "how": None}])
    assert "Ann Lee" in str(chosen.chart)
    assert text_chart(chosen.chart or {}).splitlines()[0].startswith("Ann Lee: 30.50")
    assert "c0" not in str(chosen.chart)


def test_a_column_that_is_not_there_is_refused_and_not_drawn() -> None:
    assert RESULT.chosen(ChartChoice(across=9)).refusal is not None
