"""The documents say what the program does: every setting, route, event and command."""

import re
import subprocess
import sys
import tomllib
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


def test_every_text_about_an_extra_names_a_command_that_works_from_a_clone() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    folders = ("app", "graph", "docs", "examples", "typesense_checkpoint", "kai_analyst_client", "deploy")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*.*")]
    paths = [path for path in paths if path.suffix in {".py", ".md", ".example", ".yml", ".yaml"}]
    text = "\n".join(path.read_text() for path in (ROOT / "README.md", *paths))
    named = set(re.findall(r"\.venv/bin/pip install -e '\.\[([^]]+)\]'", text)) - {"{provider}"}
    assert {"otel", "bedrock", "typesense-server"} <= named <= {*extras}
    assert not re.findall(r"kai-analyst\[.*|pip install kai-analyst.*", text)


def test_the_environment_of_make_takes_every_extra_by_that_command() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    pip = ["-m", "pip", "install", "--dry-run", "--no-build-isolation", "-e", f".[{','.join(extras)}]"]
    done = subprocess.run([sys.executable, *pip], cwd=ROOT, capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stderr
