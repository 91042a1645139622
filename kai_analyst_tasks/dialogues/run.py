"""`kai eval --memory`: ask dialogues with facts and without, and score the rows and the facts shown."""

import asyncio
import shutil
import sqlite3
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict
from rich.console import Console

from app.bootstrap import Services, open_services_for_once
from app.core.clock import now_ms
from app.core.errors import Invalid
from app.core.settings import Settings, read_settings
from app.evaluation.answering import KaiSession, RunCosts, SystemAnswer
from app.evaluation.gold import Gold, GoldFailed, run_gold
from app.evaluation.run import with_model
from app.evaluation.verdict import judge
from app.modules.database_connection.model import Connection
from app.modules.memory.model import FactSource, NewFact
from app.modules.memory.scopes import Scope
from kai_analyst_tasks.dialogues.dialogue_set import Dialogue, Meaning, read_dialogues

PLACE = "{db}"
OWNER = "evaluation"
OTHER = "evaluation of another owner"
_ENDING = ".results.jsonl"

Moment = Literal["defined", "aside", "elsewhere", "afterwards"]
"""Of a question: after the definition, one that needs no fact, at another connection of the owner, and after
the fact was superseded or its column dropped.
"""


@dataclass(frozen=True, kw_only=True)
class MemoryEvaluation:
    """The options of `kai eval --memory`. `database` is a SQLite file; `{db}` stands for a dialogue's own."""

    dialogues: Path
    database: str
    output: Path | None = None
    model: str | None = None
    limit: int | None = None


class MemoryOutcome(BaseModel):
    """The outcome of one question.

    `shown` are facts of the prompt by their names: `fact`, `later`, `foreign` and `of other`. `wrong` is
    true if a fact was shown that is stale or foreign, or the rows are those of such a fact and not right.
    """

    model_config = ConfigDict(frozen=True)

    dialogue: str
    moment: Moment
    with_memory: bool
    right: bool
    wrong: bool
    needed: tuple[str, ...]
    shown: tuple[str, ...]
    sql: str | None
    seconds: float


class DialogueStatementFailed(Invalid):
    """A statement of a dialogue does not run: a defect of the set."""

    problem = "gold-statement-failed"
    title = "A statement of the dialogue set does not run"


@dataclass(frozen=True, kw_only=True)
class _Question:
    """`needed` are the facts that its prompt should show; `refuted` those that it must not, by name."""

    moment: Moment
    text: str
    sql: str
    needed: Sequence[str]
    refuted: Mapping[str, Meaning]


async def evaluate_memory(wanted: MemoryEvaluation) -> None:
    """Evaluate KAI with the settings of this process. Raises as `evaluate_memory_with` does."""
    await evaluate_memory_with(wanted, read_settings(), Console(highlight=False))


async def evaluate_memory_with(
    wanted: MemoryEvaluation, settings: Settings, console: Console
) -> list[MemoryOutcome]:
    """Ask all dialogues with facts and without, print the figures, and return the outcomes.

    Raises `Problem` when the evaluation cannot start or a statement of the set does not run.
    """
    dialogues = read_dialogues(wanted.dialogues)[: wanted.limit]
    chosen = with_model(settings, wanted.model)
    if not chosen.llm.configured:
        raise Invalid("Dialogues are for a language model: set OPENAI_API_KEY or KAI_LLM__BASE_URL.")
    if PLACE not in wanted.database and len({each.db for each in dialogues}) > 1:
        raise Invalid(f"The dialogues are of several databases; put {PLACE} where their names go in --db.")
    memory = chosen.memory.model_copy(update={"facts": True})
    chosen = chosen.model_copy(update={"memory": memory})
    output = wanted.output or Path(f"{wanted.dialogues.stem}{_ENDING}")
    outcomes: list[MemoryOutcome] = []
    async with open_services_for_once(chosen) as services:
        costs = RunCosts()
        services.calls.listen(costs.add)
        with output.open("w", encoding="utf-8") as file:
            for dialogue in dialogues:
                file_of = Path(wanted.database.replace(PLACE, dialogue.db))
                for with_memory in (True, False):
                    async with _opened(services, dialogue, file_of) as opened:
                        async for outcome in _play(opened, costs, with_memory=with_memory):
                            outcomes.append(outcome)
                            file.write(outcome.model_dump_json() + "\n")
                            file.flush()
    print_memory_summary(console, outcomes)
    console.print(f"Results: {output}", markup=False, soft_wrap=True)
    return outcomes


