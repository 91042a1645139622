"""Scores of the statements that are chosen for results."""

import pytest
from pydantic import JsonValue

from graph.state import Column, FactCell, Reference, Rows
from tests.bench.references import Result, judge


@pytest.mark.parametrize(
    ("key", "value", "rows", "text", "verdict"),
    [
        ("highest_units", "9", [1], "Birch has the highest units: 9.", "true"),
        ("highest_units", "7", [0], "Alder has the highest units: 7.", "false"),
        ("second_units", "7", [0], "Alder is second by units with 7.", "true"),
        ("total_units", "20", [0, 1, 2], "The total of units is 20.", "true"),
        ("total_units", "21", [0, 1, 2], "The total of units is 21.", "false"),
        ("total_units", "20", [0, 1, 2], "All is well.", "nonsense"),
        ("change_units", "2", [0, 1], "Units rose by 2.", "unchecked"),
    ],
)
def test_a_statement_about_a_result_is_judged_by_a_second_computation(
    key: str, value: str, rows: list[int], text: str, verdict: str
) -> None:
    columns = [Column(name="name", type="text"), Column(name="units", type="integer")]
    cells: list[list[JsonValue]] = [["Alder", 7], ["Birch", 9], ["Cedar", 4]]
    result = Result("units by name", "", Rows(columns=columns, rows=cells, row_count=3, truncated=False))
    used = [FactCell(row=row, column="units") for row in rows]
    reference = Reference(
        key=key, value=value, cells=used, span=[0, 0], result_id=None, how="of 3 rows", cell_count=len(rows)
    )
    assert judge(result, reference, text) == verdict
