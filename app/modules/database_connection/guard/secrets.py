"""What a statement gives of columns that are named as secrets are: no model reads their values."""

import re
from collections.abc import Collection

from sqlglot import exp

from app.core.redaction.text import HIDDEN
from app.modules.database_connection.guard.check import written
from app.modules.database_connection.schema import Schema
from app.modules.sql.provenance.names import DeclaredNames
from app.modules.sql.provenance.secret_outputs import SecretOutputs, secret_outputs

_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`")
_PARENTHESES = re.compile(r"\([^()]*\)")
_RUN = re.compile(
    r"\b(?:in scope|while (?:executing|converting|processing)|(?:in|found in) expression)\b|\b_p\.",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.])\d[\d.]*")


def find_secret_outputs(sql: str, schema: Schema) -> SecretOutputs | None:
    """Reads a statement that was just checked, from the guard's own tree, so that it is not parsed again.

    Returns None if no column of its result is secret.
    """
    read = _tables_read(sql, schema)
    if not read & schema.tables_with_secrets:
        return None
    found = written(sql, schema.dialect)
    if found.prefix:
        return None
    tables = [schema.by_name[name] for name in sorted(read)]
    columns = {table.name: [column.name for column in table.columns] for table in tables}
    secrets = {table.name: table.secrets for table in tables}
    return secret_outputs(found.tree, DeclaredNames(schema.names, columns), secrets=secrets)


def without_values(said: str, sql: str, schema: Schema) -> str:
    """Returns an error of the database without the values that it quotes: a conversion that fails quotes what
    could not be converted. Nothing changes if the statement, which was checked, reads no table with secrets,
    and the connection has no policies: with them, what runs is not what the person has written.
    """
    if schema.limiter is not None:
        return _keep_own_words(said, sql)
    if not _tables_read(sql, schema) & schema.tables_with_secrets:
        return said
    known = {part.casefold() for table in schema.tables for part in table.in_database.parts}
    known |= {each.casefold() for each in schema.names.schemas}
    known |= {column.name.casefold() for table in schema.tables for column in table.columns}
    return "\n".join(_without_values(line, sql, known) for line in said.split("\n"))


def _keep_own_words(said: str, sql: str) -> str:
    """Returns the first line, without quotes and numbers that the statement does not have, up to where
    ClickHouse begins to quote what ran.
    """
    line = _without_values(next(iter(said.strip().splitlines()), ""), sql, ())
    line = _PARENTHESES.sub(lambda found: found[0] if found[0][1:-1] in sql else HIDDEN, line)
    line = _NUMBER.sub(lambda found: found[0] if found[0] in sql else HIDDEN, line)
    cut = _RUN.split(line, maxsplit=1)[0].rstrip(" :.,")
    return line if cut == line.rstrip(" :.,") else f"{cut}."


def _without_values(line: str, sql: str, known: Collection[str]) -> str:
    for found in _QUOTED.finditer(line):
        quoted = found[0][1:-1]
        if quoted not in sql and not all(each.casefold() in known for each in quoted.split(".")):
            quote = found[0][0]  # which the value itself may have
            return f"{line[: found.start()]}{quote}{HIDDEN}{quote}{line[line.rindex(quote) + 1 :]}"
    return line


def _tables_read(sql: str, schema: Schema) -> set[str]:
    """Returns the tables of a statement, as they are shown. Empty where no table has secrets."""
    if not schema.tables_with_secrets:
        return set()
    nodes = written(sql, schema.dialect).tree.find_all(exp.Table)
    return {shown for node in nodes if (shown := schema.names.find(node)) is not None}
