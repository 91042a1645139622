"""The results file: a header, then one JSON line for each outcome, appended when it is known.

An evaluation that was interrupted continues where it stopped.
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TextIO, get_args

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError, computed_field

from app.core.errors import Invalid
from app.core.llm.capabilities import InstructionForm
from app.evaluation.question_set import BenchmarkConversation
from app.modules.database_connection.results import ResultSet

OutcomeKind = Literal[
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
MatchingMode = Literal["exact", "subset", "bird"]
OutcomeVerdict = Literal["right", "right_but_empty", "wrong_and_sure", "in_words", "declined", "failed"]
"""The verdict on an outcome under one `MatchingMode`.

`right_but_empty`: the gold has no rows, or a single 0 or NULL, which a wrong statement may return too.
`in_words`: the answer was read from the rows of an earlier turn, so it has no rows to compare.
"""

_WITHOUT_ROWS: dict[OutcomeKind, OutcomeVerdict] = {
    "from_rows": "in_words",
    "beyond": "declined",
    "no_answer": "declined",
    "clarification": "declined",
}
_WITH_ROWS: tuple[OutcomeKind, ...] = ("correct", "extra_columns", "order", "wrong_columns", "wrong_rows")

_SHOWN_ROWS = 20


class ShownRows(BaseModel):
    """The first 20 rows of a result. `capped`: KAI's limit cut it, so only that part was compared."""

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


class QuestionOutcome(BaseModel):
    """The outcome of one question.

    `detail` is the reason when the answer or the gold has no rows. `bird` is true when the answer is right by
    BIRD's rule, `empty` when the gold's rows prove little (see `OutcomeVerdict`). Calls, tokens and seconds
    are counted until the rows.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    question: str
    db: str | None
    conversation_id: str | None
    turn: int
    tags: tuple[str, ...]
    kind: OutcomeKind
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
    investigated: bool = False
    """An investigation answered."""

    @property
    def scored(self) -> bool:
        """False when the gold did not run: the outcome then says nothing about the answer."""
        return self.kind != "gold_failed"

    @property
    def capped(self) -> bool:
        return any(each is not None and each.capped for each in (self.gold, self.predicted))

    @computed_field  # type: ignore[prop-decorator]
    @property
    def verdicts(self) -> dict[MatchingMode, OutcomeVerdict]:
        """The verdict under each mode; empty when the gold did not run."""
        return {mode: self.verdict(mode) for mode in get_args(MatchingMode)} if self.scored else {}

    def verdict(self, mode: MatchingMode) -> OutcomeVerdict:
        if self.right(mode):
            return "right_but_empty" if self.empty else "right"
        if self.kind in _WITH_ROWS:
            return "wrong_and_sure"
        return _WITHOUT_ROWS.get(self.kind, "failed")

    def right(self, mode: MatchingMode) -> bool:
        match mode:
            case "exact":
                return self.kind == "correct"
            case "subset":
                return self.kind in ("correct", "extra_columns")
            case "bird":
                return self.bird


def by_interaction(outcomes: Sequence[QuestionOutcome]) -> dict[str, list[QuestionOutcome]]:
    """The outcomes grouped by conversation id; questions asked alone are left out."""
    found: dict[str, list[QuestionOutcome]] = {}
    for each in outcomes:
        if each.conversation_id is not None:
            found.setdefault(each.conversation_id, []).append(each)
    return found


System = Literal["kai", "plain"]


class ResultsInvalid(Invalid):
    """The file is no results file, or one of another evaluation."""

    problem = "results-invalid"
    title = "The results file does not fit"


class Header(BaseModel):
    """The first line of a results file: the question set, the system and the model.

    The system `plain` is the baseline, a plain prompt. `instruction` is the form of KAI's own prompt; None
    for the baseline and without a model.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    question_set: str
    set_digest: str
    model: str
    system: System = "kai"
    instruction: InstructionForm | None = None
    investigations: bool = False
    """The questions were asked with investigations on."""

    @property
    def answerer(self) -> str:
        """The system, the model, the form of instructions and investigations as one phrase."""
        form = f" and the {self.instruction} instructions" if self.instruction else ""
        loop = ", investigations on" if self.investigations else ""
        return f"{self.system} with {self.model}{form}{loop}"


@dataclass(frozen=True)
class Results:
    """A results file as read. `outcomes` maps question ids; a later outcome replaces an earlier one."""

    header: Header
    outcomes: Mapping[str, QuestionOutcome]

    def has(self, conversation: BenchmarkConversation) -> bool:
        """Return True if every turn has an outcome, and none of them is a model error."""
        found = [self.outcomes.get(question.id) for question in conversation]
        return all(each is not None and each.kind != "model_error" for each in found)

    def of(self, conversations: Sequence[BenchmarkConversation]) -> list[QuestionOutcome]:
        """The outcomes of these conversations, in their order; questions without an outcome are left out."""
        ids = (question.id for conversation in conversations for question in conversation)
        return [self.outcomes[each] for each in ids if each in self.outcomes]


def read_results(path: Path) -> Results:
    """Read a results file. An unfinished last line is ignored.

    Raises `ResultsInvalid` when it is not a results file and `OSError` when it is unreadable.
    """
    *whole, _ = path.read_bytes().split(b"\n")
    try:
        header = Header.model_validate_json(whole[0] if whole else b"")
        outcomes = [QuestionOutcome.model_validate_json(line) for line in whole[1:]]
    except ValidationError:
        raise ResultsInvalid(f"{path} is not a results file of kai eval.") from None
    return Results(header, {each.id: each for each in outcomes})


def resumed(path: Path, header: Header, *, fresh: bool) -> Results:
    """The results that the file already holds. With `fresh`, or without a file, start an empty one.

    Raises `ResultsInvalid` when the file is not a results file (it is never overwritten), or, unless `fresh`,
    when it belongs to another evaluation.
    """
    known = read_results(path) if path.exists() else None
    if known is None or fresh:
        path.write_text(header.model_dump_json() + "\n", encoding="utf-8")
        return Results(header, {})
    if known.header != header:
        found = known.header
        raise ResultsInvalid(
            f"{path} holds the results of {found.answerer} on {found.question_set} "
            f"({found.set_digest[:8]}). Name another file by --output, or start again with --fresh."
        )
    return known


@contextmanager
def appending(path: Path) -> Generator[TextIO]:
    """Open the file for `append`, after its last whole line; an unfinished line is removed."""
    with path.open("r+", encoding="utf-8") as file:
        whole = path.read_bytes().rfind(b"\n") + 1
        file.truncate(whole)
        file.seek(whole)
        yield file


def append(file: TextIO, outcome: QuestionOutcome) -> None:
    """Write one outcome and flush it, so that it survives a crash of this process."""
    file.write(outcome.model_dump_json() + "\n")
    file.flush()
