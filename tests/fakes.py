"""One fake a port of the graph: they do little, but by the ports' rules."""

from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from graph import Turn
from graph.answer import Analysis, Draft
from graph.errors import ModelCallFailed, StatementFailed, SummaryFailed
from graph.events import SessionEvent, Status, Step, TextChunk
from graph.ports import (
    Analysed,
    Conclusion,
    Emit,
    NextStep,
    ObservedStep,
    Ports,
    ProfileReader,
    Question,
    Summarized,
    Written,
)
from graph.state import (
    NO_CONTEXT,
    CallOutcome,
    Column,
    Context,
    PastExchange,
    Reference,
    RememberedFact,
    Rows,
    ToolCallRef,
)

ROWS = Rows(columns=[Column(name="n", type="integer")], rows=[[3]], row_count=1, truncated=False)


TURN = Turn(
    session_id="s1",
    db_connection_id="c1",
    run_id="r1",
    message_id="m1",
    question="How many?",
    metadata={},
    session_created_at="2026-01-01T00:00:00Z",
    asked_at="2026-01-02T00:00:00Z",
    fence=1,
)
"""The first turn of a session."""


class ProcessDied(BaseException):
    """What a kill would do to a step."""


@dataclass
class FakeRecall:
    async def recall(self, question: Question) -> Context:
        return {**NO_CONTEXT, "schema": "table customers"}


@dataclass
class FakeFacts:
    """Finds the same facts for every question. `forgotten` are the ids of those that are gone since."""

    facts: list[RememberedFact] = field(
        default_factory=lambda: [
            RememberedFact(
                id="f1",
                kind="terminology",
                scope="workspace",
                text="churn means no order for 90 days",
                date="2026-03-31",
            )
        ]
    )
    forgotten: set[str] = field(default_factory=set)

    async def facts_for(self, question: Question) -> list[RememberedFact]:
        return await self.read_facts([fact["id"] for fact in self.facts])

    async def read_facts(self, ids: Sequence[str]) -> list[RememberedFact]:
        return [fact for fact in self.facts if fact["id"] in ids and fact["id"] not in self.forgotten]


@dataclass
class FakeWriter:
    """Gives its replies in order, then the last one for ever."""

    replies: list[Written] = field(
        default_factory=lambda: [
            Written(route="sql", text="SELECT 3 AS n", explanation="Counting.", tokens_used=10)
        ]
    )
    asked: list[Question] = field(default_factory=list)
    dialect: str = "sqlite"

    async def write(self, question: Question, emit: Emit) -> Written:
        self.asked.append(question)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if reply.route == "sql":
            emit(TextChunk(content=reply.text, channel="sql"))
        return reply


@dataclass
class FailingWriter(FakeWriter):
    """Is unavailable for repairs."""

    async def write(self, question: Question, emit: Emit) -> Written:
        if question.repair is not None:
            raise ModelCallFailed("The model is busy.")
        return await super().write(question, emit)


@dataclass
class DyingWriter(FakeWriter):
    """Fails as often as configured when it is to repair."""

    deaths: int = 0

    async def write(self, question: Question, emit: Emit) -> Written:
        if question.repair is not None and self.deaths:
            self.deaths -= 1
            raise ProcessDied
        return await super().write(question, emit)


@dataclass
class FakeRunner:
    """Refuses statements that hold `bad`; keeps both those it ran and those it refused."""

    ran: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    stored: list[str] = field(default_factory=list)

    async def kept(self, sql: str) -> Rows | None:
        return ROWS if sql in self.stored else None

    async def keep(self) -> None:
        self.stored.append(self.ran[-1])

    async def run(self, sql: str) -> Rows:
        if "bad" in sql:
            self.refused.append(sql)
            raise StatementFailed("no such column: bad")
        self.ran.append(sql)
        return ROWS


@dataclass
class FakeChecker:
    """Has its reasons against each statement that holds one of the words."""

    reasons: dict[str, list[str]] = field(default_factory=dict)

    async def find_reasons(self, question: Question, sql: str, rows: Rows) -> list[str]:
        return [each for word, found in self.reasons.items() if word in sql for each in found]


THREE = Reference(
    key="value_n",
    span=[0, 6],
    result_id=None,
    how="value of n",
    value="3",
    cells=[{"row": 0, "column": "n"}],
    cell_count=1,
)


@dataclass
class FakeResults:
    """Holds rows by message; of others the head is all there is."""

    kept: dict[str, Rows] = field(default_factory=dict)
    read_of: list[str] = field(default_factory=list)

    async def read(self, message_id: str, head: Rows) -> Rows:
        self.read_of.append(message_id)
        return self.kept.get(message_id, head)


@dataclass
class FakeAnalyst:
    """Fails as often as configured, then answers."""

    deaths: int = 0
    read: list[Rows] = field(default_factory=list)
    asked: list[Question] = field(default_factory=list)

    async def analyse(self, question: Question, sql: str, rows: Rows, emit: Emit) -> Analysed:
        self.asked.append(question)
        if self.deaths:
            self.deaths -= 1
            raise ProcessDied
        self.read.append(rows)
        emit(TextChunk(content="Three.", channel="analysis"))
        analysis = Analysis(text="Three.", headline="Three", references=[THREE], suggestions=["And now?"])
        return Analysed(analysis, "1 row of n: 3", 5)


