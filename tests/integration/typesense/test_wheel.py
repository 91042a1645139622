"""The checkpointer's own wheel, alone in an empty environment, runs the examples of its README."""

import email
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from app.core.storage.typesense_server import TypesenseServer

pytestmark = pytest.mark.timeout(300)  # packages may have to be downloaded
ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "typesense_checkpoint"


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """Returns what a command prints."""
    ran = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=280, env=os.environ | environment
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def make_environment(folder: Path, *install: str | Path) -> Path:
    """Returns the interpreter of a new environment with these packages.

    uv, which `make test` installs, takes a fraction of pip's time.
    """
    environment = folder / "environment"
    interpreter = environment / "bin/python"
    uv = Path(sys.executable).with_name("uv")
    if uv.exists():
        run(sys.executable, "-m", "venv", "--without-pip", environment, cwd=folder)
        pip: list[str | Path] = [uv, "pip", "install", "--system-certs", "--python", interpreter]
    else:
        run(sys.executable, "-m", "venv", environment, cwd=folder)
        pip = [interpreter, "-m", "pip", "install"]
    run(*pip, "--quiet", *install, cwd=folder)
    return interpreter


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=PACKAGE)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that holds the wheel, langgraph, typesense and what they need.

    The versions are those that KAI is tested with.
    """
    folder = tmp_path_factory.mktemp("alone")
    pins = re.findall(r"^\S+==\S+", (ROOT / "requirements/test.txt").read_text(), re.MULTILINE)
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join(pins))
    return make_environment(folder, "-c", constraints, wheel, "langgraph", "typesense")


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
