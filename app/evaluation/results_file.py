"""The results, a line an outcome, written as they come: an evaluation broken off goes on where it was."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TextIO

from pydantic import BaseModel, ConfigDict, ValidationError

from app.core.errors import Invalid
from app.core.llm.capabilities import Instruction
from app.evaluation.outcome import Outcome
from app.evaluation.question_set import Conversation

System = Literal["kai", "plain"]


class ResultsInvalid(Invalid):
    """The file is no results file, or one of another evaluation."""

    problem = "results-invalid"
    title = "The results file does not fit"


class Header(BaseModel):
    """The first line: which set was put to which system with which model.

    `plain` is the baseline, a plain prompt; `instruction` is the form of KAI's own, None without a model.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    question_set: str
    set_digest: str
    model: str
    system: System = "kai"
    instruction: Instruction | None = None

    @property
    def answerer(self) -> str:
        """What has answered, in words."""
        form = f" and the {self.instruction} instructions" if self.instruction else ""
        return f"{self.system} with {self.model}{form}"


@dataclass(frozen=True)
class Results:
    """`outcomes` by question id; of a question asked twice the later one."""

    header: Header
    outcomes: Mapping[str, Outcome]

    def has(self, conversation: Conversation) -> bool:
        """Whether every turn was asked of a model that answered."""
        found = [self.outcomes.get(question.id) for question in conversation]
        return all(each is not None and each.kind != "model_error" for each in found)

    def of(self, conversations: Sequence[Conversation]) -> list[Outcome]:
        """The outcomes of these conversations, in their order; what was not asked is left out."""
        ids = (question.id for conversation in conversations for question in conversation)
        return [self.outcomes[each] for each in ids if each in self.outcomes]


def read_results(path: Path) -> Results:
    """Raises `ResultsInvalid`, or `OSError`. A last line that was not finished does not count."""
    *whole, _ = path.read_bytes().split(b"\n")
    try:
        header = Header.model_validate_json(whole[0] if whole else b"")
        outcomes = [Outcome.model_validate_json(line) for line in whole[1:]]
    except ValidationError:
        raise ResultsInvalid(f"{path} is not a results file of kai eval.") from None
    return Results(header, {each.id: each for each in outcomes})


def resumed(path: Path, header: Header, *, fresh: bool) -> Results:
    """What the file holds of this evaluation already; a new file, or a `fresh` one, holds nothing.

    Raises `ResultsInvalid` when it is another evaluation's, or no results file: that is never overwritten.
    """
    known = read_results(path) if path.exists() else None
    if known is None or fresh:
        path.write_text(header.model_dump_json() + "\n", encoding="utf-8")
        return Results(header, {})
    if known.header != header:
        found = known.header
        raise ResultsInvalid(
            f"{path} holds the results of {found.answerer} on {found.question_set} "
            f"({found.set_digest[:8]}). Name another file by --output, or begin anew by --fresh."
        )
    return known


@contextmanager
def appending(path: Path) -> Generator[TextIO]:
    """The file at the end of its last whole line. Write by `append`."""
    with path.open("r+", encoding="utf-8") as file:
        whole = path.read_bytes().rfind(b"\n") + 1
        file.truncate(whole)
        file.seek(whole)
        yield file


def append(file: TextIO, outcome: Outcome) -> None:
    """Once this returns, the outcome survives the end of this process."""
    file.write(outcome.model_dump_json() + "\n")
    file.flush()
