"""Snippets of found texts."""

from app.modules.session.snippets import snippet


def hits(text: str, words: str) -> list[str]:
    return [piece for piece, is_hit in snippet(text, words) if is_hit]


def test_whole_words_and_the_beginning_of_the_last_one_are_marked() -> None:
    assert snippet("What is price against costs?", "against COST") == [
        ("What is price ", False),
        ("against", True),
        (" ", False),
        ("costs", True),
        ("?", False),
    ]
    assert hits("against again", "again against") == ["against", "again"]
    assert hits("the agains", "again the") == ["the"]


def test_accents_and_punctuation_do_not_count() -> None:
    assert hits("Umsatz je Café (2025)", "cafe, 2025") == ["Café", "2025"]


def test_a_long_text_is_cut_around_its_first_hit() -> None:
    pieces = snippet(f"{'before ' * 30}hit{' after' * 60}", "hit")
    assert pieces[0] == ("… ", False)
    assert pieces[-1] == (" …", False)
    shown = "".join(piece for piece, _ in pieces)
    assert "before hit after" in shown
    assert len(shown) <= 150


def test_the_pieces_are_the_text() -> None:
    text = "Revenue of the revenue team"
    assert "".join(piece for piece, _ in snippet(text, "revenue")) == text


def test_words_that_are_not_in_the_text_mark_nothing() -> None:
    assert snippet("Orders\nper month", "title") == [("Orders per month", False)]
    assert snippet("Orders", "?!") == [("Orders", False)]
