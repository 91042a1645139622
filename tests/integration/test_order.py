"""The order of a session's messages and its status, over both stores."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from pydantic import SecretStr

from app.bootstrap import Services, open_services
from app.core.clock import now_ms
from app.core.ids import id_of, new_id
from app.core.settings import NO_QUOTAS, ConversationSettings, LlmSettings, Settings
from app.core.storage.listing import ListRequest
from app.modules.records.model import Message, NewQuestion, Run, Session
from app.modules.run.messages import question_message, question_sequence
from app.modules.run.submission import run_id_of
from app.modules.session.service import SessionFilter
from tests.support.scripted_model import Scripted, ScriptedModel

OWNER = "local"


@pytest.fixture(params=["sqlite", "typesense"])
async def services(
    request: pytest.FixtureRequest, tmp_path: Path, model: ScriptedModel
) -> AsyncGenerator[Services]:
    llm = LlmSettings(base_url=model.base_url, api_key=SecretStr("sk-x"), model="scripted")
    conversations = ConversationSettings(reduce_with_ai=True, reduce_threshold=10)
    settings = Settings(data_dir=tmp_path / "data", llm=llm, conversations=conversations, quotas=NO_QUOTAS)
    if request.param == "typesense":
        kept_in = request.getfixturevalue("ready_typesense")
        settings = settings.model_copy(update={"store": "typesense", "typesense": kept_in})
    async with open_services(settings) as opened:
        yield opened


async def ask(services: Services, session: Session, question: str, key: str | None = None) -> list[str]:
    """Of the events of its run, the answers' last one included."""
    asked = await services.sessions.ask(
        OWNER, session.id, NewQuestion(question, multitask_strategy="enqueue", idempotency_key=key)
    )
    return [entry.event async for entry in services.sessions.follower.events(asked[1])]


async def history(services: Services, session: Session, limit: int = 100) -> list[Message]:
    """All messages, by pages of this size, the newest page first."""
    now = await services.sessions.repository.get(OWNER, session.id)
    found: list[Message] = []
    cursor: str | None = None
    while True:
        page, cursor = await services.sessions.repository.messages(now, limit, cursor)
        found = [*page, *found]
        if cursor is None:
            return found


def answered(model: ScriptedModel) -> list[str]:
    """The questions in the order in which a model was asked them."""
    prompts = [asked.text for asked in model.requests if "SQL writer" in asked.text]
    return [prompt.rpartition("## Question\n")[2] for prompt in prompts]


async def test_questions_of_one_moment_are_kept_in_the_order_in_which_they_were_answered(
    services: Services, session: Session, model: ScriptedModel
) -> None:
    model.rule("SQL writer", "CHAT: All right.")
    keys = [str(number) if number % 2 else None for number in range(10)]
    await asyncio.gather(*(ask(services, session, f"question {n}", key) for n, key in enumerate(keys)))
    kept = await history(services, session)
    order = answered(model)
    assert sorted(order) == sorted(f"question {n}" for n in range(10))
    assert [each.query for each in kept] == [question for question in order for _ in "ha"]
    assert [each.role for each in kept] == 10 * ["human", "assistant"]
    assert [each.id for each in await history(services, session, limit=3)] == [each.id for each in kept]


async def test_pinned_sessions_are_a_list_of_their_own_and_pinning_is_no_use(
    services: Services, session: Session
) -> None:
    others = [
        await services.sessions.create(OWNER, session.db_connection_id, None, mode="ask", metadata={})
        for _ in range(4)
    ]
    older, newer = session, others[2]
    for each in (newer, older):
        pinned = await services.sessions.change(OWNER, each.id, {"pinned": True})
        assert (pinned.pinned_at or 0) >= each.created_at
        assert pinned.updated_at == each.updated_at

    async def listed(is_pinned: bool | None) -> list[str]:
        found: list[str] = []
        cursor: str | None = None
        while True:
            wanted = SessionFilter(is_pinned=is_pinned)
            page = await services.sessions.page(
                OWNER, wanted, ListRequest(order_by="updated_at", limit=1, cursor=cursor)
            )
            found += [each.id for each in page.items]
            if (cursor := page.next_cursor) is None:
                return found

    assert await listed(True) == [newer.id, older.id]
    assert await listed(False) == [others[3].id, others[1].id, others[0].id]
    assert len(await listed(None)) == 5
    await services.sessions.change(OWNER, newer.id, {"pinned": False, "title": "Not pinned any more"})
    assert await listed(True) == [older.id]


