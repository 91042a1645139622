"""`python -m tests.simulation --seeds 10000`, or `--seed 123` for one with its trace."""

import argparse
import os
import re
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from tests.simulation.scenario import Outcome, simulate

_BATCH = 50


def _batch(seeds: range, *, agents: bool) -> tuple[list[Outcome], float]:
    began = time.process_time()
    failed = [outcome for seed in seeds if (outcome := simulate(seed, agents=agents)).violations]
    return failed, time.process_time() - began


def _run(start: int, seeds: int, at_once: int, *, agents: bool) -> int:
    print(f"make simulate SEEDS={seeds} START={start}", flush=True)
    began, failures, seconds = time.monotonic(), 0, 0.0
    sentences: Counter[str] = Counter()
    batches = [
        range(first, min(first + _BATCH, start + seeds)) for first in range(start, start + seeds, _BATCH)
    ]
    with ProcessPoolExecutor(at_once) as pool:
        for failed, took in pool.map(partial(_batch, agents=agents), batches):
            seconds += took
            for outcome in failed:
                failures += 1
                sentences.update({_general(each) for each in outcome.violations})
                if failures <= 20:
                    print(f"seed {outcome.seed} ({'; '.join(outcome.faults)})")
                    for sentence in outcome.violations:
                        print(f"    {sentence}")
                    print(
                        f"    replay: .venv/bin/python -m tests.simulation --seed {outcome.seed}"
                        + (" --agents" if agents else ""),
                        flush=True,
                    )
    took = time.monotonic() - began
    print(f"{seeds} seeds, {failures} failed, {took:.0f} s ({seconds:.0f} s of processor, {at_once} at once)")
    for sentence, times in sentences.most_common():
        print(f"{times:7} {sentence}")
    return 1 if failures else 0


def _general(sentence: str) -> str:
    """The sentence without what differs from seed to seed."""
    return re.sub(
        r"\d+", "N", re.sub(r"'question [^']*'", "a question", re.sub(r"\b[0-9a-f]{3,4}\b", "X", sentence))
    )


def _replay(seed: int, *, agents: bool) -> int:
    outcome = simulate(seed, traced=True, agents=agents)
    print("\n".join(outcome.trace))
    print(f"seed {seed}: {outcome.requests} requests, {outcome.seconds:.1f} s of virtual time")
    for fault in outcome.faults:
        print(f"    {fault}")
    for sentence in outcome.violations:
        print(f"    VIOLATION {sentence}")
    return 1 if outcome.violations else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10_000, help="how many, from --start on")
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--seed", type=int, help="one seed, with its trace")
    parser.add_argument("--at-once", type=int, default=2, help="processes")
    parser.add_argument("--agents", action="store_true", help="all sessions are in agent mode")
    arguments = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED") != "0":  # the order in sets of texts is part of a seed
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        os.execve(sys.executable, [sys.executable, "-m", "tests.simulation", *sys.argv[1:]], environment)
    if arguments.seed is not None:
        sys.exit(_replay(arguments.seed, agents=arguments.agents))
    sys.exit(_run(arguments.start, arguments.seeds, arguments.at_once, agents=arguments.agents))


if __name__ == "__main__":
    main()
