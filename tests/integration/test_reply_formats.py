"""A reply by schema: what services are asked for, how each one's way of answering is read, and text when
there is no other way."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry
from pydantic import JsonValue

from app.core.llm.calls import ModelCalls, metered
from app.core.llm.capabilities import ReplyFormat, ReplyFormatSetting
from app.core.llm.model import (
    LanguageModel,
    ModelRejected,
    ModelUnavailable,
    PromptMessage,
    ReplySchema,
)
from tests.support.model_settings import SCRIPTED
from tests.support.scripted_model import Asked, Scripted, ScriptedModel, scripted_model

SCHEMA = ReplySchema("answer", "Answers.", {"route": {"type": "string"}, "sql": {"type": "string"}})
OBJECT = {
    "type": "object",
    "properties": {"route": {"type": "string"}, "sql": {"type": "string"}},
    "required": ["route", "sql"],
    "additionalProperties": False,
}
REPLY = '{"route": "sql", "sql": "SELECT 1"}'


@pytest.fixture
async def server() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as model:
        yield model


@asynccontextmanager
async def opened(server: ScriptedModel, reply_format: ReplyFormatSetting) -> AsyncIterator[LanguageModel]:
    settings = replace(
        SCRIPTED,
        model="tiny-model",
        base_url=server.base_url,
        max_retries=2,
        max_output_tokens=50,
        reply_format=reply_format,
    )
    model = LanguageModel(settings, ModelCalls(CollectorRegistry()))
    try:
        yield model
    finally:
        await model.close()


def prompt(reply_format: ReplyFormat) -> Sequence[PromptMessage]:
    return [PromptMessage("user", f"Reply by {reply_format}.")]


def ignore(_: str) -> None:
    """For tests that look at the whole reply."""


def is_structured(asked: Asked) -> bool:
    return "response_format" in asked.body or "tools" in asked.body


def prompts(server: ScriptedModel) -> list[str]:
    return [asked.text for asked in server.requests]


async def test_a_json_schema_is_asked_for_in_the_words_of_the_protocol(server: ScriptedModel) -> None:
    server.say(REPLY)
    async with opened(server, "json_schema") as model:
        reply = await model.reply_by_schema(prompt, SCHEMA, ignore)
    (asked,) = server.requests
    schema = {"name": "answer", "strict": True, "schema": OBJECT}
    assert asked.body["response_format"] == {"type": "json_schema", "json_schema": schema}
    assert asked.body["max_tokens"] == 50
    assert "tools" not in asked.body
    assert (asked.text, reply.text) == ("Reply by json_schema.", REPLY)


async def test_a_tool_call_is_forced_and_its_arguments_are_the_reply(server: ScriptedModel) -> None:
    server.say(Scripted(REPLY, tool="answer", finish_reason="tool_calls"))
    tokens: list[str] = []
    async with opened(server, "tools") as model:
        reply = await model.reply_by_schema(prompt, SCHEMA, tokens.append)
    (asked,) = server.requests
    function = {"name": "answer", "description": "Answers.", "strict": True, "parameters": OBJECT}
    assert asked.body["tools"] == [{"type": "function", "function": function}]
    assert asked.body["tool_choice"] == "required"
    assert "response_format" not in asked.body
    assert reply.text == "".join(tokens) == REPLY
    assert len(tokens) > 1
    assert reply.tokens_used == 105


async def test_properties_are_asked_for_in_their_order(server: ScriptedModel) -> None:
    async with opened(server, "json_schema") as model:
        await model.reply_by_schema(prompt, SCHEMA, ignore)
    body = json.dumps(server.requests[0].body)
    assert body.index('"route"') < body.index('"sql"')


@pytest.mark.parametrize("setting", ["auto", "text"])
async def test_text_is_asked_for_unless_another_format_was_measured_to_be_better(
    server: ScriptedModel, setting: ReplyFormatSetting
) -> None:
    async with opened(server, setting) as model:
        await model.reply_by_schema(prompt, SCHEMA, ignore)
    assert not is_structured(server.requests[0])
    assert prompts(server) == ["Reply by text."]


async def test_a_reply_without_a_schema_is_text_in_every_setting(server: ScriptedModel) -> None:
    async with opened(server, "tools") as model:
        await model.reply(prompt("text"), ignore)
    assert not is_structured(server.requests[0])


REJECTIONS = {
    "OpenAI, an older model": Scripted(
        status=400,
        error="Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
    ),
    "OpenAI, a schema": Scripted(status=400, error="Invalid schema for response_format 'answer'"),
    "Ollama": Scripted(status=400, error="registry.ollama.ai/library/gemma3:4b does not support tools"),
    "vLLM": Scripted(
        status=400, error='"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser'
    ),
    "Mistral": Scripted(status=422, error="extra_forbidden: body.response_format.json_schema"),
    "OpenRouter": Scripted(status=404, error="No endpoints found that support tool use."),
    "llama.cpp": Scripted(status=500, error="tools param requires --jinja flag"),
    "LM Studio": Scripted(status=400, error="'response_format.type' must be 'text'"),
    "a service that does not say why": Scripted(status=400, error="Bad Request"),
}


@pytest.mark.parametrize("rejection", REJECTIONS.values(), ids=REJECTIONS)
@pytest.mark.parametrize("setting", ["json_schema", "tools"])
async def test_a_service_that_does_not_take_the_format_is_asked_for_text_at_once_and_from_then_on(
    server: ScriptedModel,
    rejection: Scripted,
    setting: ReplyFormatSetting,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server.rule(is_structured, rejection)
    server.say("One.", "Two.")
    with caplog.at_level(logging.WARNING, "app.core.llm"):
        async with opened(server, setting) as model:
            replies = [(await model.reply_by_schema(prompt, SCHEMA, ignore)).text for _ in range(2)]
    assert replies == ["One.", "Two."]
    assert prompts(server) == [f"Reply by {setting}.", "Reply by text.", "Reply by text."]
    (line,) = caplog.messages
    assert "tiny-model" in line
    assert "asked for text from now on" in line


async def test_questions_asked_together_are_all_answered_and_logged_once(
    server: ScriptedModel, caplog: pytest.LogCaptureFixture
) -> None:
    server.rule(is_structured, Scripted(status=400))
    server.rule(lambda asked: not is_structured(asked), "Fine.")
    async with opened(server, "json_schema") as model:
        replies = await asyncio.gather(*(model.reply_by_schema(prompt, SCHEMA, ignore) for _ in range(5)))
    assert {reply.text for reply in replies} == {"Fine."}
    assert len([line for line in caplog.messages if "from now on" in line]) == 1


async def test_a_request_that_is_refused_as_text_too_does_not_speak_against_the_format(
    server: ScriptedModel,
) -> None:
    refusal = Scripted(status=400, code="content_filter")
    server.say(refusal, refusal, REPLY)
    async with opened(server, "json_schema") as model:
        with pytest.raises(ModelRejected, match=r"400, content_filter"):
            await model.reply_by_schema(prompt, SCHEMA, ignore)
        await model.reply_by_schema(prompt, SCHEMA, ignore)
    assert is_structured(server.requests[-1])


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (Scripted(status=401), ModelRejected),
        (Scripted(status=404), ModelRejected),
        (Scripted(status=400, code="context_length_exceeded"), ModelRejected),
        (Scripted(status=503, retry_after="60"), ModelUnavailable),
    ],
    ids=["key", "model", "length", "busy"],
)
async def test_a_failure_of_another_kind_is_not_tried_as_text(
    server: ScriptedModel, failure: Scripted, error: type[Exception]
) -> None:
    server.say(failure)
    async with opened(server, "json_schema") as model:
        with pytest.raises(error):
            await model.reply_by_schema(prompt, SCHEMA, ignore)
    assert len(server.requests) == 1


async def test_an_empty_reply_by_tools_is_asked_for_as_text_and_both_are_counted(
    server: ScriptedModel,
) -> None:
    server.say("", "Fine.")
    with metered() as meter:
        async with opened(server, "tools") as model:
            reply = await model.reply_by_schema(prompt, SCHEMA, ignore)
    assert reply.text == "Fine."
    assert meter.tokens == 100 + 101


def call(**fields: JsonValue) -> str:
    choice: dict[str, JsonValue] = {
        "index": 0,
        "finish_reason": None,
        "delta": {"tool_calls": [{"type": "function", **fields}]},
    }
    return json.dumps({"choices": [choice]})


@pytest.mark.parametrize(
    "events",
    [
        (call(index=0, id="c", function={"name": "answer", "arguments": REPLY}),),
        (call(id="c", function={"name": "answer", "arguments": REPLY}),),
        (
            call(index=0, function={"name": "answer", "arguments": None}),
            call(index=0, function={"arguments": REPLY}),
        ),
        (
            call(index=0, function={"name": "answer", "arguments": REPLY}),
            call(index=1, function={"name": "answer", "arguments": '{"route": "chat"}'}),
        ),
        (call(index=1, function={"name": "answer", "arguments": REPLY}),),
    ],
    ids=["whole", "without an index", "name first", "a second call", "counted from one"],
)
@pytest.mark.parametrize("reason", ["stop", "tool_calls"])
async def test_the_first_tool_call_is_read_in_the_spellings_of_all_services(
    server: ScriptedModel, events: tuple[str, ...], reason: str
) -> None:
    server.say(Scripted(events_before=events, finish_reason=reason))
    async with opened(server, "tools") as model:
        assert (await model.reply_by_schema(prompt, SCHEMA, ignore)).text == REPLY


async def test_a_model_that_answers_in_words_instead_of_a_call_is_heard(server: ScriptedModel) -> None:
    server.say("```sql\nSELECT 1\n```")
    async with opened(server, "tools") as model:
        assert (await model.reply_by_schema(prompt, SCHEMA, ignore)).text == "```sql\nSELECT 1\n```"
    assert len(server.requests) == 1


@pytest.mark.parametrize("setting", ["text", "json_schema", "tools"])
async def test_a_refusal_is_passed_on_as_the_models_words(
    server: ScriptedModel, setting: ReplyFormatSetting
) -> None:
    pieces = [{"choices": [{"index": 0, "delta": {"refusal": piece}}]} for piece in ("I cannot", " help.")]
    server.say(Scripted(events_before=tuple(map(json.dumps, pieces))))
    async with opened(server, setting) as model:
        assert (await model.reply_by_schema(prompt, SCHEMA, ignore)).text == "I cannot help."
    assert len(server.requests) == 1


@pytest.mark.parametrize("tool", [None, "answer"])
async def test_an_object_cut_at_the_limit_is_no_reply(server: ScriptedModel, tool: str | None) -> None:
    server.say(Scripted('{"route": "sql", "sql": "SELECT *', tool=tool, finish_reason="length"))
    async with opened(server, "tools") as model:
        with pytest.raises(ModelRejected, match="KAI_LLM__MAX_OUTPUT_TOKENS"):
            await model.reply_by_schema(prompt, SCHEMA, ignore)


@pytest.mark.parametrize("reason", ["length", "stop"])
@pytest.mark.parametrize("after", ["", "\n```", "\n```\n\n"])
async def test_a_whole_object_is_a_reply_however_it_ends(
    server: ScriptedModel, after: str, reason: str
) -> None:
    server.say(Scripted(f"```json\n{REPLY}{after}", finish_reason=reason))
    async with opened(server, "json_schema") as model:
        reply = await model.reply_by_schema(prompt, SCHEMA, ignore)
    assert REPLY in reply.text
    assert reply.tokens_used > 100


async def test_a_model_that_does_not_end_after_its_object_is_stopped(server: ScriptedModel) -> None:
    endless = Scripted(REPLY + " word" * 10_000, delay_seconds=0.01, finish_reason="length")
    server.say(endless)
    async with opened(server, "tools") as model:
        reply = await model.reply_by_schema(prompt, SCHEMA, ignore)
    assert reply.text.startswith(REPLY)
    assert reply.tokens_used > 0
    await server.until(lambda: server.disconnects == 1)


@pytest.mark.parametrize("tool", [None, "answer"])
async def test_pieces_are_passed_on_while_the_object_is_written(
    server: ScriptedModel, tool: str | None
) -> None:
    server.say(Scripted(REPLY, tool=tool, hold_after=2))
    tokens: asyncio.Queue[str] = asyncio.Queue()
    async with opened(server, "tools") as model:
        asking = asyncio.create_task(model.reply_by_schema(prompt, SCHEMA, tokens.put_nowait))
        first = [await asyncio.wait_for(tokens.get(), 60) for _ in range(2)]
        assert "".join(first) == '{"route": "sql",'
        server.release()
        assert (await asyncio.wait_for(asking, 60)).text == REPLY


async def test_a_stream_that_breaks_before_its_first_piece_is_tried_again_in_the_same_format(
    server: ScriptedModel,
) -> None:
    server.say(Scripted("", ending="cut"), Scripted(REPLY, tool="answer"))
    async with opened(server, "tools") as model:
        assert (await model.reply_by_schema(prompt, SCHEMA, ignore)).text == REPLY
    assert [is_structured(asked) for asked in server.requests] == [True, True]
