"""Questions about earlier conversations, and those that only sound like one."""

import pytest

from app.modules.sql_generation.past_conversations import asks_about_past


@pytest.mark.parametrize(
    "question",
    [
        "What did we find about returns in spring?",
        "What have we discussed about churn?",
        "Did I ever ask you about late orders?",
        "We talked about margins; which product was it?",
        "In my previous conversation with you there was a figure for May.",
        "What did our last conversation say about Brazil?",
        "Was haben wir im Frühling über Retouren herausgefunden?",
        "Habe ich dich schon einmal nach dem Umsatz gefragt?",
        "Was stand in unserem letzten Gespräch über Kunden?",
    ],
)
def test_a_question_about_earlier_conversations_is_recognized(question: str) -> None:
    assert asks_about_past(question)


@pytest.mark.parametrize(
    "question",
    [
        "How did we do last month?",
        "How many chats did we have?",
        "Which customers talked to support last year?",
        "Did we sell more in May than in April?",
        "How many sessions were there in the previous week?",
        "Wie viele Gespräche hatten wir letzte Woche?",
        "Show the last conversations table",
    ],
)
def test_a_question_about_data_is_not(question: str) -> None:
    assert not asks_about_past(question)
