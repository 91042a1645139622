"""The documents say what the program does: every setting, route, event and command."""

import re
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from app.core.settings import Settings
from app.evaluation.question_set import BenchmarkQuestion
from app.evaluation.results import MatchingMode, OutcomeKind
from graph import events

ROOT = Path(__file__).parents[2]
API = (ROOT / "docs" / "api.md").read_text()
EVALUATION = (ROOT / "docs" / "evaluation.md").read_text()
SETTINGS = (ROOT / "docs" / "settings.md").read_text()


def variables(model: type[BaseModel], prefix: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        variable = f"{prefix}{name.upper()}"
        if isinstance(field.default, BaseModel):
            found |= variables(type(field.default), f"{variable}__")
        else:
            found[variable] = field.default
    return found


def documented() -> dict[str, str]:
    rows = re.findall(r"^\| (KAI_\w+) \| (.*?) ?\| .*\|$", SETTINGS, re.MULTILINE)
    return dict(rows)


def test_every_setting_is_documented_and_no_other() -> None:
    assert set(documented()) == set(variables(Settings, "KAI_"))


@pytest.mark.parametrize(("name", "default"), sorted(variables(Settings, "KAI_").items()))
def test_the_documented_default_is_the_real_one(name: str, default: object) -> None:
    if isinstance(default, bool):
        assert documented()[name] == str(default).lower()
    elif isinstance(default, int | float | Path):
        assert documented()[name] == str(default)


def defaults(field: str) -> set[str]:
    """The values by which models of this module are distinguished."""
    models = [
        each for each in vars(events).values() if isinstance(each, type) and issubclass(each, BaseModel)
    ]
    fields = [model.model_fields[field] for model in models if field in model.model_fields]
    return {each.default for each in fields if isinstance(each.default, str)}


def test_every_event_chunk_and_step_is_documented() -> None:
    investigating = {"tool_call", "progress", "tool_result", "confirmation", "confirmation_decided"}
    assert defaults("event") == {"status", "chunk", "memory", "reset", "error", "done"} | investigating
    for name in defaults("event") | defaults("type") | set(get_args(events.Step)):
        assert name in API


def test_every_field_of_an_event_is_documented() -> None:
    models = (
        events.Status,
        events.Done,
        events.ToolCalled,
        events.Progress,
        events.ToolReturned,
        events.Memory,
    )
    for model in models:
        for field in set(model.model_fields) - {"event"}:
            assert f"`{field}`" in API


@pytest.mark.parametrize(
    "command", re.findall(r"^make (\w+)$", (ROOT / "README.md").read_text(), re.MULTILINE)
)
def test_every_command_of_the_readme_exists(command: str) -> None:
    assert re.search(rf"^{command}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize(
    "name", [*get_args(OutcomeKind), *get_args(MatchingMode), *BenchmarkQuestion.model_fields]
)
def test_every_kind_mode_and_field_of_an_evaluation_is_documented(name: str) -> None:
    assert re.search(rf"^\| .*\b{name}\b", EVALUATION, re.MULTILINE)


def test_every_path_that_contributing_names_exists() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    within = ROOT / "app" / "modules" / "database_connection"  # the paths of the recipe for a database
    named = {each for each in re.findall(r"`([a-z_]+/[\w./]*)`", text) if "..." not in each}
    assert len(named) > 30
    assert [each for each in named if not any((base / each).exists() for base in (ROOT, within))] == []
