"""Corrections of a model's statement before it runs, made only where the meaning is certain."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot.errors import SqlglotError

from app.modules.sql.statement import statement_of
from app.modules.sql_generation.checking.check import check, missing
from app.modules.sql_generation.checking.dialects import in_dialect
from app.modules.sql_generation.checking.division import keep_fractions
from app.modules.sql_generation.checking.findings import Correction, corrected
from app.modules.sql_generation.checking.names import SchemaNames

_MOST_PASSES = 8
"""A correction may show the next one: a name that it has made readable."""


@dataclass(frozen=True)
class Corrected:
    """The statement to run, and its corrections in the order they were made.

    `is_checked`: every table and column name in it is known.
    """

    sql: str
    corrections: Sequence[Correction] = ()
    is_checked: bool = False


def correct(sql: str, schema: SchemaNames) -> Corrected:
    """Correct a statement. Never raises.

    A statement whose faults cannot all be corrected is returned unchanged: its faults name positions in it.
    """
    translated = in_dialect(sql, schema)
    found = _correct(sql if translated is None else corrected(sql, [translated]), schema)
    if found is None:
        return Corrected(sql)
    made = [*([] if translated is None else [translated]), *found.corrections]
    final = found.sql
    if (fraction := keep_fractions(final, schema)) is not None:
        final = corrected(final, [fraction])
        made.append(fraction)
    said = {each.sentence: each for each in made}
    return Corrected(final, list(said.values()), is_checked=final == found.sql)


def _correct(sql: str, schema: SchemaNames) -> Corrected | None:
    """Returns None if faults remain."""
    made: list[Correction] = []
    for _ in range(_MOST_PASSES):
        checked = check(sql, schema)
        sql = checked.sql
        made += checked.corrections
        found = [checked.faults[0].correction] if checked.faults else missing(sql, schema)
        corrections = [each for each in found if each is not None]
        if len(corrections) < len(found):
            return None
        if not corrections:
            return Corrected(sql, made)
        sql = corrected(sql, corrections)
        made += corrections
        if not _is_readable(sql, schema.dialect):
            return None
    return None


def _is_readable(sql: str, dialect: str) -> bool:
    try:
        _ = statement_of(sql, dialect).tree
    except (SqlglotError, RecursionError):
        return False
    return True