@dataclass
class FakeSummarizer:
    """Fails so many times first; `calls` are the messages of the turns in which it was called."""

    failures: int = 0
    calls: list[str] = field(default_factory=list)

    async def summarize(self, summary: str | None, exchanges: Sequence[PastExchange]) -> Summarized:
        self.calls.append(f"m{int(exchanges[-1]['id'][1:]) + 3}")
        if self.failures:
            self.failures -= 1
            raise SummaryFailed("out of words")
        asked = ", ".join(exchange["query"] for exchange in exchanges)
        return Summarized(f"{summary or 'Asked'}: {asked}", 7)

    def digest(self, summary: str | None, exchanges: Sequence[PastExchange]) -> str:
        return "\n".join([*([summary] if summary else []), *(exchange["query"] for exchange in exchanges)])


@dataclass
class FakeStepObserver:
    """Keeps each observed step with its attributes, and notes how it ended."""

    observed: list[tuple[Step, dict[str, str]]] = field(default_factory=list)

    @contextmanager
    def observe_step(self, step: Step) -> Generator[ObservedStep]:
        observed = _FakeStep()
        self.observed.append((step, observed.attributes))
        try:
            yield observed
        except BaseException as error:
            observed.set_attribute("error", type(error).__name__)
            raise


@dataclass
class _FakeStep:
    attributes: dict[str, str] = field(default_factory=dict)

    def set_attribute(self, name: str, value: str, /) -> None:
        self.attributes[name] = value


def fake_ports(
    writer: FakeWriter | None = None,
    runner: FakeRunner | None = None,
    analyst: FakeAnalyst | None = None,
    summarizer: FakeSummarizer | None = None,
    results: FakeResults | None = None,
    checker: FakeChecker | None = None,
    observer: FakeStepObserver | None = None,
    profile: ProfileReader | None = None,
) -> Ports:
    return Ports(
        recall=FakeRecall(),
        writer=writer or FakeWriter(),
        runner=runner or FakeRunner(),
        checker=checker or FakeChecker(),
        results=results or FakeResults(),
        analyst=analyst or FakeAnalyst(),
        summarizer=summarizer or FakeSummarizer(),
        observer=observer or FakeStepObserver(),
        profile=profile,
    )


@dataclass
class FakeProfile:
    """Returns the same section to every step."""

    section: str

    async def read(self) -> str:
        return self.section


@dataclass
class FakeInvestigator:
    """Makes the calls of its plan step by step, then answers. `die_at` names moments at which it dies once:
    `before` or `after` a step or a call, such as `after step 1` or `before call 2.1`.

    A call whose name ends in `!` asks first. `decisions` are those of people, by call.
    """

    plan: dict[int, list[str]]
    die_at: set[str] = field(default_factory=set)
    thought: list[int] = field(default_factory=list)
    used: list[str] = field(default_factory=list)
    steps: dict[int, NextStep] = field(default_factory=dict)
    outcomes: set[str] = field(default_factory=set)
    decisions: dict[str, CallOutcome] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    remembered: list[Sequence[RememberedFact]] = field(default_factory=list)
    """Facts of each step's question."""

    def _die(self, moment: str) -> None:
        if moment in self.die_at:
            self.die_at.remove(moment)
            raise ProcessDied

    async def next_step(self, question: Question, plan: str, step: int, *, emit: Emit) -> NextStep:
        self._die(f"before step {step}")
        if step not in self.steps:
            self.thought.append(step)
            self.remembered.append(question.facts)
            calls = [
                ToolCallRef(id=call, tool="look", gate="asks" if call.endswith("!") else "free")
                for call in self.plan.get(step, [])
            ]
            self.steps[step] = NextStep(calls=calls, tokens_used=1, is_last=not calls)
        self._die(f"after step {step}")
        return self.steps[step]

    async def find_undecided(self, calls: Sequence[ToolCallRef], emit: Emit) -> Sequence[str]:
        self._die("before asking")
        undecided = [call["id"] for call in calls if call["id"] not in self.decisions]
        self.asked += [each for each in undecided if each not in self.asked]
        self._die("after asking")
        return undecided

    async def use(self, call: ToolCallRef, emit: Emit) -> CallOutcome:
        self._die(f"before call {call['id']}")
        decision = self.decisions.get(call["id"], "done")
        if decision != "done":
            return decision
        if call["id"] not in self.outcomes:
            self.used.append(call["id"])
            self.outcomes.add(call["id"])
        self._die(f"after call {call['id']}")
        return "done"

    async def conclude(self, question: Question, step: int) -> Conclusion:
        self._die("conclude")
        return Conclusion(analysis=Analysis(text="It fell."), draft=Draft(sql="SELECT 3 AS n"), rows=ROWS)

    async def replay(self, step: int) -> AsyncGenerator[SessionEvent]:
        for each in range(1, step + 1):
            yield Status(step="investigating", message=f"again {each}", run_id="r1")