async def test_a_search_names_the_answer_to_the_question_it_found(
    services: Services, session: Session, model: ScriptedModel
) -> None:
    model.rule("SQL writer", "CHAT: All right.")
    for question in ("How are we doing?", "And price against costs?", "And since May?"):
        await ask(services, session, question)
    found = await services.sessions.page(
        OWNER, SessionFilter(text="against cost"), ListRequest(order_by="updated_at", limit=20)
    )
    assert [each.id for each in found.items] == [session.id]
    kept = await history(services, session)
    assert found.questions[session.id] == kept[3]
    asked, cursor = await services.sessions.repository.questions(session, 2, None)
    rest, end = await services.sessions.repository.questions(session, 2, cursor)
    assert [*asked, *rest] == [kept[0], kept[2], kept[4]]
    assert end is None
    only_title = await services.sessions.change(OWNER, session.id, {"title": "Margins"})
    by_title = await services.sessions.page(
        OWNER, SessionFilter(text="margins"), ListRequest(order_by="updated_at", limit=20)
    )
    assert (by_title.items, by_title.questions) == ([only_title], {})


async def test_questions_that_wait_are_answered_in_the_order_in_which_they_came(
    services: Services, session: Session, model: ScriptedModel
) -> None:
    model.rule("SQL writer", "CHAT: All right.")
    model.rule(lambda asked: asked.text.endswith("the held one"), Scripted("CHAT: held", hold_after=0))
    first = asyncio.create_task(ask(services, session, "the held one"))
    await model.until(lambda: model.on_hold == 1)
    waiting = [
        await services.sessions.ask(
            OWNER,
            session.id,
            NewQuestion(
                f"question {n}", multitask_strategy="enqueue", idempotency_key=str(n) if n % 2 else None
            ),
        )
        for n in range(8)
    ]
    questions = ["the held one", *(f"question {n}" for n in range(8))]
    assert [each.query for each in await history(services, session)] == questions
    model.release()
    await first
    for asked in waiting:
        assert [entry.event async for entry in services.sessions.follower.events(asked[1])][-1] == "done"
    assert answered(model) == questions
    assert [each.query for each in await history(services, session)] == [
        question for question in questions for _ in "ha"
    ]


async def test_a_question_cancelled_while_it_waits_stands_before_those_answered_later(
    services: Services, session: Session, model: ScriptedModel
) -> None:
    model.rule("SQL writer", "CHAT: All right.")
    model.rule(lambda asked: asked.text.endswith("the held one"), Scripted("CHAT: held", hold_after=0))
    first = asyncio.create_task(ask(services, session, "the held one"))
    await model.until(lambda: model.on_hold == 1)
    runs = [
        await services.sessions.ask(
            OWNER, session.id, NewQuestion(f"question {n}", multitask_strategy="enqueue")
        )
        for n in "ab"
    ]
    await services.sessions.submissions.cancel(*runs[0])
    model.release()
    await first
    assert [entry.event async for entry in services.sessions.follower.events(runs[1][1])][-1] == "done"
    kept = [(each.role, each.query, each.status) for each in await history(services, session)]
    assert kept == [
        ("human", "the held one", "complete"),
        ("assistant", "the held one", "complete"),
        ("human", "question a", "complete"),
        ("assistant", "question a", "cancelled"),
        ("human", "question b", "complete"),
        ("assistant", "question b", "complete"),
    ]


