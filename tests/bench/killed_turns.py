"""Kills or freezes the process of an approved action at each of its awaits, and lets another process go on.

python -m tests.bench.killed_turns [--freeze] [--store KIND] [--repetitions 20] [--all | --around-effect]
    KIND: sqlite, typesense, or nats (Typesense, with NATS between processes)

A turn asks for an approval, is approved, acts and concludes. A child process makes it, and sends itself
SIGKILL before or after one operation: of the store, of the checkpoints, of the queue, or the effect itself.
The next process opens the same store and does what a client does: asks with the same key, decides what waits,
follows. Then: one answer, one card, no decision asked twice, at most one effect, and `unknown` only where the
call had begun and its end was not stored. One line of JSON for each moment; the exit code is 1 if any failed.
Over NATS the run of the process that died is delivered to the next one after its lease.

With --freeze it sends itself SIGSTOP, and is thawed after more than its lease: over NATS while the next
process goes on, after more of its operations in each repetition, and in the last when it has ended. Both then
have to end, with the same. In one process there is no other: the turn has to go on where it was.
"""

import argparse
import asyncio
import gc
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import cast
from uuid import uuid4

from cryptography.fernet import Fernet
from pydantic import SecretStr

from app.bootstrap import Services, open_services
from app.core.auth.caller import LOCAL_OWNER, SCOPES_OF_ROLE, Caller
from app.core.bus.local import LocalJobs
from app.core.bus.nats_jobs import NatsJobs
from app.core.servers import free_port
from app.core.settings import NO_QUOTAS, LlmSettings, NatsSettings, Settings, ToolSettings, TypesenseSettings
from app.core.storage.measured import MeasuredStorage
from app.core.storage.typesense_server import TypesenseServer
from app.modules.records.model import NewQuestion, Run, Session
from graph.checkpoints import SqliteCheckpointer
from tests.bench.agent_loop.model import wait_for
from tests.bench.children import Child, Report, Write, forked, freeze_self
from tests.support import booking_tool
from tests.support.kai_forks import import_application
from tests.support.nats_server import running_nats
from tests.support.scripted_model import Scripted, ScriptedModel
from typesense_checkpoint import TypesenseCheckpointer

QUESTION = "Book seven"
ANSWER = "Done."
CALLER = Caller(owner=LOCAL_OWNER, role="user", scopes=SCOPES_OF_ROLE["user"], signed_in_by="local")
LEASE_SECONDS = 3
FROZEN_SECONDS = 4

NAMED = (
    "create agent_steps",
    "patch tool_calls waiting",
    "patch tool_calls approved",
    "create runs following",
    "patch sessions handed on",
    "queue",
    "patch tool_calls begun",
    "effect",
    "patch tool_calls done",
    "checkpoint",
)
"""The operations that are tried by default: step kept, call asked, decision kept, run created, session handed
on, run queued, call begun, effect, outcome stored, and checkpoint.
"""
_AROUND_EFFECT = ("patch tool_calls approved", "patch tool_calls begun", "effect", "patch tool_calls done")
_AFTER_EFFECT = ("patch tool_calls done", "checkpoint")
"""Of these, the first after the effect is tried; of the others, the last before its end."""


@dataclass(frozen=True)
class Moment:
    """Before or after the n-th operation (from 0) of this name."""

    operation: str
    number: int
    when: str

    def __str__(self) -> str:
        return f"{self.when} {self.operation} ({self.number})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", choices=["sqlite", "typesense", "nats"], default="sqlite")
    parser.add_argument("--freeze", action="store_true", help="freeze it for longer than its lease")
    parser.add_argument("--repetitions", type=int, default=20)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--all", action="store_true", help="every operation, not the named ones alone")
    which.add_argument("--around-effect", action="store_true", help="the decision, the effect and its ends")
    parser.add_argument("--model-port", type=int)
    given = parser.parse_args()
    if given.model_port is not None:
        _serve_model(given.model_port)
        return
    import_application()
    gc.freeze()
    with tempfile.TemporaryDirectory(prefix="kai-killed-") as temporary, ExitStack() as opened:
        folder = Path(temporary)
        settings = settings_on(folder, opened.enter_context(running_model()), given.store, opened)
        site = Site(folder, settings, freezes=given.freeze)
        names = _AROUND_EFFECT if given.around_effect else NAMED
        sys.exit(0 if site.try_all(given.repetitions, None if given.all else names) else 1)


