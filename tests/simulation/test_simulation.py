"""The run engine under seeded faults: a part of what `make simulate` tries."""

import os
import subprocess
import sys

import pytest

from tests.simulation.mutations import MUTATIONS, Mutation, mutated

pytestmark = pytest.mark.timeout(300)  # ten seconds of processor time each
SEEDS = 20
"""`.ci/run` tries 500 after the tests."""


def simulated(*arguments: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own, whose clocks and chance are the simulation's."""
    command = [sys.executable, "-m", "tests.simulation", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=280)


def test_questions_are_answered_once_whatever_fails() -> None:
    ended = simulated("--seeds", str(SEEDS), "--at-once", "1")
    assert ended.returncode == 0, ended.stdout


def test_a_seed_replays_event_by_event() -> None:
    os.environ.pop("PYTHONHASHSEED", None)
    first, second = simulated("--seed", "7"), simulated("--seed", "7")
    assert first.stdout == second.stdout
    assert len(first.stdout.splitlines()) > 100


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda each: each.name)
def test_a_defect_put_in_by_hand_still_fits_the_engine(mutation: Mutation) -> None:
    with mutated(mutation):
        pass
