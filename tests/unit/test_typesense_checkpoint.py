"""The checkpointer's package stands alone: what it imports and what it documents."""

import ast
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import typesense_checkpoint
from typesense_checkpoint import TypesenseCheckpointer
from typesense_checkpoint.sync import SynchronousCheckpointer

PACKAGE = Path(typesense_checkpoint.__file__).parent
ALLOWED = ("typesense_checkpoint", "langgraph.checkpoint", "typesense", "langchain_core.runnables")


def imported_modules(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            yield node.module or ""


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*.py")), ids=lambda path: path.name)
def test_it_imports_langgraphs_checkpoint_package_and_the_typesense_client_only(path: Path) -> None:
    for module in imported_modules(ast.parse(path.read_text())):
        is_allowed = any(module == name or module.startswith(f"{name}.") for name in ALLOWED)
        assert is_allowed or module.split(".")[0] in sys.stdlib_module_names, module


def test_every_public_method_has_a_docstring() -> None:
    undocumented = [
        f"{owner.__name__}.{name}"
        for owner in (TypesenseCheckpointer, SynchronousCheckpointer)
        for name, member in vars(owner).items()
        if inspect.isfunction(member) and not name.startswith("_") and not member.__doc__
    ]
    assert undocumented == []


@pytest.mark.parametrize(
    "name",
    [
        *("aput", "aput_writes", "aget_tuple", "alist", "aget_delta_channel_history"),
        *("adelete_thread", "adelete_for_runs", "acopy_thread", "aprune", "aprune_runs"),
    ],
)
def test_an_asynchronous_method_documents_each_argument_and_its_errors(name: str) -> None:
    method = getattr(TypesenseCheckpointer, name)
    documented = inspect.getdoc(method) or ""
    arguments = [each for each in inspect.signature(method).parameters if each != "self"]
    assert [each for each in arguments if f"    {each}: " not in documented] == []
    assert "Raises:" in documented
