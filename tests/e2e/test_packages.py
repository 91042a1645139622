"""The packages of `make dist`, installed from their files into empty environments."""

import subprocess
from pathlib import Path

import pytest

from tests.support.shop import make_shop
from tests.support.wheels import ROOT, install, make_environment, run

ENDINGS = ["-py3-none-any.whl", ".tar.gz"]

pytestmark = pytest.mark.timeout(1800)  # packages may have to be downloaded


@pytest.fixture(scope="module")
def built() -> Path:
    """The folder that `make dist` fills."""
    folder = ROOT / "dist"
    for old in folder.glob("*"):
        old.unlink()
    subprocess.run(["make", "dist"], cwd=ROOT, check=True, timeout=1500)
    return folder


@pytest.fixture(scope="module", params=ENDINGS)
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """The interpreter of an environment with KAI and its client."""
    packages = (file_of(built, name, request.param) for name in ("kai_analyst", "kai_analyst_client"))
    return make_environment(tmp_path_factory.mktemp("installed"), *packages)


def test_kai_and_its_client_are_installed_from_files_and_used(installed: Path, tmp_path: Path) -> None:
    shop = make_shop(tmp_path / "shop.db")
    kai = installed.with_name("kai")
    said = run(kai, "ask", "How many customers per country?", "--db", shop, cwd=tmp_path, KAI_DATA_DIR="data")
    assert "Japan has the fewest customers: 1." in " ".join(said.split())
    program = """
from pathlib import Path
import app.web
from kai_analyst_client import Kai
print((Path(app.web.__file__).parent / "static" / "index.html").is_file(), Kai.__name__)
"""
    assert run(installed, "-c", program, cwd=tmp_path) == "True Kai\n"


def test_tasks_are_installed_beside_kai(built: Path, installed: Path, tmp_path: Path) -> None:
    kai = installed.with_name("kai")
    missing = subprocess.run([kai, "eval-tasks", "set.jsonl"], cwd=tmp_path, capture_output=True, text=True)
    assert missing.returncode == 2
    assert missing.stderr.endswith("In a clone: pip install ./kai_analyst_tasks\n")
    install(installed, file_of(built, "kai_analyst_tasks", ENDINGS[0]))
    run(kai, "eval-tasks", "set.jsonl", cwd=tmp_path)
    assert len((tmp_path / "set.jsonl").read_text().splitlines()) == 48
    (tmp_path / "empty.jsonl").write_text("")
    for option in (["--tasks", "empty.jsonl"], ["--memory", "empty.jsonl", "--db", "shop.db"]):
        refused = subprocess.run([kai, "eval", *option], cwd=tmp_path, capture_output=True, text=True)
        assert refused.returncode == 1
        assert "empty.jsonl" in refused.stderr


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_checkpointer_is_installed_from_its_file(built: Path, tmp_path: Path, ending: str) -> None:
    python = make_environment(tmp_path, file_of(built, "typesense_checkpoint", ending))
    program = "from typesense_checkpoint import TypesenseCheckpointer as saver; print(saver.__name__)"
    assert run(python, "-W", "ignore", "-c", program, cwd=tmp_path) == "TypesenseCheckpointer\n"


def file_of(folder: Path, name: str, ending: str) -> Path:
    (found,) = folder.glob(f"{name}-[0-9]*{ending}")
    return found
