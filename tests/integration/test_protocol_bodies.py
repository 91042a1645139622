"""Bodies that no client should send to the routes of the protocols: each is answered or refused in the form
of its protocol, never with a 5xx, and every stream that begins ends with its last event.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

import httpx
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, JsonValue
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.bootstrap import open_services
from app.core.auth.caller import LOCAL_OWNER
from app.core.settings import NO_QUOTAS, LlmSettings, Settings
from app.main import create_app
from app.modules.protocols.agui.schemas import RunInput
from app.modules.protocols.langgraph import schemas, store_schemas
from app.modules.protocols.openai.schemas import CompletionRequest
from app.modules.records.model import NewQuestion
from tests.support.scripted_model import ScriptedModel, scripted_model
from tests.support.shop import make_shop

UNKNOWN = "01970000-0000-7000-8000-000000000000"
HALF = "\ud800"
Ends: TypeAlias = Literal["langgraph", "ag-ui", "openai"]


@dataclass(frozen=True)
class Kai:
    """The application with one scripted model. `names` is what exists, by its name in a path or body."""

    portal: BlockingPortal
    http: httpx.AsyncClient
    names: Mapping[str, str]

    def send(self, method: str, path: str, content: bytes) -> httpx.Response:
        headers = {"Content-Type": "application/json"}
        return self.portal.call(
            partial(self.http.request, method, path.format(**self.names), content=content, headers=headers)
        )


class _Leaving:
    """An application whose clients leave streams of whole threads, which never end by themselves."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not scope["path"].endswith("/stream/events"):
            await self._app(scope, receive, send)
            return
        begun = asyncio.Event()
        has_body = False

        async def leave() -> Message:
            nonlocal has_body
            if has_body:
                await begun.wait()
                return {"type": "http.disconnect"}
            message = await receive()
            has_body = not message.get("more_body", False)
            return message

        async def watch(message: Message) -> None:
            await send(message)
            if message["type"] == "http.response.start" and message["status"] == 200:
                begun.set()

        await self._app(scope, leave, watch)
        if begun.is_set():
            await send({"type": "http.response.body"})


@asynccontextmanager
async def serving(
    folder: Path, model: ScriptedModel
) -> AsyncGenerator[tuple[httpx.AsyncClient, dict[str, str]]]:
    llm = LlmSettings.model_validate({"base_url": model.base_url, "api_key": "sk", "model": "scripted"})
    its_settings = Settings(data_dir=folder, llm=llm, quotas=NO_QUOTAS)
    url = f"sqlite:///{make_shop(folder / 'shop.db')}"
    async with open_services(its_settings) as services:

        async def asked(owner: str) -> tuple[str, str, str, str]:
            """A database, a session about it, its run and its checkpoint."""
            shop = await services.database_connections.register(owner, url, "shop", description="")
            session = await services.sessions.create(owner, shop.id, None, mode="ask", metadata={})
            _, run = await services.sessions.ask(owner, session.id, NewQuestion("How many customers?"))
            async for _ in services.sessions.follower.events(run):
                pass
            kept, _ = await services.sessions.copies.checkpoints(owner, session.id, 1, cursor=None)
            return shop.id, session.id, run.id, kept[0].id

        shop, thread, run, checkpoint = await asked(LOCAL_OWNER)
        _, other_thread, other_run, other_checkpoint = await asked("someone else")
        names = {
            "shop": shop,
            "thread": thread,
            "run": run,
            "checkpoint": checkpoint,
            "other_thread": other_thread,
            "other_run": other_run,
            "other_checkpoint": other_checkpoint,
        }
        transport = httpx.ASGITransport(_Leaving(create_app(services, its_settings)))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as client:
            yield client, names


@pytest.fixture(scope="module")
def kai(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kai]:
    folder = tmp_path_factory.mktemp("bodies")
    with (
        scripted_model() as model,
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serving(folder, model)) as (http, names),
    ):
        yield Kai(portal, http, names)


# Bodies. A text `{name}` stands for what exists.

