"""Specifications from outside: what is drawn, and what is refused by name."""

import json
from typing import Any

import pytest
from pydantic import JsonValue

from app.modules.analysis.chart.foreign import MAX_ROWS, read_foreign
from app.modules.analysis.chart.plan import NotDrawable
from graph.state import Column, Rows
from tests.support.cases import assert_each

COLUMNS = [
    Column(name="month", type="date"),
    Column(name="revenue", type="number"),
    Column(name="region", type="text"),
]
X = {"field": "month", "type": "temporal"}
Y = {"field": "revenue", "aggregate": "sum", "type": "quantitative"}
LINE: dict[str, Any] = {"mark": "line", "encoding": {"x": X, "y": Y}}


def rows(count: int = 300) -> Rows:
    cells: list[list[JsonValue]] = [
        [f"2025-{at % 12 + 1:02}-01", at * 1.5, "NSWE"[at % 4]] for at in range(count)
    ]
    return Rows(columns=COLUMNS, rows=cells, row_count=count, truncated=False, cut_by=None)


def with_channel(**channels: Any) -> dict[str, Any]:
    return {"mark": "point", "encoding": {"x": X, "y": Y, **channels}}


def with_transform(*transforms: Any) -> dict[str, Any]:
    return {**LINE, "transform": list(transforms)}


GOOD: list[dict[str, Any]] = [
    LINE,
    {**LINE, "data": {"name": "rows"}},
    {**LINE, "data": {"values": [{"revenue": 1}]}},
    {**LINE, "$schema": "https://vega.github.io/schema/vega-lite/v5.json"},
    {**LINE, "title": {"text": "Umsatz: 100 % < 200 %", "subtitle": ["one", "two"]}},
    {**LINE, "config": {"axis": {"grid": False}, "view": {"stroke": None}}},
    {**LINE, "width": "container", "height": 200},
    {"layer": [LINE, {"mark": {"type": "rule", "color": "red"}, "encoding": {"y": {"datum": 100}}}]},
    with_transform({"filter": "datum.revenue > 10 && datum.region == 'N'"}),
    with_transform({"filter": {"field": "region", "oneOf": ["N", "https://example.com"]}}),
    with_transform({"calculate": "round(datum['revenue'] / 2)", "as": "half"}),
    with_transform(
        {"window": [{"op": "sum", "field": "revenue", "as": "so far"}], "sort": [{"field": "month"}]}
    ),
    {
        "mark": {"type": "bar", "cornerRadius": 3, "tooltip": True},
        "encoding": {
            "x": {"field": "region"},
            "y": Y,
            "color": {"field": "region", "legend": {"title": "R"}},
        },
    },
    {"hconcat": [LINE, LINE]},
    {"facet": {"field": "region"}, "spec": LINE},
    {"mark": "arc", "encoding": {"theta": Y, "color": {"field": "region"}}},
    {
        "mark": "bar",
        "encoding": {"x": {"field": "revenue", "bin": {"maxbins": 20}}, "y": {"aggregate": "count"}},
    },
    {
        "mark": "boxplot",
        "encoding": {"x": {"field": "region"}, "y": {"field": "revenue", "type": "quantitative"}},
    },
    {
        "repeat": ["revenue"],
        "spec": {"mark": "bar", "encoding": {"x": {"field": {"repeat": "repeat"}, "bin": True}}},
    },
    {
        "mark": "rect",
        "encoding": {"x": {"field": "month", "timeUnit": "month"}, "y": {"field": "region"}, "color": Y},
    },
    {
        "mark": "bar",
        "encoding": {"y": {"field": "region", "sort": "-x"}, "x": {**Y, "axis": {"format": ",.1f"}}},
    },
]

