"""Storms: questions are asked while processes of one kind are killed or frozen every second or two.

python -m tests.bench.storms [--questions 300] [--seed 1] [KIND ...]     kinds: see STORMS

Each storm breaks a KAI of two APIs and two workers, and prints one line: the acknowledged questions that
have no answer (lost) or several (twice); answers out of the order of their questions; streams whose end
differs from the history (disagreeing); sessions that stay held (stuck); runs that failed; and the seconds
from the first POST to `done`. A seed repeats the choices of victims and times, not the storm.
"""

import argparse
import asyncio
import os
import random
import signal
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any
from uuid import uuid4

import httpx
from httpx_sse import SSEError

from app.core.storage.typesense_server import TypesenseServer
from tests.support import typesense
from tests.support.cluster import Cluster, running_cluster, shared
from tests.support.nats_server import FragileNats, running_nats, running_nats_cluster
from tests.support.scripted_model import Scripted, ScriptedModel, scripted_model
from tests.support.server import Client, Event, Server, client_of

CLIENTS = 12
SESSIONS = 24
REST_SECONDS = 120
STREAM_SECONDS = 300
_DROPPED = (httpx.HTTPError, SSEError, StopAsyncIteration, AssertionError)


@dataclass(frozen=True)
class Ground:
    """The processes of one KAI, and the servers below them."""

    cluster: Cluster
    nats: Sequence[FragileNats]
    typesense: Sequence[TypesenseServer]


@dataclass
class Answer:
    """A question as its client saw it. Times are seconds of one clock."""

    session: str
    question: str
    asked_at: float
    run_id: str = ""
    acknowledged_at: float = 0.0
    events: list[Event] = field(default_factory=list)
    done_at: float = 0.0


Break = Callable[[Ground, random.Random], Coroutine[None, None, None]]


async def _break_process(victim: Server, chance: random.Random) -> None:
    if chance.random() < 0.5:
        victim.freeze()
        await asyncio.sleep(chance.uniform(0.5, 5))
        victim.thaw()
    else:
        await asyncio.to_thread(victim.kill)
        await asyncio.sleep(chance.uniform(0, 1))
        await asyncio.to_thread(victim.start)


async def _break_server(
    victim: FragileNats | TypesenseServer, chance: random.Random, *, loses_data: bool = False
) -> None:
    """Servers are spawned by this thread, with which they end."""
    assert victim.process_id is not None
    if chance.random() < 0.5 and not loses_data:
        os.kill(victim.process_id, signal.SIGSTOP)
        await asyncio.sleep(chance.uniform(0.5, 5))
        os.kill(victim.process_id, signal.SIGCONT)
        return
    victim.kill()
    if loses_data and isinstance(victim, FragileNats):
        victim.lose_data()
    await asyncio.sleep(chance.uniform(0, 1))
    victim.spawn()
    await asyncio.to_thread(victim.wait_until_ready)


async def _break_api(ground: Ground, chance: random.Random) -> None:
    await _break_process(chance.choice(ground.cluster.apis), chance)


async def _break_worker(ground: Ground, chance: random.Random) -> None:
    await _break_process(chance.choice(ground.cluster.workers), chance)


async def _break_nats(ground: Ground, chance: random.Random) -> None:
    await _break_server(chance.choice(ground.nats), chance)


async def _empty_nats(ground: Ground, chance: random.Random) -> None:
    await _break_server(chance.choice(ground.nats), chance, loses_data=True)


async def _break_typesense(ground: Ground, chance: random.Random) -> None:
    await _break_server(chance.choice(ground.typesense), chance)


@dataclass(frozen=True)
class Storm:
    """A kind of storm. `nodes` counts the servers of NATS and of Typesense; `pause` is between two breaks."""

    strike: Break
    nats_nodes: int = 1
    typesense_nodes: int = 1
    pause_seconds: tuple[float, float] = (1, 2)


STORMS = {
    "api": Storm(_break_api),
    "worker": Storm(_break_worker),
    "nats": Storm(_break_nats),
    "nats-emptied": Storm(_empty_nats, pause_seconds=(4, 8)),
    "nats-of-three": Storm(_break_nats, nats_nodes=3),
    "typesense": Storm(_break_typesense, pause_seconds=(4, 8)),
    "typesense-of-three": Storm(_break_typesense, typesense_nodes=3, pause_seconds=(4, 8)),
}


