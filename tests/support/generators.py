"""Generators of clients, and a linter, that take KAI's OpenAPI documents as their users run them.

Those in JavaScript are installed from `tests/e2e/node_openapi/package.json`. The one in Python is installed
from `requirements/generators.txt` beside this environment, because it needs an older Typer than KAI.
"""

import asyncio
import os
import shutil
import sys
from pathlib import Path

from tests.support.node import OPENAPI, install, path_of_programs

_PYTHON_GENERATOR = Path(sys.prefix) / "generators"
_REQUIREMENTS = Path(__file__).parents[2] / "requirements" / "generators.txt"
_UV = Path(sys.prefix) / "bin" / "uv"
_PYTHON_CALL = """
import json, os
from made import Client
from made.api.boards import create_board, read_board
from made.models import NewBoard, ProblemBody

client = Client(base_url=os.environ["ADDRESS"])
board = create_board.sync(client=client, body=NewBoard(title="Sales"))
problem = read_board.sync("none", client=client)
assert isinstance(problem, ProblemBody), problem
print(json.dumps([board.title, str(getattr(problem.type_, "value", problem.type_))]))
"""


async def install_generators() -> None:
    await asyncio.gather(asyncio.to_thread(install, OPENAPI), _install_python_generator())


async def lint(documents: list[Path]) -> str:
    """Returns what the linter says of documents."""
    return await _run(OPENAPI, OPENAPI / "node_modules" / ".bin" / "redocly", "lint", *documents)


async def call_by_python(document: Path, folder: Path, address: str) -> tuple[str, str]:
    """Returns what the generator says, and what its client has got from the server."""
    config = folder / "config.yml"
    config.write_text("post_hooks: []\n")
    program = _PYTHON_GENERATOR / "bin" / "openapi-python-client"
    options: list[str | Path] = [
        "--path",
        document,
        "--output-path",
        folder / "made",
        "--meta",
        "none",
        "--config",
        config,
    ]
    said = await _run(folder, program, "generate", *options)
    return said, await _run(folder, _PYTHON_GENERATOR / "bin" / "python", "-c", _PYTHON_CALL, address=address)


async def call_by_typescript(document: Path, folder: Path, address: str) -> str:
    """Returns what two clients in TypeScript, checked strictly, have got from the server."""
    shutil.copy(OPENAPI / "calls.ts", folder)
    (folder / "node_modules").symlink_to(OPENAPI / "node_modules")
    programs = OPENAPI / "node_modules" / ".bin"
    await asyncio.gather(
        _run(folder, programs / "openapi-typescript", document, "-o", "typed.ts"),
        _run(folder, programs / "openapi-ts", "-i", document, "-o", "made"),
    )
    options = ["--strict", "--target", "es2022", "--lib", "es2022,dom,dom.iterable", "--skipLibCheck"]
    modules = ["--module", "node16", "--moduleResolution", "node16", "--outDir", "built"]
    await _run(folder, programs / "tsc", *options, *modules, "calls.ts")
    return await _run(folder, "node", "built/calls.js", address=address)


async def _install_python_generator() -> None:
    if not (_PYTHON_GENERATOR / "bin" / "openapi-python-client").exists():
        folder = _PYTHON_GENERATOR.parent
        await _run(folder, _UV, "venv", "--quiet", "--clear", _PYTHON_GENERATOR)
        python: list[str | Path] = ["--python", _PYTHON_GENERATOR]
        options = ["--quiet", "--system-certs", "--require-hashes"]
        await _run(folder, _UV, "pip", "install", *options, *python, "-r", _REQUIREMENTS)


async def _run(folder: Path, program: str | Path, *arguments: str | Path, address: str = "") -> str:
    """Returns what a program has written. Fails if it fails."""
    process = await asyncio.create_subprocess_exec(
        program,
        *arguments,
        cwd=folder,
        env={**os.environ, "PATH": path_of_programs(), "ADDRESS": address},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output = (await process.communicate())[0].decode()
    assert process.returncode == 0, f"{program} {arguments}:\n{output[-4000:]}"
    return output