KNOWN = ("{shop}", "{thread}", "{run}", "{checkpoint}", "{other_thread}", "{other_run}", "{other_checkpoint}")
WORDS = (
    "kai",
    "user",
    "system",
    "text",
    "values",
    "cancel",
    "reject",
    "enqueue",
    "run.start",
    "input.respond",
)
TEXTS = st.sampled_from(
    [
        "",
        " ",
        "nul \x00",
        HALF,
        f"a{HALF}b",
        "\u2028",
        "x" * 9_000,
        "[" * 9_000,
        "-1",
        UNKNOWN,
        UNKNOWN.upper(),
    ]
) | st.sampled_from([*KNOWN, *WORDS])
NUMBERS = st.sampled_from(
    [-1, 0, 1, 2**31, 2**53, 2**64, -(2**64), 10**400, 0.5, 1e308, float("nan"), float("inf")]
)
DEEP = st.just(json.loads("[" * 300 + "]" * 300)) | st.just(
    json.loads('{"configurable":' * 300 + "1" + "}" * 300)
)
LEAVES = st.none() | st.booleans() | NUMBERS | TEXTS | TEXTS
NAMES = TEXTS | st.sampled_from(
    [
        *(
            "messages",
            "content",
            "role",
            "type",
            "id",
            "text",
            "lc",
            "kwargs",
            "checkpoint_id",
            "configurable",
        ),
        *(
            "resume",
            "decisions",
            "metadata",
            "assistant_id",
            "thread_id",
            "namespace",
            "key",
            "value",
            "input",
        ),
        *("chat_id", "on_disconnect", "interrupt_id", "response", "channels", "since", "messages"),
    ]
)
NESTED: st.SearchStrategy[object] = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
VALUES = LEAVES | DEEP | NESTED
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "system", "tool", "stranger"]), "content": VALUES},
        optional={"id": TEXTS, "type": TEXTS, "name": VALUES},
    ),
    max_size=3,
)


def question(**more: object) -> dict[str, object]:
    return {"id": "m", "role": "user", "content": "How many customers?", **more}


SHAPED: Mapping[str, st.SearchStrategy[object]] = {
    "assistant_id": TEXTS,
    "channels": st.lists(st.sampled_from(["values", "messages", "custom", "custom:x", HALF]), max_size=3),
    "checkpoint": st.fixed_dictionaries({"checkpoint_id": TEXTS}, optional={"thread_id": TEXTS}),
    "checkpoint_id": TEXTS,
    "command": st.fixed_dictionaries({"resume": VALUES}),
    "config": st.fixed_dictionaries(
        {}, optional={"configurable": VALUES, "metadata": VALUES, "tags": VALUES}
    ),
    "filter": st.dictionaries(TEXTS, LEAVES, max_size=2),
    "forwardedProps": st.fixed_dictionaries({"on_disconnect": VALUES}),
    "input": st.fixed_dictionaries({"messages": MESSAGES}) | st.dictionaries(NAMES, VALUES, max_size=2),
    "messages": MESSAGES,
    "metadata": st.dictionaries(NAMES, VALUES, max_size=2),
    "namespace": st.lists(TEXTS, max_size=3),
    "params": st.fixed_dictionaries(
        {"assistant_id": TEXTS},
        optional={
            "input": st.fixed_dictionaries({"messages": MESSAGES}),
            "stream_mode": VALUES,
            "interrupt_id": TEXTS,
            "response": VALUES,
            "config": VALUES,
        },
    ),
    "resume": st.lists(
        st.fixed_dictionaries(
            {
                "interruptId": TEXTS,
                "status": st.sampled_from(["resolved", "cancelled", "x"]),
                "payload": VALUES,
            }
        ),
        max_size=2,
    ),
    "stream_mode": st.lists(TEXTS, max_size=2) | TEXTS,
    "thread_ids": st.lists(TEXTS, max_size=3),
}


