"""Stores as earlier states of KAI have written them: frozen into files, and thawed by tests.

`python -m tests.support.frozen_stores NAME` runs the code of this checkout and adds its two files to
`tests/frozen`: `NAME.tar.gz`, a data folder, and `NAME.json.gz`, the collections of a Typesense. A change of
what is stored freezes the state before it. Another checkout of KAI is frozen by `--checkout FOLDER`.
"""

import argparse
import gzip
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx

from app.core.servers import free_port
from app.core.storage.typesense_server import TypesenseServer

FOLDER = Path(__file__).parents[1] / "frozen"
PREFIX = "kai_"
DATABASE = "shop.db"
"""In the data folder, beside the export: the database that the frozen sessions ask."""
QUESTIONS = ("How many customers per country?", "How many customers?", "Total amount per customer")
OWN_SQL = "SELECT name FROM customers ORDER BY name"
TITLE = "By a person"
CONNECTION = "Shop"
POLICIES = {
    "default": "allow",
    "policies": [
        {"name": "own country", "tables": {"customers": {"rows": ["country = {{ user.country }}"]}}}
    ],
}
WITHOUT_BOARDS = [
    *("b038dca", "33f20f08", "33dc3c60", "134f7b7d"),
    *("2d1ed880", "844757f3", "7219ef9d", "04607625"),
]
"""States that were frozen before boards, schedules, comments, webhooks and policies were put into them."""

_SHOP = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers (id),
    order_date DATE NOT NULL, amount NUMERIC NOT NULL);
INSERT INTO customers VALUES (1, 'Ada', 'Norway'), (2, 'Ben', 'Brazil'), (3, 'Cleo', 'Brazil');
INSERT INTO orders VALUES (1, 1, '2024-05-01', 10), (2, 2, '2025-01-02', 20), (3, 2, '2025-02-03', 30),
    (4, 3, '2025-03-04', 5.5);
