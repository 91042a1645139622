"""What a run costs through KAI's own route, through `/langgraph`, and on LangGraph's own server.

python -m tests.bench.protocols [--quick] [--page]

The same question, model and database for all, in one run on one machine. Processor time (user and system) is
of the server alone. `langgraph dev` is installed from PyPI for the time of the run, in the versions of
`reference/requirements.txt`; its graph does the same steps, and nothing of what KAI checks.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from pydantic import JsonValue

from tests.bench.own_time import limits
from tests.bench.own_time.model import model_process
from tests.bench.own_time.report import conditions, write_part
from tests.bench.protocols.reference.server import cpu_seconds, reference_server
from tests.bench.protocols.wire import Answer, post
from tests.support.server import Client, Server, client_of, running_server

QUESTION = "How many customers are there?"
AT_ONCE = 20
SQL = "SELECT count(*) AS n FROM customers"
_DELTAS = ["updates", "messages-tuple"]
_VALUES = ["values", "messages-tuple"]


@dataclass(frozen=True)
class Sizes:
    rounds: int
    turns: int
    """Of each round, one after another."""
    each: int
    """Of each of the conversations at once."""
    messages: int
    """Of the long conversation."""


WHOLE = Sizes(rounds=3, turns=12, each=5, messages=5_000)
QUICK = Sizes(rounds=1, turns=3, each=1, messages=300)


@dataclass
class Way:
    """A way to have a question answered, and what was measured of it: a figure a round."""

    name: str
    open_thread: Callable[[], Awaitable[str]]
    ask: Callable[[str], Awaitable[Answer]]
    """The answer to the question in a thread."""
    cpu: Callable[[], float]
    """Processor seconds of the server so far."""
    first_frame: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    rate: list[float] = field(default_factory=list)

    async def measure(self, sizes: Sizes) -> None:
        alone, *together = [await self.open_thread() for _ in range(1 + AT_ONCE)]
        await self.ask(alone)
        used = self.cpu()
        answers = [await self.ask(alone) for _ in range(sizes.turns)]
        self.first_frame.append(statistics.median(each.first_frame for each in answers))
        self.whole.append(statistics.median(each.whole for each in answers))
        begun = time.perf_counter()
        await asyncio.gather(*(self._ask_often(thread, sizes.each) for thread in together))
        runs = AT_ONCE * sizes.each
        self.rate.append(runs / (time.perf_counter() - begun))
        self.milliseconds.append((self.cpu() - used) * 1_000 / (runs + sizes.turns))

    async def _ask_often(self, thread: str, times: int) -> None:
        for _ in range(times):
            await self.ask(thread)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes: to try it out")
    parser.add_argument("--page", action="store_true", help="write the figures into docs/performance.md")
    given = parser.parse_args()
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="kai-bench-")))
        shop = limits.build_database(folder)
        model = opened.enter_context(model_process())
        reference = opened.enter_context(
            reference_server(folder / "reference", database=folder / "shop.db", model=model)
        )
        server = opened.enter_context(running_server(folder / "kai", model, log=folder / "kai.log"))
        text = asyncio.run(_measured(server, reference, shop, QUICK if given.quick else WHOLE))
    if given.page:
        write_part("protocols", f"{conditions()}\n\n{text}")
    print(text)


async def _measured(server: Server, reference: tuple[str, int], shop: str, sizes: Sizes) -> str:
    async with client_of(server) as client:
        database = await client.connect(shop)
        ways = _ways(server, client, database, reference)
        for _ in range(sizes.rounds):
            for way in ways:
                await way.measure(sizes)
        lengths = await _lengths(server, client, database, ways[:3], sizes)
    return f"{_costs(ways)}\n\n{lengths}"


def _ways(server: Server, client: Client, database: str, reference: tuple[str, int]) -> list[Way]:
    address, group = reference

    async def open_session() -> str:
        return await client.open_session(database)

    async def open_thread() -> str:
        made = cast("dict[str, JsonValue]", (await post(f"{address}/threads", {})).content)
        return str(made["thread_id"])

    def own(session: str) -> Awaitable[Answer]:
        return post(f"{server.address}/api/v1/sessions/{session}/query/stream", {"query": QUESTION})

    def through(base: str, assistant: str, modes: Sequence[str]) -> Callable[[str], Awaitable[Answer]]:
        question: JsonValue = {"messages": [{"role": "user", "content": QUESTION}]}
        body: JsonValue = {"assistant_id": assistant, "input": question, "stream_mode": [*modes]}
        return lambda thread: post(f"{base}/threads/{thread}/runs/stream", body)

    def used() -> float:
        return cpu_seconds(group)

    kai = f"{server.address}/langgraph"
    return [
        Way("KAI, its own route", open_session, own, server.cpu_seconds),
        Way(
            "KAI through `/langgraph`, deltas", open_session, through(kai, "kai", _DELTAS), server.cpu_seconds
        ),
        Way(
            "KAI through `/langgraph`, values", open_session, through(kai, "kai", _VALUES), server.cpu_seconds
        ),
        Way("`langgraph dev`, deltas", open_thread, through(address, "answers", _DELTAS), used),
        Way("`langgraph dev`, values", open_thread, through(address, "answers", _VALUES), used),
        Way("`langgraph dev`, five empty steps", open_thread, through(address, "empty", _DELTAS), used),
    ]


def _costs(ways: Sequence[Way]) -> str:
    lines = [
        f"| | first frame | whole run | processor time of a run | runs a second, {AT_ONCE} at once |",
        "|---|---|---|---|---|",
    ]
    own = statistics.median(ways[0].milliseconds)
    for way in ways:
        ratio = f" ({statistics.median(way.milliseconds) / own:.2f} x)"
        lines.append(
            f"| {way.name} | {_spread(way.first_frame)} ms | {_spread(way.whole)} ms "
            f"| {_spread(way.milliseconds)} ms{ratio} | {_spread(way.rate)} |"
        )
    return "\n".join(lines)


async def _lengths(server: Server, client: Client, database: str, ways: Sequence[Way], sizes: Sizes) -> str:
    """Bytes of a turn near the beginning of a conversation, behind the window of `values`, and far on."""
    places = (5, 205, sizes.messages)
    lines = [
        "| bytes of a turn | " + " | ".join(f"at message {each:,}" for each in places) + " |",
        "|---|---|---|---|",
    ]
    session = await client.open_session(database)
    url = f"{server.address}/api/v1/sessions/{session}/query/stream"
    asked = 0
    found: list[list[int]] = [[] for _ in ways]
    for message in places:
        while asked < message // 2:
            await post(url, {"query": QUESTION, "sql": SQL})
            asked += 1
        for sizes_of_way, way in zip(found, ways, strict=True):
            sizes_of_way.append((await way.ask(session)).bytes_of_frames)
            asked += 1
    for way, of_way in zip(ways, found, strict=True):
        lines.append(" | ".join([f"| {way.name}", *(f"{each:,}" for each in of_way)]) + " |")
    return "\n".join(lines)


def _spread(values: Sequence[float]) -> str:
    middle = statistics.median(values)
    digits = 0 if middle >= 100 else 1
    return f"{middle:.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


if __name__ == "__main__":
    main()
