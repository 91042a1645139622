"""Correcting a model's statement before it runs: what is certainly meant replaces what was written."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.modules.sql_generation.checking.check import check
from app.modules.sql_generation.checking.findings import Correction, corrected
from app.modules.sql_generation.checking.names import SchemaNames

_MOST_PASSES = 6
"""A correction may show the next one: a joined table makes another name ambiguous."""


@dataclass(frozen=True)
class Corrected:
    """The statement to run, and what was corrected in it, in order."""

    sql: str
    corrections: Sequence[Correction] = ()


def correct(sql: str, schema: SchemaNames) -> Corrected:
    """Never raises. A statement that stays faulty is given back as it came, so that its faults are told of
    what was written."""
    text = sql
    made: list[Correction] = []
    for _ in range(_MOST_PASSES):
        checked = check(text, schema)
        text = checked.sql
        made += checked.corrections
        if not checked.faults:
            return Corrected(text, list(dict.fromkeys(made)))
        first = checked.faults[0].correction
        if first is None:
            break
        text = corrected(text, [first])
        made.append(first)
    return Corrected(sql)
