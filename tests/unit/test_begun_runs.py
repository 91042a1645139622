"""What a process leaves behind of the runs that it has begun."""

from pathlib import Path

from app.core.bus.begun_runs import BegunRunsFile
from app.core.bus.local import LocalLogs


def test_the_runs_that_a_process_had_begun_are_known_to_the_next(tmp_path: Path) -> None:
    path = tmp_path / "begun-runs"
    before = BegunRunsFile(path)
    before.begin("a", 1)
    before.begin("b", 1)
    before.begin("a", 2)
    before.end("b")
    before.end("never begun")
    after = BegunRunsFile(path)
    assert [after.attempt(each) for each in ("a", "b", "c")] == [2, 0, 0]


def test_its_file_does_not_grow_with_the_runs(tmp_path: Path) -> None:
    path = tmp_path / "begun-runs"
    begun = BegunRunsFile(path)
    for number in range(5_000):
        begun.begin(f"run-{number}", 1)
        begun.end(f"run-{number}")
    assert path.stat().st_size < 50_000
    begun.begin("open", 1)
    assert BegunRunsFile(path).attempt("open") == 1


def test_a_damaged_file_and_one_that_cannot_be_written_fail_no_run(tmp_path: Path) -> None:
    path = tmp_path / "begun-runs"
    path.write_bytes(b"a 1\nb\nc x\n\xff\xfe 3 4\nd 2")
    begun = BegunRunsFile(path)
    assert [begun.attempt(each) for each in "abcd"] == [1, 0, 0, 2]
    nowhere = BegunRunsFile(tmp_path / "missing" / "begun-runs")
    nowhere.begin("a", 1)
    assert nowhere.attempt("a") == 1


async def test_a_log_tells_of_the_attempt_of_an_earlier_process_until_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "begun-runs"
    before = LocalLogs(BegunRunsFile(path))
    await before.say("waits", 0, [("status", "{}")], ended=False)
    before.writer("begun", 1).append("status", "{}")
    await before.writer("ended", 1).end("done", "{}")
    after = LocalLogs(BegunRunsFile(path))
    assert await after.latest_attempts(["waits", "begun", "ended"]) == {"begun": 1}
    await after.writer("begun", 2).end("done", "{}")
    assert BegunRunsFile(path).attempt("begun") == 0
