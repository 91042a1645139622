"""Rights of a MySQL or MariaDB account besides reading, which a read-only session does not remove."""

from collections.abc import Iterator, Sequence

from sqlalchemy import ColumnElement, Connection, Select, column, func, literal, select, table, union

_CURE = "Register the database again with an account that may only SELECT (docs/security.md says how)."
_READING = ("SELECT", "USAGE", "SHOW DATABASES", "SHOW VIEW")
_TABLES = ("USER_PRIVILEGES", "SCHEMA_PRIVILEGES", "TABLE_PRIVILEGES")


def rights_beyond_reading(connection: Connection) -> Sequence[str]:
    """Returns sentences that name the rights, with advice. Roles of the account are not examined."""
    found = union(*_privileges())
    rights = sorted(str(each) for each in connection.scalars(found))
    return [f"{sentence} {_CURE}" for sentence in _sentences(rights)]


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
