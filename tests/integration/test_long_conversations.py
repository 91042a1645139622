"""Sixty turns with a scripted model: what was laid down in the second is known in the last."""

from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest
from pydantic import SecretStr

from app.bootstrap import Services, open_services
from app.core.settings import NO_QUOTAS, ConversationSettings, LlmSettings, Settings
from app.modules.records.model import NewQuestion, Session
from tests.support.model_script import Asked
from tests.support.scripted_model import Scripted, ScriptedModel

OWNER = "local"
TURNS = 60
RULE = "Leave out test customers from now on."


@pytest.fixture
def reduction() -> ConversationSettings:
    return ConversationSettings(reduce_with_ai=True, reduce_threshold=10)


@pytest.fixture
async def services(
    tmp_path: Path, model: ScriptedModel, reduction: ConversationSettings
) -> AsyncGenerator[Services]:
    llm = LlmSettings(base_url=model.base_url, api_key=SecretStr("sk-x"), model="scripted")
    settings = Settings(data_dir=tmp_path / "data", llm=llm, conversations=reduction, quotas=NO_QUOTAS)
    async with open_services(settings) as opened:
        yield opened


def is_summary(asked: Asked) -> bool:
    return "memory of a conversation" in asked.text


def relays(model: ScriptedModel) -> None:
    model.rule(is_summary, "Nothing was laid down.")
    model.rule(lambda asked: is_summary(asked) and "test customers" in asked.text, "Without test customers.")


def always_fails(model: ScriptedModel) -> None:
    model.rule(is_summary, Scripted(status=500))


def writes_far_too_much(model: ScriptedModel) -> None:
    model.rule(is_summary, "The analyst asks about orders. " * 150)


def is_cut_by_its_service(model: ScriptedModel) -> None:
    model.rule(is_summary, Scripted("The analyst asks about orders. The ana", finish_reason="length"))


def returns_nothing(model: ScriptedModel) -> None:
    model.rule(is_summary, "")


async def ask_all(
    services: Services, session: Session, model: ScriptedModel, turns: int
) -> tuple[list[Asked], list[int]]:
    """Returns the prompts of the writer, and the turns in which the summary model was called."""
    prompts: list[Asked] = []
    summaries: list[int] = []
    for number in range(1, turns + 1):
        model.requests.clear()
        question = RULE if number == 2 else f"How many orders were there in week {number}?"
        asked = await services.sessions.ask(OWNER, session.id, NewQuestion(question))
        assert [entry.event async for entry in services.sessions.follower.events(asked[1])][-1] == "done"
        prompts.extend(each for each in model.requests if "SQL writer" in each.text)
        calls = [each for each in model.requests if is_summary(each)]
        assert len(calls) <= 1
        assert all(each.body["max_tokens"] == 499 for each in calls)
        summaries.extend(number for _ in calls)
    return prompts, summaries


@pytest.mark.parametrize(
    "summarizes", [relays, always_fails, writes_far_too_much, is_cut_by_its_service, returns_nothing]
)
async def test_what_was_laid_down_in_turn_2_is_in_the_prompt_of_turn_60(
    services: Services,
    session: Session,
    model: ScriptedModel,
    summarizes: Callable[[ScriptedModel], None],
) -> None:
    model.rule("SQL writer", "CHAT: All right.")
    summarizes(model)
    prompts, summaries = await ask_all(services, session, model, TURNS)
    assert len(prompts) == TURNS
    assert all("test customers" in prompt.text for prompt in prompts[1:])
    assert 5 < len(summaries) <= TURNS / 3
    assert all(
        "orders were there in week" in prompt.text.partition("## Question")[0] for prompt in prompts[1:]
    )


@pytest.mark.parametrize(
    ("reduction", "calls"),
    [
        (ConversationSettings(), []),
        (ConversationSettings(reduce_threshold=10), []),
        (ConversationSettings(reduce_with_ai=True), [9, 12]),
        (ConversationSettings(reduce_with_ai=True, reduce_threshold=11), [6, 9, 12]),
        (ConversationSettings(reduce_with_ai=True, reduce_threshold=12), [9, 12]),
        (ConversationSettings(reduce_with_ai=True, reduce_threshold=18), [12]),
    ],
    ids=str,
)
async def test_the_summary_model_reduces_a_conversation_only_where_wanted_and_above_the_threshold(
    services: Services, session: Session, model: ScriptedModel, calls: list[int]
) -> None:
    model.rule("SQL writer", "CHAT: All right.")
    model.rule(is_summary, "Without test customers.")
    prompts, summaries = await ask_all(services, session, model, 13)
    assert summaries == calls
    assert all("test customers" in prompt.text for prompt in prompts[1:])
    summary = (await services.sessions.repository.get(OWNER, session.id)).summary or ""
    assert ("Asked: " in summary) == (not calls)
