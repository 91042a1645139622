"""Runs of 200 tokens in many processes: what each process pays for one, and runs a second."""

import asyncio
from contextlib import ExitStack
from pathlib import Path

from tests.bench.checkpointers import typesense
from tests.bench.own_time.report import Figure, figure
from tests.bench.scaling.model import model_process
from tests.bench.scaling.systems import Ground, Use
from tests.bench.scaling.throughput import load
from tests.support.cluster import running_cluster
from tests.support.nats_server import running_nats
from tests.support.redis_server import running_redis

RUNS = 96
WORKERS = 2


def many_processes(folder: Path, rounds: int) -> list[Figure]:
    """Figures of one API and two workers over NATS and Typesense."""
    with ExitStack() as opened:
        (folder / "redis").mkdir()
        ground = Ground(
            folder,
            opened.enter_context(typesense()),
            opened.enter_context(running_nats(folder / "nats")),
            opened.enter_context(running_redis(folder / "redis")),
            *opened.enter_context(model_process()),
        )
        log = {"KAI_ACCESS_LOG": "false", "KAI_LOG_LEVEL": "error"}
        cluster = opened.enter_context(
            running_cluster(folder / "many", ground.over_nats(**log), apis=1, workers=WORKERS)
        )
        uses = [asyncio.run(load(ground, cluster, RUNS)) for _ in range(rounds)]
    return [
        _cost("worker", "workers", uses, "≤ 60"),
        _cost("API", "APIs", uses, "≤ 20"),
        _cost("Typesense", "Typesense", uses, "≤ 20"),
        _cost("NATS", "NATS", uses, ""),
        figure(
            f"runs of 200 tokens a second, {WORKERS} workers",
            [RUNS / use.seconds for use in uses],
            "/s",
            reach="≥ 12",
        ),
    ]


def _cost(name: str, process: str, uses: list[Use], reach: str) -> Figure:
    rounds = [use.cpu[process] * 1_000 / RUNS for use in uses]
    return figure(f"processor time of a run of 200 tokens, many processes: {name}", rounds, "ms", reach=reach)