HOSTILE: list[tuple[dict[str, Any], str]] = [
    ({**LINE, "data": {"url": "https://example.com/a.csv"}}, "data.url"),
    ({**LINE, "data": {"name": "rows", "url": "a.csv"}}, "data.url"),
    ({**LINE, "data": {"sequence": {"start": 0, "stop": 1e9}}}, "data.sequence"),
    ({"layer": [{**LINE, "data": {"url": "a.csv"}}]}, "layer[0].data"),
    ({"layer": [{**LINE, "data": {"values": [{"revenue": 9}]}}]}, "layer[0].data"),
    ({**LINE, "datasets": {"rows": [{"revenue": 1}]}}, "datasets"),
    (with_channel(href={"field": "region"}), "encoding.href"),
    (with_channel(url={"field": "region"}), "encoding.url"),
    ({"mark": "image", "encoding": {"x": X}}, "mark"),
    ({"mark": {"type": "image"}, "encoding": {"x": X}}, "mark.type"),
    ({"mark": {"type": "point", "href": "javascript:alert(1)"}, "encoding": {"x": X}}, "mark.href"),
    ({"mark": {"type": "point", "url": "a.png"}, "encoding": {"x": X}}, "mark.url"),
    ({**LINE, "params": [{"name": "p", "select": "point"}]}, "params"),
    ({**LINE, "params": [{"name": "p", "expr": "1"}]}, "params"),
    ({**LINE, "signals": []}, "signals"),
    (with_channel(size={"value": {"expr": "1"}}), "encoding.size.value.expr"),
    (with_channel(color={"condition": {"param": "p", "value": "red"}}), "encoding.color.condition.param"),
    (with_channel(x={**X, "axis": {"labelExpr": "datum.label"}}), "encoding.x.axis.labelExpr"),
    (with_channel(x={**X, "axis": {"values": {"expr": "sequence(1e9)"}}}), "encoding.x.axis.values.expr"),
    (with_channel(tooltip={"signal": "datum"}), "encoding.tooltip.signal"),
    (with_transform({"lookup": "a", "from": {"data": {"url": "b"}, "key": "a"}}), "transform[0].lookup"),
    (with_transform({"filter": {"param": "p"}}), "transform[0].filter.param"),
    (with_transform({"calculate": "fetch('a')", "as": "z"}), "fetch"),
    (with_transform({"calculate": "sequence(0, 1e9)", "as": "z"}), "sequence"),
    (with_transform({"calculate": "datum['__proto__']", "as": "z"}), "__proto__"),
    (
        with_transform({"calculate": "replace(datum.region, /(a+)+$/, 'x')", "as": "z"}),
        "transform[0].calculate",
    ),
    (with_transform({"filter": "datum.constructor.constructor('return 1')()"}), "transform[0].filter"),
    (with_transform({"calculate": "datum.revenue * 2", "as": "revenue"}), "revenue"),
    (with_transform({"fold": ["revenue"] * 9}, {"fold": ["revenue"] * 9}), "fold"),
    (with_transform({"impute": "revenue", "key": "month"}), "transform[0].impute"),
    (with_transform({"quantile": "revenue", "step": 1e-9}), "probs"),
    (with_transform({"density": "revenue", "steps": 1e9}), "transform[0].steps"),
    (with_transform({"regression": "revenue", "on": "revenue", "order": 9_000}), "transform[0].order"),
    (with_transform(*[{"filter": "datum.revenue > 1"}] * 9), "8 transforms"),
    ({"layer": [LINE] * 6}, "6 layers"),
    ({"layer": [{"layer": [LINE] * 3}] * 2}, "6 layers"),
    ({"repeat": {"layer": ["revenue"] * 6}, "spec": LINE}, "6 layers"),
    ({"hconcat": [LINE] * 11}, "11 views"),
    ({"vconcat": [{"hconcat": [LINE] * 4}] * 3}, "12 views"),
    ({"repeat": {"row": ["revenue"] * 4, "column": ["revenue"] * 4}, "spec": LINE}, "16 views"),
    ({"facet": {"field": "revenue"}, "spec": LINE}, "300 small pictures"),
    ({**LINE, "description": "x" * 70_000}, "bytes"),
    (with_channel(color={"value": "url(https://example.com/x.svg#a)"}), "encoding.color.value"),
    (with_channel(color={"field": "region", "scale": {"range": ["u\\72l(#x)"]}}), "scale.range[0]"),
    (with_channel(color={"field": "region", "scale": None}), "encoding.color.scale"),
    ({**LINE, "mark": {"type": "line", "font": "x;} body{background:red}"}}, "mark.font"),
    ({**LINE, "title": "<img src=x>"}, "title"),
    ({**LINE, "config": {"customFormatTypes": True}}, "config.customFormatTypes"),
    ({**LINE, "width": 1e9}, "width"),
    ({**LINE, "width": {"step": 1e6}}, "width.step"),
    (with_channel(x={"field": "revenue", "bin": {"step": 1e-9}}), "encoding.x.bin"),
    (with_channel(x={**X, "axis": {"tickCount": 1e9}}), "tickCount"),
    (with_channel(x={**X, "axis": {"tickCount": {"interval": "second", "step": 1}}}), "tickCount"),
    (with_channel(text={"field": "revenue", "format": "999999999d"}), "encoding.text.format"),
    (with_channel(x={"field": "__proto__"}), "encoding.x.field"),
    (with_channel(x={"field": "profit"}), "There is no column profit. There are: month, revenue, region."),
    ({**LINE, "name": "__proto__"}, "name"),
    ({"mark": "bra", "encoding": {}}, "mark"),
    ({"marks": []}, "marks"),
    ({}, "mark is missing"),
]


