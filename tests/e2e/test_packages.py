"""The packages of `make dist`, installed from their files into empty environments."""

import subprocess
from pathlib import Path

import pytest

from tests.support.shop import make_shop
from tests.support.wheels import ROOT, make_environment, run

pytestmark = pytest.mark.timeout(1800)  # packages may have to be downloaded
NAMES = ("kai_analyst-", "kai_analyst_client-", "typesense_checkpoint-")


@pytest.fixture(scope="module")
def built() -> Path:
    """The folder that `make dist` fills."""
    folder = ROOT / "dist"
    for old in folder.glob("*"):
        old.unlink()
    subprocess.run(["make", "dist"], cwd=ROOT, check=True, timeout=1500)
    return folder


@pytest.mark.parametrize("ending", ["-py3-none-any.whl", ".tar.gz"])
def test_every_package_is_installed_from_its_file_and_used(built: Path, tmp_path: Path, ending: str) -> None:
    files = [path for name in NAMES for path in built.glob(f"{name}[0-9]*{ending}")]
    assert len(files) == len(NAMES)
    python = make_environment(tmp_path, *files)
    shop = make_shop(tmp_path / "shop.db")
    kai = python.with_name("kai")
    said = run(kai, "ask", "How many customers per country?", "--db", shop, cwd=tmp_path, KAI_DATA_DIR="data")
    assert "Brazil has the most customers: 2" in said
    program = """
from pathlib import Path
import app.web, kai_analyst_client, typesense_checkpoint
from kai_analyst_client import Kai
from typesense_checkpoint import TypesenseCheckpointer
print((Path(app.web.__file__).parent / "static" / "index.html").is_file())
"""
    assert run(python, "-c", program, cwd=tmp_path) == "True\n"
