"""What became of one question, as a line of the results file."""

from collections.abc import Sequence
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, JsonValue, computed_field

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
    "from_rows",
    "no_answer",
    "clarification",
    "model_error",
    "kai_error",
    "gold_failed",
]
Mode = Literal["exact", "subset", "bird"]
Verdict = Literal["right", "right_but_empty", "wrong_and_sure", "in_words", "declined", "failed"]
"""`right_but_empty`: the gold has no rows, or a single 0 or NULL, which a wrong statement gives as easily.
`in_words`: the answer read the rows of an earlier turn, so there are no rows of its own to compare."""

_WITHOUT_ROWS: dict[Kind, Verdict] = {
    "from_rows": "in_words",
    "beyond": "declined",
    "no_answer": "declined",
    "clarification": "declined",
}
_WITH_ROWS: tuple[Kind, ...] = ("correct", "extra_columns", "order", "wrong_columns", "wrong_rows")

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
    """`detail` says why there are no rows, or why the gold has none; `empty`: the gold's rows prove little
    (see `Verdict`); calls of models, tokens and seconds are those of getting to the rows."""

    model_config = ConfigDict(frozen=True)

    id: str
    question: str
    db: str | None
    conversation_id: str | None
    turn: int
    tags: tuple[str, ...]
    kind: Kind
    bird: bool = False
    empty: bool = False
    detail: str = ""
    gold_sql: str
    gold: ShownRows | None = None
    sql: str | None = None
    predicted: ShownRows | None = None
    corrections: tuple[str, ...] = ()
    repairs: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    tokens: int = 0
    seconds: float = 0

    @property
    def scored(self) -> bool:
        """A gold that does not run says nothing about the answer."""
        return self.kind != "gold_failed"

    @property
    def capped(self) -> bool:
        return any(each is not None and each.capped for each in (self.gold, self.predicted))

    @computed_field  # type: ignore[prop-decorator]
    @property
    def verdicts(self) -> dict[Mode, Verdict]:
        """By each rule of comparison; empty when the gold did not run."""
        return {mode: self.verdict(mode) for mode in get_args(Mode)} if self.scored else {}

    def verdict(self, mode: Mode) -> Verdict:
        if self.right(mode):
            return "right_but_empty" if self.empty else "right"
        if self.kind in _WITH_ROWS:
            return "wrong_and_sure"
        return _WITHOUT_ROWS.get(self.kind, "failed")

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
