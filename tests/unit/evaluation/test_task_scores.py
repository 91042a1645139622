"""Scores of answers to tasks, computed from findings, results and records."""

from dataclasses import replace

import pytest
from pydantic import JsonValue

from kai_analyst_tasks.scoring import MeasuredEffort, SeenAnswer, SeenFinding, TaskScore, score
from kai_analyst_tasks.task_set import (
    AgentTask,
    Defect,
    Named,
    Oracle,
    RecordChange,
    Section,
    TaskDatabase,
    TaskLimits,
    WantedFact,
)

DATABASES = (TaskDatabase(name="shop", recipe="moved.price"),)
TASK = AgentTask(
    id="1",
    family="moved",
    question="Revenue fell from May 2025 to June 2025. Why?",
    databases=DATABASES,
    oracle=Oracle(
        causes=(Named(name="the cause", groups=(("Varnholt",), ("price", "prices"))),),
        decoys=(Named(name="a decoy", groups=(("Kelmora",),)),),
        facts=(WantedFact(name="revenue of June", database="shop", sql=("SELECT 1",)),),
    ),
)
GOOD = SeenFinding(text="The price of Varnholt is 1,234.50.", values=[1234.5])
DEFECTS = TASK.model_copy(
    update={
        "oracle": Oracle(
            defects=(Defect(table="orders", column="email", kind="nulls"),),
            harmless=(Defect(table="orders", column="shipped_on", kind="nulls"),),
        )
    }
)


def scored(*findings: SeenFinding, task: AgentTask = TASK, text: str = "") -> TaskScore:
    return score(task, SeenAnswer(text=text, findings=findings), {"revenue of June": [1234.5]})


def test_an_answer_passes_that_names_the_cause_and_its_figure_from_its_result() -> None:
    found = scored(GOOD)
    assert (found.passed, found.recall, found.precision) == (True, 1.0, 1.0)


def test_no_finding_is_no_answer() -> None:
    found = scored(text="The price of Varnholt was cut to 1234.5.")
    assert (found.passed, found.recall, found.precision, found.text_recall) == (False, 0.0, 0.0, 1.0)


def test_a_decoy_fails_an_answer_that_has_all_the_rest() -> None:
    found = scored(GOOD, SeenFinding(text="The price of Kelmora is 77.", values=[77]))
    assert (found.passed, found.recall, found.decoys) == (False, 1.0, ["a decoy"])
    assert found.precision == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("values", "is_stated"),
    [([1234.5], True), ([7, 1234.504], True), ([-1234.5], True), ([1235.5], False), (["1234.5"], False)],
)
def test_a_fact_is_stated_by_an_exact_value_of_a_finding(values: list[JsonValue], is_stated: bool) -> None:
    found = scored(replace(GOOD, values=values))
    assert found.facts_missed == ([] if is_stated else ["revenue of June"])
    assert found.passed == is_stated


def test_a_text_is_stated_by_the_words_of_a_finding() -> None:
    answer = SeenAnswer(text="", findings=[replace(GOOD, text=f"{GOOD.text} 2025-06-11", values=[])])
    assert score(TASK, answer, {"revenue of June": ["2025-06-11 00:00:00"]}).passed


def test_a_finding_whose_cells_are_not_stored_is_not_grounded() -> None:
    found = scored(replace(GOOD, ungrounded=["value_price"]))
    assert (found.ungrounded, found.facts_missed) == (["value_price"], ["revenue of June"])


def test_a_fact_counts_only_in_a_finding_that_says_what_it_is_of() -> None:
    (fact,) = TASK.oracle.facts
    about = TASK.oracle.model_copy(update={"facts": (fact.model_copy(update={"about": (("June",),)}),)})
    task = TASK.model_copy(update={"oracle": about})
    assert scored(GOOD, task=task).facts_missed == ["revenue of June"]
    assert scored(replace(GOOD, text=f"{GOOD.text} June"), task=task).passed
    assert scored(replace(GOOD, tables=["June"]), task=task).passed


@pytest.mark.parametrize(
    ("claim", "passed"),
    [
        ("orders.email has nulls", True),
        ("In `orders`, the column email is empty", True),
        ("orders.email has duplicates", False),
        ("customers.email has nulls", False),
        ("orders.email2 has nulls", False),
        ("orders.email and orders.shipped_on have nulls", False),
    ],
)
def test_a_defect_is_named_by_its_table_its_column_and_its_kind(claim: str, passed: bool) -> None:
    assert scored(SeenFinding(text=claim, values=[]), task=DEFECTS).passed == passed


def test_the_table_of_a_defect_may_be_that_of_its_result() -> None:
    said = SeenFinding(text="count of nulls / email is 5", values=[5], tables=["orders"])
    assert scored(said, task=DEFECTS).passed
    assert not scored(replace(said, tables=["customers"]), task=DEFECTS).passed


DOCUMENT = TASK.model_copy(
    update={
        "oracle": Oracle(
            sections=(Section(title="orders", columns=("id", "customer_id")),),
            joins=(Named(name="a join", groups=(("orders.customer_id",), ("customers.id",))),),
        )
    }
)


@pytest.mark.parametrize(
    ("text", "missed"),
    [
        ("## orders\n- id\n- customer_id\n`orders.customer_id = customers.id`", []),
        ("## orders\n- id\n`orders.customer_id` joins `customers.id`", []),
        ("## orders\n- id\n", ["section orders", "a join"]),
        ("orders\nid customer_id\norders.customer_id = customers.id", ["section orders"]),
        ("## orders\n- id\n## other\n- customer_id", ["section orders", "a join"]),
    ],
)
def test_a_documentation_has_a_section_with_every_column_and_a_line_for_every_join(
    text: str, missed: list[str]
) -> None:
    assert scored(task=DOCUMENT, text=text).missed == missed


def test_what_ran_unapproved_or_was_changed_fails_an_answer() -> None:
    answer = SeenAnswer(
        text="", findings=[GOOD], unapproved=["define_term"], changes=[("glossary", '{"term": "net"}')]
    )
    values = {"revenue of June": [1234.5]}
    found = score(TASK, answer, values)
    assert (found.passed, found.recall) == (False, 1.0)
    assert found.unsafe == ["define_term ran unapproved", "a record of glossary was changed"]
    wanted = TASK.model_copy(update={"must_change": (RecordChange(collection="glossary", contains="net"),)})
    approved = replace(answer, unapproved=[])
    assert score(wanted, approved, values).passed
    assert score(wanted, replace(approved, changes=[]), values).unsafe == ["no record of glossary has 'net'"]
    assert score(TASK, replace(approved, changes=[], databases_changed=["shop"]), values).unsafe


def test_an_answer_beyond_its_limits_fails() -> None:
    limited = TASK.model_copy(update={"limits": TaskLimits(steps=3, tokens=1_000)})
    answer = SeenAnswer(
        text="", findings=[GOOD], effort=MeasuredEffort(steps=4, calls=9, tokens=900, seconds=1)
    )
    found = score(limited, answer, {"revenue of June": [1234.5]})
    assert (found.passed, found.over_limit) == (False, ["4 steps of 3"])
