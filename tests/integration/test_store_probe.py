"""Readiness tries what a question needs of the store: a conditional write that leaves nothing behind."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app.bootstrap import open_services
from app.core.settings import Settings
from app.core.storage.port import StorageFull
from app.core.storage.probe import PROBES, StoreProbe
from tests.support.stores import Open
from tests.support.typesense import ConfiguredServer, address_of, open_typesense


async def test_a_probe_leaves_nothing_behind(reopen: Open) -> None:
    async with reopen() as storage, reopen() as other:
        probe = StoreProbe(storage)
        await probe.write()
        await storage.create(PROBES.name, {"id": "019ab1c2-0000-7000-8000-000000000000", "made_at": 1})
        await StoreProbe(other).write()
        await probe.write()
        assert await storage.count(PROBES.name, []) == 0


async def test_a_store_that_can_only_be_read_is_not_ready(tmp_path: Path) -> None:
    async with open_services(Settings(data_dir=tmp_path)) as services:
        assert (await services.readiness.look()).status == "ready"
        with closing(sqlite3.connect(tmp_path / "kai.db")) as other:
            other.execute("BEGIN IMMEDIATE")
            report = await services.readiness.look()
            while report.status == "ready":
                report = await services.readiness.look()
    unready = {each.name: each.error for each in report.dependencies if each.error}
    assert unready == {"store": "does not answer within 2 s"}
    assert report.status == "unavailable"


async def test_a_typesense_whose_disk_is_full_says_so(tmp_path: Path) -> None:
    server = ConfiguredServer(tmp_path, disk_used_max_percentage="1")
    server.start()
    try:
        with pytest.raises(StorageFull, match="its disk is full"):
            async with open_typesense(address_of(server), "t_"):
                pass
    finally:
        server.kill()
