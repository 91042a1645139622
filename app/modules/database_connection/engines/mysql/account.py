"""Rights of a MySQL or MariaDB account besides reading, which a read-only session does not remove."""

import re
from collections.abc import Iterator, Sequence

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Select,
    column,
    func,
    literal,
    select,
    table,
    text,
    union,
)

_CURE = "Register the database again with an account that may only SELECT (docs/security.md says how)."
_READING = ("SELECT", "USAGE", "SHOW DATABASES", "SHOW VIEW")
_GRANT = re.compile(r"GRANT (?P<rights>.+?) ON (?P<scope>\*|`(?:[^`]|``)+`)\.\* TO ")
_TABLES = ("USER_PRIVILEGES", "SCHEMA_PRIVILEGES", "TABLE_PRIVILEGES")


def rights_beyond_reading(connection: Connection) -> Sequence[str]:
    """Returns sentences that name the rights, with advice. Roles of the account are not examined."""
    found = union(*_privileges())
    rights = sorted(str(each) for each in connection.scalars(found))
    return [f"{sentence} {_CURE}" for sentence in _sentences(rights)]


def missing_right(connection: Connection) -> str:
    """Returns a sentence with the cure if the account sees no column that it may read, and no grant of its
    own or of its active role lets it read the whole database. Empty otherwise.

    The server shows an account only what it has a right to, so this may be a database without tables, too.
    """
    name = str(connection.scalar(select(func.database())))
    columns = table("COLUMNS", column("TABLE_SCHEMA"), column("PRIVILEGES"), schema="information_schema")
    is_granted: ColumnElement[int] = func.find_in_set("select", columns.c.PRIVILEGES, type_=Integer)
    readable = select(literal(1)).where(literal(name) == columns.c.TABLE_SCHEMA).where(is_granted > 0)
    if connection.scalar(readable.limit(1)) or any(
        connection.scalar(select(literal(name).like(scope))) for scope in _readable_scopes(connection)
    ):
        return ""
    whole = connection.dialect.identifier_preparer.quote_identifier(name)
    account = connection.scalar(select(_grantee()))
    return (
        f"KAI's account {account} may read no table of the database {name}. An administrator allows it: "
        f"GRANT SELECT, SHOW VIEW ON {whole}.* TO {account}; Then try again."
    )


def _readable_scopes(connection: Connection) -> Iterator[str]:
    """Yields patterns, as of LIKE, of the databases whose tables the account may read all."""
    for line in connection.scalars(text("SHOW GRANTS")):
        granted = _GRANT.match(str(line))
        if granted and re.search(r"\b(?:SELECT|ALL PRIVILEGES)\b", granted["rights"]):
            scope = granted["scope"]
            yield "%" if scope == "*" else scope.strip("`").replace("``", "`")


def _sentences(rights: Sequence[str]) -> Iterator[str]:
    if "FILE" in rights:
        yield "This account may read and write the server's files (FILE)."
    others = [right for right in rights if right != "FILE"]
    if others:
        shown = ", ".join(others[:5]) + (" and more" if len(others) > 5 else "")
        yield f"This account may do more than read: {shown}."


def _privileges() -> Iterator[Select[tuple[str]]]:
    for name in _TABLES:
        rights = table(name, column("GRANTEE"), column("PRIVILEGE_TYPE"), schema="information_schema")
        yield (
            select(rights.c.PRIVILEGE_TYPE)
            .where(rights.c.PRIVILEGE_TYPE.not_in(_READING))
            .where(_grantee() == rights.c.GRANTEE)
        )


def _grantee() -> ColumnElement[str]:
    """Returns the account as the information schema writes it: 'name'@'host'."""
    account = func.current_user()
    quote = literal("'")
    name = func.substring_index(account, "@", 1)
    host = func.substring_index(account, "@", -1)
    return func.concat(quote, name, literal("'@'"), host, quote)