@dataclass(frozen=True, kw_only=True)
class _Opened:
    """A dialogue with copies of its database, registered for its owner twice, and for another owner."""

    services: Services
    dialogue: Dialogue
    file: Path
    main: Connection
    elsewhere: Connection
    of_other: Connection


@asynccontextmanager
async def _opened(services: Services, dialogue: Dialogue, file: Path) -> AsyncGenerator[_Opened]:
    """Registers copies of the database. At the end they are gone, with all facts of both owners."""
    databases = services.database_connections
    with tempfile.TemporaryDirectory(prefix="kai-dialogue-") as folder:
        made: dict[str, Connection] = {}
        try:
            for name, owner in (("main", OWNER), ("elsewhere", OWNER), ("of_other", OTHER)):
                copied = Path(folder) / f"{name}.sqlite"
                await asyncio.to_thread(shutil.copyfile, file, copied)
                made[name] = await databases.register(owner, f"sqlite:///{copied}", name, description="")
                await databases.schema(made[name])
            yield _Opened(services=services, dialogue=dialogue, file=Path(folder) / "main.sqlite", **made)
        finally:
            for each in made.values():
                await databases.delete(each.owner, each.id)
            for owner in (OWNER, OTHER):
                await services.facts.forget_all(owner)


async def _play(opened: _Opened, costs: RunCosts, *, with_memory: bool) -> AsyncGenerator[MemoryOutcome]:
    dialogue = opened.dialogue
    names: dict[str, str] = {}
    if with_memory:
        names[await _keep(opened, opened.main, dialogue.fact, scope=dialogue.scope)] = "fact"
        names[await _keep(opened, opened.elsewhere, dialogue.foreign, scope="workspace")] = "foreign"
        names[await _keep(opened, opened.of_other, dialogue.foreign, scope="workspace")] = "of other"
        names[await _keep(opened, opened.of_other, dialogue.foreign, scope="user")] = "of other"
    for question in _questions(dialogue):
        if question.moment == "afterwards":
            names |= await _change(opened, [*names], with_memory=with_memory)
        connection = opened.elsewhere if question.moment == "elsewhere" else opened.main
        sessions = opened.services.sessions
        session = await sessions.create(OWNER, connection.id, None, mode="ask", metadata={})
        asking = KaiSession(opened.services, session.id, costs, owner=OWNER)
        answer = await asking.ask(question.text, last=True)
        shown = tuple(names[each] for each in answer.remembered if each in names)
        yield await _score(opened, connection, question, answer=answer, shown=shown, with_memory=with_memory)


def _questions(dialogue: Dialogue) -> list[_Question]:
    """Every question is asked in a session of its own."""
    foreign = {"foreign": dialogue.foreign, "of other": dialogue.foreign}
    everything = {**foreign, "fact": dialogue.fact}
    end: Sequence[str] = ["later"] if dialogue.later else []
    elsewhere = _Question(
        moment="elsewhere",
        text=dialogue.question,
        sql=dialogue.foreign.sql,
        needed=["foreign"],
        refuted={"fact": dialogue.fact, "of other": dialogue.foreign},
    )
    return [
        _Question(
            moment="defined",
            text=dialogue.question,
            sql=dialogue.fact.sql,
            needed=["fact"],
            refuted=foreign,
        ),
        _Question(
            moment="aside",
            text=dialogue.aside.question,
            sql=dialogue.aside.sql,
            needed=[],
            refuted=foreign,
        ),
        # What a person means holds for all databases.
        *([elsewhere] if dialogue.scope == "workspace" else []),
        _Question(
            moment="afterwards",
            text=dialogue.question,
            sql=dialogue.later.sql if dialogue.later else dialogue.plain_sql,
            needed=end,
            refuted=everything,
        ),
    ]


async def _keep(opened: _Opened, connection: Connection, meaning: Meaning, *, scope: Scope) -> str:
    """Returns the id of the fact."""
    new = NewFact(
        owner=connection.owner,
        scope=scope,
        kind=opened.dialogue.kind,
        text=meaning.text,
        source=FactSource("promotion", now_ms()),
        about=opened.dialogue.about,
        connection_id=connection.id if scope == "workspace" or opened.dialogue.about else None,
    )
    return (await opened.services.facts.keep(new, confirmed=True)).fact.id