def test_a_specification_is_drawn_from_the_rows_and_from_nothing_else() -> None:
    def check(specification: dict[str, Any]) -> None:
        drawn = read_foreign(specification, rows(100))

        assert drawn["$schema"] == "https://vega.github.io/schema/vega-lite/v6.json"
        data: Any = drawn["data"]
        assert data["name"] == "rows"
        assert data["values"][1] == {"month": "2025-02-01", "revenue": 1.5, "region": "S"}
        assert len(data["values"]) == 100

    assert_each(GOOD, check, ids=str)


def test_a_part_that_is_not_allowed_is_refused_by_name() -> None:
    def check(specification: dict[str, Any], named: str) -> None:
        with pytest.raises(NotDrawable) as refused:
            read_foreign(specification, rows())

        assert named in str(refused.value)

    assert_each(HOSTILE, check, ids=str)


def test_a_specification_that_is_nested_too_deeply_is_refused() -> None:
    deep: Any = 1
    for _ in range(30_000):
        deep = [deep]

    with pytest.raises(NotDrawable, match="24 levels"):
        read_foreign({**LINE, "encoding": deep}, rows())


def test_the_first_rows_of_a_large_result_are_drawn_and_that_is_said() -> None:
    drawn: Any = read_foreign(LINE, rows(MAX_ROWS + 500))

    assert len(drawn["data"]["values"]) == MAX_ROWS
    assert "It has the first 2,000 of 2,500 rows." in drawn["usermeta"]["kai"]["how"]


def test_what_a_specification_says_for_another_program_is_left_out() -> None:
    drawn: Any = read_foreign({**LINE, "usermeta": {"embedOptions": {"loader": {}}}}, rows(10))

    assert list(drawn["usermeta"]) == ["kai"]


def test_long_texts_are_cut_and_repeated_columns_are_numbered() -> None:
    wide = Rows(
        columns=[Column(name="a", type="text"), Column(name="a", type="number")],
        rows=[["x" * 10_000, "12345678901234567890"]],
        row_count=1,
        truncated=False,
        cut_by=None,
    )

    drawn: Any = read_foreign({"mark": "bar", "encoding": {"x": {"field": "a"}}}, wide)

    (datum,) = drawn["data"]["values"]
    assert len(datum["a"]) == 200
    assert datum["a (2)"] == pytest.approx(1.2345678901234567e19)
    assert len(json.dumps(drawn)) < 1_000
