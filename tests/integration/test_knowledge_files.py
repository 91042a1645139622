"""Knowledge of a database as CSV and Markdown: what an import would do, does, and refuses."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from fastapi import FastAPI
from pydantic import JsonValue

from app.http.problems import answer_problems
from app.modules.context_store.portable import FileEntry, FileFormat, read_file, write_file
from app.modules.context_store.service import ContextStore
from app.modules.context_store.transfer import KnowledgeFiles
from app.modules.context_store.transfer_router import router
from app.modules.database_connection.model import Connection
from app.modules.database_connection.service import DatabaseConnections
from tests.support.callers import admin, call_as
from tests.support.shop import make_shop

FORMATS: tuple[FileFormat, ...] = ("csv", "markdown")
AWKWARD = [
    FileEntry(
        kind="term", name="# of orders", text='=1+1, or "two"\n# no heading\n- no item\n\\ `x`', sql="a"
    ),
    FileEntry(kind="term", name="vip", text="Called first"),
    FileEntry(kind="instruction", text="Leave out tests:\nall of them.", table="order lines"),
    FileEntry(kind="instruction", text="`id`: no name"),
    FileEntry(kind="example", name="How many?", sql="select 1 -- ```\n\n```\nas n"),
    FileEntry(kind="table", table="order lines", text="Lines\n\n- of an order"),
    FileEntry(kind="column", table="order lines", column="unit `price`", text="Net: all", unit="EUR (net)"),
    FileEntry(kind="column", table="orders", column="total", unit="EUR"),
]


@pytest.mark.parametrize("file_format", FORMATS)
def test_a_file_reads_back_what_it_was_written_of(file_format: FileFormat) -> None:
    read = read_file(write_file(AWKWARD, file_format, "Shop\n# 2"), file_format)
    said = [{**vars(each), "line": 0} for each in read]
    assert sorted(said, key=str) == sorted([vars(each) for each in AWKWARD], key=str)


def test_a_cell_that_a_spreadsheet_would_run_is_written_as_text() -> None:
    assert "'=1+1" in write_file(AWKWARD[:1], "csv", "Shop")


@pytest.fixture
def app(store: ContextStore, connections: DatabaseConnections) -> FastAPI:
    made = FastAPI()
    made.state.services = SimpleNamespace(knowledge_files=KnowledgeFiles(store, connections))
    made.include_router(router)
    call_as(made, lambda _: admin("ann"))
    answer_problems(made)
    return made


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://kai") as opened:
        yield opened


async def load(
    client: httpx.AsyncClient, shop: Connection, text: str, file_format: FileFormat = "csv", **more: JsonValue
) -> Mapping[str, JsonValue]:
    body = {"db_connection_id": shop.id, "format": file_format, "text": text, **more}
    answer = await client.post("/knowledge/file", json=body)
    assert answer.status_code == 200, answer.text
    loaded: Mapping[str, JsonValue] = answer.json()
    return loaded


GOOD = """kind,name,text,sql,table,column,unit
term,vip,Called first,vip = 1,,,
instruction,,Leave out test orders.,,orders,,
example,How many customers?,,select count(*) from customers,,,
table,,,,,,
column,,Amount of the order,,orders,total,EUR
""".replace("table,,,,,,\n", "table,,Orders of the shop,,orders,,\n")


async def test_a_dry_run_stores_nothing_an_import_all_and_again_nothing(
    client: httpx.AsyncClient, store: ContextStore, connections: DatabaseConnections, shop: Connection
) -> None:
    dry = await load(client, shop, GOOD)
    assert (dry["stored"], dry["new"], dry["refused"]) == (False, 5, 0)
    assert (await store.knowledge(shop.id)).terms == []
    done = await load(client, shop, GOOD, dry_run=False)
    assert (done["stored"], done["new"]) == (True, 5)
    again = await load(client, shop, GOOD, dry_run=False)
    assert (again["same"], again["new"], again["changed"]) == (5, 0, 0)
    (example,) = (await store.knowledge(shop.id)).examples
    assert (example.status, example.verified_by) == ("verified", "ann")
    schema = await connections.schema(shop)
    (total,) = [each for table in schema.tables for each in table.columns if each.name == "total"]
    assert (total.description, total.unit) == ("Amount of the order", "EUR")
    changed = await load(client, shop, "kind,name,text\nterm,VIP,Rings first\nterm,vips,\n")
    entries = changed["entries"]
    assert isinstance(entries, list)
    assert [(each["line"], each["outcome"]) for each in entries if isinstance(each, dict)] == [
        (2, "changed"),
        (3, "refused"),
    ]


@pytest.mark.parametrize("file_format", FORMATS)
async def test_an_export_imports_into_a_database_of_the_same_tables(
    client: httpx.AsyncClient,
    connections: DatabaseConnections,
    shop: Connection,
    tmp_path: Path,
    file_format: FileFormat,
) -> None:
    await load(client, shop, GOOD, dry_run=False)
    wanted = {"db_connection_id": shop.id, "format": file_format}
    exported = await client.get("/knowledge/file", params=wanted)
    assert exported.headers["content-disposition"].startswith("attachment; filename=")
    path = make_shop(tmp_path / "other.db")
    other = await connections.register("ann", f"sqlite:///{path}", "Other", description="")
    done = await load(client, other, exported.text, file_format, dry_run=False)
    assert (done["stored"], done["new"]) == (True, 5)
    second = await client.get("/knowledge/file", params={**wanted, "db_connection_id": other.id})
    assert second.text == exported.text.replace("of Shop", "of Other")


async def test_bad_lines_are_named_and_nothing_is_stored_while_there_is_one(
    client: httpx.AsyncClient, store: ContextStore, shop: Connection
) -> None:
    text = (
        'kind,name,text,sql,table,column\nterm,vip,"Rings\nfirst",,,\nexample,Who?,,select nam from files,,\n'
        "instruction,,Round.,,ordrs,\ncolumn,,Amount,,orders,totl\nterms,x,y,,,\nterm,VIP,Again,,,\n"
        "example,Gone?,,delete from customers,,\nterm,long,a,b,c,d,e\n"
    )
    loaded = await load(client, shop, text, dry_run=False)
    entries = loaded["entries"]
    assert isinstance(entries, list)
    reasons = {each["line"]: str(each["reason"]) for each in entries if isinstance(each, dict)}
    assert (loaded["stored"], loaded["new"], loaded["refused"]) == (False, 1, 7)
    wanted = {4: "Unknown column nam", 5: "ordrs", 6: "totl", 7: "must be one of", 8: "Line 2", 9: "queries"}
    for line, words in {**wanted, 10: "more cells"}.items():
        assert words in reasons[line], (line, reasons[line])
    assert (await store.knowledge(shop.id)).terms == []


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "kind,colour\nterm,red\n", "kind,name\n"])
async def test_a_file_that_is_none_is_refused_with_the_cure(
    client: httpx.AsyncClient, shop: Connection, text: str
) -> None:
    body = {"db_connection_id": shop.id, "format": "csv", "text": text}
    refused = await client.post("/knowledge/file", json=body)
    assert (refused.status_code, refused.json()["type"]) == (422, "urn:kai:file-not-knowledge")


async def test_readers_of_a_shared_database_export_but_do_not_import(
    app: FastAPI, client: httpx.AsyncClient, connections: DatabaseConnections, shop: Connection
) -> None:
    await load(client, shop, GOOD, dry_run=False)
    call_as(app, lambda _: admin("bob"))
    wanted = {"db_connection_id": shop.id}
    body = {**wanted, "format": "csv", "text": GOOD}
    assert (await client.get("/knowledge/file", params=wanted)).status_code == 404
    assert (await client.post("/knowledge/file", json=body)).status_code == 404
    await connections.repository.edit(shop, {"shared": True})
    assert "vip" in (await client.get("/knowledge/file", params=wanted)).text
    assert (await client.post("/knowledge/file", json=body)).status_code == 403
