"""What a check has found: faults for the writer to repair, and corrections that are certain."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["unknown table", "unknown column", "unknown alias", "ambiguous column"]


@dataclass(frozen=True)
class Fault:
    """A name that means nothing, or too much. `offset` is its place in the statement, from 0."""

    kind: Kind
    name: str
    offset: int | None
    nearest: Sequence[str]

    def told(self, sql: str) -> str:
        """In words for whoever writes the statement anew: kind, position, and what may be meant."""
        place = "" if self.offset is None else f" at {_position(sql, self.offset)}"
        meant = "is meant one of" if self.kind == "ambiguous column" else "nearest:"
        hint = f"; {meant} {', '.join(self.nearest)}" if self.nearest else ""
        return f"{self.kind} {self.name}{place}{hint}"


@dataclass(frozen=True)
class Correction:
    """Text to write in place of the characters from `start` up to, not including, `end`."""

    start: int
    end: int
    text: str


def corrected(sql: str, corrections: Iterable[Correction]) -> str:
    """The statement with all corrections, each place once."""
    by_place = {each.start: each for each in corrections}
    for start in sorted(by_place, reverse=True):
        sql = sql[:start] + by_place[start].text + sql[by_place[start].end :]
    return sql


def _position(sql: str, offset: int) -> str:
    before = sql[:offset]
    line, column = before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1
    return f"line {line}, column {column}"
