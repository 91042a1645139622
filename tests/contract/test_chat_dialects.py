"""Streams of model services in their dialects, over HTTP, read by the real client."""

import dataclasses
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from app.core.llm.calls import ModelCalls, metered
from app.core.llm.chunks import ReplyChunk, TokenUsage
from app.core.llm.messages import ChatRequest
from app.core.llm.model import LanguageModel, ModelRejected, ModelUnavailable, PromptMessage
from app.core.llm.services import connect
from tests.support.model_settings import SCRIPTED
from tests.support.scripted_model import Scripted, ScriptedModel, scripted_model

DIALECTS = Path(__file__).parent.parent / "support" / "dialects"
PIECES = (1, 7, 65_536)
"""Bytes that arrive at a time."""

RUN_SQL = ("run_sql", {"sql": "SELECT 1"})
CHART = ("chart", {"kind": "bar"})


@dataclasses.dataclass(frozen=True, kw_only=True)
class Expected:
    """All chunks of a reply together. `calls` are names and arguments of tool calls, in order."""

    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    calls: Sequence[tuple[str, dict[str, str]]] = ()
    finish_reason: str | None = "stop"
    usage: TokenUsage | None = None


REPLIES = {
    "openai_text": Expected(text="Umsatz in Köln: 42 € 😀", usage=TokenUsage(1510, 1517, 1408)),
    "openai_tools": Expected(
        calls=[RUN_SQL, CHART], finish_reason="tool_calls", usage=TokenUsage(1510, 1517, 0)
    ),
    "openai_refusal": Expected(refusal="I'm sorry, I can't.", usage=TokenUsage(1510, 1517, 1408)),
    "azure_text": Expected(text="There are 42.", usage=TokenUsage(20, 24, 0)),
    "azure_tools": Expected(calls=[RUN_SQL], finish_reason="tool_calls"),
    "azure_filtered": Expected(text="Half", finish_reason="content_filter"),
    "vllm_reasoning": Expected(
        text="There are 42.", reasoning="They want a count.", usage=TokenUsage(31, 39, 16)
    ),
    "vllm_tools": Expected(
        reasoning="Two calls.",
        calls=[RUN_SQL, CHART],
        finish_reason="tool_calls",
        usage=TokenUsage(31, 51),
    ),
    "ollama_reasoning": Expected(text="There are 42.", reasoning="Okay, a count.", usage=TokenUsage(26, 35)),
    "ollama_tools": Expected(calls=[RUN_SQL, CHART], finish_reason="tool_calls", usage=TokenUsage(26, 56)),
    "llamacpp_reasoning": Expected(
        text="There are 42.", reasoning="A count.", usage=TokenUsage(237, 246, 236)
    ),
    "llamacpp_tools": Expected(calls=[RUN_SQL], finish_reason="tool_calls"),
    "mistral_reasoning": Expected(
        text="There are 42.", reasoning="A count is wanted.", usage=TokenUsage(12, 30, 8)
    ),
    "mistral_tools": Expected(calls=[RUN_SQL, CHART], finish_reason="tool_calls", usage=TokenUsage(90, 130)),
    "mistral_length": Expected(text="SELECT *", finish_reason="model_length", usage=TokenUsage(12, 14)),
    "deepseek_reasoning": Expected(text="42.", reasoning="A count.", usage=TokenUsage(17, 26, 12)),
    "gemini_tools": Expected(calls=[RUN_SQL, CHART], finish_reason="tool_calls"),
}
ERRORS = {
    "vllm_error": (ModelRejected, "KAI_LLM__CONTEXT_TOKENS"),
    "llamacpp_error": (ModelRejected, "KAI_LLM__CONTEXT_TOKENS"),
    "ollama_error": (ModelUnavailable, "ended its answer too early"),
}


@pytest.fixture
async def server() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as model:
        yield model


@asynccontextmanager
async def opened(server: ScriptedModel) -> AsyncIterator[LanguageModel]:
    model = LanguageModel(
        dataclasses.replace(SCRIPTED, base_url=server.base_url), ModelCalls(CollectorRegistry())
    )
    try:
        yield model
    finally:
        await model.close()


def recorded(name: str, piece_bytes: int = 65_536) -> Scripted:
    return Scripted(recorded=(DIALECTS / f"{name}.sse").read_bytes(), piece_bytes=piece_bytes)


