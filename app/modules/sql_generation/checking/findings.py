"""The findings of a check: faults for the writer to repair, and corrections where the meaning is certain."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from app.modules.sql_generation.sentences import WarningPhrase

CorrectionKind = Literal["spelling", "quotes", "alias", "group", "division", "dialect"]
FaultKind = Literal["unknown table", "unknown column", "unknown alias", "ambiguous column"]


@dataclass(frozen=True)
class Edit:
    """Text to write in place of the characters from `start` up to, not including, `end`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Correction:
    """Edits that belong together; `sentence` describes them to the analyst."""

    kind: CorrectionKind
    sentence: WarningPhrase
    edits: tuple[Edit, ...]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """An unknown or ambiguous name. `offset` is its position in the statement, counted from 0.

    `correction` is None unless the meaning is certain. It is applied only to statements of a model.
    """

    kind: FaultKind
    name: str
    offset: int | None
    nearest: Sequence[str]
    correction: Correction | None = None

    def report(self, sql: str) -> str:
        """Returns a line for the repair of the statement: kind, position, and the names that may be meant."""
        place = "" if self.offset is None else f" at {_position(sql, self.offset)}"
        meant = "is meant one of" if self.kind == "ambiguous column" else "nearest:"
        hint = f"; {meant} {', '.join(self.nearest)}" if self.nearest else ""
        return f"{self.kind} {self.name}{place}{hint}"


def corrected(sql: str, corrections: Iterable[Correction]) -> str:
    """Returns the statement with all corrections applied. Of edits at the same offset the last one counts."""
    by_place = {edit.start: edit for each in corrections for edit in each.edits}
    pieces: list[str] = []
    at = 0
    for start in sorted(by_place):
        pieces += [sql[at:start], by_place[start].text]
        at = max(at, by_place[start].end)
    return "".join([*pieces, sql[at:]])


def _position(sql: str, offset: int) -> str:
    before = sql[:offset]
    line = before.count("\n") + 1
    column = offset - (before.rfind("\n") + 1) + 1
    return f"line {line}, column {column}"


def replaced(place: exp.Expr, text: str) -> Edit:
    """Returns the edit that replaces a name by `text`."""
    return Edit(place.meta["start"], place.meta["end"] + 1, text)


def respelled(place: exp.Expr, written: str) -> Correction:
    """Returns the correction of a name that differs from the stored one only in case or quotes."""
    said = WarningPhrase("corrected spelling", (quoted(written),))
    return Correction("spelling", said, (replaced(place, written),))


def quoted(name: str) -> str:
    """Returns a name in backticks, for a sentence in Markdown."""
    return f"`{name.replace('`', '')}`"
