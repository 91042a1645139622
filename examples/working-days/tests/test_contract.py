"""The contract of extensions, as docs/extending.md gives it to authors."""

import pytest
from pydantic import JsonValue
from working_days import register

from app.extending.contract import call_tool, find_faults
from app.modules.tools.parsing import CallRefused

SPAN: dict[str, JsonValue] = {"country": "GB", "start": "2025-04-01", "end": "2025-05-31"}


def test_the_tools_keep_the_contract() -> None:
    assert find_faults(register) == []


async def test_a_call_returns_rows_that_can_be_compared() -> None:
    returned = await call_tool(register, "count_working_days", SPAN)
    assert returned.result is not None
    assert returned.result["row_count"] == 2
    assert [column["name"] for column in returned.result["columns"]][:3] == ["month", "days", "working_days"]
    assert returned.text.startswith("40 working days in GB")


async def test_a_call_lists_the_holidays() -> None:
    returned = await call_tool(register, "list_holidays", SPAN)
    assert "2025-04-18" in returned.text
    assert "Good Friday" in returned.text


@pytest.mark.parametrize(
    "wrong",
    [
        {"end": "2024-01-01"},
        {"country": "Atlantis"},
        {"start": "1800-01-01"},
        {"start": "2000-01-01", "end": "2099-01-01"},
        {"holidays": ["2025-04-01"]},
    ],
)
async def test_wrong_arguments_are_refused(wrong: dict[str, JsonValue]) -> None:
    with pytest.raises(CallRefused, match="arguments of list_holidays are wrong"):
        await call_tool(register, "list_holidays", {**SPAN, **wrong})