@dataclass(frozen=True)
class Route:
    """A route, a body that it takes, and the model of its body."""

    path: str
    body: Mapping[str, object]
    model: type[BaseModel]
    ends: Ends | None = None
    """Whose stream it answers."""
    method: str = "POST"

    @property
    def fields(self) -> list[str]:
        return [field.alias or name for name, field in self.model.model_fields.items()]

    def bodies(self) -> st.SearchStrategy[object]:
        """The body with one or two fields that are wrong or unusual."""

        def changed(names: list[str]) -> st.SearchStrategy[object]:
            wrong = {name: VALUES | SHAPED.get(name, VALUES) for name in names}
            return st.fixed_dictionaries(wrong).map(lambda values: {**self.body, **values})

        shaped = [name for name in self.fields if name in SHAPED]
        names = st.sampled_from([*self.fields, *shaped, *shaped, HALF, "unknown"])
        return st.lists(names, min_size=1, max_size=2, unique=True).flatmap(changed)


RUN = {"assistant_id": "{shop}", "input": {"messages": [question()]}}
ITEM = {"namespace": ["team"], "key": "home"}
ROUTES = {
    route.path: route
    for route in (
        Route("/langgraph/assistants/search", {}, schemas.AssistantSearch),
        Route("/langgraph/threads", {"metadata": {"a": 1}}, schemas.NewThread),
        Route("/langgraph/threads/{thread}", {"metadata": {"a": 1}}, schemas.ThreadChange, method="PATCH"),
        Route("/langgraph/threads/search", {}, schemas.ThreadSearch),
        Route(
            "/langgraph/threads/prune", {"thread_ids": [], "strategy": "keep_latest"}, schemas.ThreadsPruned
        ),
        Route("/langgraph/threads/{thread}/state/checkpoint", {}, schemas.StateAt),
        Route("/langgraph/threads/{thread}/history", {"limit": 2}, schemas.HistoryQuery),
        Route(
            "/langgraph/runs/cancel", {"thread_id": "{thread}", "run_ids": ["{run}"]}, schemas.RunsCancelled
        ),
        Route("/langgraph/threads/{thread}/runs/stream", RUN, schemas.NewRun, "langgraph"),
        Route("/langgraph/runs/stream", RUN, schemas.NewRun, "langgraph"),
        Route("/langgraph/runs/wait", RUN, schemas.NewRun),
        Route(
            "/langgraph/threads/{thread}/commands",
            {"id": 1, "method": "run.start", "params": RUN},
            schemas.ThreadCommand,
        ),
        Route(
            "/langgraph/threads/{thread}/stream/events",
            {"channels": ["values", "messages"]},
            schemas.EventSelection,
        ),
        Route("/langgraph/store/items", {**ITEM, "value": {"a": 1}}, store_schemas.NewItem, method="PUT"),
        Route("/langgraph/store/items/search", {"query": "home"}, store_schemas.ItemSearch),
        Route("/langgraph/store/namespaces", {}, store_schemas.NamespaceSearch),
        Route("/ag-ui/{shop}", {"threadId": "t", "runId": "r", "messages": [question()]}, RunInput, "ag-ui"),
        Route(
            "/openai/v1/chat/completions",
            {"model": "{shop}", "messages": [question()], "stream": True},
            CompletionRequest,
            "openai",
        ),
    )
}


def written(body: object, names: Mapping[str, str]) -> bytes:
    """A body as it is sent, with what exists in place of its names."""
    text = json.dumps(body)
    for name, value in names.items():
        text = text.replace(f"{{{name}}}", value)
    return text.encode()


def assert_answered(route: Route, answer: httpx.Response) -> None:
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert_refused(route, answer)
    elif answer.headers["content-type"].startswith("text/event-stream") and route.ends is not None:
        assert_ended(route.ends, answer.text)
    elif answer.content.strip():
        json.loads(answer.content)


def assert_refused(route: Route, answer: httpx.Response) -> None:
    refusal = json.loads(answer.content)
    if route.ends == "openai":
        assert set(refusal) == {"error"}
        assert set(refusal["error"]) == {"message", "type", "param", "code"}
        assert refusal["error"]["message"]
        return
    assert answer.headers["content-type"] == "application/problem+json"
    assert refusal["status"] == answer.status_code
    assert refusal["type"].startswith("urn:kai:")
    assert refusal["detail"]


