"""Kills the memory worker at each of its writes, and lets another process do the same job again.

python -m tests.bench.killed_memory [--store sqlite|typesense] [--work facts|profile]

A child process keeps the directives of a question, counts the use of a fact, writes the memory of the
conversation, promotes a fact and rewords another; or it learns a profile, begins a session with it, and
rewrites vectors for another embedding model. It sends itself SIGKILL before the first or after any write
of the store. The next process does what follows in life: the bus delivers the event again, and the person who
got no answer promotes again. Then nothing is doubled, and nothing that was confirmed is lost. One line of
JSON for each moment; the exit code is 1 if any failed.
"""

import argparse
import gc
import json
import os
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Protocol, cast
from uuid import UUID

from prometheus_client import CollectorRegistry

from app.bootstrap import Services, open_services
from app.core.clock import now_ms
from app.core.ids import id_of, new_id
from app.core.llm.calls import uncharged
from app.core.llm.embedding import EmbeddingModel
from app.core.llm.model import LanguageModel, PromptMessage, Reply, ReplyFormat, ReplySchema
from app.core.settings import MemorySettings, Settings
from app.core.storage.measured import MeasuredStorage
from app.core.storage.port import Equals, Query
from app.modules.memory.directive_job import DirectiveJob
from app.modules.memory.directive_records import DirectiveRecords
from app.modules.memory.fact_reading import FactFilter
from app.modules.memory.memory_job import MemoryJob
from app.modules.memory.model import ConversationMemory, FactSource, NewFact, RememberedExchange
from app.modules.memory.profile import Profiles
from app.modules.memory.profile_text import ProfileSections
from app.modules.memory.profile_update import ProfileUpdate
from app.modules.memory.turns import StoredTurns
from app.modules.memory.vector_rewriting import Kind, VectorRewriting
from app.modules.memory.vectors import MemoryVectors
from app.modules.records.model import Message, Session
from app.modules.records.steps import InvestigationRecords
from app.modules.session.jobs import UseJob
from tests.bench.children import SECONDS, Report, Write, forked
from tests.bench.killed_turns import settings_on
from tests.support.kai_forks import import_application
from tests.support.trigrams import vector_of

QUESTION = (
    "Who churned?\nterminology (user): churn is 90 days\ndecision: net only\npreference (session): short"
)
USED, OLD, NEW, PROMOTED = "months as 2026-03", "in dollars", "in euros", "refunds count"
EXPECTED = sorted(["churn is 90 days", "net only", "short", USED, NEW, PROMOTED])
_WRITES = ("create", "create_missing", "put", "patch", "delete")
_IDS = str(UUID(int=19))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", choices=["sqlite", "typesense"], default="sqlite")
    parser.add_argument("--work", choices=["facts", "profile"], default="facts")
    given = parser.parse_args()
    import_application()
    gc.freeze()
    with tempfile.TemporaryDirectory(prefix="kai-killed-") as temporary, ExitStack() as opened:
        folder = Path(temporary)
        settings = settings_on(folder, "http://127.0.0.1:9/v1", given.store, opened)
        memory = MemorySettings(directives=True)
        with closing(sqlite3.connect(folder / "shop.db")) as shop:
            shop.executescript("CREATE TABLE customers (id INTEGER PRIMARY KEY)")
        scenario: Scenario = ProfileAndVectors()
        if given.work == "facts":
            scenario = FactsAndMemories(f"sqlite:///{folder}/shop.db")
        site = Site(settings.model_copy(update={"memory": memory}))
        sys.exit(0 if site.try_all(scenario) else 1)


class Scenario(Protocol):
    """What a worker does for an owner."""

    async def prepare(self, services: Services, owner: str) -> None: ...

    async def work(self, services: Services, owner: str, write: Write) -> None:
        """Write a line ("kept", text) once a fact is confirmed."""

    async def repeat(self, services: Services, owner: str, confirmed: Collection[str]) -> str | None:
        """Do the work of a killed process again. Returns what is wrong afterwards."""


