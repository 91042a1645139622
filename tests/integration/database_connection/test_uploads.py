"""Files that become databases: how they are read, what is refused, and what is left of them."""

import asyncio
import io
import os
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pyarrow
import pytest
from cryptography.fernet import Fernet
from fastapi import FastAPI, Request
from pyarrow import parquet

from app.core.auth.caller import Caller
from app.core.secrets import SecretBox
from app.core.storage.sqlite import open_sqlite
from app.http.problems import answer_problems
from app.modules.database_connection.errors import UrlNotSupported
from app.modules.database_connection.file_connections import FileConnections, UploadLimits
from app.modules.database_connection.file_router import router as uploads
from app.modules.database_connection.limits import ConnectionLimits
from app.modules.database_connection.network import Access
from app.modules.database_connection.router import router
from app.modules.database_connection.service import DatabaseConnections
from app.modules.database_connection.statement_audit import Asker
from app.modules.database_connection.uploads.errors import FileNotReadable
from app.modules.database_connection.uploads.folder import UploadFolder
from graph.errors import StatementFailed
from migrations.runner import migrate
from tests.support.callers import admin, call_as
from tests.support.hostile_files import HOSTILE, workbook
from tests.support.records import no_records

ROUTE = "/api/v1/database-connections"
MB = 1024 * 1024


@dataclass
class Opened:
    client: httpx.AsyncClient
    connections: DatabaseConnections
    files: FileConnections
    folder: Path

    def left(self) -> list[str]:
        """Names in the folder of uploads."""
        return sorted(each.name for each in self.folder.iterdir()) if self.folder.exists() else []

    async def upload(
        self, content: bytes, file_name: str = "sales.csv", owner: str = "ann"
    ) -> httpx.Response:
        return await self.client.post(
            f"{ROUTE}/files", params={"file_name": file_name}, content=content, headers={"owner": owner}
        )

    async def rows(self, connection_id: str, sql: str, owner: str = "ann") -> Sequence[Sequence[object]]:
        connection = await self.connections.repository.get(owner, connection_id)
        return (await self.connections.run(connection, sql, Asker(owner=owner, purpose="preview"))).rows


def caller_of(request: Request) -> Caller:
    return admin(request.headers.get("owner", "ann"))


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Opened]:
    folder = tmp_path / "uploads"
    async with open_sqlite(tmp_path / "kai.db") as storage:
        await migrate(storage)
        connections = DatabaseConnections(
            storage,
            SecretBox(Fernet.generate_key()),
            ConnectionLimits(),
            records=no_records(),
            access=Access(own_folders=[folder]),
            uploads=UploadFolder(folder),
        )
        limits = UploadLimits(max_bytes=4 * MB, owner_bytes=5 * MB, import_seconds=120)
        files = FileConnections(connections, UploadFolder(folder), limits)
        app = FastAPI()
        app.state.services = SimpleNamespace(database_connections=connections, file_connections=files)
        app.include_router(router, prefix="/api/v1")
        app.include_router(uploads, prefix="/api/v1")
        call_as(app, caller_of)
        answer_problems(app)
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://kai", timeout=120) as client:
            yield Opened(client, connections, files, folder)
        await connections.close()


GERMAN = (
    "id;Bestell-Datum;Betrag;PLZ;ok\n"
    "1;03.04.2026;1.234,56;01234;ja\n"
    "2;31.12.2026;-0,50;99999;nein\n"
    "3;;N/A;;ja\n"
)


async def test_a_csv_file_becomes_a_private_database_with_inferred_types(opened: Opened) -> None:
    answered = await opened.upload(GERMAN.encode())
    assert answered.status_code == 201, answered.text
    body = answered.json()
    (table,) = body["tables"]
    types = {each["name"]: (each["type"], each["written"]) for each in table["columns"]}
    assert types["Bestell_Datum"] == ("date", "dmy")
    assert types["Betrag"] == ("number", "comma")
    assert types["PLZ"] == ("text", None)
    amount = next(each for each in table["columns"] if each["name"] == "Betrag")
    assert (amount["cells"], amount["not_fitting"], amount["not_fitting_samples"]) == (3, 1, ["N/A"])
    connection = body["connection"]
    assert (connection["name"], connection["file_name"], connection["dialect"]) == (
        "sales.csv",
        "sales.csv",
        "duckdb",
    )
    rows = await opened.rows(connection["id"], "SELECT Bestell_Datum, Betrag, PLZ FROM sales ORDER BY id")
    assert rows == [["2026-04-03", 1234.56, "01234"], ["2026-12-31", -0.5, "99999"], [None, None, None]]
    other = await opened.client.get(f"{ROUTE}/{connection['id']}", headers={"owner": "bob"})
    assert other.status_code == 404


