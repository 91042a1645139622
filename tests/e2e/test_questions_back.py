"""A question back of the built-in writer: its options, and replies to it in words and by number."""

import pytest

from tests.support.server import Client, chunks


async def clarification(kai: Client, session: str) -> dict[str, object]:
    history = (await kai.http.get(f"/sessions/{session}")).json()["messages"]["items"]
    found: dict[str, object] = next(each for each in reversed(history) if each["clarification"])
    return found


@pytest.mark.parametrize(
    "reply", ["by number of orders", "the number of orders please", "2", "the second one", "number 2"]
)
async def test_a_reply_is_answered_as_the_question_that_it_stands_for(
    plain: Client, shop: str, reply: str
) -> None:
    session = await plain.open_session(await plain.connect(shop))
    asked_back = await plain.ask(session, "Largest customer")
    (chunk,) = [each.data for each in asked_back if each.data.get("type") == "clarification"]
    assert chunk["options"] == [
        {"label": "revenue", "question": "Largest customer, by revenue"},
        {"label": "number of orders", "question": "Largest customer, by number of orders"},
    ]
    assert (await clarification(plain, session))["options"] == chunk["options"]
    events = await plain.ask(session, reply)
    (statement,) = [each.data for each in events if each.data.get("type") == "sql"]
    assert statement["standalone_question"] == "Largest customer, by number of orders"
    assert chunks(events, "results")[0]["rows"] == [["Ben", 2]]


@pytest.mark.parametrize("question", ["Largest customer", "amount by country"])
async def test_the_question_of_each_option_is_answered_as_it_stands(
    plain: Client, shop: str, question: str
) -> None:
    connection = await plain.connect(shop)
    offered = (await clarification(plain, await _asked(plain, connection, question)))["options"]
    assert isinstance(offered, list)
    for option in offered:
        session = await _asked(plain, connection, question)
        events = await plain.ask(session, option["question"])
        assert chunks(events, "results")[0]["row_count"] >= 1, option


async def _asked(kai: Client, connection: str, question: str) -> str:
    session = await kai.open_session(connection)
    await kai.ask(session, question)
    return session


async def test_what_is_no_reply_is_a_new_question(plain: Client, shop: str) -> None:
    session = await plain.open_session(await plain.connect(shop))
    await plain.ask(session, "Largest customer")
    events = await plain.ask(session, "How many customers?")
    assert chunks(events, "results")[0]["rows"] == [[3]]
    later = await plain.ask(session, "2")
    assert later[-1].data["status"] == "failed"
