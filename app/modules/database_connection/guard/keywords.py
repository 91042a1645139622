"""Names that look like columns or types and mean more: facts of the session, the catalog, a placeholder."""

from sqlglot import exp

from app.modules.sql.engine_data import engine_data
from graph.errors import StatementRefused

_HARMLESS_TYPES = frozenset({"pg_lsn", "regconfig", "regdictionary"})


def check_keyword(node: exp.Expr, dialect: str) -> None:
    """Raises `StatementRefused` for a name of the session, or a type that looks up what the catalog holds."""
    if isinstance(node, exp.Column):
        identifier = node.this
        is_plain = isinstance(identifier, exp.Identifier) and not identifier.quoted and not node.table
        if is_plain and dialect == "sqlite" and node.name.startswith("$"):
            raise StatementRefused("The statement has a placeholder; write the value itself.", "placeholder")
        if is_plain and node.name.lower() in engine_data(dialect).session_names:
            raise StatementRefused(
                f"{node.name.upper()} is a function of the session and not allowed here; quote a column of "
                "this name.",
                "function",
            )
        if node.table and node.name.lower() in engine_data(dialect).sequence_names:
            raise StatementRefused(
                f"{node.name.upper()} moves a sequence and is not allowed here.", "function"
            )
    elif isinstance(node, exp.DataType) and _reads_catalog(node):
        raise StatementRefused(f"The type {node.sql(dialect)} is not allowed here.", "function")


def _reads_catalog(data_type: exp.DataType) -> bool:
    """True for object identifiers such as `regclass`, and for rows of system tables."""
    kind = data_type.args.get("kind")
    if isinstance(data_type, exp.ObjectIdentifier):
        parts = [str(data_type.this)]
    elif isinstance(kind, exp.Expr):
        parts = [each.name for each in kind.find_all(exp.Identifier)]
    elif isinstance(kind, str):
        parts = kind.split(".")
    else:
        return False
    *schemas, name = [part.lower() for part in parts]
    looks_up = name.startswith(("reg", "pg_")) and name not in _HARMLESS_TYPES
    return looks_up or "information_schema" in schemas
