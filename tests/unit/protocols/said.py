"""Events of runs, as folds of protocols get them."""

from app.modules.records.model import Run
from graph.events import (
    AnalysisChunk,
    ChartChunk,
    Chunk,
    Confirmation,
    Done,
    Failure,
    HeadlineChunk,
    LeftOutChunk,
    ReferencesChunk,
    ResultsChunk,
    RunOutcome,
    SqlChunk,
    Status,
    Step,
    SuggestionsChunk,
    TextChunk,
)
from graph.state import Rows

RUN = Run(
    id="run",
    owner="ann",
    session_id="session",
    message_id="answer",
    question="How many?",
    created_at=1_700_000_000_000,
)
SQL = SqlChunk(content="SELECT name, 1 FROM customers")
HEAD: Rows = {
    "columns": [{"name": "name", "type": "text"}, {"name": "n", "type": "integer"}],
    "rows": [["Ada", 1], ["Ben", None]],
    "row_count": 3,
    "truncated": False,
}
ROWS = ResultsChunk(content=HEAD)
ANALYSIS = AnalysisChunk(content="Ada has one.")
HEADLINE = HeadlineChunk(content="Ada has one")
REFERENCES = ReferencesChunk(
    content=[
        {
            "key": "value_n_ada",
            "span": [0, 12],
            "result_id": None,
            "how": "n of Ada",
            "value": "1",
            "cells": [{"row": 0, "column": "n"}],
            "cell_count": 1,
        }
    ]
)
LEFT_OUT = LeftOutChunk(content=["The result has no fact `f9`."])
PIECES = [
    TextChunk(content="SELECT", channel="sql"),
    TextChunk(content="Ada has ", channel="analysis"),
    TextChunk(content="one", channel="analysis"),
]
MODEL_DOWN = Failure(
    type="urn:kai:model-unavailable",
    title="The language model is unavailable",
    status=503,
    detail="The model does not answer.",
    retryable=True,
)
ASKED = Confirmation.model_validate(
    {
        "confirmation_id": "call",
        "tool_name": "save_example",
        "description": "Save an example",
        "arguments": {"question": "How many?"},
        "destination": "shop",
        "warnings": [],
        "call_hash": "abc",
        "expires_at": "2026-01-01T00:00:00Z",
    }
)
CHART = ChartChunk(content={"mark": "bar", "data": {"values": [{"n": None}]}})
SUGGESTIONS = SuggestionsChunk(content=["How many in Brazil?"])
PARTS: list[Chunk] = [SQL, ROWS, *PIECES[1:], ANALYSIS, CHART, SUGGESTIONS]


def step(name: Step) -> Status:
    return Status(step=name, message="", run_id=RUN.id)


def done(status: RunOutcome = "complete") -> Done:
    return Done(
        run_id=RUN.id,
        session_id=RUN.session_id,
        message_id=RUN.message_id,
        status=status,
        tokens_used=7,
        elapsed_ms=1,
    )