@contextmanager
def running_model() -> Iterator[str]:
    port = free_port()
    program = [sys.executable, "-m", "tests.bench.killed_turns", "--model-port", str(port)]
    process = subprocess.Popen(program)
    try:
        wait_for(port)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def _serve_model(port: int) -> None:
    model = ScriptedModel()
    model.rule("", Scripted(calls=(("finish", json.dumps({"answer": ANSWER})),)))
    model.rule(
        lambda asked: not any(message["role"] == "tool" for message in asked.messages),
        Scripted(calls=(("book", json.dumps({"n": 7})),)),
    )
    model.rule("SQL writer", "INVESTIGATE:\n1. Book it")
    asyncio.run(model.serve(port))


def settings_on(folder: Path, model_url: str, store: str, opened: ExitStack) -> Settings:
    """Returns the settings of a KAI whose data are in a folder, or in a Typesense of its own."""
    llm = LlmSettings(base_url=model_url, api_key=SecretStr("none"), model="m", titles=False, memories=False)
    tools = ToolSettings(extensions=True)
    embedded = Settings(data_dir=folder / "data", llm=llm, quotas=NO_QUOTAS, tools=tools)
    if store == "sqlite":
        return embedded
    (folder / "typesense").mkdir()
    server = TypesenseServer(folder / "typesense")
    server.spawn()
    opened.callback(server.kill)
    server.wait_until_ready()
    address = TypesenseSettings(
        nodes=[server.url], api_key=SecretStr(server.api_key), prefix=f"t{uuid4().hex}_"
    )
    on_typesense = embedded.model_copy(update={"store": "typesense", "typesense": address})
    if store == "typesense":
        return on_typesense
    nats = NatsSettings(url=SecretStr(opened.enter_context(running_nats(folder / "nats")).url))
    key = SecretStr(Fernet.generate_key().decode())
    worker = embedded.worker.model_copy(update={"lease_seconds": LEASE_SECONDS})
    return on_typesense.model_copy(update={"nats": nats, "worker": worker, "encryption_key": key})


