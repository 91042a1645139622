"""Choice of facts: what is searched for, and what of it a prompt shows."""

from collections.abc import Sequence

import pytest

from app.core.llm.tokens import approximate_tokens
from app.modules.memory.fact_choice import (
    QUERY_CHARACTERS,
    FactLimits,
    choose_facts,
    has_its_term,
    is_stale,
    query_of,
    stems_of,
)
from app.modules.memory.model import FactKind, FactSource, StoredFact
from app.modules.memory.scopes import GroupId, Scope


def fact(
    text: str, kind: FactKind = "terminology", scope: Scope = "workspace", about: Sequence[str] = ()
) -> StoredFact:
    return StoredFact(
        id=text,
        owner="ada",
        group=GroupId("kai_w_1"),
        scope=scope,
        kind=kind,
        text=text,
        about=tuple(about),
        source=FactSource("promotion", at=0),
        created_at=0,
        updated_at=0,
        used_at=0,
    )


def texts(facts: Sequence[StoredFact]) -> list[str]:
    return [each.text for each in facts]


def test_a_query_has_the_question_the_tables_and_the_last_two_questions() -> None:
    query = query_of("And in Norway?", ["First?", "Second?", "Third?"], ["orders", "customers"])
    assert query.text == "And in Norway?\norders, customers\nThird?\nSecond?"
    assert query.stems[0] == "norway"


def test_a_query_is_short_and_its_question_whole() -> None:
    earlier = ["What is it? " * 30, "Why is it? " * 30]
    assert len(query_of("And in Norway?", earlier, ["orders"]).text) <= QUERY_CHARACTERS
    long = "How many customers " * 60
    assert query_of(long, earlier, ["orders"]).text == long.strip()


@pytest.mark.parametrize(
    ("word", "form"),
    [
        ("churned", "churn"),
        ("returns", "returning"),
        ("categories", "category"),
        ("revenue", "revenues"),
        ("Bestellungen", "Bestellung"),
        ("Kunden", "Kunde"),
        ("Umsätze", "Umsatz"),
        ("OrderItems", "item"),
    ],
)
def test_a_stem_begins_other_forms_of_its_word(word: str, form: str) -> None:
    folded = form.lower().replace("ä", "a")
    assert any(folded.startswith(stem) for stem in stems_of(word))


def test_words_that_say_nothing_are_not_searched_for() -> None:
    assert stems_of("How many of the first ones are there, and when?") == []
    assert stems_of("Wie viele sind es und wann?") == []


@pytest.mark.parametrize(
    "text",
    [
        "churn means no order for 90 days",
        "Churn: no order for 90 days",
        "churn = no order",
        "Churn ist kein Kauf",
    ],
)
def test_a_definition_is_found_by_its_term_and_not_by_the_words_that_define_it(text: str) -> None:
    assert has_its_term(fact(text), stems_of("Which customers churned?"))
    assert not has_its_term(fact(text), stems_of("Orders of the last 90 days"))


def test_facts_that_define_nothing_are_found_by_any_word() -> None:
    assert has_its_term(fact("We call it churn"), stems_of("orders"))
    assert has_its_term(fact("revenue is net", "preference"), stems_of("net"))


def test_a_fact_about_a_name_that_is_missing_is_stale() -> None:
    names = {"orders", "orders.total"}
    assert not is_stale((), names.__contains__)
    assert not is_stale(("orders", "orders.total"), names.__contains__)
    assert is_stale(("orders", "orders.discount"), names.__contains__)


def test_facts_stand_in_the_order_of_scopes_and_of_their_ranks() -> None:
    ranked: dict[Scope, list[StoredFact]] = {
        "user": [fact("u2", scope="user"), fact("u1", scope="user")],
        "shared": [fact("c")],
        "workspace": [fact("w2"), fact("w1")],
        "session": [fact("s")],
    }
    assert texts(choose_facts(ranked, FactLimits())) == ["s", "w2", "w1", "c", "u2", "u1"]


def test_a_text_is_shown_once_whatever_its_case_and_blanks() -> None:
    ranked: dict[Scope, list[StoredFact]] = {
        "session": [fact("Churn means  no order")],
        "user": [fact("churn MEANS no order"), fact("other")],
    }
    assert texts(choose_facts(ranked, FactLimits())) == ["Churn means  no order", "other"]


def test_at_most_ten_facts_are_shown() -> None:
    assert len(choose_facts({"session": [fact(f"t{number}") for number in range(30)]}, FactLimits())) == 10


def test_at_most_four_of_a_kind_are_shown_but_any_number_of_definitions() -> None:
    preferences = [fact(f"p{number}", "preference") for number in range(9)]
    definitions = [fact(f"t{number}") for number in range(5)]
    chosen = choose_facts({"session": preferences, "workspace": definitions}, FactLimits())
    assert texts(chosen) == ["p0", "p1", "p2", "p3", "t0", "t1", "t2", "t3", "t4"]


def test_facts_fill_at_most_their_tokens_and_a_long_one_leaves_room_for_short_ones() -> None:
    long = fact("word " * 100)
    ranked: dict[Scope, list[StoredFact]] = {"session": [fact("first"), long, fact("short")]}
    assert texts(choose_facts(ranked, FactLimits(tokens=80))) == ["first", "short"]
    many = [fact(f"{number} " + "word " * 90) for number in range(10)]
    chosen = choose_facts({"session": many}, FactLimits())
    assert 0 < sum(approximate_tokens(each.text) for each in chosen) <= 600
