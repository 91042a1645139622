"""Charts that clients' models get of an answer."""

from typing import Any

from pydantic import JsonValue

from app.modules.protocols.mcp.tools import _chart_for_models, _fitting_chart
from app.modules.records.model import Message
from graph.state import Column


def answer(column: str, values: int = 2, **fields: Any) -> Message:
    columns = [Column(name="name", type="text"), Column(name=column, type="number")]
    chart: dict[str, JsonValue] = {
        "mark": "bar",
        "data": {"values": [{"c0": f"name {n}", "c1": n} for n in range(values)]},
    }
    shown: dict[str, Any] = {"chart": chart, "chosen_chart": None, **fields}
    return Message.model_construct(columns=columns, **shown)


def test_a_model_gets_the_chart_that_readers_see() -> None:
    assert _chart_for_models(answer("orders", chosen_chart={"mark": "line"})) == {"mark": "line"}
    assert _fitting_chart(answer("orders")) == answer("orders").chart


def test_a_model_gets_no_chart_of_secret_columns_and_no_long_specification() -> None:
    assert _chart_for_models(answer("password")) is None
    assert _chart_for_models(answer("orders", values=5_000)) is not None
    assert _fitting_chart(answer("orders", values=5_000)) is None