async def test_a_question_whose_first_try_died_before_its_run_was_stored_gets_its_place(
    services: Services, session: Session, model: ScriptedModel
) -> None:
    model.rule("SQL writer", "CHAT: All right.")
    run = Run(
        id=run_id_of(session.id, "key"),
        owner=OWNER,
        session_id=session.id,
        message_id=new_id(),
        question="again",
        created_at=now_ms(),
    )
    stored = question_message(run, id_of(run.id, "question again"), question_sequence(1))
    await services.sessions.repository.add_message(stored)
    await ask(services, session, "before it")
    await ask(services, session, "again", key="key")
    kept = await history(services, session)
    assert [each.query for each in kept] == ["before it", "before it", "again", "again"]
    assert kept[2].id == stored.id


async def test_a_fork_goes_on_in_the_order_of_its_origin(
    services: Services, session: Session, model: ScriptedModel
) -> None:
    model.rule("SQL writer", "CHAT: All right.")
    await asyncio.gather(*(ask(services, session, f"question {n}") for n in range(4)))
    order = answered(model)
    points, _ = await services.sessions.copies.checkpoints(OWNER, session.id, 100, cursor=None)
    ends = [point for point in points if not point.next_steps]
    second = next(point for point in ends if point.query == order[1])
    forked = await services.sessions.copies.fork(OWNER, session.id, second.id)
    await ask(services, forked, "another")
    asked = [each.query for each in await history(services, forked) if each.role == "human"]
    assert asked == [*order[:2], "another"]


async def test_a_session_says_error_after_a_failed_run_until_the_next_begins(
    services: Services, session: Session, model: ScriptedModel
) -> None:
    async def status() -> str:
        return (await services.sessions.repository.get(OWNER, session.id)).status

    model.say(*3 * ["```sql\nSELECT nothing FROM nowhere\n```"])
    await ask(services, session, "How many?")
    assert await status() == "error"
    found = await services.sessions.page(
        OWNER, SessionFilter(status="error"), ListRequest(order_by="updated_at", limit=10)
    )
    assert [each.id for each in found.items] == [session.id]
    model.say(Scripted("CHAT: held", hold_after=0))
    asking = asyncio.create_task(ask(services, session, "And now?"))
    await model.until(lambda: model.on_hold == 1)
    assert await status() == "processing"
    model.release()
    await asking
    assert await status() == "idle"
    found = await services.sessions.page(
        OWNER, SessionFilter(status="error"), ListRequest(order_by="updated_at", limit=10)
    )
    assert found.items == []


async def test_a_cancelled_run_leaves_no_error(
    services: Services, session: Session, model: ScriptedModel
) -> None:
    model.say(Scripted("CHAT: held", hold_after=0))
    _, run = await services.sessions.ask(OWNER, session.id, NewQuestion("How many?"))
    await model.until(lambda: model.on_hold == 1)
    await services.sessions.submissions.cancel(session, run)
    assert [entry.event async for entry in services.sessions.follower.events(run)][-1] == "done"
    assert (await services.sessions.repository.get(OWNER, session.id)).status == "idle"


async def test_the_rolling_summary_is_kept_with_the_session(
    services: Services, session: Session, model: ScriptedModel
) -> None:
    model.rule("SQL writer", "CHAT: All right.")
    model.rule("memory of a conversation", "The analyst counts customers.")
    for number in range(5):
        await ask(services, session, f"question {number}")
    assert (await services.sessions.repository.get(OWNER, session.id)).summary is None
    await ask(services, session, "question 5")
    now = await services.sessions.repository.get(OWNER, session.id)
    assert now.summary == "The analyst counts customers."
    points, _ = await services.sessions.copies.checkpoints(OWNER, session.id, 100, cursor=None)
    early = next(point for point in points if not point.next_steps and point.query == "question 1")
    assert (await services.sessions.copies.fork(OWNER, session.id, early.id)).summary is None
