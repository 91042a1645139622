"""Bad input gets a clear problem, whatever it is and wherever it comes in; never a 500."""

from typing import Any

import httpx
import pytest

from tests.support.server import Client

UNKNOWN = "01970000-0000-7000-8000-000000000000"


def assert_problem(answer: httpx.Response, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = answer.json()
    assert body["status"] == status
    assert body["type"]
    assert body["title"]
    assert body["detail"]
    return body


@pytest.fixture
async def session(plain: Client, shop: str) -> str:
    return await plain.open_session(await plain.connect(shop))


@pytest.mark.parametrize("session_id", [UNKNOWN, "nope", "a'b", "%00", "..%2F..", "x" * 300, "\u00e9", "*"])
async def test_an_unknown_session_is_not_found_on_every_route(plain: Client, session_id: str) -> None:
    for method, url, body in [
        ("GET", f"/sessions/{session_id}", None),
        ("PATCH", f"/sessions/{session_id}", {"title": "x"}),
        ("DELETE", f"/sessions/{session_id}", None),
        ("POST", f"/sessions/{session_id}/query/stream", {"query": "x"}),
        ("GET", f"/sessions/{session_id}/runs/{UNKNOWN}/stream", None),
        ("POST", f"/sessions/{session_id}/runs/{UNKNOWN}/cancel", None),
        ("GET", f"/sessions/{session_id}/messages/{UNKNOWN}/rows", None),
        ("POST", f"/sessions/{session_id}/messages/{UNKNOWN}/feedback", {"rating": "up"}),
        ("GET", f"/sessions/{session_id}/checkpoints", None),
        ("POST", f"/sessions/{session_id}/checkpoints/{UNKNOWN}/fork", None),
    ]:
        assert_problem(await plain.http.request(method, url, json=body), 404)


@pytest.mark.parametrize("inner", [UNKNOWN, "nope", "%00"])
async def test_unknown_runs_messages_and_checkpoints_are_not_found(
    plain: Client, session: str, inner: str
) -> None:
    for method, url, body in [
        ("GET", f"/sessions/{session}/runs/{inner}/stream", None),
        ("POST", f"/sessions/{session}/runs/{inner}/cancel", None),
        ("GET", f"/sessions/{session}/messages/{inner}/rows", None),
        ("POST", f"/sessions/{session}/messages/{inner}/feedback", {"rating": "up"}),
        ("POST", f"/sessions/{session}/checkpoints/{inner}/fork", None),
    ]:
        assert_problem(await plain.http.request(method, url, json=body), 404)


async def test_a_closed_session_takes_no_question_until_it_is_resumed(plain: Client, session: str) -> None:
    url = f"/sessions/{session}"
    assert (await plain.http.patch(url, json={"status": "closed"})).json()["status"] == "closed"
    assert_problem(await plain.http.post(f"{url}/query/stream", json={"query": "How many orders?"}), 409)
    assert (await plain.http.patch(url, json={"status": "idle"})).status_code == 200
    assert (await plain.ask(session, "How many orders?"))[-1].data["status"] == "complete"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"query": ""},
        {"query": "   "},
        {"query": "x" * 8_001},
        {"query": 5},
        {"query": None},
        {"query": ["x"]},
        {"query": "x", "unknown": 1},
        {"query": "x", "multitask_strategy": "shout"},
        {"query": "nul \u0000"},
        [],
        "text",
    ],
    ids=str,
)
async def test_a_bad_question_is_refused_with_the_field_that_is_wrong(
    plain: Client, session: str, body: object
) -> None:
    answer = await plain.http.post(f"/sessions/{session}/query/stream", json=body)
    assert assert_problem(answer, 422)["errors"]


async def test_half_a_surrogate_pair_is_refused(plain: Client, session: str) -> None:
    for url, content in [
        (f"/sessions/{session}/query/stream", b'{"query": "\\ud800"}'),
        ("/sessions", b'{"db_connection_id": "\\ud800"}'),
        ("/sessions", b'{"db_connection_id": "x", "metadata": {"\\ud800": 1}}'),
        ("/database-connections", b'{"name": "x", "url": "sqlite:///\\ud800"}'),
    ]:
        headers = {"Content-Type": "application/json"}
        assert_problem(await plain.http.post(url, content=content, headers=headers), 422)


async def test_the_longest_question_is_taken(plain: Client, session: str) -> None:
    assert (await plain.ask(session, "x" * 8_000))[-1].name == "done"


