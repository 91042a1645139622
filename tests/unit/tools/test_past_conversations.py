"""What a model reads of earlier conversations."""

from app.core.llm.tokens import approximate_tokens
from app.modules.memory.model import ConversationMemory, FoundMemory, Sentiment
from app.modules.tools.toolsets.memory import as_text


def found(
    summary: str, *, persons: list[str] | None = None, sentiment: Sentiment | None = None
) -> FoundMemory:
    memory = ConversationMemory(
        id="s1",
        owner="ann",
        session_id="s1",
        summary=summary,
        themes=["returns", "spring"],
        persons=persons or [],
        user_sentiment=sentiment,
        covers="m1",
        updated_at=1_775_000_000_000,
    )
    return FoundMemory(memory, 0.75)


def test_a_conversation_is_shown_with_date_session_relevance_themes_and_sentiment() -> None:
    text = as_text([found("Returns rose\nin spring.", persons=["Ada"], sentiment="positive")])
    assert text == (
        "2026-03-31, session s1, relevance 0.75: Returns rose in spring.\n"
        "Themes: returns, spring\nPersons: Ada\nThe user's sentiment: positive"
    )


def test_what_is_not_known_has_no_line() -> None:
    text = as_text([found("Returns rose.")])
    assert "Persons" not in text
    assert "sentiment" not in text


def test_ten_long_conversations_take_at_most_1500_tokens() -> None:
    text = as_text([found("Die Rückläufer stiegen überall deutlich. " * 40) for _ in range(10)])
    assert approximate_tokens(text) <= 1_500
    assert text.count("session s1") < 10
    assert as_text([]) == ""
