"""Webhooks: events of runs and schedules, signed, sent at least once, whatever the receiver does."""

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from standardwebhooks import Webhook as StandardWebhook

from kai_analyst_client import WebhookInvalid, verify_webhook
from tests.support.scheduling import Hook, receiver
from tests.support.server import Client, Server, client_of, running_server
from tests.support.waiting import until

SQL = "SELECT name, country FROM customers ORDER BY id"
ENDS = ["run.complete", "run.failed"]
SETTINGS = {"KAI_SCHEDULES__WEBHOOK_NETWORKS": '["127.0.0.0/8"]'}
Json = dict[str, Any]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("webhooks"), SETTINGS) as running:
        yield running


@pytest.fixture
async def kai(server: Server) -> AsyncGenerator[Client]:
    async with client_of(server) as client:
        yield client
        for each in (await client.http.get("/webhooks")).json()["items"]:
            await client.http.delete(f"/webhooks/{each['id']}")


@pytest.fixture
async def shop_id(kai: Client, shop: str) -> str:
    return await kai.connect(shop)


async def made(kai: Client, url: str, **fields: object) -> Json:
    answer = await kai.http.post("/webhooks", json={"url": url, "events": ENDS, **fields})
    assert answer.status_code == 201, answer.text
    assert answer.headers["Location"] == f"/api/v1/webhooks/{answer.json()['id']}"
    return dict(answer.json())


async def ask(kai: Client, database: str, sql: str = SQL, **fields: object) -> Json:
    sent = {"query": "Who?", "sql": sql, "database": database, **fields}
    return dict((await kai.http.post("/ask", json=sent)).json())


async def deliveries(kai: Client, webhook: Json, **query: str) -> list[Json]:
    answer = await kai.http.get(f"/webhooks/{webhook['id']}/deliveries", params=query)
    return list(answer.json()["items"])


async def arrived(hook: Hook, count: int) -> list[Json]:
    async def are_there() -> bool:
        return len(hook.requests) >= count

    await until(are_there)
    return [json.loads(body) for _, body in hook.requests]


def signatures(headers: Mapping[str, str], body: bytes, *secrets: str) -> str:
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    keys = [base64.b64decode(each.removeprefix("whsec_")) for each in secrets]
    codes = [base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()) for key in keys]
    return " ".join(f"v1,{code.decode()}" for code in codes)


async def test_the_end_of_a_run_is_sent_with_its_ids_and_signed(kai: Client, shop_id: str) -> None:
    async with receiver() as hook:
        webhook = await made(kai, hook.url)
        answer = await ask(kai, shop_id, metadata={"ticket": 7})
        (sent,) = await arrived(hook, 1)
        headers, body = hook.requests[0]
    assert sent["type"] == "run.complete"
    assert sent["timestamp"].endswith("Z") or "+" in sent["timestamp"]
    assert sent["data"] == {
        "run_id": answer["run_id"],
        "session_id": answer["session_id"],
        "message_id": answer["id"],
        "metadata": {"ticket": 7},
    }
    assert headers["webhook-signature"] == signatures(headers, body, webhook["secret"])
    assert verify_webhook(body, headers, webhook["secret"]) == sent
    assert StandardWebhook(webhook["secret"]).verify(body, headers) == sent  # the official receiver
    for changed in (body + b" ", b"{}"):
        with pytest.raises(WebhookInvalid):
            verify_webhook(changed, headers, webhook["secret"])
    with pytest.raises(WebhookInvalid):
        verify_webhook(body, {**headers, "webhook-timestamp": "1"}, webhook["secret"])
    (delivery,) = await deliveries(kai, webhook)
    assert delivery["id"] == headers["webhook-id"]
    assert (delivery["subject_id"], delivery["event"]) == (answer["run_id"], "run.complete")
    shown = [await kai.http.get("/webhooks"), await kai.http.get(f"/webhooks/{webhook['id']}")]
    assert all(webhook["secret"] not in each.text and "hidden-token" not in each.text for each in shown)


async def test_a_delivery_has_the_answer_where_the_webhook_says_so(kai: Client, shop_id: str) -> None:
    async with receiver() as hook:
        await made(kai, hook.url, content="answer")
        await ask(kai, shop_id)
        await ask(kai, shop_id, "SELECT nothing_known FROM customers")
        sent = {each["type"]: each["data"] for each in await arrived(hook, 2)}
    complete, failed = sent["run.complete"], sent["run.failed"]
    assert (complete["sql"], complete["rows"][0], complete["row_count"]) == (SQL, ["Ada", "Norway"], 3)
    assert complete["analysis"]
    assert failed["error"]["type"].startswith("urn:kai:")


