"""The embedded store's own promises: other processes on its file, a killed process, an unusable file."""

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from uuid import UUID

import pytest

from app.core.storage import sqlite_access
from app.core.storage.port import Collection, DocumentExists, Equals, Field, Query, StorageUnavailable
from app.core.storage.sqlite import open_sqlite
from migrations.runner import migrate

A = str(UUID(int=1))
ROOT = Path(__file__).parents[2]
JOBS = Collection("jobs", [Field("owner", "keyword"), Field("session_id", "keyword")])

CLAIM_FIFTY = """
import asyncio, os, sys
from contextlib import suppress
from pathlib import Path
from uuid import UUID
from app.core.storage.port import DocumentExists, Equals
from app.core.storage.sqlite import open_sqlite
from migrations.runner import migrate

async def claim() -> int:
    won = 0
    async with open_sqlite(Path(sys.argv[1])) as storage:
        await migrate(storage)
        for number in range(50):
            run = str(UUID(int=number))
            with suppress(DocumentExists):
                await storage.create("runs", {"id": run})
            free = [Equals("owner", None)]
            won += bool(await storage.patch("runs", run, {"owner": str(os.getpid())}, where=free))
    return won

print(asyncio.run(claim()))
"""

WRITE_AND_DIE = """
import asyncio, os, signal, sys
from pathlib import Path
from uuid import UUID
from app.core.storage.port import Collection
from app.core.storage.sqlite import open_sqlite

async def write() -> None:
    async with open_sqlite(Path(sys.argv[1])) as storage:
        await storage.create_collection(Collection("jobs", []))
        for number in range(50):
            await storage.create("jobs", {"id": str(UUID(int=number))})
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(write())
"""


def start(program: str, path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, str(path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )


def test_processes_that_start_on_one_new_file_share_it_and_win_each_claim_once(tmp_path: Path) -> None:
    processes = [start(CLAIM_FIFTY, tmp_path / "kai.db") for _ in range(3)]
    won = [int(process.communicate(timeout=60)[0]) for process in processes]
    assert sum(won) == 50


async def test_a_store_that_another_process_has_migrated_since_it_was_opened_is_up_to_date(
    tmp_path: Path,
) -> None:
    async with open_sqlite(tmp_path / "kai.db") as early, open_sqlite(tmp_path / "kai.db") as other:
        assert await migrate(other)
        assert await migrate(early) == []


async def test_what_was_written_outlives_a_killed_process(tmp_path: Path) -> None:
    path = tmp_path / "kai.db"
    with start(WRITE_AND_DIE, path) as process:
        assert process.wait(timeout=60) == -9
    async with open_sqlite(path) as storage:
        assert len((await storage.query("jobs", Query())).items) == 50


async def test_a_collection_made_through_another_opening_is_known(tmp_path: Path) -> None:
    async with open_sqlite(tmp_path / "kai.db") as one, open_sqlite(tmp_path / "kai.db") as other:
        await one.create_collection(JOBS)
        await one.create("jobs", {"id": A, "owner": "o"})
        assert (await other.query("jobs", Query([Equals("owner", "o")]))).items == [{"id": A, "owner": "o"}]


async def test_of_writes_of_one_moment_only_the_refused_one_fails(tmp_path: Path) -> None:
    ids = [str(UUID(int=number)) for number in (1, 2, 1, *range(3, 40))]
    async with open_sqlite(tmp_path / "kai.db") as storage:
        await storage.create_collection(JOBS)
        written = await asyncio.gather(
            *(storage.create("jobs", {"id": each, "owner": str(place)}) for place, each in enumerate(ids)),
            return_exceptions=True,
        )
        assert [each for each in written if each is not None] == [written[2]]
        assert isinstance(written[2], DocumentExists)
        assert await storage.get("jobs", ids[0]) == {"id": ids[0], "owner": "0"}
        assert len((await storage.query("jobs", Query())).items) == 39


async def test_a_read_of_a_closed_store_fails_and_does_not_wait(tmp_path: Path) -> None:
    async with open_sqlite(tmp_path / "kai.db") as storage:
        await storage.create_collection(JOBS)
    with pytest.raises(RuntimeError):
        await storage.count("jobs", [])


async def test_a_locked_file_is_an_unavailable_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_access, "_BUSY_TIMEOUT_SECONDS", 0.05)
    path = tmp_path / "kai.db"
    async with open_sqlite(path) as storage:
        await storage.create_collection(JOBS)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StorageUnavailable):
                await storage.create("jobs", {"id": A})
            assert await storage.get("jobs", A) is None
        await storage.create("jobs", {"id": A})


async def test_an_unusable_file_is_an_unavailable_store_named_without_its_path(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(b"no database " * 1_000)
    for path in (damaged, tmp_path, tmp_path / "missing" / "kai.db"):
        with pytest.raises(StorageUnavailable) as unavailable:
            async with open_sqlite(path):
                pass
        assert str(tmp_path) not in str(unavailable.value)


async def test_a_defect_is_not_called_an_unavailable_store(tmp_path: Path) -> None:
    async with open_sqlite(tmp_path / "kai.db") as storage:
        with pytest.raises(KeyError):
            await storage.get("unheard_of", "a")


async def test_a_small_part_of_a_large_whole_is_found_by_its_index(tmp_path: Path) -> None:
    path = tmp_path / "kai.db"
    async with open_sqlite(path) as storage:
        await storage.create_collection(JOBS)
        await storage.put(
            "jobs",
            [{"id": str(UUID(int=n)), "owner": "o", "session_id": f"s{n // 10}"} for n in range(5_000)],
        )
    async with open_sqlite(path):
        pass
    statement = "SELECT _document FROM jobs WHERE owner = 'o' AND session_id = 's7' ORDER BY id"
    with closing(sqlite3.connect(path)) as connection:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
    assert [row[3] for row in plan] == ["SEARCH jobs USING INDEX jobs.session_id (session_id=?)"]
