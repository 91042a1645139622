"""What import contracts cannot see of the modules that translate."""

import ast
from pathlib import Path

import app.modules

MODULES = Path(app.modules.__file__).parent


def test_protocols_ask_services_and_reach_for_no_repository() -> None:
    names = ("answers", "chat_api", "protocols")
    sources = [path for name in names for path in (MODULES / name).rglob("*.py")]
    reached = [
        f"{path.relative_to(MODULES)}:{node.lineno}"
        for path in sources
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr == "repository"
    ]
    assert sources
    assert reached == []
