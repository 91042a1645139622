"""Memory workers that are killed after each of their writes, and the next ones, which go on."""

import json
from pathlib import Path

import pytest

from tests.support.command_line import run_main

ROOT = Path(__file__).parents[2]
SECONDS = 400


@pytest.mark.timeout(SECONDS)
@pytest.mark.parametrize("work", ["facts", "profile"])
@pytest.mark.parametrize("store", ["sqlite", "typesense"])
def test_a_killed_memory_worker_doubles_nothing_and_loses_no_promoted_fact(store: str, work: str) -> None:
    options = ["--store", store, "--work", work]
    ended = run_main("tests.bench.killed_memory", options, folder=ROOT, seconds=SECONDS)
    lines = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert lines[-1]["kills"] >= 10
    assert lines[-1]["wrong"] == 0
