"""The report is one page in which nothing from outside is markup."""

import re

from app.evaluation.report import render
from app.evaluation.results import Header, OutcomeKind, QuestionOutcome, ShownRows
from app.evaluation.summary import summarize

HEADER = Header(question_set="<set>", set_digest="0" * 64, model="<model>")
_EVIL = "<script>alert(1)</script>"


def outcome(id_: str, kind: OutcomeKind, **more: object) -> QuestionOutcome:
    rows = ShownRows(columns=(f"{_EVIL}c",), rows=((f"{_EVIL}r",), (None,)), row_count=2, capped=False)
    given: dict[str, object] = {
        "question": f"{_EVIL} {id_}?",
        "db": None,
        "conversation_id": None,
        "turn": 0,
        "tags": (f"{_EVIL}t",),
        "gold_sql": f"select '{_EVIL}g'",
        "gold": rows,
        "sql": f"select '{_EVIL}p'",
        "predicted": rows,
        "detail": f"{_EVIL}d",
    }
    return QuestionOutcome.model_validate({"id": id_, "kind": kind, **given, **more})


def page(*outcomes: QuestionOutcome) -> str:
    return render(HEADER, summarize(outcomes, "exact"), outcomes)


def test_nothing_from_questions_statements_or_rows_is_markup() -> None:
    html = page(outcome("1", "wrong_rows"))
    assert "<script" not in html
    for part in ("c", "r", "t", "g", "p", "d"):
        assert f"&lt;script&gt;alert(1)&lt;/script&gt;{part}" in html


def test_the_page_loads_nothing() -> None:
    html = page(outcome("1", "wrong_rows"))
    assert "default-src 'none'" in html
    assert not re.search(r"\b(?:src|href|url)\s*[=(]", html)
    assert "prefers-color-scheme: dark" in html


def test_only_what_is_not_right_is_shown_one_by_one() -> None:
    html = page(outcome("good-1", "correct"), outcome("bad-2", "order"), outcome("bad-3", "gold_failed"))
    assert "good-1" not in html
    assert "bad-2" in html
    assert "bad-3" in html


def test_a_null_differs_from_a_text() -> None:
    assert "<i>null</i>" in page(outcome("1", "wrong_rows"))


def test_each_failure_has_its_verdict() -> None:
    html = page(outcome("1", "wrong_rows"), outcome("2", "beyond"), outcome("3", "gold_failed"))
    assert "wrong and sure · wrong_rows" in html
    assert "declined · beyond" in html
    assert ">gold_failed<" in html
