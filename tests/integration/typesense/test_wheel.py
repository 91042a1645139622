"""The checkpointer's own wheel, alone in an empty environment, runs the examples of its README."""

import email
import re
import zipfile
from pathlib import Path

import pytest

from app.core.storage.typesense_server import TypesenseServer
from tests.support.wheels import built_wheel, make_environment, run

pytestmark = pytest.mark.timeout(300)  # packages may have to be downloaded
ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "typesense_checkpoint"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    return built_wheel(PACKAGE, folder)


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that holds the wheel, langgraph, typesense and what they need."""
    folder = tmp_path_factory.mktemp("alone")
    return make_environment(folder, wheel, "langgraph", "typesense")


def test_the_wheel_holds_its_package_only(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        names = [name for name in opened.namelist() if ".dist-info/" not in name]
    modules = [f"typesense_checkpoint/{path.name}" for path in PACKAGE.glob("*.py")]
    assert sorted(names) == sorted(
        [*modules, "typesense_checkpoint/py.typed", "typesense_checkpoint/CHANGELOG.md"]
    )


@pytest.mark.parametrize("number", [0, 1])
def test_an_example_of_its_readme_runs_in_an_empty_environment(
    wheel: Path, python: Path, typesense_server: TypesenseServer, tmp_path: Path, number: int
) -> None:
    with zipfile.ZipFile(wheel) as opened:
        metadata = next(name for name in opened.namelist() if name.endswith(".dist-info/METADATA"))
        readme = str(email.message_from_bytes(opened.read(metadata)).get_payload())
    examples = re.findall(r"```python\n(.*?)```\n.*?```text\n(.*?)```", readme, re.DOTALL)
    assert len(examples) == readme.count("```python") == 2
    program, output = examples[number]
    (tmp_path / "example.py").write_text(program)
    server = {"TYPESENSE_URL": typesense_server.url, "TYPESENSE_API_KEY": typesense_server.api_key}
    warnings = ("-W", "error", "-W", "ignore::DeprecationWarning")  # the client warns of its own parts
    assert run(python, *warnings, "example.py", cwd=tmp_path, **server) == output


def test_nothing_of_kai_is_in_that_environment(python: Path, tmp_path: Path) -> None:
    program = """
import importlib.util
import typesense_checkpoint
names = ("app", "graph", "migrations", "fastapi")
print([name for name in names if importlib.util.find_spec(name)], typesense_checkpoint.__file__)
"""
    assert run(python, "-c", program, cwd=tmp_path).startswith(f"[] {python.parents[1]}")