async def _submit(apis: Sequence[Server], answer: Answer, chance: random.Random) -> None:
    """Ask until it is acknowledged, always with the same key. A 202 names the run."""
    key = str(uuid4())
    url = f"/sessions/{answer.session}/query/stream"
    body = {"query": answer.question, "multitask_strategy": "enqueue"}
    while not answer.run_id:
        try:
            async with (
                client_of(chance.choice(apis)) as kai,
                kai.http.stream("POST", url, json=body, headers={"Idempotency-Key": key}) as response,
            ):
                if response.status_code == 200:
                    answer.run_id = response.headers["X-Run-Id"]
                    answer.acknowledged_at = time.monotonic()
                    return
        except _DROPPED:
            pass
        await asyncio.sleep(0.2)


async def _follow(apis: Sequence[Server], answer: Answer, chance: random.Random) -> None:
    """The whole stream, over as many connections and APIs as it takes."""
    async with asyncio.timeout(STREAM_SECONDS):
        while not answer.events or answer.events[-1].name != "done":
            try:
                async with client_of(chance.choice(apis)) as kai:
                    last = answer.events[-1].id if answer.events else None
                    async with kai.following(answer.session, answer.run_id, last) as stream:
                        while True:
                            answer.events.append(await stream.next())
            except _DROPPED:
                await asyncio.sleep(0.2)
    answer.done_at = time.monotonic()


async def _strike_again_and_again(storm: Storm, ground: Ground, chance: random.Random) -> None:
    struck = 0
    try:
        while True:
            await asyncio.sleep(chance.uniform(*storm.pause_seconds))
            await asyncio.shield(asyncio.create_task(storm.strike(ground, chance)))
            struck += 1
    finally:
        print(f"    {struck} kills and freezes", flush=True)


async def _ride_out(name: str, ground: Ground, database: str, *, questions: int, seed: int) -> None:
    storm, chance = STORMS[name], random.Random(seed)
    apis = ground.cluster.apis
    async with client_of(apis[0]) as kai:
        connection = await kai.connect(database)
        sessions = [await kai.open_session(connection) for _ in range(SESSIONS)]
    numbers, answers = iter(range(questions)), list[Answer]()

    async def use() -> None:
        for number in numbers:
            answer = Answer(chance.choice(sessions), f"How many customers? ({number})", time.monotonic())
            answers.append(answer)
            await _submit(apis, answer, chance)
            await _follow(apis, answer, chance)

    began = time.monotonic()
    striking = asyncio.create_task(_strike_again_and_again(storm, ground, chance))
    ended = await asyncio.gather(*(use() for _ in range(CLIENTS)), return_exceptions=True)
    striking.cancel()
    await asyncio.gather(striking, return_exceptions=True)
    await asyncio.sleep(6)  # a freeze or a start that was under way
    seconds = time.monotonic() - began
    for problem in (each for each in ended if isinstance(each, BaseException)):
        print(f"    a client gave up: {problem!r}")
    histories, stuck = await _histories(apis, sessions)
    print(f"{name}: {_counted(answers, histories, stuck)}, {seconds:.0f} s in all", flush=True)


async def _histories(
    apis: Sequence[Server], sessions: Sequence[str]
) -> tuple[dict[str, list[dict[str, Any]]], int]:
    """The messages of each session once it is free, oldest first, and how many never were."""
    found: dict[str, list[dict[str, Any]]] = {}
    until = time.monotonic() + REST_SECONDS
    while len(found) < len(sessions) and time.monotonic() < until:
        for session in (each for each in sessions if each not in found):
            try:
                async with client_of(apis[0]) as kai:
                    if (await kai.session(session))["status"] != "processing":
                        found[session] = await _messages(kai, session)
            except (*_DROPPED, ValueError):
                await asyncio.sleep(0.5)
        await asyncio.sleep(0.5)
    return found, len(sessions) - len(found)


async def _messages(kai: Client, session: str) -> list[dict[str, Any]]:
    page = (await kai.http.get(f"/sessions/{session}", params={"limit": 100})).json()["messages"]
    assert page["next_cursor"] is None
    return list(page["items"])


