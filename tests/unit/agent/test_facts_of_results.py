"""Facts below the rows of a result, findings that name them, and steps of earlier commits."""

from pydantic import TypeAdapter

from app.modules.agent.findings import findings_in
from app.modules.agent.sheets import append_facts, keys_below
from app.modules.analysis.facts.fact import Fact, FactSheet
from app.modules.records.steps import MAX_TEXT, StepRecord
from tests.support.fact_keys import fact_keys


def sheet(count: int, statement: str = "It is so.") -> FactSheet:
    facts = [
        Fact(key=f"value_{number}", kind="value", statement=statement, headline="It is so", how="")
        for number in range(count)
    ]
    return FactSheet(facts=facts, lead=facts[:2], notice="", language="en")


def test_the_first_eight_facts_stand_below_a_result_and_its_text_is_cut_to_their_room() -> None:
    shown = append_facts("x" * MAX_TEXT, sheet(24))
    assert len(shown) <= MAX_TEXT
    assert fact_keys(shown) == [f"value_{number}" for number in range(8)]
    assert "\n(cut: there is more)\nFacts, " in shown


def test_long_facts_are_fewer_and_a_result_without_facts_is_as_it_was() -> None:
    assert len(fact_keys(append_facts("rows", sheet(8, "long " * 200)))) == 2
    assert append_facts("rows", sheet(0)) == "rows"


def test_a_prompt_without_room_keeps_the_keys() -> None:
    assert keys_below(append_facts("rows", sheet(2))) == " Its facts: value_0, value_1."
    assert keys_below("rows") == ""


def test_a_text_names_facts_and_keeps_the_rest_of_its_lines() -> None:
    text = """- `r2.1.total_revenue`
r1.1.share(revenue, region="West")
gap(r1.1.total_revenue, r2.1.total_revenue)

A discount may explain it (r3.1.value_price)."""
    given, words = findings_in(text)
    assert [(each.result, each.fact) for each in given] == [
        ("r2.1", "total_revenue"),
        ("r1.1", 'share(revenue, region="West")'),
        ("", "gap(r1.1.total_revenue, r2.1.total_revenue)"),
        ("r3.1", "value_price"),
    ]
    assert words.strip() == "A discount may explain it."


def test_a_step_of_an_earlier_commit_is_read_with_its_claims_as_text() -> None:
    stored = {
        "id": "s",
        "owner": "local",
        "session_id": "1",
        "message_id": "2",
        "step": 2,
        "kind": "answer",
        "text": "Revenue was 5.",
        "call_ids": [],
        "created_at": 1,
        "findings": [
            {
                "claim": "It was 5.",
                "value": "5",
                "result_id": "3",
                "where": "",
                "status": "checked",
                "how": "-",
            }
        ],
    }
    step = TypeAdapter(StepRecord).validate_python(stored)
    assert step.findings == [{"text": "It was 5.", "reading": None, "references": []}]
    assert (step.references, step.left_out, step.headline) == ([], [], None)