"""
_NOT_FROZEN = ("lock", "-wal", "-shm")
_SECONDS = 120
_PAGE = 250


def names(suffix: str) -> list[str]:
    """The frozen states that have a file with this suffix."""
    return sorted(path.name.removesuffix(suffix) for path in FOLDER.glob(f"*{suffix}"))


def thaw_folder(name: str, folder: Path) -> None:
    """Unpack a frozen data folder into an existing folder."""
    with tarfile.open(FOLDER / f"{name}.tar.gz") as packed:
        packed.extractall(folder, filter="data")


def thaw_typesense(name: str, server: TypesenseServer, prefix: str) -> str:
    """Create the frozen collections, with this prefix. Returns the key of their secrets."""
    with gzip.open(FOLDER / f"{name}.json.gz", "rt") as packed:
        frozen = json.load(packed)
    with _client(server) as http:
        for collection in frozen["collections"]:
            place = prefix + collection["name"]
            http.post("/collections", json={**collection["schema"], "name": place}).raise_for_status()
            lines = "\n".join(json.dumps(each) for each in collection["documents"])
            if lines:
                answer = http.post(f"/collections/{place}/documents/import?action=create", content=lines)
                assert all(json.loads(line)["success"] for line in answer.text.splitlines()), answer.text
    return str(frozen["key"])


def _freeze(checkout: Path, name: str, target: Path) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "folder"
        folder.mkdir()
        use(checkout, folder, {})
        with tarfile.open(target / f"{name}.tar.gz", "w:gz") as packed:
            for path in sorted(folder.iterdir()):
                if not path.name.endswith(_NOT_FROZEN):
                    packed.add(path, path.name)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "folder"
        folder.mkdir()
        server = TypesenseServer(Path(place))
        server.start()
        try:
            settings = {
                "KAI_STORE": "typesense",
                "KAI_TYPESENSE__NODES": json.dumps([server.url]),
                "KAI_TYPESENSE__API_KEY": server.api_key,
                "KAI_TYPESENSE__PREFIX": PREFIX,
            }
            use(checkout, folder, settings)
            with gzip.open(target / f"{name}.json.gz", "wt") as packed, _client(server) as http:
                key = (folder / "secret.key").read_text()
                json.dump({"key": key, "collections": list(_collections(http))}, packed)
        finally:
            server.stop()


def _collections(http: httpx.Client) -> Iterator[dict[str, Any]]:
    for schema in http.get("/collections").json():
        lines = http.get(f"/collections/{schema['name']}/documents/export").text.splitlines()
        kept = {key: schema[key] for key in ("fields", "default_sorting_field", "enable_nested_fields")}
        name = schema["name"].removeprefix(PREFIX)
        yield {"name": name, "schema": kept, "documents": [json.loads(line) for line in lines]}


@contextmanager
def _client(server: TypesenseServer) -> Iterator[httpx.Client]:
    with httpx.Client(
        base_url=server.url, headers={"X-TYPESENSE-API-KEY": server.api_key}, timeout=60
    ) as http:
        yield http


def use(checkout: Path, folder: Path, settings: Mapping[str, str]) -> None:
    """Serve from the folder, ask and rate and teach something, and stop."""
    with closing(sqlite3.connect(folder / DATABASE)) as shop:
        shop.executescript(_SHOP)
    port = free_port()
    environment = {key: value for key, value in os.environ.items() if not key.startswith("KAI_")}
    environment |= {
        **settings,
        "KAI_DATA_DIR": str(folder),
        "KAI_PORT": str(port),
        "PYTHONPATH": str(checkout),
    }
    command = [sys.executable, "-c", "from app.cli import main; main()", "serve"]
    process = subprocess.Popen(command, cwd=checkout, env=environment)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=_SECONDS) as http:
            _wait(lambda: http.get("/readyz").is_success)
            _converse(http, f"sqlite:///{folder / DATABASE}")
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(_SECONDS)


def _converse(http: httpx.Client, url: str) -> None:
    def post(path: str, body: object) -> Any:
        answer = http.post(f"/api/v1{path}", json=body)
        assert answer.is_success, answer.text
        return answer.json() if answer.headers["content-type"].startswith("application/json") else answer.text

    connection = post("/database-connections", {"url": url, "name": CONNECTION})["id"]
    scan = f"/api/v1/database-connections/{connection}/scan"
    post(f"/database-connections/{connection}/scan", {})
    _wait(lambda: http.get(scan).json()["state"] == "complete")
    of_connection = {"db_connection_id": connection}
    post("/glossary", {**of_connection, "term": "turnover", "meaning": "sum of amounts"})
    post("/instructions", {**of_connection, "text": "Amounts are in euros."})
    post("/examples", {**of_connection, "question": "All names", "sql": OWN_SQL})
    session = post("/sessions", of_connection)["id"]
    for question in QUESTIONS:
        post(f"/sessions/{session}/query/stream", {"query": question})
    messages = http.get(f"/api/v1/sessions/{session}").json()["messages"]["items"]
    answer = next(each["id"] for each in messages if each["role"] == "assistant")
    post(f"/sessions/{session}/messages/{answer}/feedback", {"rating": "up", "comment": "Right."})
    other = post("/sessions", {**of_connection, "title": TITLE})["id"]
    post(f"/sessions/{other}/query/stream", {"query": "Who are they?", "sql": OWN_SQL})
    post("/sessions", of_connection)

    post(f"/sessions/{session}/messages/{answer}/versions", {"sql": OWN_SQL})
    board = post("/boards", {"title": "Countries"})["id"]
    post(f"/boards/{board}/pins", {"message_id": answer})
    post("/schedules", {"board_id": board, "cron": "0 8 * * 1"})
    post("/comments", {"kind": "board", "target_id": board, "text": "Mind Brazil."})
    post("/webhooks", {"url": "https://1.1.1.1/ends", "events": ["schedule.failed"]})
    ruled = post("/database-connections", {"url": url, "name": "Shop with policies"})["id"]
    policies = http.patch(f"/api/v1/database-connections/{ruled}/policies", json={"policies": POLICIES})
    assert policies.is_success, policies.text


def _wait(is_met: Any) -> None:
    until = time.monotonic() + _SECONDS
    while True:
        try:
            if is_met():
                return
        except httpx.TransportError:
            pass
        assert time.monotonic() < until, "it did not come to pass"
        time.sleep(0.2)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("--checkout", type=Path, default=Path.cwd())
    parser.add_argument("--target", type=Path, default=FOLDER)
    given = parser.parse_args()
    _freeze(given.checkout.resolve(), given.name, given.target)