async def read(server: ScriptedModel) -> list[ReplyChunk]:
    connection = await connect(dataclasses.replace(SCRIPTED, base_url=server.base_url))
    try:
        request = ChatRequest(messages=[PromptMessage("user", "How many?")])
        async with aclosing(connection.stream(request)) as chunks:
            return [chunk async for chunk in chunks]
    finally:
        await connection.close()


def calls_in(chunks: Sequence[ReplyChunk]) -> list[tuple[str, dict[str, str]]]:
    names: dict[int, str] = {}
    arguments: dict[int, str] = {}
    ids: set[str] = set()
    for delta in (delta for chunk in chunks for delta in chunk.tool_calls):
        assert (delta.name != "") == (delta.id != "") == (delta.index not in names)
        names.setdefault(delta.index, delta.name)
        ids |= {delta.id} - {""}
        arguments[delta.index] = arguments.get(delta.index, "") + delta.arguments
    assert list(names) == list(range(len(names)))
    assert len(ids) == len(names)
    return [(names[index], json.loads(arguments[index])) for index in names]


def test_every_recorded_stream_has_its_expectation() -> None:
    assert {each.stem for each in DIALECTS.glob("*.sse")} == REPLIES.keys() | ERRORS.keys()


@pytest.mark.parametrize("piece_bytes", PIECES)
@pytest.mark.parametrize("name", REPLIES)
async def test_a_stream_is_read_wherever_its_bytes_are_cut(
    server: ScriptedModel, name: str, piece_bytes: int
) -> None:
    server.say(recorded(name, piece_bytes))
    chunks = await read(server)
    read_reply = Expected(
        text="".join(chunk.text for chunk in chunks),
        reasoning="".join(chunk.reasoning for chunk in chunks),
        refusal="".join(chunk.refusal for chunk in chunks),
        calls=calls_in(chunks) or (),
        finish_reason=next((chunk.finish_reason for chunk in chunks if chunk.finish_reason), None),
        usage=next((chunk.usage for chunk in reversed(chunks) if chunk.usage), None),
    )
    assert read_reply == REPLIES[name]


@pytest.mark.parametrize("name", [name for name, reply in REPLIES.items() if reply.reasoning and reply.text])
async def test_reasoning_of_every_dialect_stays_out_of_the_reply(server: ScriptedModel, name: str) -> None:
    server.say(recorded(name))
    shown: list[str] = []
    async with opened(server) as model:
        reply = await model.reply([PromptMessage("user", "How many?")], shown.append)
    assert reply.text == "".join(shown) == REPLIES[name].text


@pytest.mark.parametrize("name", ERRORS)
async def test_an_error_in_a_stream_is_raised_without_the_services_text(
    server: ScriptedModel, name: str
) -> None:
    server.say(recorded(name))
    kind, cure = ERRORS[name]
    async with opened(server) as model:
        with pytest.raises(kind, match=cure) as raised:
            await model.reply([PromptMessage("user", "How many?")], lambda _: None)
    assert "context length is 4096" not in str(raised.value)
    assert "unexpected EOF" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "cure"), [("mistral_length", "KAI_LLM__MAX_OUTPUT_TOKENS"), ("azure_filtered", "content filter")]
)
async def test_an_incomplete_reply_of_any_dialect_is_no_reply(
    server: ScriptedModel, name: str, cure: str
) -> None:
    server.say(recorded(name))
    async with opened(server) as model:
        with pytest.raises(ModelRejected, match=cure):
            await model.reply([PromptMessage("user", "How many?")], lambda _: None)


@pytest.mark.parametrize(("name", "cached"), [("openai_text", 1408), ("ollama_reasoning", None)])
async def test_cached_tokens_are_counted_where_the_provider_reports_them(
    server: ScriptedModel, name: str, cached: int | None
) -> None:
    server.say(recorded(name))
    async with opened(server) as model:
        with metered() as meter:
            await model.reply([PromptMessage("user", "How many?")], lambda _: None)
    assert meter.cached_tokens == cached


async def test_a_connection_is_used_again_after_a_reply(server: ScriptedModel) -> None:
    server.say(*[recorded("openai_text")] * 3)
    async with opened(server) as model:
        for _ in range(3):
            await model.reply([PromptMessage("user", "How many?")], lambda _: None)
    assert server.connections == 1