async def test_the_model_reads_what_was_lost_and_how_the_file_names_a_column(opened: Opened) -> None:
    body = (await opened.upload(GERMAN.encode())).json()
    connection = await opened.connections.repository.get("ann", body["connection"]["id"])
    schema = await opened.connections.schema(connection)
    descriptions = {each.name: each.description for each in schema.tables[0].columns}
    assert descriptions["Bestell_Datum"] == "Bestell-Datum"
    assert descriptions["Betrag"] == "1 of 3 cells did not fit and are NULL"


async def test_the_owner_corrects_types_and_hears_how_many_cells_do_not_fit(opened: Opened) -> None:
    body = (await opened.upload(b"day,code\n03/04/2026,1\n05/06/2026,2\nsoon,3\n")).json()
    one = f"{ROUTE}/{body['connection']['id']}/file"
    assert [each["type"] for each in body["tables"][0]["columns"]] == ["text", "integer"]
    columns = [{"name": "day", "type": "date", "written": "mdy"}, {"name": "code", "type": "text"}]
    answered = await opened.client.patch(one, json={"tables": [{"name": "sales", "columns": columns}]})
    assert answered.status_code == 200, answered.text
    day, code = answered.json()["tables"][0]["columns"]
    assert (day["type"], day["not_fitting"], day["not_fitting_samples"]) == ("date", 1, ["soon"])
    assert code["type"] == "text"
    assert (await opened.client.get(one)).json() == answered.json()
    rows = await opened.rows(body["connection"]["id"], "SELECT day, code FROM sales")
    assert rows == [["2026-03-04", "1"], ["2026-05-06", "2"], [None, "3"]]


async def test_a_correction_of_what_is_not_there_changes_nothing(opened: Opened) -> None:
    body = (await opened.upload(b"a\n1\n")).json()
    one = f"{ROUTE}/{body['connection']['id']}/file"
    for tables in (
        [{"name": "other"}],
        [{"name": "sales", "columns": [{"name": "b", "type": "text"}]}],
    ):
        answered = await opened.client.patch(one, json={"tables": tables})
        assert (answered.status_code, answered.json()["type"]) == (422, "urn:kai:file-not-readable")
    assert (await opened.client.get(one)).json()["tables"] == body["tables"]
    foreign = await opened.client.patch(one, json={"tables": []}, headers={"owner": "bob"})
    assert foreign.status_code == 404


async def test_dates_that_could_be_two_stay_text_and_are_named(opened: Opened) -> None:
    body = (await opened.upload(b"day\n03/04/2026\n05/06/2026\n")).json()
    assert body["tables"][0]["columns"][0]["type"] == "text"
    assert "sales.day" in body["notes"][0]


async def test_a_file_without_a_header_gets_numbered_columns(opened: Opened) -> None:
    body = (await opened.upload(b"1,2\n3,4\n")).json()
    (table,) = body["tables"]
    assert (table["has_header"], table["row_count"]) == (False, 2)
    assert [each["name"] for each in table["columns"]] == ["column_1", "column_2"]


async def test_empty_repeated_and_quoted_headers_get_names_of_their_own(opened: Opened) -> None:
    header = b'a,A,,"x ""y""; DROP TABLE t",select\n1,2,3,4,5\n'
    body = (await opened.upload(header, 'it\'s "odd".csv')).json()
    (table,) = body["tables"]
    names = [each["name"] for each in table["columns"]]
    assert names == ["a", "A_2", "column_3", "x_y_DROP_TABLE_t", "select"]
    rows = await opened.rows(
        body["connection"]["id"], f'SELECT a, A_2, x_y_DROP_TABLE_t, "select" FROM "{table["name"]}"'
    )
    assert rows == [[1, 2, 4, 5]]


async def test_each_sheet_with_cells_becomes_a_table_and_empty_formulas_are_counted(opened: Opened) -> None:
    answered = await opened.upload(workbook(), "orders.xlsx")
    assert answered.status_code == 201, answered.text
    body = answered.json()
    orders, people = body["tables"]
    assert (orders["name"], people["name"]) == ("Orders_2026", "People")
    assert [each["type"] for each in orders["columns"]] == ["datetime", "number", "boolean", "text"]
    assert orders["columns"][3]["empty"] == 2
    assert "2 formulas have no stored value" in body["notes"][0]
    rows = await opened.rows(body["connection"]["id"], "SELECT name FROM People")
    assert rows == [["=cmd|' /C calc'!A0"]]


async def test_a_parquet_file_keeps_its_types(opened: Opened) -> None:
    file = io.BytesIO()
    columns: dict[str, Any] = {"a b": [1, 2], "price": [Decimal("1.50"), None], "tags": [["x"], []]}
    parquet.write_table(pyarrow.table(columns), file)
    body = (await opened.upload(file.getvalue(), "Pens.parquet")).json()
    assert [each["type"] for each in body["tables"][0]["columns"]] == ["BIGINT", "DECIMAL(3,2)", "VARCHAR[]"]
    rows = await opened.rows(body["connection"]["id"], "SELECT a_b, price, tags FROM Pens")
    assert rows == [[1, 1.5, ["x"]], [2, None, []]]


