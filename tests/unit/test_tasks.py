"""Every asyncio task of the program has a name, so that a dump of all tasks can be read."""

import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STARTS_TASK = {"create_task", "Task"}
STARTS_UNNAMED_TASK = {"ensure_future", "start_soon"}


def packages() -> list[str]:
    """The packages of the wheel."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    found: list[str] = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    return found


def unnamed_tasks(source: str) -> list[int]:
    """The lines that start a task without a name."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return [call.lineno for call in calls if is_unnamed(call)]


def is_unnamed(call: ast.Call) -> bool:
    function = call.func
    started_by = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if started_by in STARTS_UNNAMED_TASK:
        return True
    return started_by in STARTS_TASK and all(each.arg != "name" for each in call.keywords)


@pytest.mark.parametrize(
    "source",
    [
        "asyncio.create_task(work())",
        "group.create_task(work())",
        "create_task(work(), context=context)",
        "asyncio.ensure_future(work())",
        "asyncio.Task(work())",
    ],
)
def test_task_without_name_is_found(source: str) -> None:
    assert unnamed_tasks(source) == [1]


def test_task_with_name_is_accepted() -> None:
    assert unnamed_tasks('group.create_task(work(), name="work")') == []


def test_every_task_of_the_program_has_a_name() -> None:
    unnamed = {
        f"{path.relative_to(ROOT)}:{line}"
        for package in packages()
        for path in sorted((ROOT / package).rglob("*.py"))
        for line in unnamed_tasks(path.read_text())
    }
    assert unnamed == set()
