"""What an attempt has shown is kept with its answer."""

from datetime import UTC, datetime, timedelta

from app.modules.run.record import AttemptRecord
from graph.answer import TurnAnswer
from graph.events import (
    AnalysisChunk,
    ChartChunk,
    Failure,
    Reset,
    ResultsChunk,
    SessionEvent,
    SqlChunk,
    Status,
    Step,
    TextChunk,
)

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
DOWN = Failure(type="t", title="Down", status=503, detail="It is down.", retryable=True)


def status(step: Step, second: float, tokens: int = 0, **more: str) -> Status:
    at = BEGIN + timedelta(seconds=second)
    return Status(step=step, message="M", run_id="r", at=at, tokens_used=tokens, **more)


def record_of(*events: SessionEvent) -> AttemptRecord:
    record = AttemptRecord()
    for event in events:
        record.observe(event)
    return record


ROWS = ResultsChunk(
    content={"columns": [{"name": "n", "type": "integer"}], "rows": [[3]], "row_count": 9, "truncated": False}
)


def test_a_step_ends_as_the_next_begins_and_has_its_rows_and_errors() -> None:
    record = record_of(
        status("generating_sql", 0),
        status("repairing_sql", 1.5, 900, failed_sql="SELECT x", error="no x"),
        status("executing_sql", 2, 1_300),
        ROWS,
        status("analyzing", 4, 1_300),
        DOWN,
        status("saving", 4.25, 1_450),
    )
    taken = record.timeline()
    assert [(each.step, each.ms) for each in taken] == [
        ("generating_sql", 1500),
        ("repairing_sql", 500),
        ("executing_sql", 2000),
        ("analyzing", 250),
        ("saving", 0),
    ]
    assert taken[1].started_at == "2026-01-01T00:00:01.500Z"
    assert (taken[1].statement, taken[1].error) == ("SELECT x", "no x")
    assert [each.rows for each in taken] == [None, None, 9, None, None]
    assert [each.tokens for each in taken] == [900, 400, 0, 150, 0]
    assert taken[3].error == "It is down."


def test_an_answer_that_was_stopped_has_what_was_shown_of_it() -> None:
    statement = SqlChunk(content="SELECT 3", dialect="sqlite", explanation="Three.")
    record = record_of(
        status("generating_sql", 0), statement, ROWS, TextChunk(content="Th", channel="analysis")
    )
    record.observe(TextChunk(content="ree", channel="analysis"))
    stopped = record.complement(TurnAnswer())
    assert (stopped.sql, stopped.explanation, stopped.row_count) == ("SELECT 3", "Three.", 9)
    assert (stopped.analysis, stopped.rows_head) == ("Three", [[3]])


def test_the_whole_text_replaces_its_pieces_and_brings_its_chart() -> None:
    record = record_of(
        TextChunk(content="Thr", channel="analysis"),
        AnalysisChunk(content="Four"),
        ChartChunk(content={"mark": "bar"}),
    )
    stopped = record.complement(TurnAnswer())
    assert (stopped.analysis, stopped.chart) == ("Four", {"mark": "bar"})


def test_a_statement_under_repair_and_everything_before_a_reset_are_not_shown() -> None:
    repairing = record_of(SqlChunk(content="SELECT x"), status("repairing_sql", 1))
    assert repairing.complement(TurnAnswer()).sql is None
    again = record_of(status("generating_sql", 0), SqlChunk(content="SELECT x"), Reset(reason="Again"), DOWN)
    assert again.timeline() == []
    assert again.complement(TurnAnswer()) == TurnAnswer()