class Site:
    """One KAI. Each moment has an owner of its own, so that all share the store."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def try_all(self, scenario: Scenario) -> bool:
        """Try every moment. Returns True if nothing went wrong."""
        began = time.monotonic()
        name = type(scenario).__name__
        whole = self._worked(scenario, f"{name} whole", None)
        writes = [line[1] for line in whole.lines if line[0] == "write"]
        if whole.exit_code != 0:
            print(json.dumps({"scenario": name, "fault": whole.first("error")}))
        # Before any other write, the store is as it was after the one before it.
        moments = [(0, "before"), *((number, "after") for number in range(len(writes)))]
        wrong = 0
        for number, when in moments:
            fault = self._try_moment(scenario, f"{name} {when} {number}", (number, when))
            wrong += fault is not None
            said = {"moment": f"{when} {writes[number]} ({number})", "fault": fault}
            print(json.dumps(said), flush=True)
        seconds = round(time.monotonic() - began)
        print(json.dumps({"scenario": name, "kills": len(moments), "wrong": wrong, "seconds": seconds}))
        return whole.exit_code == 0 and wrong == 0 and len(moments) > 0

    def _try_moment(self, scenario: Scenario, owner: str, moment: tuple[int, str]) -> str | None:
        """Returns what is wrong."""
        killed = self._worked(scenario, owner, moment)
        if killed.exit_code != -signal.SIGKILL:
            return f"the child ended with {killed.exit_code} and was not killed: {killed.lines[-1:]}"
        confirmed = {line[1] for line in killed.lines if line[0] == "kept"}

        async def look(write: Write) -> None:
            async with open_services(self._settings, "once") as services:
                write("fault", await scenario.repeat(services, owner, confirmed) or "")

        report = forked(look)
        if report.exit_code != 0:
            return f"the next process failed: {report.first('error')}"
        return report.first("fault") or None

    def _worked(self, scenario: Scenario, owner: str, moment: tuple[int, str] | None) -> Report:
        """A process that does the work of an owner, and dies at the moment."""

        async def work(write: Write) -> None:
            async with open_services(self._settings, "once") as services:
                await scenario.prepare(services, owner)
                _watch(moment, write)
                await scenario.work(services, owner, write)

        return forked(work)


class FactsAndMemories:
    """The jobs of an event, then what a person does on the page."""

    def __init__(self, database_url: str) -> None:
        self._url = database_url

    async def repeat(self, services: Services, owner: str, confirmed: Collection[str]) -> str | None:
        left = set(await _texts(services, owner))
        if not left.issuperset(confirmed):
            return f"lost: {sorted(set(confirmed) - left)}"
        if OLD not in left and NEW not in left:
            return "the reworded fact is lost in both forms"
        await self.work(services, owner, _write_nothing)
        if (now := await _texts(services, owner)) != EXPECTED:
            return f"not as it should be: {now}"
        state = await _state(services, owner)
        return None if state == {"uses": 1, "memories": 1, "records": 1} else f"doubled: {state}"

    async def prepare(self, services: Services, owner: str) -> None:
        known = await services.database_connections.register(owner, self._url, "shop", description="")
        session = await services.sessions.create(owner, known.id, None, mode="ask", metadata={})
        old = [await services.facts.keep(_fact(owner, text)) for text in (USED, OLD)]
        run_id = new_id()
        for role, sequence in (("human", 2), ("assistant", 3)):
            message = Message(
                id=new_id(),
                run_id=run_id,
                role="human" if role == "human" else "assistant",
                query=QUESTION,
                owner=owner,
                session_id=session.id,
                created_at=now_ms(),
                sequence=sequence,
                analysis="Two did." if role == "assistant" else None,
                remembered=[old[0].fact.id] if role == "assistant" else [],
            )
            await services.sessions.repository.add_message(message)

    async def work(self, services: Services, owner: str, write: Write) -> None:
        repository, facts = services.sessions.repository, services.facts
        session = await _session(services, owner)
        is_tainted = InvestigationRecords(services.storage).is_tainted
        records = DirectiveRecords(services.storage)
        turns = StoredTurns(repository, is_tainted)
        await DirectiveJob(turns, facts, records=records, is_tainted=is_tainted).work(session.id)
        await UseJob(repository, facts, services.context_store).work(session.id)
        await MemoryJob(turns, services.memories, None).work(session.id)
        await facts.keep(_fact(owner, PROMOTED))
        write("kept", PROMOTED)
        listed = await facts.first(owner, FactFilter(), 100)
        for fact in listed:
            if fact.text == OLD:
                await facts.supersede(owner, fact.id, NEW, source=FactSource("promotion", now_ms()))
        write("kept", NEW)


class ProfileAndVectors:
    """A profile that is learned and shown, and vectors that are written for another embedding model."""

    async def prepare(self, services: Services, owner: str) -> None:
        profiles, facts = Profiles(services.storage, enabled=True), services.facts
        await profiles.consent(owner, given=True)
        await profiles.write(owner, "goals", ["Learn SQL"], confirmed=False)
        kept = (await facts.keep(_fact(owner, OLD))).fact
        sized = replace(kept, vector_size=_OLD_SIZE, vector_model="old")
        await facts.vectors.keep(sized, "old", vector_of(OLD, _OLD_SIZE))
        await facts.repository.change(kept, {"vector_size": _OLD_SIZE, "vector_model": "old"})
        memory = _memory(owner)
        await MemoryVectors(services.storage).keep(memory, "old", vector_of(memory.summary, _OLD_SIZE))
        await services.memories.repository.replace(memory, None)
        for kind in _KINDS:  # of the moments before
            progress = await _rewriting(services).progress(kind)
            await services.storage.delete("vector_rewriting", [Equals("id", progress.id)])

    async def work(self, services: Services, owner: str, write: Write) -> None:
        profiles = Profiles(services.storage, enabled=True)
        asked = {_id(owner, "message"): RememberedExchange("I'm a controller. Who churned?", "Two.")}
        await ProfileUpdate(profiles, _Controller()).learn(owner, _id(owner, "session"), asked)
        await _show(profiles, owner)
        await _rewriting(services).work()
        await services.facts.keep(_fact(owner, PROMOTED))
        write("kept", PROMOTED)

    async def repeat(self, services: Services, owner: str, confirmed: Collection[str]) -> str | None:
        left = set(await _texts(services, owner))
        if not left.issuperset({OLD, *confirmed}):
            return f"lost: {sorted({OLD, *confirmed} - left)}"
        for kind in _KINDS:  # a minute later
            progress = await _rewriting(services).progress(kind)
            await services.storage.patch("vector_rewriting", progress.id, {"due_at": 1})
        await self.work(services, owner, _write_nothing)
        return await self._wrong(services, owner)

    async def _wrong(self, services: Services, owner: str) -> str | None:
        profiles, facts = Profiles(services.storage, enabled=True), services.facts
        profile = await profiles.find(owner)
        items = {name: [item.text for item in each] for name, each in profile.items.items()}
        if items != {"goals": ["Learn SQL"], "work_profile": [CONTROLLER]}:
            return f"not the profile that it should be: {items}"
        shown = await profiles.of_sessions.find(owner, _id(owner, "session"))
        if shown != await _show(profiles, owner) or "Learn SQL" not in str(shown):
            return f"not the text that the session has begun with: {shown}"
        listed = await facts.first(owner, FactFilter(), 100)
        rewritten = [fact for fact in listed if fact.vector_model == _Trigrams.name]
        if [fact.text for fact in rewritten] != [OLD]:
            return f"not the vectors of facts that should be rewritten: {rewritten}"
        memories = MemoryVectors(services.storage)
        group, memory = [facts.user_group(owner)], _memory(owner)
        found = await facts.vectors.nearest(group, _Trigrams.name, vector_of(OLD, _NEW_SIZE), limit=9)
        if [each.document_id for each in found] != [rewritten[0].id]:
            return f"the fact is not found by its new vector: {found}"
        if await facts.vectors.nearest(group, "old", vector_of(OLD, _OLD_SIZE), limit=9):
            return "a fact has a vector of the old model, too"
        for model, size, expected in (("old", _OLD_SIZE, []), (_Trigrams.name, _NEW_SIZE, [memory.id])):
            near = await memories.nearest(owner, model, vector_of(memory.summary, size), limit=9)
            if near != expected:
                return f"a search by the model {model} finds the conversations {near}"
        return None


_KINDS: Sequence[Kind] = ("facts", "conversations")
_OLD_SIZE = 16
_NEW_SIZE = 32
CONTROLLER = "Works as a controller"


class _Controller(LanguageModel):
    """Always learns the same."""

    def __init__(self) -> None:
        """It needs no service."""

    async def reply_by_schema(
        self,
        write_prompt: Callable[[ReplyFormat], Sequence[PromptMessage]],
        schema: ReplySchema,
        on_token: Callable[[str], None],
        *,
        temperature: float | None = None,
    ) -> Reply:
        claim = {"attribute": "work_profile", "text": CONTROLLER, "question": 1, "quote": "I'm a controller"}
        return Reply(json.dumps({"add": [claim], "remove": []}), 10)


class _Trigrams(EmbeddingModel):
    """Vectors without a service."""

    name = "trigrams"

    def __init__(self) -> None:
        """It connects to nothing."""

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [vector_of(text, _NEW_SIZE) for text in texts]


def _rewriting(services: Services) -> VectorRewriting:
    return VectorRewriting(services.storage, _Trigrams(), uncharged, metrics=CollectorRegistry())


async def _show(profiles: Profiles, owner: str) -> str:
    sections = ProfileSections(profiles, SECONDS, CollectorRegistry())
    return await sections.read(owner, _id(owner, "session"), is_first=True)


def _memory(owner: str) -> ConversationMemory:
    return ConversationMemory(
        id=_id(owner, "session"),
        owner=owner,
        session_id=_id(owner, "session"),
        summary="They looked into refunds.",
        themes=["refunds"],
        covers=_id(owner, "message"),
        updated_at=1,
        vector_size=_OLD_SIZE,
        vector_model="old",
    )


def _id(owner: str, name: str) -> str:
    return id_of(_IDS, f"{owner} {name}")


def _write_nothing(*_: str) -> None:
    """In a process that is not killed."""


def _fact(owner: str, text: str) -> NewFact:
    source = FactSource("promotion", now_ms())
    return NewFact(owner=owner, scope="user", kind="preference", text=text, source=source)


async def _session(services: Services, owner: str) -> Session:
    (session,) = await services.sessions.repository.latest(owner, [], 10)
    return session


async def _texts(services: Services, owner: str) -> list[str]:
    listed = await services.facts.first(owner, FactFilter(), 100)
    return sorted(fact.text for fact in listed)


async def _state(services: Services, owner: str) -> dict[str, int]:
    listed = await services.facts.first(owner, FactFilter(), 100)
    memories, _ = await services.memories.repository.latest(owner, 10, None)
    records = await services.storage.query("message_directives", Query())
    return {
        "uses": sum(fact.uses for fact in listed),
        "memories": len(memories),
        "records": sum(each["owner"] == owner for each in records.items),
    }


def _watch(moment: tuple[int, str] | None, write: Write) -> None:
    """Report each write of this process from now on, and end it at the moment."""
    counts: Counter[str] = Counter()

    def reach(when: str, what: str) -> None:
        number = counts[when]
        counts[when] += 1
        if when == "before":
            write("write", what)
        if moment == (number, when):
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(method: str) -> None:
        original = cast("Callable[..., Awaitable[object]]", getattr(MeasuredStorage, method))

        @wraps(original)
        async def watched(*given: object, **named: object) -> object:
            reach("before", f"{method} {given[1]}")
            returned = await original(*given, **named)
            reach("after", f"{method} {given[1]}")
            return returned

        setattr(MeasuredStorage, method, watched)

    for each in _WRITES:
        watch(each)


if __name__ == "__main__":
    main()
