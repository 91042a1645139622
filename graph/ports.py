"""Ports of the steps, bound for one turn to a connection, an owner and a message.

Implementations are structural: no class outside inherits from these protocols.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from graph.answer import Analysis, Draft, Interpretation, Offer, Repair, StatementDetails
from graph.events import Memory, SessionEvent, Step
from graph.state import (
    NO_CONTEXT,
    Author,
    CallOutcome,
    Context,
    Option,
    PastExchange,
    RememberedFact,
    Route,
    Rows,
    ToolCallRef,
    UnfinishedInvestigation,
)

Emit = Callable[[SessionEvent], None]


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question with all that may be known when it is answered.

    `exchanges` are those the summary does not cover, oldest first; `previous_sql` and `previous_rows`
    belong to the last answered data question; `repair` is what is to be repaired of this turn's statement;
    `options` are what the latest question back offered. `antecedent` is who wrote the previous statement,
    None when the latest turn failed or ended with a question back: then a follow-up is not about it.
    `previous_plan` is the built-in writer's plan of that statement, empty for other authors. `alone`:
    it is the first question of its session, or is known to stand alone. When its rows are read, `author`
    is who wrote their statement, and `corrections` say what was changed of it. `facts` are what the user
    has had KAI remember, `profile` is the section about the user, which a repair does not get. `unfinished`
    is the investigation of an earlier turn that ended without an answer, if no turn has ended with one since.
    """

    text: str
    context: Context = field(default_factory=lambda: NO_CONTEXT)
    summary: str | None = None
    exchanges: Sequence[PastExchange] = ()
    previous_sql: str | None = None
    previous_plan: str = ""
    previous_rows: Rows | None = None
    repair: Repair | None = None
    options: Sequence[Option] = ()
    antecedent: Author | None = None
    alone: bool = True
    author: Author | None = None
    corrections: Sequence[str] = ()
    facts: Sequence[RememberedFact] = ()
    profile: str = ""
    unfinished: UnfinishedInvestigation | None = None


class Written(Interpretation, StatementDetails, Offer):
    """The decision of the writer. `text` is the statement for route `sql`, the reply for `clarify` and
    `chat`, and empty for `rows` (the rows already fetched answer the question).
    """

    route: Route
    text: str
    tokens_used: int = 0
    author: Author = "model"
    plan: str = ""
    """The built-in writer's plan of the statement, as JSON. Empty without one."""
    example_id: str | None = None
    """Id of the verified example that is the statement."""

    def draft(self, dialect: str) -> Draft:
        """Returns the statement of route `sql`, which is in this dialect unless it names its own."""
        named = self.model_dump(include=set(Draft.model_fields))
        return Draft.model_validate({**named, "sql": self.text, "dialect": self.dialect or dialect})


@dataclass(frozen=True)
class Analysed:
    """An analysis of the rows, and one line about them for the conversation's memory."""

    analysis: Analysis
    results_summary: str
    tokens_used: int = 0


@dataclass(frozen=True)
class Summarized:
    """The rolling summary, under 500 tokens."""

    text: str
    tokens_used: int = 0


class ContextRecall(Protocol):
    """Finds the context of a question: tables, stored texts it mentions, and knowledge about the database.

    Raises `DatabaseUnavailable` when the schema is not scanned yet and cannot be read.
    """

    async def recall(self, question: Question) -> Context: ...


class FactFinder(Protocol):
    """Finds what the user has had KAI remember. At most ten facts, in the order of the prompt.

    Both methods end within a fixed time, and return less, or nothing, when the memory is slow or unavailable.
    """

    async def facts_for(self, question: Question) -> Sequence[RememberedFact]: ...

    async def read_facts(self, ids: Sequence[str]) -> Sequence[RememberedFact]:
        """Returns facts that were found before. Those that were forgotten since are left out."""


class MemoryNews(Protocol):
    """Says what became of what earlier questions of the session wanted remembered.

    Ends within a fixed time, and returns nothing when the memory is slow or unavailable.
    """

    async def read_news(self) -> Sequence[Memory]: ...


class ProfileReader(Protocol):
    """Reads the section about the user, at most 300 tokens, as the session has begun with it.

    It is not part of the state, because it may be forgotten at any time. The first read of a turn ends within
    a fixed time, the others return the same at once. Returns an empty text when the memory is slow or
    unavailable, or has none.
    """

    async def read(self) -> str: ...


class SqlWriter(Protocol):
    """Decides the route of a question and writes its statement. Emits `text` chunks of channel `sql`.

    A repair that differs from the statement to be repaired in nothing but spaces, case, remarks or a
    semicolon is returned as that very statement.

    Raises `ModelCallFailed`, `ModelCallRejected`, `DatabaseEmpty` or `QuestionBeyondWriter`.
    """

    @property
    def dialect(self) -> str: ...

    async def write(self, question: Question, emit: Emit) -> Written: ...


class SqlRunner(Protocol):
    """Checks a statement, runs it read-only under limits and returns the head of its rows.

    `keep` keeps all rows of the statement that ran last as the answer, in place of any kept before. `kept`
    returns the head of those that an earlier attempt has kept of this statement, which need not run again.
    `run` raises `StatementFailed` (worth a repair) or `DatabaseUnavailable`.
    """

    async def kept(self, sql: str) -> Rows | None: ...

    async def run(self, sql: str) -> Rows: ...

    async def keep(self) -> None: ...