async def test_a_webhook_gets_only_its_events_and_none_while_it_is_disabled(
    kai: Client, shop_id: str
) -> None:
    async with receiver() as hook:
        webhook = await made(kai, hook.url, events=["run.failed"])
        path = f"/webhooks/{webhook['id']}"
        await ask(kai, shop_id)
        failed = await ask(kai, shop_id, "SELECT nothing_known FROM customers")
        (sent,) = await arrived(hook, 1)
        assert sent["data"]["run_id"] == failed["run_id"]
        off = (await kai.http.patch(path, json={"enabled": False})).json()
        assert off["disabled_because"]
        await ask(kai, shop_id, "SELECT nothing_known FROM customers")
        on = (await kai.http.patch(path, json={"enabled": True, "events": ["run.complete"]})).json()
        assert (on["disabled_because"], on["secret"], on["events"]) == (None, None, ["run.complete"])
        complete = await ask(kai, shop_id)
        assert (await arrived(hook, 2))[1]["data"]["run_id"] == complete["run_id"]
        assert len(await deliveries(kai, webhook)) == 2


async def test_a_rotated_secret_and_the_one_before_sign(kai: Client, shop_id: str) -> None:
    async with receiver() as hook:
        webhook = await made(kai, hook.url)
        rotated = (await kai.http.post(f"/webhooks/{webhook['id']}/rotate-secret")).json()
        assert rotated["secret"] != webhook["secret"]
        await ask(kai, shop_id)
        await arrived(hook, 1)
        headers, body = hook.requests[0]
    assert headers["webhook-signature"] == signatures(headers, body, rotated["secret"], webhook["secret"])


async def test_a_test_is_sent_at_once_and_a_delivery_can_be_repeated_under_its_id(kai: Client) -> None:
    async with receiver(302) as hook:
        webhook = await made(kai, hook.url)
        path = f"/webhooks/{webhook['id']}"
        test = (await kai.http.post(f"{path}/test")).json()
        assert (test["state"], test["error"]) == ("given_up", "The receiver answers 302.")
        assert len(hook.requests) == 1  # a redirect is not followed
        again = await kai.http.post(f"{path}/deliveries/{test['id']}/redeliver")
        assert (again.status_code, again.json()["state"]) == (202, "waiting")
        await arrived(hook, 2)
        assert {headers["webhook-id"] for headers, _ in hook.requests} == {test["id"]}

        async def is_delivered() -> bool:
            return bool(await deliveries(kai, webhook, state="delivered"))

        await until(is_delivered)
        unknown = await kai.http.post(f"{path}/deliveries/{webhook['id']}/redeliver")
        assert unknown.status_code == 404


async def test_a_receiver_that_is_gone_disables_its_webhook(kai: Client) -> None:
    async with receiver(410) as hook:
        webhook = await made(kai, hook.url)
        assert (await kai.http.post(f"/webhooks/{webhook['id']}/test")).json()["state"] == "given_up"
        shown = (await kai.http.get(f"/webhooks/{webhook['id']}")).json()
        assert "410" in shown["disabled_because"]


@asynccontextmanager
async def strange_receiver(answer: bytes, *, ends: bool) -> AsyncIterator[str]:
    """A receiver that answers with these bytes. `ends`: it closes the connection then."""
    over = asyncio.Event()

    async def receive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        if not ends:
            await over.wait()
        writer.close()

    async with await asyncio.start_server(receive, "127.0.0.1", 0) as listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/"
        over.set()


async def test_a_receiver_that_never_answers_is_tried_again_and_holds_nothing_up(kai: Client) -> None:
    async with strange_receiver(b"", ends=False) as silent, receiver() as hook:
        webhook = await made(kai, silent)
        test = asyncio.create_task(kai.http.post(f"/webhooks/{webhook['id']}/test"))
        other = await made(kai, hook.url)
        assert (await kai.http.post(f"/webhooks/{other['id']}/test")).json()["state"] == "delivered"
        found = (await test).json()
        assert (found["state"], found["tries"]) == ("waiting", 1)
        assert found["error"] == "The receiver does not answer in time."
        assert found["due_at"] > found["at"]
        assert (await kai.http.get(f"/webhooks/{webhook['id']}")).json()["failing_since"]


