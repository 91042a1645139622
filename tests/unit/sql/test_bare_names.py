"""Names of tables are compared, quoted and parsed in one place: the last part alone names no table."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

APP = Path(__file__).parents[3] / "app"
PLACE = Path("modules/sql/table_names.py")
READERS: Mapping[str, str] = {
    "modules/analysis/figures/counted.py": "a word for what is counted",
    "modules/analysis/figures/statement.py": "a word for what is counted",
    "modules/database_connection/guard/common_tables.py": "a name of a WITH, which has no schema",
    "modules/database_connection/guard/references.py": "names of system tables and files, and advice",
    "modules/database_connection/guard/named.py": "for SQLite, which has one schema",
    "modules/database_connection/scan/views.py": "a name of a WITH, which has no schema",
    "modules/policies/limiting.py": "an error's text",
    "modules/policies/references.py": "a name of a WITH, and an error's text",
    "modules/sql/provenance/sources.py": "a name of a WITH, or of a table that is not known",
    "modules/sql_generation/builtin/question/options.py": "a tree with the names that are shown",
    "modules/sql_generation/builtin/question/preferences.py": "a tree with the names that are shown",
    "modules/sql_generation/builtin/statement/accounting.py": "a tree with the names that are shown",
    "modules/sql_generation/checking/division.py": "a tree with the names that are shown",
    "modules/sql_generation/checking/grouping.py": "a tree with the names that are shown",
    "modules/sql_generation/checking/resolution.py": "a tree with the names that are shown",
    "modules/sql_generation/result_warnings/statements.py": "a tree with the names that are shown",
}
"""Modules that read the last part of a table's name in a tree, and why it is no key there."""


def test_a_bare_name_is_a_key_nowhere() -> None:
    """Wherever the last part of a name is read of a tree, it is said why that is enough."""
    found = {
        str(path.relative_to(APP)): line
        for path in sorted(APP.rglob("*.py"))
        if path.relative_to(APP) != PLACE
        for line in _bare_names(ast.parse(path.read_text()))
    }
    assert {name: line for name, line in found.items() if name not in READERS} == {}
    assert READERS.keys() - found.keys() == set(), "They read none any more."


def test_a_bare_name_is_found_wherever_a_tree_gives_it() -> None:
    code = """
def a(tree): return {table.name for table in tree.find_all(exp.Table)}
def b(tree):
    for table in scope.find_all(exp.Table, exp.CTE): use(table.name)
def c(node: exp.Table): return node.this.name
def d(source): return source.name if isinstance(source, exp.Table) else None
def e(tree):
    table = tree.find(exp.Table)
    return table.name
def f(tree): return [column.name for column in tree.find_all(exp.Column)]
def g(tables): return {table.name: table for table in tables}
"""
    assert len(list(_bare_names(ast.parse(code)))) == 5


def _bare_names(module: ast.Module) -> Iterator[int]:
    """Yields the lines that read `.name` of a node that is a table."""
    for function in ast.walk(module):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        tables = set(_tables(function))
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute) and node.attr == "name":
                of = node.value
                if isinstance(of, ast.Attribute) and of.attr == "this":
                    of = of.value
                if isinstance(of, ast.Name) and of.id in tables:
                    yield node.lineno


def _tables(function: ast.AST) -> Iterator[str]:
    """Yields the names in a function that a table of a tree is bound to."""
    for node in ast.walk(function):
        match node:
            case (
                ast.For(target=ast.Name(id=name), iter=read)
                | ast.comprehension(target=ast.Name(id=name), iter=read)
            ) if any(isinstance(each, ast.Call) and _is_of_tables(each) for each in ast.walk(read)):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if _is_find(call):
                yield name
            case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), kind]) if _names_table(
                kind
            ):
                yield name
            case ast.arg(arg=name, annotation=ast.expr() as kind) if _names_table(kind):
                yield name


def _is_find(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "find" and _is_of_tables(call)


def _is_of_tables(call: ast.Call) -> bool:
    return any(map(_names_table, call.args))


def _names_table(node: ast.AST) -> bool:
    return any(
        isinstance(each, ast.Attribute)
        and each.attr == "Table"
        and isinstance(each.value, ast.Name)
        and each.value.id == "exp"
        for each in ast.walk(node)
    )
