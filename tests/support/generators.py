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
from made.api.answers import ask_question, list_messages, list_runs, read_answer, read_run
from made.api.boards import create_board, list_boards, pin_answer, read_board, change_board, delete_board
from made.api.context_store import add_term, change_term, list_terms
from made.api.database_connections import list_connections, register_connection
from made.api.identity import read_me
from made.api.problems import read_problem
from made.api.sessions import change_session, read_rows, read_session
from made.models import (
    BoardChange, ListRunsSort, NewAsk, NewBoard, NewConnection, NewPinBody, NewTerm, ProblemBody,
    SessionChange, TermChange,
)

client = Client(base_url=os.environ["ADDRESS"])

def call(operation, *path, **rest):
    answer = operation.sync(*path, client=client, **rest)
    assert not isinstance(answer, ProblemBody), answer
    return answer

database = call(register_connection, body=NewConnection(url=os.environ["SHOP"], name="Shop"))
assert database.id in [each.id for each in call(list_connections, limit=9, total=True).items]
assert call(read_me).role == "admin"
sql = "SELECT count(*) AS n FROM customers"
body = NewAsk(query="How many?", database=database.id, sql=sql, keep=True)
answer = call(ask_question, body=body, prefer="wait=50", idempotency_key="one")
assert answer.rows == [[3]] and answer.status == "complete", answer
assert call(ask_question, body=body, prefer="wait=50", idempotency_key="one").run_id == answer.run_id
session, run = answer.session_id, answer.run_id
assert call(read_run, session, run).status == "complete"
assert call(read_answer, session, run, rows=0).rows == []
assert run in [each.run_id for each in call(list_runs, limit=9, sort=ListRunsSort("-ended_at")).items]
assert [each.role for each in call(list_messages, session).items] == ["human", "assistant"]
assert call(change_session, session, body=SessionChange(title="Talk")).version == 1
assert call(read_session, session).title == "Talk"
assert call(read_rows, session, answer.id).items == [[3]]
term = call(add_term, body=NewTerm(db_connection_id=database.id, term="churn", meaning="who left"))
assert call(change_term, term.id, body=TermChange(meaning="who has left")).version == 1
assert [each.meaning for each in call(list_terms, db_connection_id=database.id).items] == ["who has left"]
board = call(create_board, body=NewBoard(title="Sales"))
assert call(pin_answer, board.id, body=NewPinBody(message_id=answer.id)).state == "current"
assert call(change_board, board.id, body=BoardChange(title="Takings")).title == "Takings"
assert len(call(read_board, board.id).pins) == 1
assert board.id in [each.id for each in call(list_boards).items]
assert call(read_problem, "storage-unavailable").retryable
delete_board.sync(board.id, client=client)
problem = read_board.sync(board.id, client=client)
assert isinstance(problem, ProblemBody), problem
print(json.dumps([board.title, str(getattr(problem.type_, "value", problem.type_))]))
"""


async def install_generators() -> None:
    await asyncio.gather(asyncio.to_thread(install, OPENAPI), _install_python_generator())


async def lint(documents: list[Path]) -> str:
    """Returns what the linter says of documents."""
    return await _run(OPENAPI, OPENAPI / "node_modules" / ".bin" / "redocly", "lint", *documents)


async def call_by_python(document: Path, folder: Path, address: str, shop: str) -> tuple[str, str]:
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
    return said, await _run(
        folder, _PYTHON_GENERATOR / "bin" / "python", "-c", _PYTHON_CALL, address=address, shop=shop
    )


async def call_by_typescript(document: Path, folder: Path, address: str, shop: str) -> str:
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
    return await _run(folder, "node", "built/calls.js", address=address, shop=shop)


async def _install_python_generator() -> None:
    if not (_PYTHON_GENERATOR / "bin" / "openapi-python-client").exists():
        folder = _PYTHON_GENERATOR.parent
        await _run(folder, _UV, "venv", "--quiet", "--clear", _PYTHON_GENERATOR)
        python: list[str | Path] = ["--python", _PYTHON_GENERATOR]
        options = ["--quiet", "--system-certs", "--require-hashes"]
        await _run(folder, _UV, "pip", "install", *options, *python, "-r", _REQUIREMENTS)


async def _run(
    folder: Path, program: str | Path, *arguments: str | Path, address: str = "", shop: str = ""
) -> str:
    """Returns what a program has written. Fails if it fails."""
    process = await asyncio.create_subprocess_exec(
        program,
        *arguments,
        cwd=folder,
        env={**os.environ, "PATH": path_of_programs(), "ADDRESS": address, "SHOP": shop},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output = (await process.communicate())[0].decode()
    assert process.returncode == 0, f"{program} {arguments}:\n{output[-4000:]}"
    return output
