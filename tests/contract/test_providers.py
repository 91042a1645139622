"""Every provider of models, over its own protocol, behind the same `LanguageModel`."""

import asyncio
import dataclasses
import json
import logging
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from prometheus_client import CollectorRegistry
from pydantic import SecretStr

from app.core.llm.calls import ModelCalls, metered
from app.core.llm.embedding import EmbeddingModel
from app.core.llm.model import LanguageModel, ModelRejected, ModelUnavailable, PromptMessage
from app.core.llm.services import list_models
from app.core.llm.settings import ModelSettings, Provider
from app.core.llm.tool_calls import OfferedTool, ToolCall
from app.modules.tools.registry import BUILTIN
from tests.support.model_settings import SCRIPTED
from tests.support.provider_protocols import (
    DIMENSIONS,
    AzureProtocol,
    BedrockProtocol,
    OllamaProtocol,
    VertexProtocol,
)
from tests.support.provider_server import (
    ELSEWHERE,
    WAIT_SECONDS,
    ModelProtocol,
    ProviderServer,
    Served,
    provider_server,
)

KEY = "very-secret-key"
AWS_ID = "AKIDEXAMPLE"
QUESTION = [PromptMessage("system", "You are terse."), PromptMessage("user", "How many?")]
RUN_SQL = OfferedTool(
    "run_sql",
    "Run a statement.",
    {"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]},
)
ANSWERED = [
    *QUESTION,
    PromptMessage("assistant", "I look.", calls=[ToolCall("call_1_1", "run_sql", '{"sql": "SELECT 1"}')]),
    PromptMessage("tool", "[data]\n42\n[/data]", call_id="call_1_1"),
]


@dataclass(frozen=True, kw_only=True)
class ProviderCase:
    """A provider, its protocol and where its requests have what."""

    provider: Provider
    protocol: Callable[[], ModelProtocol]
    model: str = "tiny"
    has_filter: bool = True
    says_retry_after: bool = True
    credential: Callable[[dict[str, str]], bool]
    """True for the headers of a request that proves who the caller is."""
    limit: Callable[[dict[str, Any]], object]
    temperature: Callable[[dict[str, Any]], object]
    tool_result: Callable[[dict[str, Any]], str]
    """All that a request with the result of a call says of it."""

    def settings(self, server: ProviderServer) -> ModelSettings:
        return dataclasses.replace(
            SCRIPTED,
            provider=self.provider,
            model=self.model,
            base_url=server.address,
            api_key=None if self.provider in ("vertexai", "bedrock") else SecretStr(KEY),
            api_version="2024-10-21",
            project="my-project",
            region="eu-west-1" if self.provider == "bedrock" else "",
            max_retries=2,
            max_output_tokens=50,
        )


CASES = [
    ProviderCase(
        provider="azure",
        protocol=AzureProtocol,
        credential=lambda headers: headers["api-key"] == KEY,
        limit=lambda body: body["max_completion_tokens"],
        temperature=lambda body: body["temperature"],
        tool_result=lambda body: json.dumps(body["messages"][2:]),
    ),
    ProviderCase(
        provider="vertexai",
        protocol=VertexProtocol,
        credential=lambda headers: headers["authorization"] == "Bearer ya29.token",
        limit=lambda body: body["generationConfig"]["maxOutputTokens"],
        temperature=lambda body: body["generationConfig"]["temperature"],
        tool_result=lambda body: json.dumps(body["contents"][1:]),
    ),
    ProviderCase(
        provider="bedrock",
        protocol=BedrockProtocol,
        model="anthropic.claude-sonnet-4-5-20250929-v1:0",
        credential=lambda headers: f"Credential={AWS_ID}/" in headers["authorization"],
        limit=lambda body: body["inferenceConfig"]["maxTokens"],
        temperature=lambda body: body["inferenceConfig"]["temperature"],
        tool_result=lambda body: json.dumps(body["messages"][1:]),
    ),
    ProviderCase(
        provider="ollama",
        protocol=OllamaProtocol,
        has_filter=False,
        says_retry_after=False,
        credential=lambda headers: headers["authorization"] == f"Bearer {KEY}",
        limit=lambda body: body["options"]["num_predict"],
        temperature=lambda body: body["options"]["temperature"],
        tool_result=lambda body: json.dumps(body["messages"][2:]),
    ),
]


@pytest.fixture(params=CASES, ids=lambda case: str(case.provider))
def case(request: pytest.FixtureRequest) -> ProviderCase:
    chosen: ProviderCase = request.param
    return chosen


@pytest.fixture(scope="session")
def private_key() -> str:
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@pytest.fixture
async def server(
    case: ProviderCase, tmp_path: Path, private_key: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[ProviderServer]:
    for name in ("HTTP_PROXY", "http_proxy", "AWS_PROFILE", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", AWS_ID)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
    async with provider_server(case.protocol()) as running:
        account = {
            "type": "service_account",
            "project_id": "my-project",
            "private_key": private_key,
            "private_key_id": "1",
            "client_email": "kai@my-project.iam.gserviceaccount.com",
            "token_uri": f"{running.address}/token",
        }
        (tmp_path / "account.json").write_text(json.dumps(account))
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "account.json"))
        yield running


@asynccontextmanager
async def opened(settings: ModelSettings) -> AsyncIterator[LanguageModel]:
    model = LanguageModel(settings, ModelCalls(CollectorRegistry()))
    try:
        yield model
    finally:
        await model.close()


@pytest.fixture
async def model(case: ProviderCase, server: ProviderServer) -> AsyncIterator[LanguageModel]:
    async with opened(case.settings(server)) as running:
        yield running


def ignore(_: str) -> None:
    """For tests that look at the whole reply."""


async def test_a_reply_comes_piece_by_piece_and_is_counted(
    server: ProviderServer, model: LanguageModel
) -> None:
    server.say(Served(pieces=["Köln: ", "42 €", " 😀"], hold_after=2))
    pieces: asyncio.Queue[str] = asyncio.Queue()
    asking = asyncio.create_task(model.reply(QUESTION, pieces.put_nowait))
    assert await asyncio.wait_for(pieces.get(), WAIT_SECONDS) == "Köln: "
    assert await asyncio.wait_for(pieces.get(), WAIT_SECONDS) == "42 €"
    server.released.set()
    reply = await asyncio.wait_for(asking, WAIT_SECONDS)
    assert (reply.text, reply.tokens_used, reply.cut) == ("Köln: 42 € 😀", 103, False)


async def test_the_request_has_the_credential_the_limit_and_the_temperature(
    case: ProviderCase, server: ProviderServer, model: LanguageModel
) -> None:
    server.say(Served(pieces=["Yes."]), Served(pieces=["No."]))
    await model.reply(QUESTION, ignore, temperature=0.7)
    assert case.credential(server.requests[0].headers)
    assert (case.limit(server.asked), case.temperature(server.asked)) == (50, 0.7)
    await model.reply_within(QUESTION, max_tokens=20)
    assert case.limit(server.asked) == 20
    assert "You are terse." in json.dumps(server.asked)


async def test_calls_come_whole_with_their_text_and_keep_their_order(
    server: ProviderServer, model: LanguageModel
) -> None:
    # Libraries read texts that look like JSON or Python a second time: these stay texts.
    first = {"sql": "SELECT 'it''s \"x\"\n' AS \u20ac", "keys": '["a"]', "functionName": "run_sql"}
    second: dict[str, Any] = {"nested": {"list": [1, 2.5, None, True]}, "empty": {}}
    server.say(Served(pieces=["I look."], calls=[("run_sql", first), ("run_sql", second), ("finish", {})]))
    said = await model.converse(QUESTION, [RUN_SQL], ignore)
    assert (said.text, said.cut, said.tokens_used) == ("I look.", False, 101)
    made = [(call.name, json.loads(call.arguments or "{}")) for call in said.calls]
    assert made == [("run_sql", first), ("run_sql", second), ("finish", {})]
    assert "Run a statement." in json.dumps(server.asked)


async def test_calls_and_their_results_are_sent_back(
    case: ProviderCase, server: ProviderServer, model: LanguageModel
) -> None:
    server.say(Served(pieces=["42."]), Served(pieces=["42."]))
    assert (await model.converse(ANSWERED, [RUN_SQL], ignore)).text == "42."
    sent = case.tool_result(server.asked)
    assert all(word in sent for word in ("I look.", "run_sql", "SELECT 1", "42"))
    assert (await model.converse(ANSWERED, (), ignore)).text == "42."
    assert "SELECT 1" in case.tool_result(server.asked)


async def test_every_built_in_tool_can_be_offered(server: ProviderServer, model: LanguageModel) -> None:
    server.say(Served(pieces=["None of them."]))
    await model.converse(QUESTION, [tool.offer for tool in BUILTIN], ignore)
    sent = json.dumps(server.asked)
    assert all(f'"{tool.name}"' in sent for tool in BUILTIN)


async def test_a_reply_that_was_cut_makes_no_call(server: ProviderServer, model: LanguageModel) -> None:
    server.say(Served(pieces=["I look."], calls=[("run_sql", {"sql": "DELETE FROM t"})], finish="length"))
    said = await model.converse(QUESTION, [RUN_SQL], ignore)
    assert (said.calls, said.cut) == ((), True)
    server.say(Served(pieces=["SELECT *"], finish="length"))
    with pytest.raises(ModelRejected, match="too long"):
        await model.reply(QUESTION, ignore)


async def test_a_throttled_request_is_repeated_after_the_pause_that_the_service_names(
    case: ProviderCase, server: ProviderServer, model: LanguageModel
) -> None:
    server.say(Served(status=429, retry_after="0.1"), Served(status=503), Served(pieces=["Now."]))
    assert (await model.reply(QUESTION, ignore)).text == "Now."
    assert len(server.requests) == 3
    if case.says_retry_after:
        server.say(Served(status=429, retry_after="60"))
        with pytest.raises(ModelUnavailable, match="60 s"):
            await model.reply(QUESTION, ignore)


@pytest.mark.parametrize(
    ("status", "cure"),
    [
        (400, "refused the request"),
        (401, "refused the key"),
        (403, "refused the key"),
        (404, "does not know the model"),
    ],
)
async def test_a_refusal_is_passed_on_with_its_cure_and_without_the_services_words(
    server: ProviderServer, model: LanguageModel, status: int, cure: str, caplog: pytest.LogCaptureFixture
) -> None:
    server.say(Served(status=status, error=f"your key {KEY} is wrong"))
    with caplog.at_level(logging.INFO), pytest.raises(ModelRejected, match=cure) as caught:
        await model.reply(QUESTION, ignore)
    assert len(server.requests) == 1
    assert KEY not in str(caught.value)
    assert KEY not in "".join(record.getMessage() for record in caplog.records)
    assert caught.value.__cause__ is None


async def test_no_prompt_follows_a_redirect(
    case: ProviderCase, server: ProviderServer, model: LanguageModel
) -> None:
    if case.provider == "vertexai":
        pytest.skip("Google's library follows redirects, and has no option that both of its clients take.")
    server.redirects = True
    with pytest.raises(ModelRejected, match=r"sends its requests on \(307\)"):
        await model.reply(QUESTION, ignore)
    texts = EmbeddingModel(
        dataclasses.replace(case.settings(server), max_retries=0), ModelCalls(CollectorRegistry())
    )
    with pytest.raises(ModelRejected, match=r"sends its requests on \(307\)"):
        await texts.embed(["customers"])
    await texts.close()
    assert ELSEWHERE not in [each.path for each in server.others]


async def test_a_prompt_that_is_too_long_is_said_to_be(server: ProviderServer, model: LanguageModel) -> None:
    server.say(Served(status=400, error="input exceeds the context window of the model"))
    with pytest.raises(ModelRejected, match="too long"):
        await model.reply(QUESTION, ignore)


async def test_an_error_within_a_stream_ends_the_reply(server: ProviderServer, model: LanguageModel) -> None:
    server.say(Served(pieces=["Half"], error_in_stream="overloaded"))
    with pytest.raises(ModelUnavailable):
        await model.reply(QUESTION, ignore)
    assert len(server.requests) == 1
    server.say(Served(error_in_stream="overloaded"), Served(pieces=["Whole."]))
    assert (await model.reply(QUESTION, ignore)).text == "Whole."


async def test_a_connection_that_is_cut_is_no_answer(server: ProviderServer, model: LanguageModel) -> None:
    server.say(Served(pieces=["SELECT 1"], is_cut=True))
    with pytest.raises(ModelUnavailable):
        await model.reply(QUESTION, ignore)


async def test_what_cannot_be_read_is_no_answer(server: ProviderServer, model: LanguageModel) -> None:
    server.say(*[Served(is_garbage=True)] * 3)
    with pytest.raises(ModelUnavailable):
        await model.reply(QUESTION, ignore)
    assert len(server.requests) == 3


async def test_a_filtered_reply_is_refused(
    case: ProviderCase, server: ProviderServer, model: LanguageModel
) -> None:
    if not case.has_filter:
        pytest.skip("it has no content filter")
    server.say(Served(pieces=["Half"], finish="filter"))
    with pytest.raises(ModelRejected, match="content filter"):
        await model.reply(QUESTION, ignore)


async def test_cancelling_closes_the_request(server: ProviderServer, model: LanguageModel) -> None:
    server.say(Served(pieces=["one", "two"], hold_after=1))
    pieces: asyncio.Queue[str] = asyncio.Queue()
    asking = asyncio.create_task(model.reply(QUESTION, pieces.put_nowait))
    assert await asyncio.wait_for(pieces.get(), WAIT_SECONDS) == "one"
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await asyncio.wait_for(server.disconnected.wait(), WAIT_SECONDS)


async def test_a_service_that_sends_nothing_is_given_up(case: ProviderCase, server: ProviderServer) -> None:
    impatient = dataclasses.replace(case.settings(server), token_timeout_seconds=0.3)
    server.say(Served(pieces=["one", "two"], hold_after=1))
    async with opened(impatient) as model:
        with pytest.raises(ModelUnavailable, match=r"nothing for 0\.3 s"):
            await model.reply(QUESTION, ignore)
    await asyncio.wait_for(server.disconnected.wait(), WAIT_SECONDS)


async def test_without_a_service_the_error_names_the_address(
    case: ProviderCase, server: ProviderServer
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    settings = dataclasses.replace(case.settings(server), base_url=address, max_retries=0)
    async with opened(settings) as model:
        with pytest.raises(ModelUnavailable, match="KAI_LLM__BASE_URL"):
            await model.reply(QUESTION, ignore)


async def test_texts_are_embedded_in_their_order(case: ProviderCase, server: ProviderServer) -> None:
    model = EmbeddingModel(case.settings(server), ModelCalls(CollectorRegistry()))
    with metered() as meter:
        one, two, again = await model.embed(["customers", "orders", "customers"])
    assert len(one) == DIMENSIONS
    assert one == again != two
    assert meter.input_tokens > 0
    await model.close()


async def test_an_embedding_model_that_is_not_there_is_refused(
    case: ProviderCase, server: ProviderServer
) -> None:
    settings = dataclasses.replace(case.settings(server), max_retries=0, model="nothing")
    model = EmbeddingModel(settings, ModelCalls(CollectorRegistry()))
    with pytest.raises((ModelRejected, ModelUnavailable)):
        await model.embed(["customers"])
    await model.close()


async def test_the_models_of_the_service_are_listed(case: ProviderCase, server: ProviderServer) -> None:
    names = [each.name for each in await list_models(case.settings(server))]
    assert (
        names
        == {
            "azure": [],
            "vertexai": ["tiny", "gemini-2.5-pro"],
            "bedrock": ["tiny", "anthropic.claude-sonnet-4-5-20250929-v1:0"],
            "ollama": ["tiny:latest", "qwen3:4b"],
        }[case.provider]
    )


def test_no_key_is_in_a_representation(case: ProviderCase, server: ProviderServer) -> None:
    assert KEY not in repr(case.settings(server))


@pytest.mark.parametrize("case", [each for each in CASES if each.provider == "bedrock"], ids=["bedrock"])
async def test_a_model_without_streams_of_calls_is_asked_for_whole_replies(
    case: ProviderCase, server: ProviderServer
) -> None:
    settings = dataclasses.replace(case.settings(server), model=BedrockProtocol.WITHOUT_STREAM)
    server.say(Served(pieces=["I look."], calls=[("run_sql", {"sql": "SELECT 1"})]))
    server.say(Served(pieces=["I look."], calls=[("run_sql", {"sql": "SELECT 1"})], finish="length"))
    async with opened(settings) as model:
        said = await model.converse(QUESTION, [RUN_SQL], ignore)
        assert (said.text, said.cut, said.tokens_used) == ("I look.", False, 101)
        assert [(call.name, json.loads(call.arguments)) for call in said.calls] == [
            ("run_sql", {"sql": "SELECT 1"})
        ]
        assert (await model.converse(QUESTION, [RUN_SQL], ignore)).cut
    assert server.requests[0].path.endswith("/converse")


@pytest.mark.parametrize("case", [each for each in CASES if each.provider == "ollama"], ids=["ollama"])
async def test_what_ollama_says_of_a_model_counts(case: ProviderCase, server: ProviderServer) -> None:
    async with opened(case.settings(server)) as model:
        known = await model.capabilities()
    assert (known.context_window, known.window_source) == (16_384, "service")
    assert (known.tools, known.tools_source) == ("native", "service")
    compatible = dataclasses.replace(
        case.settings(server), provider="openai", base_url=f"{server.address}/v1"
    )
    async with opened(compatible) as model:
        assert (await model.capabilities()).context_window == 16_384
    async with opened(dataclasses.replace(case.settings(server), context_window=4_096)) as model:
        server.say(Served(pieces=["Yes."]))
        await model.reply(QUESTION, ignore)
    assert server.asked["options"]["num_ctx"] == 4_096
