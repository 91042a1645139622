"""The client of language models against a real server that misbehaves in every way."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from pydantic import SecretStr

from app.core.llm.model import (
    LanguageModel,
    ModelRejected,
    ModelSettings,
    ModelUnavailable,
    PromptMessage,
    Reply,
)
from tests.support.scripted_model import Scripted, ScriptedModel, scripted_model

PROMPT = [PromptMessage("system", "Be short."), PromptMessage("user", "Hello?")]
KEY = "sk-never-shown"


@pytest.fixture
def script() -> Iterator[ScriptedModel]:
    with scripted_model() as running:
        yield running


def settings_for(script: ScriptedModel) -> ModelSettings:
    return ModelSettings(
        model="scripted",
        base_url=script.base_url,
        api_key=SecretStr(KEY),
        connect_timeout_seconds=1,
        first_token_timeout_seconds=5,
        total_timeout_seconds=10,
        max_retries=1,
        max_output_tokens=100,
        temperature=None,
    )


@asynccontextmanager
async def opened(settings: ModelSettings) -> AsyncGenerator[LanguageModel]:
    model = LanguageModel(settings)
    try:
        yield model
    finally:
        await model.close()


async def reply(settings: ModelSettings, tokens: list[str] | None = None) -> Reply:
    async with opened(settings) as model:
        return await model.reply(PROMPT, (tokens if tokens is not None else []).append)


async def test_tokens_come_in_order_and_are_counted_by_the_provider(script: ScriptedModel) -> None:
    script.say("One two three.")
    tokens: list[str] = []
    answer = await reply(settings_for(script), tokens)
    assert tokens == ["One", " two", " three."]
    assert answer == Reply("One two three.", tokens_used=103)


async def test_without_counts_of_the_provider_tokens_are_approximated(script: ScriptedModel) -> None:
    script.say(Scripted("One two three.", usage=False))
    assert (await reply(settings_for(script))).tokens_used == 3 + 2 + 4


async def test_the_request_carries_the_prompt_the_model_and_the_key(script: ScriptedModel) -> None:
    await reply(settings_for(script))
    (asked,) = script.requests
    assert asked.body["model"] == "scripted"
    assert [each["content"] for each in asked.body["messages"]] == ["Be short.", "Hello?"]
    assert asked.headers["authorization"] == f"Bearer {KEY}"


async def test_a_busy_service_is_asked_again_when_it_says(script: ScriptedModel) -> None:
    script.say(Scripted(status=429, retry_after="0.05"), "Here.")
    assert (await reply(settings_for(script))).text == "Here."
    assert len(script.requests) == 2


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
async def test_a_service_that_stays_down_is_unavailable(script: ScriptedModel, status: int) -> None:
    script.rule("", Scripted(status=status))
    with pytest.raises(ModelUnavailable, match=str(status)):
        await reply(settings_for(script))
    assert len(script.requests) == 2


@pytest.mark.parametrize(
    ("status", "cure"),
    [(401, "KAI_LLM__API_KEY"), (403, "KAI_LLM__API_KEY"), (404, "KAI_LLM__MODEL"), (400, "400")],
)
async def test_a_request_that_is_refused_names_the_cure_and_no_key(
    script: ScriptedModel, status: int, cure: str
) -> None:
    script.rule("", Scripted(status=status))
    with pytest.raises(ModelRejected, match=cure) as refused:
        await reply(settings_for(script))
    assert KEY not in str(refused.value)
    assert len(script.requests) == 1


async def test_nothing_listening_is_unavailable(script: ScriptedModel) -> None:
    settings = replace(settings_for(script), base_url="http://127.0.0.1:9/v1", max_retries=0)
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        await reply(settings)


@pytest.mark.parametrize("after", [0, 2])
async def test_silence_is_not_waited_out(script: ScriptedModel, after: int) -> None:
    script.say(Scripted("One two three.", hold_after=after))
    with pytest.raises(ModelUnavailable, match=r"sent nothing for 0\.3 s"):
        await reply(replace(settings_for(script), first_token_timeout_seconds=0.3))


async def test_an_endless_reply_has_an_end(script: ScriptedModel) -> None:
    script.say(Scripted("word " * 1_000, delay_seconds=0.05))
    with pytest.raises(ModelUnavailable, match=r"did not finish within 0\.5 s"):
        await reply(replace(settings_for(script), total_timeout_seconds=0.5))


@pytest.mark.parametrize("ending", ["cut", "malformed"])
async def test_after_the_first_token_nothing_is_tried_again(script: ScriptedModel, ending: str) -> None:
    script.rule("", Scripted("One two", delay_seconds=0.01, ending="cut" if ending == "cut" else "malformed"))
    tokens: list[str] = []
    with pytest.raises(ModelUnavailable):
        await reply(settings_for(script), tokens)
    assert tokens == ["One", " two"]
    assert len(script.requests) == 1


@pytest.mark.parametrize(
    "nothing", [Scripted(""), Scripted("", tool_call=True), Scripted("<think>hm</think>")]
)
async def test_an_empty_answer_is_none(script: ScriptedModel, nothing: Scripted) -> None:
    script.say(nothing)
    with pytest.raises(ModelUnavailable, match="empty answer"):
        await reply(settings_for(script))


async def test_cancelling_closes_the_request(script: ScriptedModel) -> None:
    script.say(Scripted("One two", hold_after=1))
    async with opened(settings_for(script)) as model:
        asking = asyncio.create_task(model.reply(PROMPT, lambda _: None))
        await asyncio.to_thread(script.wait_until, lambda each: len(each.requests) == 1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.to_thread(script.wait_until, lambda each: each.disconnects == 1)


async def test_other_variables_of_the_environment_do_not_lead_elsewhere(
    script: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
    await reply(settings_for(script))
    assert script.requests[0].headers["authorization"] == f"Bearer {KEY}"


async def test_no_repr_shows_the_key(script: ScriptedModel) -> None:
    settings = settings_for(script)
    async with opened(settings) as model:
        assert KEY not in repr(settings) + repr(model)