def assert_ended(ends: Ends, text: str) -> None:
    frames = [frame for frame in text.split("\n\n") if "data: " in frame]
    last: JsonValue = frames[-1].partition("data: ")[2]
    match ends:
        case "langgraph":
            assert "event: end\n" in frames[-1], frames[-1]
        case "ag-ui":
            assert json.loads(str(last))["type"] in ("RUN_FINISHED", "RUN_ERROR")
        case "openai":
            assert last == "[DONE]" or "error" in json.loads(str(last)), last


def asking(**fields: object) -> dict[str, object]:
    return {**RUN, **fields}


def chatting(**fields: object) -> dict[str, object]:
    return {"model": "{shop}", "messages": [question()], **fields}


RUNS = "/langgraph/threads/{thread}/runs/stream"
COMMANDS = "/langgraph/threads/{thread}/commands"


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        (RUNS, asking(input={"messages": [question(id=HALF)]}), 422),
        (RUNS, asking(input={"messages": [question()], HALF: 1}), 200),
        (RUNS, asking(config={"configurable": {HALF: 1}}), 422),
        (RUNS, asking(stream_mode="[" * 9_000), 422),
        (RUNS, asking(checkpoint_id="{other_checkpoint}"), 404),
        (COMMANDS, {"id": HALF, "method": "run.start", "params": RUN}, 422),
        (COMMANDS, {"id": float("nan"), "method": "run.start", "params": RUN}, 422),
        (COMMANDS, {"id": 1, "method": "run.start", "params": asking(stream_mode="[" * 9_000)}, 200),
        ("/openai/v1/chat/completions", chatting(metadata={"chat_id": HALF}), 400),
        ("/openai/v1/chat/completions", chatting(messages=[question(content=HALF), question()]), 200),
    ],
    ids=lambda value: None if isinstance(value, dict) else str(value),
)
def test_what_no_store_and_no_answer_can_hold_is_refused_by_name(
    kai: Kai, path: str, body: object, status: int
) -> None:
    answer = kai.send("POST", path, written(body, kai.names))
    assert answer.status_code == status, answer.text
    assert_answered(ROUTES[path], answer)


def test_a_thread_is_made_by_its_id_in_capitals_too(kai: Kai) -> None:
    thread = "019AB1C2-0000-7000-8000-00000000000A"
    bodies = [asking(if_not_exists="create", input={"messages": [question(id=each)]}) for each in "ab"]
    path = f"/langgraph/threads/{thread}/runs/wait"
    first, answer = (kai.send("POST", path, written(body, kai.names)) for body in bodies)
    assert (first.status_code, answer.status_code) == (200, 200), first.text
    assert answer.headers["Content-Location"].startswith(f"/threads/{thread}/")
    assert len([each for each in answer.json()["messages"] if each["type"] == "human"]) == 2


def test_metadata_of_a_thread_stays_small_however_often_keys_are_set(kai: Kai) -> None:
    thread = kai.send("POST", "/langgraph/threads", b"{}").json()["thread_id"]
    answers = [
        kai.send("PATCH", f"/langgraph/threads/{thread}", written({"metadata": {key: "x" * 9_000}}, {}))
        for key in "ab"
    ]
    assert [answer.status_code for answer in answers] == [200, 422]
    assert "null" in answers[1].json()["detail"]


# Threads of the server may use `random` while a body is drawn; no body is made by it.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module")
@pytest.mark.parametrize("path", ROUTES)
@settings(max_examples=40)
@given(data=st.data())
def test_no_body_breaks_a_route_of_a_protocol(kai: Kai, path: str, data: st.DataObject) -> None:
    route = ROUTES[path]
    body = data.draw(route.bodies())
    assert_answered(route, kai.send(route.method, path, written(body, kai.names)))
