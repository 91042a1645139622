"""Dialogue sets for `kai eval --memory`, one JSON object a line."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from app.core.errors import Invalid
from app.modules.memory.model import FactKind

Text = Annotated[str, Field(min_length=1)]


class DialogueSetInvalid(Invalid):
    """The file cannot be read as a dialogue set."""

    problem = "dialogue-set-invalid"
    title = "The dialogue set is not valid"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Meaning(_Part):
    """A fact in the words of a person, and the statement that answers the question by it."""

    text: Annotated[str, Field(min_length=1, max_length=500)]
    sql: Text


class Aside(_Part):
    """A question that needs no fact, and its statement."""

    question: Text
    sql: Text


class Dialogue(_Part):
    """A person defines something, and asks in later sessions.

    `plain_sql` answers the question without any fact. `foreign` is what another owner, and the same owner for
    another connection, means by the same words. In the end `later` supersedes the fact, or the column
    `dropped` (as `table.column`, one of `about`) is dropped.
    """

    id: Text
    db: Annotated[str, Field(pattern=r"^\w[\w.-]*(/\w[\w.-]*)*$")]
    kind: FactKind
    scope: Literal["workspace", "user"] = "workspace"
    about: tuple[str, ...] = ()
    question: Text
    plain_sql: Text
    fact: Meaning
    foreign: Meaning
    aside: Aside
    later: Meaning | None = None
    dropped: Annotated[str, Field(pattern=r"^\w+\.\w+$")] | None = None

    @model_validator(mode="after")
    def _ends_once(self) -> "Dialogue":
        if (self.later is None) == (self.dropped is None):
            raise ValueError("a dialogue has either later or dropped")
        if self.dropped is not None and self.dropped not in self.about:
            raise ValueError("the dropped column is one of about")
        return self


def read_dialogues(path: Path) -> Sequence[Dialogue]:
    """Read a dialogue set. Raises `DialogueSetInvalid`, or `OSError` when it is unreadable."""
    dialogues: dict[str, Dialogue] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            dialogue = Dialogue.model_validate_json(line)
        except ValidationError as error:
            raise DialogueSetInvalid(f"{path}, line {number}: {error.errors()[0]['msg']}.") from None
        if dialogue.id in dialogues:
            raise DialogueSetInvalid(f"{path}: the id {dialogue.id} is given twice.")
        dialogues[dialogue.id] = dialogue
    if not dialogues:
        raise DialogueSetInvalid(f"{path} holds no dialogue.")
    return list(dialogues.values())
