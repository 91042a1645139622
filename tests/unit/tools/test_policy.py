"""Which tools run freely, which ask, and which never run."""

from itertools import product
from typing import get_args

import pytest

from app.core.settings import ToolSettings
from app.modules.tools.context import ToolContext
from app.modules.tools.policy import Gate, ToolPolicy
from app.modules.tools.registry import BUILTIN, ToolRegistry
from app.modules.tools.tool import Arguments, Category, Tool, ToolResult, tool

CATEGORIES: tuple[Category, ...] = get_args(Category)


class Nothing(Arguments):
    """No arguments."""


async def run(given: Nothing, context: ToolContext) -> ToolResult:
    return ToolResult(text="done")


def made(category: Category, name: str = "a_tool") -> Tool:
    return tool(name, toolset="set", category=category, description="", arguments=Nothing, run=run)


def expected(*, is_named: bool, must_ask: bool, may_run: bool) -> Gate:
    if is_named:
        return "never"
    if must_ask:
        return "asks"
    return "free" if may_run else "asks"


@pytest.mark.parametrize(
    ("category", "never", "must_ask", "may_run"),
    list(product(CATEGORIES, ("", "a_tool", "set.*", "other", "other.*"), (True, False), (True, False))),
)
def test_never_counts_before_asking_and_asking_before_running(
    category: Category, never: str, must_ask: bool, may_run: bool
) -> None:
    policy = ToolPolicy(
        auto_approve=[category] if may_run else [],
        require_confirmation=[category] if must_ask else [],
        never_allow=[never],
    )
    is_named = never in ("a_tool", "set.*")
    gate = policy.gate(made(category))
    assert gate == expected(is_named=is_named, must_ask=must_ask, may_run=may_run)
    offered = ToolRegistry([made(category)], policy).offered
    assert ("a_tool" in offered) == (gate == "free")


@pytest.mark.parametrize("category", CATEGORIES)
def test_by_default_only_reading_runs(category: Category) -> None:
    assert ToolPolicy().gate(made(category)) == ("free" if category == "read" else "asks")


def test_every_tool_of_ours_reads_and_is_offered() -> None:
    registry = ToolRegistry(BUILTIN, ToolPolicy())
    assert {tool.category for tool in BUILTIN} == {"read"}
    assert list(registry.offered) == [tool.name for tool in BUILTIN]


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="same name"):
        ToolRegistry([made("read"), made("write")], ToolPolicy())


@pytest.mark.parametrize("name", ["", "Run", "run sql", "1run", "r" * 49, "run.sql"])
def test_a_name_that_models_cannot_call_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no name for a tool"):
        made("read", name)


def test_external_tools_cannot_be_approved_by_a_setting() -> None:
    with pytest.raises(ValueError, match="always"):
        ToolSettings(auto_approve=("read", "external"))
