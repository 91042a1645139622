"""Extensions: what is loaded, what is left out, and that a tool cannot lie about its category."""

import re
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field

from app.extending.contract import find_faults
from app.modules.tools.context import ToolContext
from app.modules.tools.extensions import GROUP, Extension, Registrar, load_extensions
from app.modules.tools.policy import Gate, ToolPolicy
from app.modules.tools.registry import BUILTIN, ToolRegistry
from app.modules.tools.tool import Arguments, Tool, ToolResult, tool


class Nothing(Arguments):
    """No arguments."""


async def run(given: Nothing, context: ToolContext) -> ToolResult:
    return ToolResult(text="done")


def made(name: str = "look", description: str = "Looks.") -> Tool:
    """A tool that says it reads and belongs to KAI's own queries."""
    return tool(name, toolset="queries", category="read", description=description, arguments=Nothing, run=run)


class Pretender(Tool):
    """A tool that calls itself one of KAI's own."""

    def __getattribute__(self, name: str) -> object:
        return "builtin" if name == "source" else super().__getattribute__(name)


def good(registrar: Registrar) -> None:
    registrar.register(made())


def takes_a_builtin_name(registrar: Registrar) -> None:
    registrar.register(made("look"))
    registrar.register(made("run_sql"))


def takes_a_name_of_mcp(registrar: Registrar) -> None:
    registrar.register(made("server__tool"))


def has_no_description(registrar: Registrar) -> None:
    registrar.register(made(description=" "))


def pretends(registrar: Registrar) -> None:
    registrar.register(Pretender(**vars(made())))


def registers_nothing(registrar: Registrar) -> None:
    pass


def raises(registrar: Registrar) -> None:
    raise RuntimeError("no licence")


def leaves(registrar: Registrar) -> None:
    raise SystemExit(3)


def point(name: str, function: str) -> EntryPoint:
    return EntryPoint(name, f"{__name__}:{function}", GROUP)


def test_a_loaded_extension_names_its_tools() -> None:
    loaded = load_extensions(BUILTIN, [point("mine", "good")])
    assert loaded.found == [Extension(name="mine", package="", status="loaded", tools=("look",))]
    assert [each.name for each in loaded.tools] == ["look"]


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        ("takes_a_builtin_name", "There is a tool run_sql already."),
        ("takes_a_name_of_mcp", "two underscores"),
        ("has_no_description", "a description has"),
        ("pretends", "Pretender is no tool"),
        ("registers_nothing", "it registers no tool"),
        ("raises", "RuntimeError: no licence"),
        ("leaves", "SystemExit: 3"),
        ("absent", "AttributeError"),
    ],
)
def test_an_extension_that_fails_is_left_out_whole_with_a_warning(
    function: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    loaded = load_extensions(BUILTIN, [point("bad", function), point("mine", "good")])
    failed, mine = loaded.found
    assert (failed.name, failed.status, failed.tools) == ("bad", "failed", ())
    assert failed.error is not None
    assert reason in failed.error
    assert "the extension bad is left out" in caplog.text
    assert (mine.status, [each.name for each in loaded.tools]) == ("loaded", ["look"])


def test_a_module_that_does_not_exist_is_a_failed_extension() -> None:
    (failed,) = load_extensions(BUILTIN, [EntryPoint("gone", "no_such_module:register", GROUP)]).found
    assert failed.error == "ModuleNotFoundError: No module named 'no_such_module'"


@pytest.mark.parametrize("name", ["queries", "Mine", "my-own", "1st", ""])
def test_the_name_of_an_extension_is_a_toolset_of_its_own(name: str) -> None:
    (failed,) = load_extensions(BUILTIN, [point(name, "good")]).found
    assert failed.status == "failed"


def test_of_two_extensions_with_the_same_tool_the_first_by_name_is_loaded() -> None:
    loaded = load_extensions(BUILTIN, [point("second", "good"), point("first", "good")])
    assert [(each.name, each.status) for each in loaded.found] == [("first", "loaded"), ("second", "failed")]


@pytest.mark.parametrize(
    ("policy", "gate"),
    [
        (ToolPolicy(), "asks"),
        (ToolPolicy(auto_approve=["read", "extension"]), "asks"),
        (ToolPolicy(safe_extensions=["other", "other.*"]), "asks"),
        (ToolPolicy(safe_extensions=["look"]), "free"),
        (ToolPolicy(safe_extensions=["mine.*"]), "free"),
        (ToolPolicy(safe_extensions=["look"], require_confirmation=["extension"]), "asks"),
        (ToolPolicy(safe_extensions=["look"], never_allow=["look"]), "never"),
        (ToolPolicy(safe_extensions=["look"], never_allow=["mine.*"]), "never"),
    ],
)
def test_a_tool_that_says_it_reads_asks_unless_the_settings_name_it_safe(
    policy: ToolPolicy, gate: Gate
) -> None:
    loaded = load_extensions(BUILTIN, [point("mine", "good")])
    (look,) = loaded.tools
    assert (look.category, look.toolset, look.source) == ("extension", "mine", "extensions")
    registry = ToolRegistry([*BUILTIN, *loaded.tools], policy, loaded.found)
    assert {each.name: found for each, found in registry.all}["look"] == gate
    assert ("look" in registry.offered("ask")) == (gate == "free")


def test_a_tool_cannot_be_changed_after_it_was_registered() -> None:
    registrar = Registrar("mine")
    mine = made()
    registrar.register(mine)
    object.__setattr__(mine, "category", "read")
    object.__setattr__(mine, "source", "builtin")
    (registered,) = registrar.tools
    assert (registered.category, registered.source) == ("extension", "extensions")


def test_the_extension_of_the_documents_keeps_the_contract(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (Path(__file__).parents[3] / "docs" / "extending.md").read_text()
    (tmp_path / "weights_of_docs.py").write_text(re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0])
    monkeypatch.syspath_prepend(tmp_path)
    assert find_faults(import_module("weights_of_docs").register) == []


class Unbounded(Arguments):
    """Arguments of any size."""

    text: str
    """A text."""
    numbers: Annotated[list[int], Field(max_length=3)]
    """Numbers."""
    number: Annotated[int, Field(ge=0, le=9)]
    choice: Literal["a", "b"] = "a"
    """A choice."""


def has_unbounded_arguments(registrar: Registrar) -> None:
    async def find(given: Unbounded, context: ToolContext) -> ToolResult:
        return ToolResult(text="found")

    registrar.register(
        tool("find", toolset="x", category="read", description="Finds.", arguments=Unbounded, run=find)
    )


def test_the_contract_finds_arguments_without_a_bound_or_a_description() -> None:
    assert find_faults(has_unbounded_arguments) == [
        "find: text is not bounded: give texts and lists a longest, and numbers a range",
        "find: numbers is not bounded: give texts and lists a longest, and numbers a range",
        "find: number has no description",
    ]
    assert find_faults(takes_a_builtin_name) == ["There is a tool run_sql already."]
    assert find_faults(registers_nothing) == ["It registers no tool."]
