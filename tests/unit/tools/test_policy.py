"""Which tools run freely, which ask, which never run, and which a mode offers."""

from dataclasses import replace
from itertools import product
from typing import get_args

import pytest

from app.core.settings import ToolSettings
from app.modules.records.model import Mode
from app.modules.tools.context import ToolContext
from app.modules.tools.policy import Gate, ToolPolicy
from app.modules.tools.registry import ALL_SOURCES, BUILTIN, ToolRegistry
from app.modules.tools.tool import Arguments, Category, Source, Tool, ToolResult, tool
from app.modules.tools.toolsets.control import CONTROL

CATEGORIES: tuple[Category, ...] = get_args(Category)
MODES: tuple[Mode, ...] = get_args(Mode)


class Nothing(Arguments):
    """No arguments."""


class Something(Arguments):
    """An argument."""

    n: int = 0


async def run(given: Arguments, context: ToolContext) -> ToolResult:
    return ToolResult(text="done")


def made(category: Category, name: str = "a_tool", source: Source = "builtin") -> Tool:
    return tool(
        name,
        toolset="set",
        category=category,
        description="",
        arguments=Nothing,
        run=run,
        source=source,
    )


def expected(
    category: Category, source: Source, *, is_never: bool, must_ask: bool, may_run: bool, is_safe: bool
) -> Gate:
    if is_never:
        return "never"
    if source == "mcp" or category == "external":
        return "asks"
    if must_ask:
        return "asks"
    if source == "extensions" or category == "extension":
        return "free" if is_safe else "asks"
    return "free" if may_run else "asks"


CASES = list(
    product(
        CATEGORIES,
        ALL_SOURCES,
        ("", "a_tool", "set.*", "other", "other.*"),
        (True, False),
        (True, False),
        (True, False),
    )
)


@pytest.mark.parametrize("mode", MODES)
def test_never_counts_before_asking_and_asking_before_running(mode: Mode) -> None:
    for category, source, never, must_ask, may_run, is_safe in CASES:
        policy = ToolPolicy(
            auto_approve=[category] if may_run else [],
            require_confirmation=[category] if must_ask else [],
            never_allow=[never],
            safe_extensions=["a_tool"] if is_safe else ["other"],
        )
        gate = policy.gate(made(category, source=source))
        is_never = never in ("a_tool", "set.*")
        wanted = expected(
            category, source, is_never=is_never, must_ask=must_ask, may_run=may_run, is_safe=is_safe
        )
        assert gate == wanted, (category, source, never, must_ask, may_run, is_safe)
        offered = "a_tool" in ToolRegistry([made(category, source=source)], policy).offered(mode)
        reads_freely = category in ("read", "extension") and gate == "free"
        assert offered == (gate != "never" if mode == "agent" else reads_freely)


@pytest.mark.parametrize("category", CATEGORIES)
def test_by_default_only_reading_runs(category: Category) -> None:
    assert ToolPolicy().gate(made(category)) == ("free" if category == "read" else "asks")


@pytest.mark.parametrize("category", CATEGORIES)
@pytest.mark.parametrize("source", ["mcp", "extensions"])
def test_what_comes_from_outside_asks_whatever_it_says_of_itself(category: Category, source: Source) -> None:
    policy = ToolPolicy(auto_approve=CATEGORIES, require_confirmation=[])
    assert policy.gate(made(category, source=source)) == "asks"


def test_naming_an_mcp_tool_or_an_external_one_as_safe_changes_nothing() -> None:
    policy = ToolPolicy(auto_approve=CATEGORIES, require_confirmation=[], safe_extensions=["set.*"])
    assert policy.gate(made("read", source="mcp")) == "asks"
    assert policy.gate(made("external", source="extensions")) == "asks"
    assert policy.gate(made("read", source="extensions")) == "free"


def test_a_question_can_do_without_tools_of_a_source_but_not_without_an_end() -> None:
    tools = [made("read"), made("read", "theirs", "extensions"), made("read", "far", "mcp"), *CONTROL]
    registry = ToolRegistry(tools, ToolPolicy(safe_extensions=["theirs"]))
    ends = ["find_tools", "ask_user", "finish"]
    assert list(registry.offered("agent")) == ["a_tool", "theirs", "far", *ends]
    assert list(registry.offered("agent", ["extensions"])) == ["theirs", *ends]
    assert list(registry.offered("ask", ["builtin", "mcp"])) == ["a_tool", *ends]
    assert list(registry.offered("ask", [])) == ends


def test_every_reading_tool_of_ours_is_offered_in_both_modes() -> None:
    registry = ToolRegistry(BUILTIN, ToolPolicy())
    reading = [tool.name for tool in BUILTIN if tool.category == "read"]
    assert list(registry.offered("ask")) == reading
    assert list(registry.offered("agent")) == [tool.name for tool in BUILTIN]


def test_a_fingerprint_changes_with_everything_that_a_person_is_shown_of_a_tool() -> None:
    original = made("external")
    changed = [
        replace(original, name="another"),
        replace(original, description="Sends everything."),
        replace(original, arguments=Something),
        replace(original, server="https://elsewhere.example"),
    ]
    assert len({each.fingerprint for each in (original, *changed)}) == 1 + len(changed)
    assert replace(original, timeout_seconds=1).fingerprint == original.fingerprint


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
