"""The real client against a real server that says what is scripted."""

import asyncio
import dataclasses
import socket
import time
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from prometheus_client import CollectorRegistry
from pydantic import SecretStr

from app.core.llm.calls import ModelCalls
from app.core.llm.model import (
    LanguageModel,
    ModelRejected,
    ModelSettings,
    ModelUnavailable,
    PromptMessage,
)
from tests.support.model_script import Ending
from tests.support.model_settings import SCRIPTED
from tests.support.scripted_model import EMPTY_CHOICES, TOOL_CALL, Scripted, ScriptedModel, scripted_model

KEY = "sk-very-secret-key"
QUESTION = [PromptMessage("system", "You are terse."), PromptMessage("user", "How many customers?")]
PATIENT = dataclasses.replace(
    SCRIPTED,
    model="tiny-model",
    api_key=SecretStr(KEY),
    max_retries=2,
    max_output_tokens=50,
)


@pytest.fixture
async def server() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as model:
        yield model


@asynccontextmanager
async def opened(base_url: str, settings: ModelSettings = PATIENT) -> AsyncIterator[LanguageModel]:
    asked = dataclasses.replace(settings, base_url=base_url)
    model = LanguageModel(asked, ModelCalls(CollectorRegistry()))
    try:
        yield model
    finally:
        await model.close()


@pytest.fixture
async def model(server: ScriptedModel) -> AsyncIterator[LanguageModel]:
    async with opened(server.base_url) as model:
        yield model


def ignore(_: str) -> None:
    """For tests that look at the whole reply."""


async def test_a_reply_comes_token_by_token_and_in_order(server: ScriptedModel, model: LanguageModel) -> None:
    server.say("There are 42 customers.")
    tokens: list[str] = []
    reply = await model.reply(QUESTION, tokens.append)
    assert tokens == ["There", " are", " 42", " customers."]
    assert reply.text == "There are 42 customers."


async def test_tokens_are_passed_on_while_the_model_still_writes(
    server: ScriptedModel, model: LanguageModel
) -> None:
    server.say(Scripted("one two three", hold_after=2))
    tokens: asyncio.Queue[str] = asyncio.Queue()
    asking = asyncio.create_task(model.reply(QUESTION, tokens.put_nowait))
    assert [await asyncio.wait_for(tokens.get(), 60) for _ in range(2)] == ["one", " two"]
    server.release()
    assert (await asyncio.wait_for(asking, 60)).text == "one two three"


async def test_the_service_is_asked_for_what_is_configured(server: ScriptedModel) -> None:
    async with opened(server.base_url, dataclasses.replace(PATIENT, temperature=0.5)) as model:
        await model.reply(QUESTION, ignore)
    asked = server.requests[0]
    assert asked.messages == [
        {"role": "system", "content": "You are terse."},
        {"role": "user", "content": "How many customers?"},
    ]
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    asked_for = {"model": "tiny-model", "max_tokens": 50, "temperature": 0.5, "stream": True}
    assert asked_for.items() <= asked.body.items()


async def test_tokens_used_are_those_the_service_counts(server: ScriptedModel, model: LanguageModel) -> None:
    server.say("one two three")
    assert (await model.reply(QUESTION, ignore)).tokens_used == 103


async def test_tokens_are_approximated_when_the_service_counts_none(
    server: ScriptedModel, model: LanguageModel
) -> None:
    server.say(Scripted("one two three", usage=False))
    assert (await model.reply(QUESTION, ignore)).tokens_used == 4 + 5 + 3


async def test_a_service_that_cannot_count_is_asked_to_only_once(
    server: ScriptedModel, model: LanguageModel
) -> None:
    refusal = Scripted(status=422, error="stream_options: extra inputs are not permitted")
    server.rule(lambda asked: "stream_options" in asked.body, refusal)
    for _ in range(2):
        await model.reply(QUESTION, ignore)
    assert ["stream_options" in asked.body for asked in server.requests] == [True, False, False]


async def test_a_busy_service_is_asked_again_when_it_says(
    server: ScriptedModel, model: LanguageModel
) -> None:
    server.say(Scripted(status=429, retry_after="0.6"), "Now.")
    began = time.monotonic()
    assert (await model.reply(QUESTION, ignore)).text == "Now."
    assert time.monotonic() - began >= 0.6