class StatementAsker(Protocol):
    """Asks a person before a costly statement runs, as a call of a tool asks."""

    async def ask(self, sql: str, why: str, step: int, *, emit: Emit) -> ToolCallRef:
        """Store a call that runs the statement and has to be approved. Emits `tool_call`."""

    async def find_undecided(self, calls: Sequence[ToolCallRef], emit: Emit) -> Sequence[str]:
        """Returns the ids of the calls that wait for a person's decision, as `Investigator` does."""

    async def run(self, call: ToolCallRef, sql: str, emit: Emit) -> Rows:
        """Run a statement whose call is decided. Emits `tool_result`.

        Raises `StatementNotApproved`, and what `SqlRunner.run` raises.
        """


class ResultChecker(Protocol):
    """Finds what speaks so strongly against a result that another statement is likely to be better.

    Returns sentences; none for most results, and none if nothing is certain.
    """

    async def find_reasons(self, question: Question, sql: str, rows: Rows) -> list[str]: ...


class ResultReader(Protocol):
    """Reads all stored rows of a result, given its head and the message that it answers.

    Returns the head itself when the rows are no longer stored; it then has fewer rows than `row_count`.
    """

    async def read(self, message_id: str, head: Rows) -> Rows: ...


class Analyst(Protocol):
    """Analyses rows, and emits `text` chunks of channel `analysis` meanwhile.

    Raises `ModelCallFailed` or `ModelCallRejected`.
    """

    async def analyse(self, question: Question, sql: str, rows: Rows, *, emit: Emit) -> Analysed: ...


class Summarizer(Protocol):
    """Adds exchanges to the rolling summary.

    `summarize` makes at most one model call. It raises `SummaryFailed`; the caller then keeps the exchanges.
    `digest` makes no call and never fails: it reduces the exchanges to short lines.
    """

    async def summarize(self, summary: str | None, exchanges: Sequence[PastExchange]) -> Summarized: ...

    def digest(self, summary: str | None, exchanges: Sequence[PastExchange]) -> str: ...


@dataclass(frozen=True, kw_only=True)
class NextStep:
    """A step of an investigation: the calls to make, or its end. With neither, the next step follows."""

    calls: Sequence[ToolCallRef] = ()
    tokens_used: int = 0
    is_last: bool = False
    """The investigation has its answer."""
    question_back: Offer | None = None
    """The last step asks the user: `text` is the question."""
    text: str = ""
    limit_reached: bool = False


@dataclass(frozen=True, kw_only=True)
class Conclusion:
    """The answer of an investigation. `draft` is the statement of the result that the answer rests on, if
    any, and `rows` are the head of its rows: all of them are stored as those of the message.
    """

    analysis: Analysis
    draft: Draft | None = None
    rows: Rows | None = None
    results_summary: str | None = None
    remembered: str | None = None
    """What the conversation remembers in place of the text of the analysis. None: the text."""


class Investigator(Protocol):
    """Thinks and acts for one turn. It stores what it said and did before a method returns.

    A step or call that is repeated after a crash is the stored one: neither the model nor the tool is
    called again.
    """

    async def next_step(self, question: Question, plan: str, step: int, *, emit: Emit) -> NextStep:
        """Choose the calls of a step, or conclude. Emits the model's text, and `tool_call` for each call.

        Raises `ModelCallFailed` or `ModelCallRejected`.
        """

    async def find_undecided(self, calls: Sequence[ToolCallRef], emit: Emit) -> Sequence[str]:
        """Returns the ids of the calls that wait for a person's decision.

        A call that has not asked yet asks now, once: emits `confirmation`. Emits `confirmation_decided` for
        the others.
        """

    async def use(self, call: ToolCallRef, emit: Emit) -> CallOutcome:
        """Make a call, unless it was refused. What goes wrong in it becomes its result, which the model
        reads.
        """

    async def conclude(self, question: Question, step: int) -> Conclusion:
        """Return the answer that the last step gave."""

    def replay(self, step: int) -> AsyncGenerator[SessionEvent]:
        """Yield again what was emitted up to this step."""


class ObservedStep(Protocol):
    """A step while its port works."""

    def set_attribute(self, name: str, value: str, /) -> None: ...


class StepObserver(Protocol):
    """Observes the port calls of the steps: one block for each call. It never fails a step."""

    def observe_step(self, step: Step) -> AbstractContextManager[ObservedStep]: ...


@dataclass(frozen=True, kw_only=True)
class Ports:
    """The typed runtime context of a turn. It is not part of the state and never checkpointed."""

    recall: ContextRecall
    writer: SqlWriter
    runner: SqlRunner
    checker: ResultChecker
    results: ResultReader
    analyst: Analyst
    summarizer: Summarizer
    observer: StepObserver
    news: MemoryNews | None = None
    """None where no question is remembered."""
    profile: ProfileReader | None = None
    """None where profiles are off, or no prompt may show them."""
    facts: FactFinder | None = None
    """None where nothing is remembered, or no prompt may show it."""
    statements: StatementAsker | None = None
    """None where no statement waits for an approval."""
    investigator: Investigator | None = None
    """None where investigations are off or no model is configured."""
