"""`kai eval --baseline plain`: what the model does with nothing but the schema and the question."""

import pytest

from app.core.errors import Invalid
from app.evaluation.results import OutcomeKind, ResultsInvalid, read_results
from tests.integration.evaluation.conftest import Line, Shop
from tests.integration.evaluation.test_evaluations import HOW_MANY, TALK
from tests.integration.evaluation.test_kinds import COUNTRIES, FOR_EVER, sql
from tests.support.command_line import kai
from tests.support.scripted_model import Scripted, ScriptedModel


async def test_the_prompt_is_the_schema_and_the_question_and_nothing_else(
    shop: Shop, model: ScriptedModel
) -> None:
    model.rule("", sql("select 3"))
    (outcome,) = await shop.evaluate(HOW_MANY, system="plain")
    (asked,) = model.requests
    system, user = asked.messages
    assert system["content"] == (
        "Answer with one sqlite statement.\n\n"
        "categories(id, parent_id, name)\n"
        "categories.parent_id = categories.id\n"
        "customers(id, name, country, email, signed_up, vip)\n"
        "files(name, content)\n"
        '"order lines"(order_id, select, quantity, "unit price", note)\n'
        '"order lines".order_id = orders.id\n'
        "orders(id, customer_id, placed, status, total, details)\n"
        "orders.customer_id = customers.id\n"
        "spending(name, spent, latest)"
    )
    assert user == {"role": "user", "content": "How many customers?"}
    assert outcome.kind == "correct"
    assert outcome.tokens > 100


async def test_a_follow_up_is_sent_with_the_questions_and_statements_before_it(
    shop: Shop, model: ScriptedModel
) -> None:
    model.say(sql("select 3"), sql("select count(*) from customers where country = 'Norway'"))
    first, second = await shop.evaluate(*TALK, system="plain")
    assert [each["content"] for each in model.requests[1].messages[1:]] == [
        "How many customers?",
        "```sql\nselect 3\n```",
        "only in Norway",
    ]
    assert (first.kind, second.kind) == ("correct", "correct")


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (sql("select country, count(*) from customers group by 1 order by 1"), "correct"),
        (sql("select nothing from customers"), "execution_error"),
        (sql("delete from customers"), "refused"),
        (sql(FOR_EVER), "timeout"),
        ("CLARIFY: Which countries?", "clarification"),
        ("I cannot say.", "no_answer"),
        (Scripted(status=401), "model_error"),
    ],
)
async def test_an_answer_has_its_kind_after_one_call(
    reply: str | Scripted,
    kind: OutcomeKind,
    shop: Shop,
    model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KAI_LIMITS__STATEMENT_SECONDS", "0.2")
    model.rule("", reply)
    (outcome,) = await shop.evaluate({"gold_sql": COUNTRIES}, system="plain")
    assert outcome.kind == kind
    assert len(model.requests) == 1


async def test_results_of_the_baseline_and_of_kai_are_not_mixed(shop: Shop, model: ScriptedModel) -> None:
    model.rule("", sql("select 3"))
    lines: list[Line] = [HOW_MANY] * 2
    await shop.evaluate(*lines, system="plain")
    assert read_results(shop.output).header.system == "plain"
    with pytest.raises(ResultsInvalid, match="plain with scripted"):
        await shop.evaluate(*lines)
    await shop.evaluate(*lines, system="plain")
    assert len(model.requests) == 2


async def test_without_a_model_there_is_no_baseline(shop: Shop) -> None:
    with pytest.raises(Invalid, match="OPENAI_API_KEY"):
        await shop.evaluate(HOW_MANY, system="plain")


def test_the_command_keeps_the_results_of_the_baseline_in_a_file_of_their_own(
    shop: Shop, model: ScriptedModel
) -> None:
    model.rule("", sql("select 3"))
    environment = {"KAI_LLM__BASE_URL": model.base_url, "KAI_LLM__MODEL": "scripted"}
    questions = str(shop.write(HOW_MANY))
    given = ("eval", questions, "--db", str(shop.database), "--baseline", "plain")
    asked = kai(*given, data=shop.folder, **environment)
    assert asked.returncode == 0, asked.stderr
    assert "1 of 1" in asked.stdout
    assert read_results(shop.folder / "set.plain.results.jsonl").header.system == "plain"
