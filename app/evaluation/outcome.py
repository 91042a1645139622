"""What became of one question, as a line of the results file."""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue

from app.modules.database_connection.results import ResultSet

Kind = Literal[
    "correct",
    "extra_columns",
    "order",
    "wrong_columns",
    "wrong_rows",
    "execution_error",
    "refused",
    "timeout",
    "beyond",
    "no_answer",
    "clarification",
    "model_error",
    "kai_error",
    "gold_failed",
]
Mode = Literal["exact", "subset", "bird"]

_SHOWN_ROWS = 20


class ShownRows(BaseModel):
    """The head of a result; `capped`: a limit of KAI cut it, so only a part was compared."""

    model_config = ConfigDict(frozen=True)

    columns: tuple[str, ...]
    rows: tuple[tuple[JsonValue, ...], ...]
    row_count: int
    capped: bool

    @classmethod
    def of(cls, result: ResultSet) -> "ShownRows":
        return cls(
            columns=tuple(column.name for column in result.columns),
            rows=tuple(tuple(row) for row in result.rows[:_SHOWN_ROWS]),
            row_count=len(result.rows),
            capped=result.truncated,
        )


class Outcome(BaseModel):
    """`detail` says why there are no rows, or why the gold has none; `tokens` and `seconds` are those of
    getting to the rows."""

    model_config = ConfigDict(frozen=True)

    id: str
    question: str
    db: str | None
    conversation_id: str | None
    turn: int
    tags: tuple[str, ...]
    kind: Kind
    bird: bool = False
    both_empty: bool = False
    detail: str = ""
    gold_sql: str
    gold: ShownRows | None = None
    sql: str | None = None
    predicted: ShownRows | None = None
    repairs: int = 0
    tokens: int = 0
    seconds: float = 0

    @property
    def scored(self) -> bool:
        """A gold that does not run says nothing about the answer."""
        return self.kind != "gold_failed"

    @property
    def capped(self) -> bool:
        return any(each is not None and each.capped for each in (self.gold, self.predicted))

    def right(self, mode: Mode) -> bool:
        match mode:
            case "exact":
                return self.kind == "correct"
            case "subset":
                return self.kind in ("correct", "extra_columns")
            case "bird":
                return self.bird


def by_interaction(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    """The outcomes of each conversation; a question asked alone is no conversation."""
    found: dict[str, list[Outcome]] = {}
    for each in outcomes:
        if each.conversation_id is not None:
            found.setdefault(each.conversation_id, []).append(each)
    return found