async def test_events_for_others_are_sent_while_a_receiver_does_not_answer(kai: Client, shop_id: str) -> None:
    async with strange_receiver(b"", ends=False) as silent, receiver() as hook:
        for url in (silent, hook.url):
            await made(kai, url)
        async with asyncio.timeout(8):  # a receiver has 10 seconds
            for count in (1, 2):
                await ask(kai, shop_id)
                await arrived(hook, count)


async def test_ten_megabytes_in_answer_are_not_read(kai: Client, server: Server) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n"
    async with strange_receiver(head + b"x" * 10_000_000, ends=True) as url:
        webhook = await made(kai, url)
        before = server.resident_kib()
        assert (await kai.http.post(f"/webhooks/{webhook['id']}/test")).json()["state"] == "delivered"
        assert server.resident_kib() - before < 8_000


@pytest.mark.parametrize(
    "url",
    [
        "https://169.254.169.254/latest",
        "ftp://127.0.0.1/",
        "https://ann:secret@127.0.0.1/",
        "http://10.0.0.1/",
    ],
)
async def test_an_address_that_kai_does_not_send_to_is_refused(kai: Client, url: str) -> None:
    answer = await kai.http.post("/webhooks", json={"url": url, "events": ENDS})
    assert (answer.status_code, answer.json()["type"]) == (422, "urn:kai:webhook-address")
    assert "secret" not in answer.text


async def test_bodies_that_cannot_be_used_are_refused_with_a_sentence(kai: Client) -> None:
    for body in (
        {"events": ENDS},
        {"url": "https://192.0.2.1/", "events": []},
        {"url": "https://192.0.2.1/", "events": ["run.dreamt"]},
        {"url": "https://192.0.2.1/", "events": ENDS, "content": "all"},
    ):
        assert (await kai.http.post("/webhooks", json=body)).status_code == 422
    async with receiver() as hook:
        webhook = await made(kai, hook.url)
        for change in ({"url": None}, {"events": None}, {"enabled": "yes"}):
            assert (await kai.http.patch(f"/webhooks/{webhook['id']}", json=change)).status_code == 422


async def test_the_webhooks_of_an_owner_are_limited(kai: Client) -> None:
    async with receiver() as hook:
        for _ in range(20):
            await made(kai, hook.url)
        answer = await kai.http.post("/webhooks", json={"url": hook.url, "events": ENDS})
    assert (answer.status_code, answer.json()["type"]) == (422, "urn:kai:too-many-webhooks")


async def post_board(kai: Client, key: str) -> httpx.Response:
    return await kai.http.post("/boards", json={"title": key}, headers={"Idempotency-Key": key})


async def test_no_event_is_lost_when_the_process_is_killed_again_and_again(tmp_path: Path, shop: str) -> None:
    """And no board is lost or made twice that was asked for with a key."""
    asked: set[str] = set()
    keys: list[str] = []
    async with receiver() as hook:
        with running_server(tmp_path, SETTINGS) as server:
            async with client_of(server) as kai:
                database = await kai.connect(shop)
                await made(kai, hook.url, events=["run.complete"])
            for cycle in range(4):
                async with client_of(server) as kai:
                    for _ in range(5):
                        asked.add((await ask(kai, database))["run_id"])
                    latest = [f"{cycle} {number}" for number in range(10)]
                    posting = [asyncio.create_task(post_board(kai, key)) for key in latest]
                    await asyncio.sleep(0.01 * cycle)
                    server.kill()
                    await asyncio.gather(*posting, return_exceptions=True)
                    keys += latest
                server.start()
            async with client_of(server) as kai:

                async def are_made() -> bool:
                    answers = await asyncio.gather(*(post_board(kai, key) for key in keys))
                    assert {answer.status_code for answer in answers} <= {201, 409}
                    return all(answer.status_code == 201 for answer in answers)

                await until(are_made, 60)
                first, again = [
                    [
                        answer.content
                        for answer in await asyncio.gather(*(post_board(kai, key) for key in keys))
                    ]
                    for _ in range(2)
                ]
                assert first == again
                boards = (await kai.http.get("/boards", params={"limit": 100, "total": True})).json()
                assert boards["total"] == len(keys)
                assert {each["title"] for each in boards["items"]} == {*keys}

                async def are_all_there() -> bool:
                    return len({headers["webhook-id"] for headers, _ in hook.requests}) >= len(asked)

                await until(are_all_there, 90)
    sent = [json.loads(body)["data"]["run_id"] for _, body in hook.requests]
    assert {*sent} == asked
    by_id = {headers["webhook-id"]: body for headers, body in hook.requests}
    assert len(by_id) == len(asked)
