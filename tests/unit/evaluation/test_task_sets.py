"""Task sets: their files, and the databases that seeds make."""

from pathlib import Path

import pytest

from app.core.errors import Invalid
from kai_analyst_tasks.planting.planted import Month
from kai_analyst_tasks.planting.recipes import COUNTS, planted, task_set
from kai_analyst_tasks.task_set import TaskSetInvalid, read_task_set, write_task_set

DEVELOPMENT = Path(__file__).parents[3] / "examples" / "agent_tasks.jsonl"


def test_the_set_of_the_repository_is_that_of_seed_1() -> None:
    assert list(read_task_set(DEVELOPMENT).tasks) == task_set(1)


def test_a_set_has_tasks_of_each_family_in_the_numbers_of_the_design() -> None:
    tasks = task_set(5)
    families = [each.family for each in tasks]
    assert {family: families.count(family) for family in COUNTS} == {
        "moved": 16,
        "differing": 10,
        "document": 10,
        "defects": 12,
    }
    assert len({each.id for each in tasks}) == 48


def test_a_seed_makes_the_same_databases_again_and_another_seed_others() -> None:
    first = planted("moved.region_fell", 7)
    assert first == planted("moved.region_fell", 7)
    assert first.databases != planted("moved.region_fell", 8).databases


def test_each_truth_is_named_apart_from_the_decoys() -> None:
    for task in task_set(4):
        causes = {word for each in task.oracle.causes for group in each.groups for word in group}
        decoys = {word for each in task.oracle.decoys for group in each.groups for word in group}
        assert causes.isdisjoint(decoys)
        assert not set(task.oracle.defects) & set(task.oracle.harmless)
        assert not any(word in task.question for word in decoys)


def test_a_written_set_is_read_as_it_was(tmp_path: Path) -> None:
    write_task_set(tmp_path / "set.jsonl", task_set(6))
    assert list(read_task_set(tmp_path / "set.jsonl").tasks) == task_set(6)


TASK = '{"id": "1", "family": "moved", "question": "?", "databases": [%s], "oracle": {}}'


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ("", "holds no task"),
        ("{", "line 1"),
        (TASK % '{"name": "a"}', "either a recipe or a url"),
        (TASK % '{"name": "a", "url": "x", "recipe": "y"}', "either a recipe or a url"),
        (TASK % '{"name": "a", "url": "x"}, {"name": "A", "url": "y"}', "the same name"),
        (TASK % "", "databases"),
        (TASK.replace('"oracle"', '"oracles"') % '{"name": "a", "url": "x"}', "oracle"),
        (f"{TASK}\n{TASK}" % ('{"name": "a", "url": "x"}', '{"name": "a", "url": "x"}'), "given twice"),
        (
            TASK.replace("{}", '{"facts": [{"name": "f", "database": "b", "sql": ["SELECT 1"]}]}')
            % '{"name": "a", "url": "x"}',
            "of no database",
        ),
    ],
)
def test_a_set_that_is_wrong_is_refused_with_its_line(tmp_path: Path, lines: str, complaint: str) -> None:
    (tmp_path / "set.jsonl").write_text(lines)
    with pytest.raises(TaskSetInvalid) as refused:
        read_task_set(tmp_path / "set.jsonl")
    assert complaint in refused.value.detail


def test_an_unknown_recipe_is_refused() -> None:
    with pytest.raises(Invalid, match="no recipe"):
        planted("moved.nothing", 1)


def test_months_follow_each_other() -> None:
    december = Month(2024, 12)
    assert (december.next, december.days, str(december.next)) == (Month(2025, 1), 31, "January 2025")
    assert Month(2024, 2).days == 29