@pytest.mark.parametrize("content", [b"{", b"", b"{'query': 1}", b"\xff\xfe", b"[" * 20_000], ids=len)
async def test_malformed_json_is_400(plain: Client, session: str, content: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    answer = await plain.http.post(f"/sessions/{session}/query/stream", content=content, headers=headers)
    assert answer.status_code in ((400,) if content else (400, 422))
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("headers", [{}, {"Content-Type": "application/x-www-form-urlencoded"}], ids=len)
async def test_json_under_another_name_is_refused_with_the_cure(
    plain: Client, session: str, headers: dict[str, str]
) -> None:
    url = f"/sessions/{session}/query/stream"
    answer = await plain.http.post(url, content=b'{"query": "How many?"}', headers=headers)
    assert "Content-Type: application/json" in assert_problem(answer, 422)["detail"]


@pytest.mark.parametrize("declared", [True, False])
async def test_a_body_over_a_megabyte_is_413(plain: Client, session: str, declared: bool) -> None:
    big = b'{"query": "' + b"x" * 1_100_000 + b'"}'

    async def pieces() -> Any:
        for start in range(0, len(big), 65_536):
            yield big[start : start + 65_536]

    headers = {"Content-Type": "application/json"}
    content = big if declared else pieces()
    answer = await plain.http.post(f"/sessions/{session}/query/stream", content=content, headers=headers)
    assert_problem(answer, 413)


@pytest.mark.parametrize("value", ["x", "-1", "1.5", "1" * 30, "0x1"])
async def test_a_malformed_last_event_id_is_400(plain: Client, session: str, value: str) -> None:
    run_id = (await plain.ask(session, "How many orders?"))[-1].data["run_id"]
    url = f"/sessions/{session}/runs/{run_id}/stream"
    assert_problem(await plain.http.get(url, headers={"Last-Event-ID": value}), 400)


@pytest.mark.parametrize(
    "query",
    [
        {"limit": "0"},
        {"limit": "101"},
        {"limit": "x"},
        {"limit": "9" * 30},
        {"cursor": "made up"},
        {"cursor": "bnVsbA=="},
        {"cursor": "cDk5"},
        {"status": "asleep"},
        {"unknown": "1"},
    ],
    ids=str,
)
async def test_a_bad_page_is_refused(plain: Client, query: dict[str, str]) -> None:
    assert_problem(await plain.http.get("/sessions", params=query), 422)


async def test_what_is_no_checkpoint_is_no_place_in_the_past(plain: Client, session: str) -> None:
    url = f"/sessions/{session}/checkpoints"
    assert_problem(await plain.http.get(url, params={"cursor": "made up"}), 422)


async def test_a_session_needs_a_connection_that_exists(plain: Client) -> None:
    assert_problem(await plain.http.post("/sessions", json={"db_connection_id": UNKNOWN}), 404)


async def test_a_session_of_a_deleted_connection_stays_readable_and_says_what_is_wrong(
    plain: Client, shop: str
) -> None:
    connection = await plain.connect(shop)
    session = await plain.open_session(connection)
    assert (await plain.http.delete(f"/database-connections/{connection}")).status_code == 204
    answer = await plain.http.post(f"/sessions/{session}/query/stream", json={"query": "How many orders?"})
    assert "deleted" in assert_problem(answer, 409)["detail"]
    assert (await plain.session(session))["status"] == "idle"


async def test_a_blank_correction_proposes_nothing(plain: Client, shop: str) -> None:
    connection = await plain.connect(shop)
    session = await plain.open_session(connection)
    message = (await plain.ask(session, "How many orders?"))[-1].data["message_id"]
    blank = {"rating": "down", "corrected_sql": " \n"}
    answer = await plain.http.post(f"/sessions/{session}/messages/{message}/feedback", json=blank)
    assert answer.json()["corrected_sql"] is None
    proposed = await plain.http.get("/examples", params={"db_connection_id": connection})
    assert proposed.json()["items"] == []


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"1e999"])
async def test_metadata_holds_only_numbers_that_json_has(plain: Client, session: str, number: bytes) -> None:
    content, headers = b'{"metadata": {"a": %s}}' % number, {"Content-Type": "application/json"}
    answer = await plain.http.patch(f"/sessions/{session}", content=content, headers=headers)
    assert_problem(answer, 422)


@pytest.mark.parametrize(
    "body", [{"status": None}, {"mode": None}, {"status": "error"}, {"owner": "x"}], ids=str
)
async def test_a_change_that_means_nothing_is_refused(
    plain: Client, session: str, body: dict[str, str | None]
) -> None:
    assert_problem(await plain.http.patch(f"/sessions/{session}", json=body), 422)


async def test_a_session_is_renamed_and_found_by_its_new_name(plain: Client, session: str) -> None:
    await plain.http.patch(f"/sessions/{session}", json={"title": "Zebra crossings"})
    found = (await plain.http.get("/sessions", params={"q": "zebra"})).json()["items"]
    assert [each["id"] for each in found] == [session]
    assert (await plain.http.patch(f"/sessions/{session}", json={"title": None})).json()["title"] is None


async def test_metadata_has_a_bound(plain: Client, shop: str) -> None:
    body = {"db_connection_id": await plain.connect(shop), "metadata": {"notes": "x" * 20_000}}
    assert_problem(await plain.http.post("/sessions", json=body), 422)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://analyst:s3cr3t-pa55@127.0.0.1:1/shop",
        "sqlite:////no/such/file.db",
        "sqlite://",
        "sqlite:///:memory:",
        "mysql://root:s3cr3t-pa55@127.0.0.1/x?client_flag=65536",
        "postgresql://analyst:s3cr3t-pa55@127.0.0.1:1/shop?service=s3cr3t-pa55",
        "not a url s3cr3t-pa55",
    ],
)
async def test_an_unreachable_database_is_422_with_the_cause_and_no_secret(plain: Client, url: str) -> None:
    answer = await plain.http.post("/database-connections", json={"url": url, "name": "x"})
    assert_problem(answer, 422)
    assert "s3cr3t-pa55" not in answer.text


async def test_unknown_routes_and_methods_are_problems(plain: Client) -> None:
    assert_problem(await plain.http.get("/nowhere"), 404)
    assert_problem(await plain.http.put("/sessions", json={}), 405)


async def test_a_page_of_another_site_cannot_use_the_server_by_its_own_name(plain: Client) -> None:
    assert (await plain.http.get("/sessions", headers={"Host": "evil.example.com"})).status_code == 400
