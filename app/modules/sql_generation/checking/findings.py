"""What a check has found: faults for the writer to repair, and corrections of what is certainly meant."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

CorrectionKind = Literal[
    "spelling", "quotes", "source", "join", "unused join", "group", "division", "dialect"
]
Kind = Literal["unknown table", "unknown column", "unknown alias", "ambiguous column"]


@dataclass(frozen=True)
class Edit:
    """Text to write in place of the characters from `start` up to, not including, `end`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Correction:
    """Edits that belong together; `said` tells them to the analyst in one sentence.

    `left` is the source, by its folded alias, that the statement reads a column less from.
    """

    kind: CorrectionKind
    said: str
    edits: tuple[Edit, ...]
    left: str | None = None


@dataclass(frozen=True)
class Fault:
    """A name that means nothing, or too much. `offset` is its place in the statement, from 0.

    `correction` is what was certainly meant, None where that is open; made in a model's statement alone.
    """

    kind: Kind
    name: str
    offset: int | None
    nearest: Sequence[str]
    correction: Correction | None = None

    def report(self, sql: str) -> str:
        """Text for the repair of the statement: kind, position, and what may be meant."""
        place = "" if self.offset is None else f" at {_position(sql, self.offset)}"
        meant = "is meant one of" if self.kind == "ambiguous column" else "nearest:"
        hint = f"; {meant} {', '.join(self.nearest)}" if self.nearest else ""
        return f"{self.kind} {self.name}{place}{hint}"


def corrected(sql: str, corrections: Iterable[Correction]) -> str:
    """The statement with all corrections, each place once."""
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
    """The edit that writes `text` for a name."""
    return Edit(place.meta["start"], place.meta["end"] + 1, text)


def respelled(place: exp.Expr, written: str) -> Correction:
    """A name as the database writes it, where only case or quotes differ."""
    return Correction(
        "spelling", f"Wrote {quoted(written)} as the database spells it.", (replaced(place, written),)
    )


def quoted(name: str) -> str:
    """A name in a sentence."""
    return f"`{name.replace('`', '')}`"