async def test_a_service_that_asks_for_a_long_pause_is_not_waited_for(
    server: ScriptedModel, model: LanguageModel
) -> None:
    server.say(Scripted(status=429, retry_after="60"))
    with pytest.raises(ModelUnavailable, match=r"busy \(429\) and asks to wait 60 s"):
        await model.reply(QUESTION, ignore)
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
async def test_a_broken_service_is_tried_three_times(
    server: ScriptedModel, model: LanguageModel, status: int
) -> None:
    server.say(*[Scripted(status=status, retry_after="0")] * 3)
    with pytest.raises(ModelUnavailable, match=str(status)):
        await model.reply(QUESTION, ignore)
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("refusal", "cure"),
    [
        (Scripted(status=400, code="unsupported_value"), "KAI_LLM__TEMPERATURE"),
        (Scripted(status=400, code="context_length_exceeded"), "KAI_LLM__CONTEXT_TOKENS"),
        (Scripted(status=400, error="maximum context length is 4096 tokens"), "KAI_LLM__CONTEXT_TOKENS"),
        (
            Scripted(status=400, error="The input token count (9) exceeds it"),
            "KAI_LLM__CONTEXT_TOKENS",
        ),
        (Scripted(status=400, error="This model's maximum prompt length is 9"), "KAI_LLM__CONTEXT_TOKENS"),
        (Scripted(status=400, error="max_tokens is too large: 9000"), "KAI_LLM__MAX_OUTPUT_TOKENS"),
        (Scripted(status=401), "KAI_LLM__API_KEY"),
        (Scripted(status=402), "KAI_LLM__API_KEY"),
        (Scripted(status=403), "KAI_LLM__API_KEY"),
        (Scripted(status=404), "KAI_LLM__MODEL and KAI_LLM__BASE_URL"),
        (Scripted(status=413), "KAI_LLM__CONTEXT_TOKENS"),
        (Scripted(status=422), "KAI_LLM__MODEL"),
        (Scripted(status=429, code="insufficient_quota"), "KAI_LLM__API_KEY"),
    ],
    ids=lambda value: f"{value.status} {value.code or ''}" if isinstance(value, Scripted) else "",
)
async def test_a_refusal_names_its_cure_and_not_the_key(
    server: ScriptedModel, model: LanguageModel, refusal: Scripted, cure: str
) -> None:
    server.say(refusal)
    with pytest.raises(ModelRejected, match=cure) as raised:
        await model.reply(QUESTION, ignore)
    assert KEY not in "".join(traceback.format_exception(raised.value))
    assert len(server.requests) == 1


async def test_a_dead_service_is_reported_soon() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    async with opened(f"http://127.0.0.1:{port}/v1") as model, asyncio.timeout(30):
        with pytest.raises(ModelUnavailable, match="KAI_LLM__BASE_URL"):
            await model.reply(QUESTION, ignore)


async def test_a_connection_that_is_never_made_times_out() -> None:
    hasty = dataclasses.replace(PATIENT, connect_timeout_seconds=0.1)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        async with opened(f"https://127.0.0.1:{mute.getsockname()[1]}/v1", hasty) as model:
            with pytest.raises(ModelUnavailable, match=r"No connection .* in time.*overloaded"):
                await model.reply(QUESTION, ignore)


@pytest.mark.parametrize("held", [0, 2])
async def test_a_silent_model_times_out_before_or_after_the_first_token(
    server: ScriptedModel, held: int
) -> None:
    server.say(Scripted("one two three", hold_after=held))
    hasty = dataclasses.replace(PATIENT, first_token_timeout_seconds=1.5)
    async with opened(server.base_url, hasty) as model:
        with pytest.raises(ModelUnavailable, match=r"sent nothing for 1\.5 s"):
            await model.reply(QUESTION, ignore)
    await server.until(lambda: server.disconnects == 1)
    assert len(server.requests) == 1


async def test_a_model_that_never_stops_writing_is_stopped(
    server: ScriptedModel, model: LanguageModel
) -> None:
    await model.reply(QUESTION, ignore)  # the client library is imported by then
    server.say(Scripted("word " * 10_000, delay_seconds=0.01))
    hasty = dataclasses.replace(PATIENT, total_timeout_seconds=1.5)
    async with opened(server.base_url, hasty) as model:
        with pytest.raises(ModelUnavailable, match=r"did not finish within 1\.5 s"):
            await model.reply(QUESTION, ignore)
    await server.until(lambda: server.disconnects == 1)


@pytest.mark.parametrize("ending", ["cut", "malformed", "unfinished"])
async def test_an_interrupted_reply_is_not_tried_again_once_shown(
    server: ScriptedModel, model: LanguageModel, ending: Ending
) -> None:
    server.say(Scripted("SELECT 1", ending=ending))
    tokens: list[str] = []
    with pytest.raises(ModelUnavailable):
        await model.reply(QUESTION, tokens.append)
    assert tokens == ["SELECT "]  # the 1 might have been the beginning of a secret
    assert len(server.requests) == 1


