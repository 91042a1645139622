"""What many processes cost and bring: `make bench-scale` runs it all, in some eight minutes on two cores.

python -m tests.bench.scale [--quick] [conversations] [latency] [throughput] [streams]

Everything shares one machine: servers, databases, model and client. So figures are for comparison within
one run, and what each process used is printed beside them.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tests.bench.checkpointers import typesense
from tests.bench.scaling import conversations, latency, streams, throughput
from tests.bench.scaling.model import model_process
from tests.bench.scaling.systems import Ground
from tests.support.nats_server import running_nats
from tests.support.redis_server import running_redis


@dataclass(frozen=True)
class Sizes:
    turns: int
    runs: int
    streams: int


WHOLE = Sizes(turns=200, runs=144, streams=1_000)
QUICK = Sizes(turns=40, runs=48, streams=50)

PARTS: dict[str, Callable[[Ground, Sizes], Coroutine[None, None, None]]] = {
    "conversations": lambda ground, sizes: conversations.measure(ground, sizes.turns),
    "latency": lambda ground, sizes: latency.measure(ground, sizes.turns),
    "throughput": lambda ground, sizes: throughput.measure(ground, sizes.runs),
    "streams": lambda ground, sizes: streams.measure(ground, sizes.streams),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; by default all")
    parser.add_argument("--quick", action="store_true", help="small sizes: to try it out")
    given = parser.parse_args()
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="kai-bench-")))
        (folder / "redis").mkdir()
        ground = Ground(
            folder,
            opened.enter_context(typesense()),
            opened.enter_context(running_nats(folder / "nats")),
            opened.enter_context(running_redis(folder / "redis")),
            *opened.enter_context(model_process()),
        )
        ground.build_database()
        for name in given.parts or PARTS:
            asyncio.run(PARTS[name](ground, QUICK if given.quick else WHOLE))


if __name__ == "__main__":
    main()
