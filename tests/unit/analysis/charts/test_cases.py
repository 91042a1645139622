"""Each kind of result has the picture that an analyst would show, and it is valid Vega-Lite."""

import json
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any, get_args

import pytest
import vl_convert

from app.modules.analysis.chart.choice import ChartChoice, ChosenMark
from app.modules.analysis.chart.plan import NotDrawable
from app.modules.analysis.chart.vega_schema import mistake_in
from tests.unit.analysis.charts.cases import CASES, Case
from tests.unit.analysis.charts.structure import HASHES, RECORDED, drawn, hashes, structure

by_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@cache
def recorded() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return found


@by_case
def test_a_result_has_its_recorded_picture(case: Case) -> None:
    made = json.loads(json.dumps(structure(drawn(case))))
    assert made == recorded()[case.name], "draw it, look at it, and record it again: make charts"


async def test_the_picture_of_each_result_is_the_recorded_one() -> None:
    made = await hashes()
    assert made == json.loads(HASHES.read_text(encoding="utf-8")), "look at the pictures, then: make charts"


@by_case
def test_a_picture_follows_the_schema_of_vega_lite_and_can_be_drawn(case: Case) -> None:
    spec = drawn(case)
    if spec is not None:
        assert mistake_in(spec) is None
        assert "<svg" in vl_convert.vegalite_to_svg(spec, vl_version="6.4")


@by_case
def test_each_point_says_what_it_is_and_no_more_than_2000_are_drawn(case: Case) -> None:
    spec = drawn(case)
    if spec is not None:
        assert all(datum["said"] for datum in spec["data"]["values"])
        assert len(spec["data"]["values"]) <= 2_000
        assert '"points"' in json.dumps(spec)


@by_case
def test_the_marks_that_are_offered_are_those_that_can_be_drawn(case: Case) -> None:
    spec: Any = drawn(case)
    before = case.choice or ChartChoice()
    if spec is None or before.specification is not None:
        return
    drawable: list[str] = []
    for mark in get_args(ChosenMark):
        with suppress(NotDrawable):
            drawn(replace(case, choice=before.model_copy(update={"mark": mark})))
            drawable.append(mark)
    assert set(drawable) >= set(spec["usermeta"]["kai"]["marks"])


def test_there_is_a_case_for_every_kind_of_result() -> None:
    marks = {spec["usermeta"]["kai"]["mark"] for case in CASES if (spec := drawn(case)) is not None}
    assert marks >= {
        "line",
        "bar",
        "arc",
        "percent",
        "stacked",
        "histogram",
        "point",
        "heat",
        "combo",
        "area",
    }
    assert len(CASES) >= 46