class Site:
    """One KAI, whose processes die or freeze."""

    def __init__(self, folder: Path, settings: Settings, *, freezes: bool = False) -> None:
        self._freezes = freezes
        self._folder = folder
        self._settings = settings
        booking_tool.install(folder / "site")
        sys.path.insert(0, str(folder / "site"))
        with closing(sqlite3.connect(folder / "shop.db")) as shop:
            shop.executescript("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT)")
        self._connection_id = forked(self._connect).first("connection") or ""

    def try_all(self, repetitions: int, names: Sequence[str] | None) -> bool:
        """Try the moments of these operations, or of all. Returns True if nothing went wrong."""
        began = time.monotonic()
        whole = self._turn(None, self._bookings()).wait()
        if whole.exit_code != 0:
            raise RuntimeError(f"a turn that nothing breaks has failed: {whole.first('error')}")
        operations = whole.operations("before")
        moments = _moments(operations, names)
        has_others = self._settings.nats.url is not None
        # The operations of the next process before the other one is thawed, by repetition.
        counts = [len(operations) * (each + 1) // repetitions * has_others for each in range(repetitions)]
        counts[-1] = sys.maxsize * has_others
        wrong = 0
        outcomes: Counter[str] = Counter()
        for moment in moments:
            found = Counter(
                self.try_frozen(moment, count) if self._freezes else self.try_killed(moment)
                for count in counts
            )
            faults = [each for each in found if each.startswith("wrong")]
            wrong += sum(found[each] for each in faults)
            outcomes.update(found)
            print(json.dumps({"moment": str(moment), **found}), flush=True)
        tried = {"freezes" if self._freezes else "kills": repetitions * len(moments)}
        seconds = round(time.monotonic() - began)
        print(json.dumps({"moments": len(moments), **tried, "wrong": wrong, "seconds": seconds}))
        return wrong == 0

    def try_killed(self, moment: Moment) -> str:
        """Returns how the action ended, or what is wrong."""
        bookings = self._bookings()
        killed = self._turn(moment, bookings).wait()
        if killed.exit_code != -signal.SIGKILL:
            return f"wrong: the child ended with {killed.exit_code} and was not killed"
        following = self._following(killed.first("session"), bookings).wait()
        return _outcome(killed, following, _effects(bookings))

    def try_frozen(self, moment: Moment, operations: int) -> str:
        """Freeze it for longer than its lease, and until another process has begun so many operations.
        0: there is no other. Returns how the action ended, or what is wrong.
        """
        bookings = self._bookings()
        frozen = self._turn(moment, bookings)
        if not frozen.wait_until_frozen():
            return f"wrong: the child ended with {frozen.wait().exit_code} and was not frozen"
        until = time.monotonic() + FROZEN_SECONDS
        other: Child | None = None
        if operations:
            other = self._following(frozen.first("session"), bookings)
            other.wait_for_operations(operations)
        time.sleep(max(0, until - time.monotonic()))
        frozen.thaw()
        thawed = frozen.wait()
        last = thawed if other is None else other.wait()
        effects = _effects(bookings)
        outcomes = {_outcome(thawed, each, effects) for each in (thawed, last)}
        if len(outcomes) > 1 or (other is None and outcomes != {"done, 1 effects"}):
            return f"wrong: {sorted(outcomes)}"
        return outcomes.pop()

    def _bookings(self) -> Path:
        """Returns the file of the effects of a new turn."""
        return self._folder / f"bookings-{uuid4().hex}"

    def _turn(self, moment: Moment | None, bookings: Path) -> Child:
        """Begin a turn that dies or freezes at the moment."""

        async def make(write: Write) -> None:
            os.environ[booking_tool.VARIABLE] = str(bookings)
            async with open_services(self._settings, "once") as services:
                session = await services.sessions.create(
                    LOCAL_OWNER, self._connection_id, None, mode="agent", metadata={}
                )
                write("session", session.id)
                _watch(moment, write, freezes=self._freezes)
                await _drive(services, session.id, write)

        return Child(make)

    def _following(self, session_id: str | None, bookings: Path) -> Child:
        """Begin the process that goes on with a turn."""

        async def go_on(write: Write) -> None:
            os.environ[booking_tool.VARIABLE] = str(bookings)
            if session_id is None:
                raise RuntimeError("there is no session")
            async with open_services(self._settings, "once") as services:
                _watch(None, write)
                await _drive(services, session_id, write)

        return Child(go_on)

    async def _connect(self, write: Write) -> None:
        url = f"sqlite:///{self._folder}/shop.db"
        async with open_services(self._settings, "once") as services:
            made = await services.database_connections.register(LOCAL_OWNER, url, "shop", description="")
            write("connection", made.id)


def _effects(bookings: Path) -> int:
    return len(bookings.read_text().split()) if bookings.exists() else 0


def _outcome(broken: Report, last: Report, effects: int) -> str:
    """Returns how an action ended, by what its last process has reported, or what is wrong. `broken` is the
    process that was killed or frozen.
    """
    if last.exit_code != 0:
        return f"wrong: the process that went on failed: {last.first('error')}"
    ended = json.loads(last.first("ended") or "{}")
    if ended["status"] not in ("done", "unknown") or effects > 1:
        return f"wrong: {ended}, {effects} effects"
    if ended["status"] == "done" and effects != 1:
        return f"wrong: done with {effects} effects"
    has_begun = "patch tool_calls begun" in broken.operations("after")
    is_stored = "patch tool_calls done" in broken.operations("after")
    if ended["status"] == "unknown" and (not has_begun or is_stored):
        return "wrong: unknown, and the call had not begun or was stored"
    if ended["messages"] != [["human", "complete", None], ["assistant", "complete", ANSWER]]:
        return f"wrong: {ended}"
    if ended["cards"] != 1 or any(each != ["done"] for each in ended["ends"]):
        return f"wrong: {ended}"
    has_decided = "patch tool_calls approved" in broken.operations("after")
    if last is not broken and has_decided and ended["was"] == "waiting":
        return "wrong: a stored decision was asked for again"
    return f"{ended['status']}, {effects} effects"


async def _drive(services: Services, session_id: str, write: Write) -> None:
    """What a client does, from the start: each of its requests may be repeated."""
    session, run = await services.sessions.ask(
        LOCAL_OWNER, session_id, NewQuestion(QUESTION, idempotency_key="the question")
    )
    await _follow(services, session, run)
    cards, _ = await services.confirmations.page(LOCAL_OWNER, session_id, None, limit=10, cursor=None)
    decided = await services.confirmations.decide(
        CALLER,
        session_id,
        cards[0].id,
        verdict="approve",
        call_hash=cards[0].call_hash,
        reason=None,
    )
    if decided.run_id is None:
        raise RuntimeError("no run goes on")
    following = await services.sessions.run(LOCAL_OWNER, session_id, decided.run_id)
    await _follow(services, *following)
    session = await services.sessions.repository.get(LOCAL_OWNER, session_id)
    if (session.status, session.active_run_id) != ("idle", None):
        raise RuntimeError(f"the session is {session.status}")
    messages, _ = await services.sessions.repository.messages(session, 10, None)
    ended, _ = await services.confirmations.page(LOCAL_OWNER, session_id, None, limit=10, cursor=None)
    verdict = {
        "status": ended[0].status,
        "was": cards[0].status,
        "cards": len(ended),
        "messages": [[each.role, each.status, each.analysis] for each in messages],
        "ends": [await _follow(services, session, run), await _follow(services, *following)],
    }
    write("ended", json.dumps(verdict))


async def _follow(services: Services, session: Session, run: Run) -> list[str]:
    """Follow a run to its end. Returns the events from the first `done` on."""
    events = [each.event async for each in services.sessions.follower.events(run)]
    return events[events.index("done") :] if "done" in events else events


def _watch(moment: Moment | None, write: Write, *, freezes: bool = False) -> None:
    """Report each operation of this process from now on, and end or freeze it at the moment."""
    counts: Counter[tuple[str, str]] = Counter()

    def reach(when: str, operation: str) -> None:
        number = counts[when, operation]
        counts[when, operation] += 1
        write("operation", when, operation)
        if moment == Moment(operation, number, when):
            if freezes:
                freeze_self(write)
            else:
                os.kill(os.getpid(), signal.SIGKILL)

    def watch(owner: type, method: str, name_of: Callable[..., str]) -> None:
        original = cast("Callable[..., Awaitable[object]]", getattr(owner, method))

        @wraps(original)
        async def watched(*given: object, **named: object) -> object:
            operation = name_of(*given[1:], **named)
            reach("before", operation)
            returned = await original(*given, **named)
            reach("after", operation)
            return returned

        setattr(owner, method, watched)

    watch(MeasuredStorage, "create", _creation)
    watch(MeasuredStorage, "patch", _change)
    watch(MeasuredStorage, "put", lambda collection, documents: f"put {collection}")
    watch(MeasuredStorage, "delete", lambda collection, where: f"delete {collection}")
    for saver in (SqliteCheckpointer, TypesenseCheckpointer):
        watch(saver, "aput", lambda *given, **named: "checkpoint")
        watch(saver, "aput_writes", lambda *given, **named: "writes")
    for queue in (LocalJobs, NatsJobs):
        watch(queue, "put", lambda *given, **named: "queue")
    booking_tool.on_effect.append(lambda when: reach(when, "effect"))


def _creation(collection: str, document: Mapping[str, object]) -> str:
    following = " following" if collection == "runs" and document.get("resumes") else ""
    return f"create {collection}{following}"


def _change(collection: str, document_id: str, changes: Mapping[str, object], **more: object) -> str:
    what = changes.get("status", "") if collection in ("tool_calls", "runs") else ""
    if collection == "sessions" and "active_run_id" in changes:
        what = "handed on" if changes.get("status") == "processing" and "fence" in changes else "released"
    return f"patch {collection} {what}".strip()


def _moments(operations: Sequence[str], names: Sequence[str] | None) -> list[Moment]:
    """`operations` are those of a whole turn, in their order."""
    if names is None:
        counts = Counter(operations)
        every = [(name, number) for name in counts for number in range(counts[name])]
        return [Moment(name, number, when) for name, number in every for when in ("before", "after")]
    effect = operations.index("effect")
    moments: list[Moment] = []
    for name in names:
        before = operations[: effect + 1].count(name)
        number = before if name in _AFTER_EFFECT else before - 1
        moments += [Moment(name, number, when) for when in ("before", "after")]
    return moments


if __name__ == "__main__":
    main()
