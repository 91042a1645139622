"""`kai eval --compare-agent`: simple questions have the same scores with and without investigations."""

import json
from difflib import ndiff

import pytest
from rich.console import Console

from app.core.errors import Invalid
from app.core.settings import read_settings
from app.evaluation.loop import compare_agent_with
from app.evaluation.question_set import QuestionSelection
from app.evaluation.results import QuestionOutcome, read_results
from app.evaluation.run import Evaluation
from app.evaluation.summary import EvaluationComparison
from tests.integration.evaluation.conftest import Line, Shop
from tests.integration.evaluation.test_evaluations import TALK
from tests.integration.evaluation.test_kinds import COUNTRIES, sql
from tests.support.model_script import Asked, Scripted
from tests.support.scripted_model import ScriptedModel

REPLIES = {
    "How many customers?": sql("select count(*) from customers"),
    "only in Norway": sql("select count(*) from customers where country = 'Norway'"),
    "Customers by country": sql(COUNTRIES),
    "Customers by land": sql("select country from customers group by 1 order by 1"),
    "Something that is not there": sql("select nothing from customers"),
    "Which ones?": "CLARIFY: Which countries?",
    "Hello": "CHAT: Hello!",
    "Remove them": sql("delete from customers"),
}
SIMPLE: tuple[Line, ...] = (
    *TALK,
    *({"question": asked, "gold_sql": COUNTRIES} for asked in list(REPLIES)[2:]),
)


def replay(model: ScriptedModel) -> None:
    """The same question has the same reply, whatever else its prompt says."""
    for question, reply in REPLIES.items():
        model.rule(f"## Question\n{question}", reply)


async def compared(shop: Shop, *lines: Line) -> EvaluationComparison:
    wanted = Evaluation(
        questions=shop.write(*lines),
        database=str(shop.database),
        output=shop.output,
        selection=QuestionSelection(),
        mode="exact",
        jobs=1,
        fresh=False,
    )
    return await compare_agent_with(wanted, read_settings(), Console(quiet=True))


def outcomes(shop: Shop, form: str) -> list[QuestionOutcome]:
    found = read_results(shop.folder / f"results.agent-{form}.results.jsonl")
    assert found.header.investigations == (form == "on")
    return [each.model_copy(update={"seconds": 0}) for each in found.outcomes.values()]


async def test_replayed_replies_to_simple_questions_score_the_same_with_and_without_the_loop(
    shop: Shop, model: ScriptedModel
) -> None:
    replay(model)
    comparison = await compared(shop, *SIMPLE)
    off = outcomes(shop, "off")
    on = outcomes(shop, "on")
    assert [each.kind for each in off] == [each.kind for each in on]
    assert [each.sql for each in off] == [each.sql for each in on]
    assert [each.calls for each in off] == [each.calls for each in on]
    kinds = {"correct", "wrong_columns", "execution_error", "clarification", "refused"}
    assert {each.kind for each in on} >= kinds
    assert not any(each.investigated for each in on)
    assert (comparison.difference.lost, comparison.difference.won) == (0, 0)


def first_calls(model: ScriptedModel) -> list[Asked]:
    return [asked for asked in model.requests if "SQL writer" in asked.text]


async def test_the_first_prompt_differs_by_one_line_and_offers_no_tools(
    shop: Shop, model: ScriptedModel
) -> None:
    replay(model)
    await compared(shop, SIMPLE[2])
    off, on = first_calls(model)
    changed = [
        line for line in ndiff(off.text.splitlines(), on.text.splitlines()) if line[:2] in ("- ", "+ ")
    ]
    assert len(changed) == 1
    assert "INVESTIGATE" in changed[0]
    assert {key: value for key, value in off.body.items() if key != "messages"} == {
        key: value for key, value in on.body.items() if key != "messages"
    }


async def test_questions_that_are_investigated_are_counted(shop: Shop, model: ScriptedModel) -> None:
    model.rule("INVESTIGATE", "INVESTIGATE:\n1. Look")
    model.rule("You are the investigator", "Nothing was found.")
    await compared(shop, SIMPLE[2])
    (outcome,) = outcomes(shop, "on")
    assert outcome.investigated
    assert not outcomes(shop, "off")[0].investigated


async def test_rows_of_a_call_are_not_those_of_the_answer(shop: Shop, model: ScriptedModel) -> None:
    statement = {"sql": "select name from customers", "purpose": "All names"}
    counted = {"sql": COUNTRIES, "purpose": "Customers by country"}
    finish = {"answer": "By country.", "main_result": "r2.1"}
    replies = [("run_sql", statement), ("run_sql", counted), ("finish", finish)]

    def reply(asked: Asked) -> Scripted | None:
        if "You are the investigator" in asked.text:
            name, given = replies[sum(message["role"] == "tool" for message in asked.messages)]
            return Scripted(calls=((name, json.dumps(given)),))
        if "SQL writer" in asked.text:
            return Scripted("INVESTIGATE:\n1. Look" if "INVESTIGATE" in asked.text else sql(COUNTRIES))
        return None

    model.policy = reply
    await compared(shop, SIMPLE[2])
    (off,) = outcomes(shop, "off")
    (on,) = outcomes(shop, "on")
    assert (off.kind, on.kind) == ("correct", "correct")
    assert on.investigated


async def test_without_a_model_there_is_nothing_to_compare(shop: Shop) -> None:
    with pytest.raises(Invalid, match="language model"):
        await compared(shop, SIMPLE[0])
