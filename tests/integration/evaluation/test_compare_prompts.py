"""`kai eval --compare-prompts`: the better instructions for a model are measured, recorded and used."""

from pathlib import Path

import pytest

from app.bootstrap import open_services, open_services_for_once
from app.core.errors import Invalid
from app.core.llm.capabilities import InstructionForm
from app.core.settings import read_settings
from app.evaluation.prompts import compare_prompts
from app.evaluation.question_set import QuestionSelection
from app.evaluation.results import read_results
from app.evaluation.run import Evaluation
from tests.integration.evaluation.conftest import Shop
from tests.integration.evaluation.test_evaluations import HOW_MANY
from tests.integration.evaluation.test_kinds import sql
from tests.support.model_script import Asked
from tests.support.scripted_model import Scripted, ScriptedModel

PROMPTS = Path(__file__).parents[3] / "app" / "modules" / "sql_generation" / "prompts"
LONG = (PROMPTS / "write_sql_long.md").read_text().splitlines()[-1]


def has_long_instructions(asked: Asked) -> bool:
    return LONG in asked.text


@pytest.fixture(autouse=True)
def data(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAI_DATA_DIR", str(shop.folder / "data"))


def wanted(shop: Shop) -> Evaluation:
    return Evaluation(
        questions=shop.write(HOW_MANY, HOW_MANY),
        database=str(shop.database),
        output=shop.output,
        selection=QuestionSelection(),
        mode="exact",
        jobs=1,
        fresh=False,
    )


async def used(*, once: bool) -> InstructionForm | None:
    """The instructions that KAI gives its model now, when it serves or is started for `once`."""
    opened = open_services_for_once(read_settings()) if once else open_services(read_settings())
    async with opened as services:
        return None if services.models is None else services.models.instruction


async def test_the_form_with_more_right_answers_is_used_from_then_on(
    shop: Shop, model: ScriptedModel, capsys: pytest.CaptureFixture[str]
) -> None:
    model.rule("", sql("select 3"))
    model.rule(has_long_instructions, sql("select 4"))
    assert await used(once=False) == "long"
    await compare_prompts(wanted(shop))
    said = " ".join(capsys.readouterr().out.split())
    assert "short: 100.0% (34.2% to 100.0%), 2 of 2; 1.00 calls and 107 tokens a question" in said
    assert "long: 0.0% (0.0% to 65.8%), 0 of 2; 1.00 calls" in said
    assert "long - short: -100.0 points" in said
    assert "p = 0.5 (McNemar's exact test)" in said
    assert "the short instructions. KAI used the long ones until now" in said
    assert (await used(once=False), await used(once=True)) == ("short", "short")
    forms = ("short", "long")
    headers = [read_results(shop.folder / f"results.{form}.results.jsonl").header for form in forms]
    assert [each.instruction for each in headers] == ["short", "long"]


async def test_of_two_equally_right_forms_the_cheaper_is_used(shop: Shop, model: ScriptedModel) -> None:
    model.rule("", sql("select 3"))
    model.rule(has_long_instructions, f"Let me think of it at length. {sql('select 3')}")
    await compare_prompts(wanted(shop))
    assert await used(once=True) == "short"


async def test_the_choice_is_that_of_one_model_at_one_service(
    shop: Shop, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.rule("", sql("select 3"))
    model.rule(has_long_instructions, sql("select 4"))
    await compare_prompts(wanted(shop))
    monkeypatch.setenv("KAI_LLM__MODEL", "another")
    assert await used(once=True) == "long"
    monkeypatch.setenv("KAI_LLM__MODEL", "scripted")
    monkeypatch.setenv("KAI_LLM__BASE_URL", "http://127.0.0.1:1/v1")
    assert await used(once=True) == "long"


async def test_what_is_set_goes_before_what_was_measured(
    shop: Shop,
    model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("KAI_LLM__INSTRUCTION", "long")
    model.rule("", sql("select 3"))
    await compare_prompts(wanted(shop))
    assert "not used while KAI_LLM__INSTRUCTION is long" in " ".join(capsys.readouterr().out.split())
    assert (await used(once=True), await used(once=False)) == ("long", "long")


async def test_a_model_that_fails_decides_nothing(
    shop: Shop, model: ScriptedModel, capsys: pytest.CaptureFixture[str]
) -> None:
    model.rule("", sql("select 3"))
    model.rule(has_long_instructions, Scripted(status=401))
    await compare_prompts(wanted(shop))
    assert "nothing is recorded" in " ".join(capsys.readouterr().out.split())
    assert await used(once=True) == "long"


async def test_without_a_model_there_are_no_prompts_to_compare(shop: Shop) -> None:
    with pytest.raises(Invalid, match="OPENAI_API_KEY"):
        await compare_prompts(wanted(shop))


async def test_a_store_that_is_unavailable_leaves_the_choice_to_the_name(
    model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAI_STORE", "typesense")
    monkeypatch.setenv("KAI_TYPESENSE__NODES", '["http://127.0.0.1:1"]')
    monkeypatch.setenv("KAI_TYPESENSE__API_KEY", "key")
    monkeypatch.setenv("KAI_TUNING__TYPESENSE__MAX_RETRIES", "0")
    assert await used(once=True) == "long"