@pytest.mark.parametrize("text", ["", "<think>Let me see"])
async def test_a_reply_interrupted_before_anything_was_shown_is_tried_again(
    server: ScriptedModel, model: LanguageModel, text: str
) -> None:
    server.say(Scripted(text, ending="cut"), "Better.")
    tokens: list[str] = []
    assert (await model.reply(QUESTION, tokens.append)).text == "Better."
    assert tokens == ["Better."]


async def test_an_error_within_the_stream_is_a_failure(server: ScriptedModel, model: LanguageModel) -> None:
    error = Scripted(events_before=('{"error": {"message": "maximum context length is 4096 tokens"}}',))
    server.say(error)
    with pytest.raises(ModelRejected, match="KAI_LLM__CONTEXT_TOKENS"):
        await model.reply(QUESTION, ignore)


@pytest.mark.parametrize("answer", ["<html>Sign in to the proxy</html>", '{"choices": []}', "\n"])
async def test_an_answer_that_is_no_stream_names_the_address(
    server: ScriptedModel, model: LanguageModel, answer: str
) -> None:
    server.say(*[Scripted(recorded=answer.encode())] * 3)
    with pytest.raises(ModelUnavailable, match="check KAI_LLM__BASE_URL"):
        await model.reply(QUESTION, ignore)


@pytest.mark.parametrize(
    "reply",
    [Scripted(" "), Scripted("<think>Hm.</think>"), Scripted(events_before=(TOOL_CALL,))],
    ids=["blank", "only reasoning", "only a tool call"],
)
async def test_a_reply_with_nothing_to_see_is_no_reply(
    server: ScriptedModel, model: LanguageModel, reply: Scripted
) -> None:
    server.say(reply)
    with pytest.raises(ModelUnavailable, match="empty answer"):
        await model.reply(QUESTION, ignore)


@pytest.mark.parametrize(
    ("reason", "text"), [("length", "KAI_LLM__MAX_OUTPUT_TOKENS"), ("content_filter", "content filter")]
)
async def test_half_a_reply_is_no_reply(
    server: ScriptedModel, model: LanguageModel, reason: str, text: str
) -> None:
    server.say(Scripted("SELECT * FROM customers WHERE", finish_reason=reason))
    with pytest.raises(ModelRejected, match=text):
        await model.reply(QUESTION, ignore)


async def test_chunks_without_choices_are_passed_over(server: ScriptedModel, model: LanguageModel) -> None:
    server.say(Scripted("Fine.", events_before=(EMPTY_CHOICES,)))
    assert (await model.reply(QUESTION, ignore)).text == "Fine."


async def test_reasoning_is_neither_shown_nor_returned(server: ScriptedModel, model: LanguageModel) -> None:
    server.say("<think>They want a number.</think>There are 42.")
    tokens: list[str] = []
    reply = await model.reply(QUESTION, tokens.append)
    assert reply.text == "".join(tokens) == "There are 42."


@pytest.mark.parametrize("held", [0, 1])
async def test_a_cancelled_question_closes_the_request(
    server: ScriptedModel, model: LanguageModel, held: int
) -> None:
    server.say(Scripted("one two", hold_after=held))
    asking = asyncio.create_task(model.reply(QUESTION, ignore))
    await server.until(lambda: server.on_hold == 1)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await server.until(lambda: server.requests[0].disconnected)


async def test_a_defect_of_the_listener_is_not_reported_as_the_models(
    server: ScriptedModel, model: LanguageModel
) -> None:
    server.say(Scripted("one two three", hold_after=1))

    def defect(_: str) -> None:
        raise ValueError("ours")

    with pytest.raises(ValueError, match="ours"):
        await model.reply(QUESTION, defect)
    await server.until(lambda: server.disconnects == 1)


async def test_a_closed_model_leaves_others_of_the_same_service_open(
    server: ScriptedModel, model: LanguageModel
) -> None:
    async with opened(server.base_url) as other:
        await other.reply(QUESTION, ignore)
    server.say("Still here.")
    assert (await model.reply(QUESTION, ignore)).text == "Still here."


async def test_a_reply_that_gets_too_long_is_stopped(server: ScriptedModel) -> None:
    server.say("word " * 100)
    shown: list[str] = []
    async with opened(server.base_url, dataclasses.replace(PATIENT, max_reply_characters=50)) as model:
        with pytest.raises(ModelRejected, match=r"stopped: it is too long"):
            await model.reply(QUESTION, shown.append)
    assert len("".join(shown)) <= 50
    assert len(server.requests) == 1


async def test_a_pause_between_two_pieces_has_a_limit_of_its_own(server: ScriptedModel) -> None:
    server.say(Scripted("one two three", hold_after=2))
    hasty = dataclasses.replace(PATIENT, token_timeout_seconds=0.2)
    async with opened(server.base_url, hasty) as model:
        with pytest.raises(ModelUnavailable, match=r"sent nothing for 0\.2 s"):
            await model.reply(QUESTION, ignore)
