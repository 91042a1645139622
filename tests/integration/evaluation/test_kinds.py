"""Every kind of answer is distinguished, through the graph that KAI serves with."""

import pytest

from app.evaluation.results import OutcomeKind
from tests.integration.evaluation.conftest import Shop
from tests.support.choices import FIRST
from tests.support.scripted_model import Scripted, ScriptedModel

COUNTRIES = "select country, count(*) from customers group by country order by country"
FOR_EVER = "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n"


def sql(text: str) -> str:
    return f"So be it.\n```sql\n{text}\n```"


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (sql("select count(*) as n, country from customers group by 2 order by 2"), "correct"),
        (sql("select country, count(*), 1 from customers group by 1 order by 1"), "extra_columns"),
        (sql("select country, count(*) from customers group by 1 order by 1 desc"), "order"),
        (sql("select country from customers group by 1 order by 1"), "wrong_columns"),
        (sql("select country, 1 from customers order by 1"), "wrong_rows"),
        (sql("select nothing from customers"), "execution_error"),
        (sql("delete from customers"), "refused"),
        (sql(FOR_EVER), "timeout"),
        ("CLARIFY: Which countries?", "clarification"),
        ("CHAT: Hello!", "no_answer"),
        (Scripted(status=401), "model_error"),
    ],
)
async def test_an_answer_of_the_model_has_its_kind(
    reply: str | Scripted,
    kind: OutcomeKind,
    shop: Shop,
    model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KAI_LIMITS__STATEMENT_SECONDS", "0.2")
    model.rule("", reply)
    (outcome,) = await shop.evaluate({"gold_sql": COUNTRIES})
    assert outcome.kind == kind


async def test_what_was_said_in_place_of_rows_is_in_the_outcome(shop: Shop, model: ScriptedModel) -> None:
    model.say("CHAT: Hello!", "CLARIFY: Which ones?")
    chat, clarification = await shop.evaluate({}, {}, jobs=1)
    assert (chat.detail, clarification.detail) == ("Hello!", "Which ones?")


async def test_a_question_beyond_the_built_in_writer_says_why(shop: Shop) -> None:
    (outcome,) = await shop.evaluate({"question": "Why?"})
    assert outcome.kind == "beyond"
    assert "comparison, calculation or reason" in outcome.detail


async def test_an_answer_in_words_from_earlier_rows_is_not_compared(shop: Shop, model: ScriptedModel) -> None:
    model.say(sql("select 3"), FIRST, "ROWS", FIRST)
    turns = [{"conversation_id": "c", "turn": turn} for turn in (0, 1)]
    first, second = await shop.evaluate(*turns)
    assert (first.kind, second.kind) == ("correct", "from_rows")
    assert second.verdict("exact") == "in_words"
    assert "**3: 3**." in second.detail


async def test_what_the_built_in_writer_answers_for_a_model_that_is_down_is_not_the_models(
    shop: Shop, model: ScriptedModel
) -> None:
    model.rule("", Scripted(status=503))
    (outcome,) = await shop.evaluate({"question": "How many customers?"})
    assert (outcome.kind, outcome.sql is not None) == ("model_error", True)


@pytest.mark.parametrize("broken", ["drop table customers", "select no_such from customers", "selec"])
async def test_a_gold_that_does_not_run_is_a_defect_of_the_set(broken: str, shop: Shop) -> None:
    first, second = await shop.evaluate(
        {"question": "How many customers?", "gold_sql": broken},
        {"question": "How many customers?", "gold_sql": [broken, "select 3"]},
    )
    assert (first.kind, second.kind) == ("gold_failed", "correct")
    assert first.detail


NAMES = "select name from customers order by "


@pytest.mark.parametrize(
    ("gold", "reply", "kind"),
    [
        (f"{NAMES} country", f"{NAMES} country, name desc", "correct"),
        (f"{NAMES} country", f"{NAMES} name", "order"),
        (f"{NAMES} 1 desc", f"{NAMES} name", "order"),
        ("select name as n from customers order by n", f"{NAMES} name desc", "order"),
        (f"{NAMES} country desc limit 1", "select 'Zoë'", "correct"),
        (f"{NAMES} country desc limit 1", "select 'Bob'", "wrong_rows"),
        (f"{NAMES} length(country) desc", f"{NAMES} country desc", "correct"),
        (f"select * from ({NAMES} name)", f"{NAMES} name desc", "correct"),
        (
            f"{NAMES} id limit 2 offset 1",
            f"select name from ({NAMES} name limit 3) where name > 'B'",
            "correct",
        ),
        ("select distinct name from customers order by id", f"{NAMES} id desc", "order"),
        ("select 'A' union select 'B' order by 1", "select 'A' union select 'B' order by 1 desc", "order"),
    ],
)
async def test_the_order_is_that_of_the_outermost_gold_query_with_its_ties(
    gold: str, reply: str, kind: OutcomeKind, shop: Shop, model: ScriptedModel
) -> None:
    model.rule("", sql(reply))
    (outcome,) = await shop.evaluate({"gold_sql": gold})
    assert outcome.kind == kind


async def test_a_result_that_a_limit_cut_says_so(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAI_LIMITS__RESULT_ROWS", "2")
    (outcome,) = await shop.evaluate({"question": "list customers", "gold_sql": "select * from customers"})
    assert outcome.capped