async def _change(opened: _Opened, fact_ids: Sequence[str], *, with_memory: bool) -> dict[str, str]:
    """Supersede the fact or drop its column; returns the new fact's id with its name."""
    later = opened.dialogue.later
    if later is not None:
        if not with_memory:
            return {}
        source = FactSource("promotion", now_ms())
        kept = await opened.services.facts.supersede(
            OWNER, fact_ids[0], later.text, source=source, confirmed=True
        )
        return {kept.fact.id: "later"}
    await asyncio.to_thread(_drop_column, opened.file, str(opened.dialogue.dropped))
    await opened.services.database_connections.scan(OWNER, opened.main.id)
    return {}


def _drop_column(file: Path, name: str) -> None:
    table, column = name.split(".")
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(f'ALTER TABLE "{table}" DROP COLUMN "{column}"')
        connection.commit()


async def _score(
    opened: _Opened,
    connection: Connection,
    question: _Question,
    *,
    answer: SystemAnswer,
    shown: tuple[str, ...],
    with_memory: bool,
) -> MemoryOutcome:
    gold = await _gold(opened, connection, question.sql)
    is_right = answer.result is not None and judge(answer.result, [gold]).kind == "correct"
    is_misled = not is_right and await _is_misled(opened, connection, question.refuted, answer=answer)
    return MemoryOutcome(
        dialogue=opened.dialogue.id,
        moment=question.moment,
        with_memory=with_memory,
        right=is_right,
        wrong=bool(set(shown) & set(question.refuted)) or (with_memory and is_misled),
        needed=tuple(question.needed) if with_memory else (),
        shown=shown,
        sql=answer.sql,
        seconds=round(answer.seconds, 3),
    )


async def _gold(opened: _Opened, connection: Connection, sql: str) -> Gold:
    found = await run_gold(opened.services.database_connections, connection, sql)
    if isinstance(found, GoldFailed):
        raise DialogueStatementFailed(f"{opened.dialogue.id}: {found.error} {sql}")
    return found


async def _is_misled(
    opened: _Opened, connection: Connection, refuted: Mapping[str, Meaning], *, answer: SystemAnswer
) -> bool:
    """True if the rows are those of a fact that the answer must not use."""
    if answer.result is None:
        return False
    databases = opened.services.database_connections
    for meaning in refuted.values():
        gold = await run_gold(databases, connection, meaning.sql)  # fails where its column was dropped
        if isinstance(gold, Gold) and judge(answer.result, [gold]).kind == "correct":
            return True
    return False


def print_memory_summary(console: Console, outcomes: Sequence[MemoryOutcome]) -> None:
    """Print the share of right answers with and without facts, wrong uses, and the facts shown."""
    for with_memory in (True, False):
        asked = [each for each in outcomes if each.with_memory == with_memory]
        right = sum(each.right for each in asked)
        seconds = sum(each.seconds for each in asked) / max(1, len(asked))
        name = "with memory" if with_memory else "without"
        console.print(f"{name:<12} {right} of {len(asked)} right, {seconds:.2f} s a question", markup=False)
    asked = [each for each in outcomes if each.with_memory]
    for moment in ("defined", "aside", "elsewhere", "afterwards"):
        of_moment = [each for each in asked if each.moment == moment]
        right = sum(each.right for each in of_moment)
        console.print(f"  {moment:<11} {right} of {len(of_moment)} right with memory", markup=False)
    shown = sum(len(each.shown) for each in asked)
    needed = sum(len(each.needed) for each in asked)
    hits = sum(len(set(each.needed) & set(each.shown)) for each in asked)
    console.print(
        f"facts: {shown / max(1, len(asked)):.2f} a prompt, precision {hits / max(1, shown):.2f}, "
        f"recall {hits / max(1, needed):.2f}",
        markup=False,
    )
    wrong = [each for each in asked if each.wrong]
    console.print(f"wrong use of stale or foreign facts: {len(wrong)}", markup=False)
    for each in wrong:
        console.print(f"  {each.dialogue}, {each.moment}: shown {', '.join(each.shown)}", markup=False)
