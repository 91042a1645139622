"""The client's own wheel, alone in an empty environment, runs the example of its README."""

import email
import re
import zipfile
from datetime import date
from pathlib import Path

import httpx
import pytest

from app.sample_data.build import build_sample
from tests.support.server import Server, running_server
from tests.support.wheels import ROOT, built_wheel, make_environment, run

pytestmark = pytest.mark.timeout(300)  # packages may have to be downloaded
PACKAGE = ROOT / "kai_analyst_client"


def test_the_wheel_runs_the_example_of_its_readme_in_an_empty_environment(tmp_path: Path) -> None:
    wheel = built_wheel(PACKAGE, tmp_path)
    with zipfile.ZipFile(wheel) as opened:
        names = [name for name in opened.namelist() if ".dist-info/" not in name]
        metadata = next(name for name in opened.namelist() if name.endswith(".dist-info/METADATA"))
        readme = str(email.message_from_bytes(opened.read(metadata)).get_payload())
    modules = [f"kai_analyst_client/{path.name}" for path in PACKAGE.glob("*.py")]
    assert sorted(names) == sorted([*modules, "kai_analyst_client/py.typed"])
    python = make_environment(tmp_path, wheel)
    program, output = re.findall(r"```python\n(.*?)```\n+```text\n(.*?)```", readme, re.DOTALL)[0]
    (tmp_path / "example.py").write_text(program)
    with running_server(tmp_path / "data") as server:
        register_sample(server, tmp_path / "sample.db")
        assert run(python, "-W", "error", "example.py", cwd=tmp_path, KAI_URL=server.address) == output
    absent = "import importlib.util as u; print([n for n in ('app', 'graph', 'pandas') if u.find_spec(n)])"
    assert run(python, "-c", absent, cwd=tmp_path) == "[]\n"


def register_sample(server: Server, path: Path) -> None:
    build_sample(path, date(2026, 6, 30))
    body = {"url": f"sqlite:///{path}", "name": "Sample"}
    made = httpx.post(f"{server.address}/api/v1/database-connections", json=body, timeout=60)
    assert made.status_code == 201, made.text
