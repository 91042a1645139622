"""Processes that are killed at the awaits of an approved action, and the next ones, which go on.

`python -m tests.bench.killed_turns` kills at all of them, twenty times each.
"""

import json
from pathlib import Path

import pytest

from tests.support.command_line import run_main

ROOT = Path(__file__).parents[2]
SECONDS = 400


@pytest.mark.parametrize("store", ["sqlite", "typesense"])
def test_a_killed_process_leaves_an_action_done_once_or_unknown_and_the_next_one_ends_the_turn(
    store: str,
) -> None:
    options = ["--store", store, "--repetitions", "1", "--around-effect"]
    ended = run_main("tests.bench.killed_turns", options, folder=ROOT, seconds=SECONDS)
    lines = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert (lines[-1]["kills"], lines[-1]["wrong"]) == (8, 0)
