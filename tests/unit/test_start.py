"""Commands import only what they need: modules are counted, not seconds."""

import subprocess
import sys
from functools import cache

import pytest

LIST_MODULES = "import sys; print(*sys.modules)"
HELP = f"""
import sys
sys.argv = ["kai", "--help"]
from app.cli import main
try:
    main()
except SystemExit:
    pass
{LIST_MODULES}
"""
ASK = f"import app.commands.ask; {LIST_MODULES}"
SERVE = """
import app.commands.serve, sys
modules = [*sys.modules]
from app.modules.session.router import router
print(sum("dependant" in vars(route) for route in router.routes), len(router.routes) > 0)
print(*modules)
"""
"""Prints the number of built routes of a router, and whether it has any, before the modules."""
SERVERS_OF_OTHERS = {"nats", "redis", "aiohttp", "mcp", "mcp_types", "ag_ui"}
MODEL_CLIENTS = {"openai", "langchain_openai", "tiktoken"}
ISSUERS = {"jwt", "app.core.auth.tokens"}
FIRST_ANALYSIS = {"numpy", "babel"}
OTHER_STORE = {"typesense", "typesense_checkpoint", "app.core.storage.typesense"}
OTHER_DATABASES = {"duckdb", "openpyxl", "psycopg", "pymysql", "pyarrow", "pytz"}
EVERYTHING = {
    "aiosqlite",
    "cryptography",
    "fastapi",
    "httpx",
    "langchain_core",
    "langgraph",
    "numpy",
    "pydantic",
    "sqlalchemy",
    "sqlglot",
    "typesense",
    "uvicorn",
}


@cache
def printed_by(program: str) -> list[str]:
    """The lines that a program prints."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    return done.stdout.splitlines()


def modules_after(program: str) -> set[str]:
    """Names of the modules that a program has imported, which it prints at its end."""
    return set(printed_by(program)[-1].split())


def test_help_imports_nothing_but_the_command_line() -> None:
    modules = modules_after(HELP)
    assert modules.isdisjoint(EVERYTHING | SERVERS_OF_OTHERS | MODEL_CLIENTS | OTHER_DATABASES)
    assert {each for each in modules if each.startswith("app.")} == {
        "app.cli",
        "app.commands",
        "app.commands.command_line",
    }


@pytest.mark.parametrize("program", [SERVE, ASK], ids=["serve", "ask"])
def test_a_command_imports_no_clients_of_what_may_not_be_configured(program: str) -> None:
    modules = modules_after(program)
    assert {"langgraph", "sqlglot", "sqlalchemy"} <= modules
    assert modules.isdisjoint(SERVERS_OF_OTHERS | MODEL_CLIENTS | OTHER_DATABASES | FIRST_ANALYSIS)
    assert modules.isdisjoint(OTHER_STORE | ISSUERS)


def test_a_server_builds_its_routes_after_it_listens() -> None:
    assert printed_by(SERVE)[-2] == "0 True"


def test_ask_imports_no_routes() -> None:
    modules = modules_after(ASK)
    assert "app.modules.session.service" in modules
    assert modules.isdisjoint({"fastapi", "uvicorn", "sse_starlette", "app.http.parameters"})
    assert modules.isdisjoint({"app.modules.session.schemas", "yaml"})


def test_a_server_imports_what_writes_reports_with_the_first_report() -> None:
    modules = modules_after(SERVE)
    assert "app.modules.reports.service" in modules
    assert modules.isdisjoint({"app.modules.reports.html", "app.modules.reports.notebook", "vl_convert"})


def test_servers_do_not_import_the_terminals_formatting() -> None:
    modules = modules_after(SERVE)
    assert "app.terminal.transcript" not in modules
    assert modules.isdisjoint({"rich.markdown", "markdown_it"})
