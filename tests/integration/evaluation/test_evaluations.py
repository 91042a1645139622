"""A whole `kai eval`: dialogues, databases, what is sent to the model, going on after a break."""

import asyncio
import json

import pytest

from app.core.errors import Invalid
from app.evaluation.results import ResultsInvalid
from tests.integration.evaluation.conftest import Line, Shop
from tests.support.command_line import kai
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.shop import make_shop

HOW_MANY: Line = {"question": "How many customers?"}
TALK: tuple[Line, ...] = (
    {"question": "How many customers?", "conversation_id": "c", "turn": 0},
    {
        "question": "only in Norway",
        "conversation_id": "c",
        "turn": 1,
        "gold_sql": "select count(*) from customers where country = 'Norway'",
    },
)


async def test_a_follow_up_is_asked_in_the_session_of_the_question_before_it(shop: Shop) -> None:
    first, second = await shop.evaluate(*TALK)
    assert (first.kind, second.kind) == ("correct", "correct")


async def test_the_model_sees_the_conversation_that_it_is_in(shop: Shop, model: ScriptedModel) -> None:
    await shop.evaluate(*TALK)
    writers = [asked for asked in model.requests if "SQL writer" in asked.text]
    assert "\nHow many customers?\n```sql\n" in writers[1].text


async def test_an_evaluation_does_not_wait_for_an_analysis_that_nothing_follows(
    shop: Shop, model: ScriptedModel
) -> None:
    model.rule("", Scripted("Never said.", hold_after=0))
    model.rule("SQL writer", "```sql\nselect 3\n```")
    (outcome,) = await shop.evaluate(HOW_MANY)
    assert outcome.kind == "correct"


async def test_instructions_are_shown_with_the_question(shop: Shop, model: ScriptedModel) -> None:
    (outcome,) = await shop.evaluate({**HOW_MANY, "instructions": "Count the active ones."})
    assert "## Question\nHow many customers?\n\nCount the active ones." in model.requests[0].text
    assert outcome.question == "How many customers?"
    assert outcome.tokens > 100


async def test_each_question_goes_to_its_own_database(shop: Shop) -> None:
    make_shop(shop.folder / "other.db")
    lines = ({**HOW_MANY, "db": "shop"}, {**HOW_MANY, "db": "other"})
    outcomes = await shop.evaluate(*lines, database=f"{shop.folder}/{{db}}.db")
    assert [each.kind for each in outcomes] == ["correct", "correct"]
    with pytest.raises(Invalid, match=r"\{db\}"):
        await shop.evaluate(*lines)


async def test_an_evaluation_that_was_interrupted_goes_on_where_it_was(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [HOW_MANY] * 4
    await shop.evaluate(*lines)
    whole = shop.output.read_text().splitlines(keepends=True)
    shop.output.write_text("".join(whole[:3]) + whole[3][:50])
    outcomes = await shop.evaluate(*lines)
    assert "holds 2 of 4" in capsys.readouterr().out
    assert [each.id for each in outcomes] == ["0", "1", "2", "3"]
    assert shop.output.read_text().splitlines(keepends=True)[:3] == whole[:3]


async def test_what_the_model_was_down_for_is_asked_again(shop: Shop, model: ScriptedModel) -> None:
    model.rule("", Scripted(status=401))
    assert [each.kind for each in await shop.evaluate(HOW_MANY)] == ["model_error"]
    model.forget()
    model.rule("", "```sql\nselect 3\n```")
    assert [each.kind for each in await shop.evaluate(HOW_MANY)] == ["correct"]


async def test_results_of_another_set_are_neither_resumed_nor_lost(shop: Shop) -> None:
    await shop.evaluate(HOW_MANY)
    with pytest.raises(ResultsInvalid, match="--fresh"):
        await shop.evaluate({"question": "How many orders?"})
    assert len(await shop.evaluate({"question": "How many orders?"}, fresh=True)) == 1


async def test_only_a_results_file_is_written_over(shop: Shop) -> None:
    shop.output = shop.write(HOW_MANY)
    with pytest.raises(ResultsInvalid, match="not a results file"):
        await shop.evaluate(HOW_MANY, fresh=True)
    shop.output = shop.folder / "results.html"
    with pytest.raises(Invalid, match="report"):
        await shop.evaluate(HOW_MANY)


async def test_several_conversations_go_on_at_a_time(shop: Shop, model: ScriptedModel) -> None:
    model.rule("", Scripted("```sql\nselect 3\n```", hold_after=0))
    evaluation = asyncio.create_task(shop.evaluate(*[HOW_MANY] * 6, jobs=3))
    await model.until(lambda: model.on_hold == 3)
    model.release()
    assert [each.kind for each in await evaluation] == ["correct"] * 6


def test_the_command_prints_the_accuracy_and_leaves_a_report(shop: Shop) -> None:
    questions = shop.write(HOW_MANY, {"question": "Why?", "tags": ["hard"]})
    asked = kai("eval", str(questions), "--db", str(shop.database), data=shop.folder)
    assert asked.returncode == 0, asked.stderr
    assert "50.0% (9.5% to 90.5%), 1 of 2" in asked.stdout
    assert "Right of answered: 100.0% (20.7% to 100.0%), 1 of 1" in asked.stdout
    assert "<h2>1 of 2 not right</h2>" in (shop.folder / "set.results.html").read_text()
    lines = (shop.folder / "set.results.jsonl").read_text().splitlines()[1:]
    assert [json.loads(line)["verdicts"]["exact"] for line in lines] == ["right", "declined"]
    compared = kai("eval-compare", *["set.results.jsonl"] * 2, data=shop.folder)
    assert "p = 1 " in compared.stdout


def test_the_password_of_the_database_is_in_no_file_and_no_message(shop: Shop) -> None:
    url = "postgresql://u:s3cr3t@127.0.0.1:1/{db}"
    failed = kai("eval", str(shop.write({**HOW_MANY, "db": "d"})), "--db", url, data=shop.folder)
    assert failed.stderr.startswith("kai: ")
    assert "s3cr3t" not in failed.stderr + failed.stdout


async def test_the_cost_is_that_of_getting_to_the_rows(shop: Shop, model: ScriptedModel) -> None:
    model.rule("", "Three.")
    model.rule("SQL writer", "```sql\nselect 3\n```")
    first, second = await shop.evaluate(*TALK)
    assert len(model.requests) > 2
    assert [(each.calls, each.prompt_tokens, each.completion_tokens) for each in (first, second)] == [
        (1, 100, 4),
        (1, 100, 4),
    ]
    assert first.tokens == 104


async def test_a_repair_is_a_call_more(shop: Shop, model: ScriptedModel) -> None:
    model.say("```sql\nselect nothing from customers\n```", "```sql\nselect 3\n```")
    (outcome,) = await shop.evaluate(HOW_MANY)
    assert (outcome.kind, outcome.calls, outcome.repairs) == ("correct", 2, 1)


async def test_an_answer_without_rows_costs_what_was_asked_for_it(shop: Shop, model: ScriptedModel) -> None:
    model.rule("", "CHAT: Hello!")
    (outcome,) = await shop.evaluate(HOW_MANY)
    assert (outcome.kind, outcome.calls, outcome.prompt_tokens) == ("no_answer", 1, 100)