def _counted(answers: Sequence[Answer], histories: dict[str, list[dict[str, Any]]], stuck: int) -> str:
    kept = [each for messages in histories.values() for each in messages if each["role"] == "assistant"]
    times = Counter(str(each["query"]) for each in kept)
    status = {str(each["run_id"]): each["status"] for each in kept}
    asked = [each for each in answers if each.run_id]
    over = [each for each in asked if each.done_at]
    disagreeing = sum(
        each.events[-1].data["status"] != status.get(each.run_id)
        or [event.name for event in each.events].count("done") != 1
        or [event.id for event in each.events] != sorted({event.id for event in each.events})
        for each in over
    )
    waited = sorted(each.done_at - each.asked_at for each in over)
    cuts = quantiles(waited, n=100)
    return (
        f"{len(asked)} of {len(answers)} acknowledged, {len(asked) - len(over)} without done, "
        f"{sum(times[each.question] == 0 for each in asked)} lost, "
        f"{sum(times[each.question] > 1 for each in asked)} twice, {_out_of_order(asked, histories)} out of "
        f"order, {disagreeing} disagreeing, {stuck} stuck, "
        f"{sum(each['status'] == 'failed' for each in kept)} failed; "
        f"p50 {cuts[49]:.1f} s, p99 {cuts[98]:.1f} s to done"
    )


def _out_of_order(asked: Sequence[Answer], histories: dict[str, list[dict[str, Any]]]) -> int:
    """Pairs of a session of which the one was asked after the other was acknowledged, and answered first."""
    places = {
        str(message["run_id"]): place
        for messages in histories.values()
        for place, message in enumerate(messages)
        if message["role"] == "assistant"
    }
    placed = [each for each in asked if each.run_id in places]
    return sum(
        places[one.run_id] > places[other.run_id]
        for one in placed
        for other in placed
        if one.session == other.session and one.acknowledged_at < other.asked_at
    )


def _database(folder: Path) -> str:
    with closing(sqlite3.connect(folder / "shop.db")) as connection:
        connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT)")
        connection.commit()
    return f"sqlite:///{folder / 'shop.db'}"


def _ride(name: str, model: ScriptedModel, *, questions: int, seed: int) -> None:
    storm = STORMS[name]
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="kai-storm-")))
        stores: Sequence[TypesenseServer]
        if storm.typesense_nodes == 3:
            (folder / "typesense").mkdir()
            stores = opened.enter_context(typesense.cluster(folder / "typesense"))
        else:
            stores = [TypesenseServer(folder / "typesense")]
            stores[0].start()
            opened.callback(stores[0].kill)
        servers: Sequence[FragileNats]
        if storm.nats_nodes == 3:
            servers = opened.enter_context(running_nats_cluster(folder / "nats"))
        else:
            servers = [opened.enter_context(running_nats(folder / "nats"))]
        urls = ",".join(f'"{each.url}"' for each in stores)
        settings = shared(stores[0], servers[0]) | {
            "KAI_TYPESENSE__NODES": f"[{urls}]",
            "KAI_NATS__URL": ",".join(each.url for each in servers),
            "KAI_NATS__REPLICAS": str(storm.nats_nodes),
            "KAI_LLM__BASE_URL": model.base_url,
            "KAI_LLM__API_KEY": "sk-never-shown",
            "KAI_LLM__MODEL": "scripted",
        }
        cluster = opened.enter_context(running_cluster(folder, settings, log=folder / "log"))
        ground = Ground(cluster, servers, stores)
        asyncio.run(_ride_out(name, ground, _database(folder), questions=questions, seed=seed))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kinds", nargs="*", help=f"of {', '.join(STORMS)}; by default all")
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if unknown := set(given.kinds) - set(STORMS):
        parser.error(f"no such kinds: {', '.join(sorted(unknown))}; choose of {', '.join(STORMS)}")
    with scripted_model() as model:
        model.rule("", Scripted("CHAT: There are three of them, two in Brazil.", delay_seconds=0.03))
        for name in given.kinds or STORMS:
            _ride(name, model, questions=given.questions, seed=given.seed)


if __name__ == "__main__":
    main()
