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
        ("change_units", "2", [0, 1], "Units rose by 2.", "true"),
        ("change_units", "3", [0, 1], "Units rose by 3.", "false"),
        ("gap_units", "3", [0, 2], "Alder is 3 ahead of Cedar in units.", "true"),
        ("gap_units", "4", [0, 2], "Alder is 4 ahead of Cedar in units.", "false"),
        ("count_rows", "3", [], "3 rows with name, units.", "true"),
        ("count_rows", "4", [], "4 rows with name, units.", "false"),
        ("order_units", None, [1, 0, 2], "By units, in order, come Birch, Alder and Cedar.", "true"),
        ("order_units", None, [0, 1, 2], "By units, in order, come Alder, Birch and Cedar.", "false"),
        ("span_units", None, [0, 1, 2], "Units go from 4 to 9.", "true"),
        ("span_units", None, [0, 1, 2], "Units go from 4 to 8.", "false"),
        ("rises_units", "1", [0, 1, 2], "Units rose in 1 of 2 steps.", "true"),
        ("rises_units", "2", [0, 1, 2], "Units rose in 2 of 2 steps.", "false"),
        ("average_level_units", "6", [0, 1, 2], "Units: 6 on average.", "false"),
        ("note_season", None, [], "Units may follow a season.", "unchecked"),
    ],
)
def test_a_statement_about_a_result_is_judged_by_a_second_computation(
    key: str, value: str | None, rows: list[int], text: str, verdict: str
) -> None:
    columns = [Column(name="name", type="text"), Column(name="units", type="integer")]
    cells: list[list[JsonValue]] = [["Alder", 7], ["Birch", 9], ["Cedar", 4]]
    result = Result("units by name", "", Rows(columns=columns, rows=cells, row_count=3, truncated=False))
    used = [FactCell(row=row, column="units") for row in rows]
    reference = Reference(
        key=key, value=value, cells=used, span=[0, 0], result_id=None, how="of 3 rows", cell_count=len(rows)
    )
    assert judge(result, reference, text) == verdict
