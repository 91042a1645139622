"""Everything that KAI keeps, moved and brought back: copies between stores, backups, pruning."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest

from app.bootstrap import Services, open_services, open_store
from app.commands.backup import backup, restore
from app.commands.migrate import copy_store, migrate_store
from app.commands.prune import prune
from app.core.auth.caller import LOCAL_OWNER
from app.core.errors import Invalid
from app.core.exclusive import FolderInUse
from app.core.settings import Settings, read_settings
from app.core.storage.copying import CopyDiffers, contents, copy_collection
from app.core.storage.port import Query
from app.core.storage.typesense_server import TypesenseServer
from app.modules.database_connection.scan.vectors_kept import VectorsKept
from app.modules.records.model import NewQuestion
from migrations.m0001_initial import COLLECTIONS
from migrations.runner import StoreTooOld

SHOP = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, country TEXT NOT NULL);
INSERT INTO customers VALUES (1, 'Norway'), (2, 'Brazil'), (3, 'Brazil');
"""
QUESTION = "How many customers per country?"


@pytest.fixture
def settings(tmp_path: Path, typesense_server: TypesenseServer, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Of an embedded KAI; a Typesense is at hand."""
    environment = {
        "DATA_DIR": str(tmp_path / "kai"),
        "TYPESENSE__NODES": f'["{typesense_server.url}"]',
        "TYPESENSE__API_KEY": typesense_server.api_key,
        "TYPESENSE__PREFIX": f"t{uuid4().hex}_",
    }
    for name, value in environment.items():
        monkeypatch.setenv(f"KAI_{name}", value)
    return read_settings()


async def ask(services: Services, session_id: str, question: str = QUESTION) -> None:
    asked = await services.sessions.ask(LOCAL_OWNER, session_id, NewQuestion(question))
    said = [entry async for entry in services.sessions.follower.events(asked[1])]
    assert '"complete"' in said[-1].data


async def fill(settings: Settings, sessions: int = 2) -> list[str]:
    """Sessions of two turns each; their ids."""
    path = settings.data_dir.parent / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"DROP TABLE IF EXISTS customers; {SHOP}")
    async with open_services(settings) as services:
        connection_id = (
            await services.database_connections.register(
                LOCAL_OWNER, f"sqlite:///{path}", "shop", description=""
            )
        ).id
        made = [
            await services.sessions.create(LOCAL_OWNER, connection_id, None, mode="ask", metadata={})
            for _ in range(sessions)
        ]
        for session in made:
            for _ in range(2):
                await ask(services, session.id)
        return [session.id for session in made]


async def seen(settings: Settings, session_id: str) -> tuple[list[str | None], int]:
    """The SQL of a session's messages, after it has gone on by one turn; and its checkpoints."""
    async with open_services(settings) as services:
        await ask(services, session_id)
        session = await services.sessions.repository.get(LOCAL_OWNER, session_id)
        messages, _ = await services.sessions.repository.messages(session, 20, None)
        checkpoints = await services.sessions.copies.checkpoints(LOCAL_OWNER, session_id, 100, cursor=None)
        return [message.sql for message in messages if message.role == "assistant"], len(checkpoints[0])


async def test_everything_is_copied_to_typesense_and_back_and_goes_on_there(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    sessions = await fill(settings)
    await copy_store("sqlite", "typesense")
    assert "counted and compared" in capsys.readouterr().out
    there = settings.model_copy(update={"store": "typesense"})
    queries, checkpoints = await seen(there, sessions[0])
    assert len(queries) == 3
    assert len(set(queries)) == 1
    for left in settings.data_dir.glob("*.db*"):
        left.unlink()
    await copy_store("typesense", "sqlite")
    back, checkpoints_back = await seen(settings, sessions[0])
    assert back == [*queries, queries[0]]
    assert checkpoints_back > checkpoints


async def test_vectors_are_not_copied_for_they_can_be_rebuilt(settings: Settings) -> None:
    await fill(settings, sessions=1)
    async with open_store(settings) as (source, _):
        await VectorsKept(source, "a-model").keep(str(uuid4()), {"customers": [0.5, 1.0]})
        assert "table_vectors_c" in source.collections()
    await copy_store("sqlite", "typesense")
    async with open_store(settings.model_copy(update={"store": "typesense"})) as (target, _):
        assert "table_vectors_c" not in target.collections()


async def test_a_copy_that_was_interrupted_goes_on_and_what_is_there_is_left(settings: Settings) -> None:
    await fill(settings)
    there = settings.model_copy(update={"store": "typesense"})
    async with open_store(settings) as (source, _), open_store(there) as (target, _):
        for name in ("sessions", "messages"):
            await target.create_collection(next(each for each in COLLECTIONS if each.name == name))
        done: list[int] = []
        first = (await source.query("messages", Query(limit=3))).items
        await target.put("messages", first)
        copied = await copy_collection(
            source, target, "messages", watch=lambda so_far, _: done.append(so_far)
        )
        assert (copied.count, done) == (8, [8])
        assert copied == await contents(source, "messages")


async def test_a_copy_that_has_more_than_its_original_is_refused(settings: Settings) -> None:
    await fill(settings, sessions=1)
    there = settings.model_copy(update={"store": "typesense"})
    async with open_store(settings) as (source, _), open_store(there) as (target, _):
        await target.create_collection(next(each for each in COLLECTIONS if each.name == "messages"))
        await target.put("messages", [{"id": str(uuid4()), "owner": "stranger"}])
        with pytest.raises(CopyDiffers, match="4 documents and its copy 5"):
            await copy_collection(source, target, "messages", watch=lambda *_: None)


async def test_a_backup_of_a_running_kai_is_restored(settings: Settings, tmp_path: Path) -> None:
    (session,) = await fill(settings, sessions=1)
    folder = tmp_path / "backups" / "monday #1"
    async with open_services(settings) as services:
        await backup(folder)
        await ask(services, session)
        with pytest.raises(FolderInUse):
            await restore(folder)
    assert (folder / "secret.key").stat().st_mode & 0o777 == 0o600
    await restore(folder)
    queries, _ = await seen(settings, session)
    assert len(queries) == 3  # two of the backup, and one more; what was asked after it is gone


async def test_a_backup_of_nothing_leaves_nothing_in_the_way_of_the_next(
    settings: Settings, tmp_path: Path
) -> None:
    with pytest.raises(Invalid, match="nothing to back up"):
        await backup(tmp_path / "backup")
    await fill(settings, 1)
    await backup(tmp_path / "backup")


async def test_what_is_no_backup_changes_nothing(settings: Settings, tmp_path: Path) -> None:
    (session,) = await fill(settings, sessions=1)
    folder = tmp_path / "backup"
    with pytest.raises(Invalid, match="is no backup"):
        await restore(folder)
    with pytest.raises(Invalid, match="is the data folder of KAI"):
        await restore(settings.data_dir)
    await backup(folder)
    with pytest.raises(Invalid, match="exists already"):
        await backup(folder)
    (folder / "checkpoints.db").write_bytes(b"SQLite format 3\0" + b"damaged" * 1_000)
    with pytest.raises(Invalid, match="is damaged"):
        await restore(folder)
    assert len((await seen(settings, session))[0]) == 3


async def test_a_backup_that_fails_leaves_nothing_behind(settings: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "backup"
    with pytest.raises(Invalid, match="nothing to back up"):
        await backup(folder)
    settings.data_dir.mkdir()
    (settings.data_dir / "kai.db").write_bytes(b"no database" * 100)
    with pytest.raises(Invalid, match="cannot be copied"):
        await backup(folder)
    assert not folder.exists()


async def test_a_folder_copied_from_a_killed_kai_is_restored_with_its_log(
    settings: Settings, tmp_path: Path
) -> None:
    async with open_services(settings):
        pass
    folder = tmp_path / "copied"
    with closing(sqlite3.connect(settings.data_dir / "kai.db", isolation_level=None)) as opened:
        opened.execute("CREATE TABLE late (x)")  # stands in the log alone until this connection closes
        shutil.copytree(settings.data_dir, folder)
    await restore(folder)
    with closing(sqlite3.connect(settings.data_dir / "kai.db")) as restored:
        assert restored.execute("SELECT count(*) FROM late").fetchone() == (0,)


async def test_a_snapshot_of_typesense_is_restored_by_starting_on_it(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "first").mkdir()
    server = TypesenseServer(tmp_path / "first")
    server.start()
    monkeypatch.setenv("KAI_STORE", "typesense")
    monkeypatch.setenv("KAI_TYPESENSE__NODES", f'["{server.url}"]')
    monkeypatch.setenv("KAI_TYPESENSE__API_KEY", server.api_key)
    there = read_settings()
    try:
        (session,) = await fill(there, sessions=1)
        folder = tmp_path / "backup"
        await backup(folder)
        with pytest.raises(Invalid, match="stop it"):
            await restore(folder)
        async with open_services(there) as services:
            await ask(services, session)
    finally:
        server.kill()
    shutil.rmtree(tmp_path / "first" / "data")
    shutil.copytree(folder / "typesense", tmp_path / "first" / "data")
    server.start()
    try:
        assert len((await seen(there, session))[0]) == 3
    finally:
        server.kill()


async def test_pruning_leaves_used_sessions_alone_and_unused_ones_able_to_go_on(settings: Settings) -> None:
    old, new = await fill(settings)
    async with open_store(settings) as (storage, _):
        await storage.patch("sessions", old, {"updated_at": 1})
    await prune(idle_days=30)
    async with open_services(settings) as services:
        kept = [
            len((await services.sessions.copies.checkpoints(LOCAL_OWNER, each, 100, cursor=None))[0])
            for each in (old, new)
        ]
    assert kept[0] == 1
    assert kept[1] == 4  # of two turns
    assert len((await seen(settings, old))[0]) == 3


async def test_a_store_that_lacks_steps_is_not_served_unless_allowed(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    cautious = settings.model_copy(update={"migrate_at_start": False})
    with pytest.raises(StoreTooOld, match="kai migrate"):
        async with open_services(cautious):
            pass
    await migrate_store()
    assert "steps applied" in capsys.readouterr().out
    async with open_services(cautious) as services:
        assert (await services.readiness.look()).status == "ready"
    await migrate_store()
    assert "up to date" in capsys.readouterr().out
