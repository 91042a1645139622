"""Question sets, one JSON object a line, and the selection of conversations to ask."""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from app.core.errors import Invalid

_DB_NAME = re.compile(r"\A\w[\w.-]*\Z")  # becomes part of a path, so no slashes


class QuestionSetInvalid(Invalid):
    """The file cannot be read as a question set."""

    problem = "question-set-invalid"
    title = "The question set is not valid"


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


class BenchmarkQuestion(BaseModel):
    """One line of a question set.

    Each statement of `gold_sql` is a correct alternative. `instructions` are definitions that an analyst
    would give with the question. Questions of one `conversation_id` are asked in the order of `turn`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Annotated[str, Field(min_length=1)]
    question: Annotated[str, Field(min_length=1)]
    gold_sql: Annotated[
        tuple[Annotated[str, Field(min_length=1)], ...],
        BeforeValidator(_as_list),
        Field(min_length=1, validation_alias=AliasChoices("gold_sql", "query", "sql")),
    ]
    db: Annotated[str, Field(pattern=_DB_NAME)] | None = None
    conversation_id: str | None = None
    turn: int = 0
    tags: Annotated[tuple[str, ...], BeforeValidator(_as_list)] = ()
    instructions: str | None = None

    @property
    def interaction(self) -> str:
        """The id of the session's conversation; the question's own id if it is asked alone."""
        return self.conversation_id or self.id


BenchmarkConversation = Sequence[BenchmarkQuestion]
"""The questions of one session, in the order they are asked."""


@dataclass(frozen=True)
class QuestionSet:
    """A question set as read from its file; `digest` is the file's SHA-256 in hex."""

    name: str
    digest: str
    conversations: Sequence[BenchmarkConversation]


def read_question_set(path: Path) -> QuestionSet:
    """Read a question set. Raises `QuestionSetInvalid` when it is not valid and `OSError` when unreadable."""
    content = path.read_bytes()
    try:
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise QuestionSetInvalid(f"{path} is not UTF-8 text.") from None
    questions = [
        _question(line, f"{path}, line {number}") for number, line in enumerate(lines, 1) if line.strip()
    ]
    if not questions:
        raise QuestionSetInvalid(f"{path} holds no question.")
    _refuse_repeated([each.id for each in questions], f"{path}: the id %s is given twice.")
    return QuestionSet(path.name, hashlib.sha256(content).hexdigest(), _conversations(questions, path))


def _question(line: str, place: str) -> BenchmarkQuestion:
    try:
        return BenchmarkQuestion.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise QuestionSetInvalid(f"{place}: {f'{field}: ' if field else ''}{first['msg']}.") from None


def _conversations(questions: Sequence[BenchmarkQuestion], path: Path) -> list[BenchmarkConversation]:
    turns: defaultdict[str, list[BenchmarkQuestion]] = defaultdict(list)
    for question in questions:
        turns[question.interaction].append(question)
    for name, asked in turns.items():
        _refuse_repeated([str(each.turn) for each in asked], f"{path}: {name} has the turn %s twice.")
        if len({each.db for each in asked}) > 1:
            raise QuestionSetInvalid(f"{path}: {name} goes from one db to another.")
    return [sorted(asked, key=lambda each: each.turn) for asked in turns.values()]


def _refuse_repeated(names: Sequence[str], message: str) -> None:
    repeated = next((name for name, times in Counter(names).items() if times > 1), None)
    if repeated is not None:
        raise QuestionSetInvalid(message % repeated)


Split = Literal["tune", "report"]


@dataclass(frozen=True)
class QuestionSelection:
    """A filter: conversations with at least one of `tags`, in the half `split`, at most `limit` of them.

    `seed` decides the halves and which conversations the limit keeps. The half of a conversation depends on
    its id and the seed alone, so the "tune" and "report" halves stay apart when the set grows.
    """

    split: Split | None = None
    tags: Sequence[str] = ()
    limit: int | None = None
    seed: int = 0

    def of(self, conversations: Sequence[BenchmarkConversation]) -> list[BenchmarkConversation]:
        """Return the selected conversations in the order of the set. Raises `Invalid` when none is left."""
        chosen = [each for each in conversations if self._is_tagged(each) and self._is_in_split(each)]
        drawn = sorted(chosen, key=lambda each: self._draw("limit", each))[: self.limit]
        kept = {each[0].interaction for each in drawn}
        if not kept:
            raise Invalid("No question matches; change --tag, --split or --limit.")
        return [each for each in chosen if each[0].interaction in kept]

    def _is_tagged(self, conversation: BenchmarkConversation) -> bool:
        return not self.tags or any(tag in self.tags for each in conversation for tag in each.tags)

    def _is_in_split(self, conversation: BenchmarkConversation) -> bool:
        return (
            self.split is None or self.split == ("tune", "report")[self._draw("split", conversation)[0] % 2]
        )

    def _draw(self, purpose: str, conversation: BenchmarkConversation) -> bytes:
        text = f"{purpose}:{self.seed}:{conversation[0].interaction}"
        return hashlib.sha256(text.encode()).digest()
