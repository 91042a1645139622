"""Generators of clients take the OpenAPI documents as they are served, without a warning, and a client that
each has made calls twenty routes of the server and gets a typed problem.
"""

import asyncio
import json
from pathlib import Path

import httpx

from app.http.description.apis import API_V1, OTHER_APIS
from tests.support.generators import call_by_python, call_by_typescript, install_generators, lint
from tests.support.server import running_server

NOT_FOUND = "urn:kai:not-found"


async def test_generators_and_a_linter_take_the_documents(tmp_path: Path, shop: str) -> None:
    await install_generators()
    with running_server(tmp_path / "data", {}) as server:
        documents = []
        async with httpx.AsyncClient(base_url=server.address, timeout=60) as http:
            for api in (API_V1, *OTHER_APIS.values()):
                answer = await http.get(f"{api.prefix}/openapi.json")
                documents.append(tmp_path / f"{api.prefix.strip('/').replace('/', '_')}.json")
                documents[-1].write_text(answer.raise_for_status().text)
        folders = [tmp_path / name for name in ("python", "typescript")]
        for folder in folders:
            folder.mkdir()
        linted, (said, by_python), by_typescript = await asyncio.gather(
            lint(documents),
            call_by_python(documents[0], folders[0], server.address, shop),
            call_by_typescript(documents[0], folders[1], server.address, shop),
        )
    assert linted.count("validated in") == len(documents)
    assert [word for word in ("warning", "error") if f" {word} " in linted] == [], linted
    assert "warning" not in said.lower(), said
    assert json.loads(by_python) == ["Sales", NOT_FOUND]
    assert json.loads(by_typescript) == {"made": ["Sales", NOT_FOUND], "typed": ["Sales", NOT_FOUND]}
