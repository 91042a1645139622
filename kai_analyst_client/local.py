"""Without a server: the program `kai`, where it is installed beside the client."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from kai_analyst_client.errors import KaiError, Problem
from kai_analyst_client.schema import GeneratedSql


def generate_sql(question: str, *, database_url: str, run: bool = False) -> GeneratedSql:
    """Write and check SQL for a question about a database; `run` returns its first rows, too.

    Nothing is kept. The program takes the model from its own settings (`KAI_LLM__…`). Raises `KaiError`.
    """
    options = ["--format", "json", *(["--run"] if run else []), "--", question]
    return GeneratedSql.model_validate_json(_output("generate-sql", options, database_url))


def document_schema(*, database_url: str, tables: Sequence[str] = ()) -> str:
    """Document a database, or some of its tables, in Markdown. Raises `KaiError`."""
    named = [option for table in tables for option in ("--table", table)]
    return _output("document", ["--yes", *named], database_url)


def _output(command: str, options: Sequence[str], database_url: str) -> str:
    """Returns what `kai` prints. The URL goes by the environment: other users see a program's arguments."""
    program = shutil.which(
        "kai", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    )
    if program is None:
        raise _failure("The program `kai` is not installed: install kai-analyst, or use a server.")
    ran = subprocess.run(  # noqa: S603 - no shell, and the question comes after `--`
        [program, command, *options],
        env={**os.environ, "KAI_DB": database_url},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if not ran.stdout:
        raise _failure(ran.stderr.strip() or f"kai ended with {ran.returncode}")
    return ran.stdout


def _failure(detail: str) -> KaiError:
    return KaiError(Problem(type="about:blank", title="kai did not answer", status=0, detail=detail))
