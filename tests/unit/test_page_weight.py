"""The build of the page fails when a route loads more scripts than it may."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

BUILD = Path(__file__).parents[2] / "ui" / "build.py"
LIMIT = 60_000


def weigh(folder: Path, *, start: int, route: int, panel: int) -> subprocess.CompletedProcess[str]:
    """Weigh a page of one route, which shares a chunk with the start and fetches a panel when it is shown."""
    manifest = {
        "index.html": {"file": "start.js", "imports": ["_shared.js"], "dynamicImports": ["session.tsx"]},
        "_shared.js": {"file": "shared.js", "imports": ["index.html"]},
        "session.tsx": {"file": "session.js", "imports": ["_shared.js"], "dynamicImports": ["panel.tsx"]},
        "panel.tsx": {"file": "panel.js"},
    }
    (folder / ".vite").mkdir()
    (folder / ".vite" / "manifest.json").write_text(json.dumps(manifest))
    sizes = {"start.js": start, "shared.js": 1_000, "session.js": route, "panel.js": panel}
    for name, size in sizes.items():
        (folder / name).write_bytes(random.Random(1).randbytes(size))
    return subprocess.run(
        [sys.executable, BUILD, "weigh", folder], capture_output=True, text=True, check=False
    )


def test_panels_do_not_count_and_shared_chunks_count_once(tmp_path: Path) -> None:
    done = weigh(tmp_path, start=29_000, route=29_000, panel=2 * LIMIT)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("start", "route", "named"), [(LIMIT, 0, "index.html"), (30_000, 30_000, "session.tsx")]
)
def test_a_route_that_is_too_heavy_is_named(tmp_path: Path, start: int, route: int, named: str) -> None:
    done = weigh(tmp_path, start=start, route=route, panel=0)
    assert done.returncode == 1
    assert f"{named} of index.html loads" in done.stderr
