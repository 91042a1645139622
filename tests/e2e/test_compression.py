"""JSON is compressed for clients that accept it; streams and small answers are not."""

import gzip

from tests.support.server import Client

ACCEPTS = {"Accept-Encoding": "gzip"}
OPENAPI = "/openapi.json"


async def test_large_json_is_compressed_for_clients_that_accept_it(plain: Client) -> None:
    packed = await plain.http.get(OPENAPI, headers=ACCEPTS)
    whole = await plain.http.get(OPENAPI, headers={"Accept-Encoding": "identity"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.headers["Vary"] == "Accept-Encoding"
    assert int(packed.headers["Content-Length"]) * 4 < int(whole.headers["Content-Length"])
    assert "Content-Encoding" not in whole.headers
    assert packed.json() == whole.json()


async def test_small_json_is_sent_as_it_is(plain: Client) -> None:
    answer = await plain.http.get("/healthz", headers=ACCEPTS)
    assert "Content-Encoding" not in answer.headers


async def test_a_stream_is_never_compressed(plain: Client, shop: str) -> None:
    session = await plain.open_session(await plain.connect(shop))
    url = f"/sessions/{session}/query/stream"
    async with plain.http.stream("POST", url, json={"query": "customers"}, headers=ACCEPTS) as answer:
        raw = b"".join([piece async for piece in answer.aiter_raw()])
    assert "Content-Encoding" not in answer.headers
    assert b"event: done" in raw
    assert not raw.startswith(gzip.compress(b"")[:2])