@pytest.mark.parametrize("name", ["empty.csv", "bomb.xlsx", "cut.parquet"])
async def test_a_file_that_cannot_be_read_is_refused_and_leaves_nothing(opened: Opened, name: str) -> None:
    content, said = HOSTILE[name]
    answered = await opened.upload(content, name)
    body = answered.json()
    assert (answered.status_code, body["type"]) == (422, "urn:kai:file-not-readable")
    assert said in body["detail"]
    assert opened.left() == []
    assert (await opened.client.get(ROUTE)).json()["items"] == []


async def test_a_name_with_folders_in_it_stays_within_the_folder_of_uploads(opened: Opened) -> None:
    body = (await opened.upload(b"a\n1\n", "../../etc/c:\\x\\sales.csv")).json()
    assert body["connection"]["file_name"] == "sales.csv"
    assert opened.left() == [body["connection"]["id"]]


async def test_an_upload_that_breaks_off_leaves_nothing(opened: Opened) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"a,b\n" * MB
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        await opened.files.create("ann", "sales.csv", broken())
    assert opened.left() == []
    assert (await opened.upload(b"a\n1\n")).status_code == 201


async def test_a_client_that_is_gone_when_its_file_is_read_leaves_nothing(opened: Opened) -> None:
    async def content() -> AsyncIterator[bytes]:
        yield b"a\n1\n"

    async def is_gone() -> bool:
        return True

    with pytest.raises(FileNotReadable, match="given up"):
        await opened.files.create("ann", "sales.csv", content(), is_abandoned=is_gone)
    assert opened.left() == []


async def test_an_owner_sends_one_file_at_a_time(opened: Opened) -> None:
    begun, goes_on = asyncio.Event(), asyncio.Event()

    async def slow() -> AsyncIterator[bytes]:
        begun.set()
        yield b"a\n1\n"
        await goes_on.wait()

    first = asyncio.create_task(opened.files.create("ann", "sales.csv", slow()))
    await begun.wait()
    second = await opened.upload(b"a\n1\n")
    assert (second.status_code, second.json()["type"]) == (429, "urn:kai:upload-under-way")
    assert (await opened.upload(b"a\n1\n", owner="bob")).status_code == 201
    goes_on.set()
    assert (await first)[0].file_name == "sales.csv"


async def test_the_files_of_an_owner_have_a_quota_that_deleting_frees(opened: Opened) -> None:
    rows = b"text\n" + b"abcdefghijklmnopqrstuvwxyz\n" * 110_000  # 3 MB
    first = await opened.upload(rows)
    assert first.status_code == 201, first.text
    refused = await opened.upload(rows)
    assert (refused.status_code, refused.json()["type"]) == (429, "urn:kai:upload-quota")
    one = f"{ROUTE}/{first.json()['connection']['id']}"
    assert (await opened.client.delete(one)).status_code == 204
    assert opened.left() == []
    assert (await opened.upload(rows)).status_code == 201


async def test_a_file_above_the_limit_is_refused(opened: Opened) -> None:
    answered = await opened.upload(b"x" * (4 * MB + 1))
    assert answered.status_code == 422
    assert "larger than" in answered.json()["detail"]
    assert opened.left() == []


async def test_an_uploaded_file_is_opened_by_its_owners_connection_only(opened: Opened) -> None:
    body = (await opened.upload(b"a\n1\n")).json()
    (database,) = opened.folder.rglob("*.duckdb")
    with pytest.raises(UrlNotSupported, match="part of KAI's own data"):
        await opened.connections.register("bob", f"duckdb:///{database}", "Stolen", description="")
    for sql in (f"SELECT * FROM read_csv('{database.parent}/source')", "SELECT * FROM 'source'"):
        with pytest.raises(StatementFailed):
            await opened.rows(body["connection"]["id"], sql)


async def test_a_database_of_a_url_has_no_file(opened: Opened, tmp_path: Path) -> None:
    (opened.folder.parent / "shop.db").touch()
    url = f"sqlite:///{tmp_path}/shop.db"
    connection = await opened.connections.register("ann", url, "Shop", description="")
    answered = await opened.client.get(f"{ROUTE}/{connection.id}/file")
    assert (answered.status_code, answered.json()["title"]) == (404, "No uploaded file")


async def test_imports_that_a_killed_process_left_are_removed_after_a_day(tmp_path: Path) -> None:
    folder = UploadFolder(tmp_path / "uploads")
    for name, age in ((".incoming-old", 100_000), (".incoming-new", 10), ("connection", 100_000)):
        (folder.path / name).mkdir(parents=True)
        at = (folder.path / name).stat().st_mtime - age
        os.utime(folder.path / name, (at, at))
    folder.remove_left()
    assert sorted(each.name for each in folder.path.iterdir()) == [".incoming-new", "connection"]
