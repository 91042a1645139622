"""`kai eval --tasks`: good answers pass, spoiled ones fail, and a small program finds what is planted."""

import pytest
from rich.console import Console

from app.core.errors import Invalid
from app.core.settings import read_settings
from app.evaluation.results import ResultsInvalid
from kai_analyst_tasks.answers import GoldStatementFailed
from kai_analyst_tasks.planting.recipes import planted
from kai_analyst_tasks.results import TaskOutcome, read_task_results
from kai_analyst_tasks.run import TaskEvaluation, evaluate_tasks_with
from kai_analyst_tasks.summary import tally_tasks
from kai_analyst_tasks.task_set import AgentTask, write_task_set
from tests.integration.evaluation.conftest import Shop
from tests.support.agent_traces import TRACES, replayed
from tests.support.reference_policy import ReferencePolicy
from tests.support.scripted_model import Scripted, ScriptedModel

SAMPLE = (
    "moved.lost_import",
    "differing.time_zone",
    "document.clinic",
    "defects.duplicates_orphans_future",
)
"""One task of each family. The bench `agent_tasks` has all of them."""


@pytest.mark.parametrize("recipe", SAMPLE)
async def test_a_good_answer_passes_and_each_spoiled_one_fails(
    recipe: str, shop: Shop, model: ScriptedModel
) -> None:
    task = planted(recipe, 77).task
    passed = {
        name: scored.passed async for _, name, scored in replayed([task], model, read_settings(), shop.folder)
    }
    assert passed == {name: name == "good" for name in TRACES}


async def ask(shop: Shop, *tasks: AgentTask, **options: object) -> list[TaskOutcome]:
    path = shop.folder / "tasks.jsonl"
    write_task_set(path, tasks)
    wanted = TaskEvaluation(**{"tasks": path, "output": shop.output, "runs": 1, **options})  # type: ignore[arg-type]
    return await evaluate_tasks_with(wanted, read_settings(), Console(quiet=True))


async def test_a_small_program_finds_what_is_planted_by_the_tools_alone(
    shop: Shop, model: ScriptedModel
) -> None:
    model.policy = ReferencePolicy()
    tasks = [planted(recipe, 78).task for recipe in (*SAMPLE[1:], "moved.price")]
    outcomes = await ask(shop, *tasks, systems=("agent",), jobs=2)
    assert {each.task: each.missed for each in outcomes if not each.passed} == {}
    tally = tally_tasks(outcomes)
    assert (tally.passed.value, tally.recall, tally.precision, tally.unsafe) == (1, 1, 1, 0)
    assert all(each.steps <= 5 and each.tokens and each.seconds for each in outcomes)


async def test_what_a_task_asks_to_store_is_approved_and_all_else_denied(
    shop: Shop, model: ScriptedModel
) -> None:
    model.policy = ReferencePolicy()
    wanted = planted("document.energy_described", 83).task
    unwanted = wanted.model_copy(update={"id": "unwanted", "must_change": ()})
    stored, denied = await ask(shop, wanted, unwanted, systems=("agent",))
    assert (stored.passed, stored.unsafe) == (True, ())
    assert (denied.passed, denied.unsafe) == (True, ())  # denied, so nothing has changed
    in_ask_mode = wanted.model_copy(update={"mode": "ask"})
    (not_stored,) = await ask(shop, in_ask_mode, systems=("agent",), fresh=True)
    assert not_stored.unsafe == (f"no record of tables has {wanted.must_change[0].contains!r}",)


async def test_each_system_answers_each_task_in_each_run_and_none_twice(
    shop: Shop, model: ScriptedModel
) -> None:
    policy = ReferencePolicy()
    model.policy = lambda asked: policy(asked) if "INVESTIGATE" in asked.text or asked.tools else None
    task = planted("moved.region_fell", 79).task
    outcomes = await ask(shop, task, runs=2)
    assert [(each.system, each.run) for each in outcomes] == [
        (system, run) for system in ("agent", "pipeline", "plain") for run in (1, 2)
    ]
    assert [each.passed for each in outcomes] == [True, True, False, False, False, False]
    assert all(each.tokens for each in outcomes)
    requests = len(model.requests)
    assert await ask(shop, task, runs=2) == outcomes
    assert len(model.requests) == requests
    assert len(await ask(shop, task, runs=3, systems=("plain",))) == 3
    assert len(read_task_results(shop.output).outcomes) == 7


async def test_a_model_that_fails_is_named_in_the_outcome(shop: Shop, model: ScriptedModel) -> None:
    model.rule("", Scripted(status=401))
    (outcome,) = await ask(shop, planted("moved.price", 80).task, systems=("agent",))
    assert not outcome.passed
    assert outcome.failure


async def test_an_evaluation_that_cannot_be_is_refused_before_the_first_task(
    shop: Shop, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = planted("moved.price", 81).task
    with pytest.raises(Invalid, match="No task matches"):
        await ask(shop, task, tags=("differing",))
    (shop.folder / "questions.jsonl").write_text("{}\n")
    with pytest.raises(ResultsInvalid, match="not a results file"):
        await ask(shop, task, output=shop.folder / "questions.jsonl")
    fact = task.oracle.facts[0].model_copy(update={"sql": ("SELECT nothing FROM nowhere",)})
    broken = task.model_copy(update={"oracle": task.oracle.model_copy(update={"facts": (fact,)})})
    with pytest.raises(GoldStatementFailed, match="nowhere"):
        await ask(shop, broken)
    with pytest.raises(ResultsInvalid, match="--fresh"):
        await ask(shop, task, systems=("plain",))
    assert len(await ask(shop, task, systems=("plain",), fresh=True)) == 1
    monkeypatch.delenv("KAI_LLM__BASE_URL")
    with pytest.raises(Invalid, match="language model"):
        await ask(shop, task)


async def test_a_task_may_name_a_database_that_exists(shop: Shop, model: ScriptedModel) -> None:
    model.policy = ReferencePolicy()
    task = planted("defects.nulls_duplicates_constant", 82).task
    database = task.databases[0].model_copy(update={"recipe": None, "url": str(shop.database)})
    oracle = task.oracle.model_copy(update={"facts": ()})
    own = task.model_copy(update={"databases": (database,), "oracle": oracle})
    (outcome,) = await ask(shop, own, systems=("agent",))
    assert not outcome.passed
    assert outcome.calls
    assert shop.database.stat().st_size
