"""Every field of `Answer` is in the state, the events, the stored message and its form on the wire."""

import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from pydantic import JsonValue, TypeAdapter

from app.core.secrets import ClearCheckpoints
from app.modules.records.model import Message, Run
from app.modules.records.repository import document
from app.modules.run.messages import answer_message, message_events
from app.modules.session.schemas import MessageBody
from app.modules.sharing.model import ShareLink
from app.modules.sharing.schemas import SharedBody
from app.modules.sharing.service import SharedThing
from graph import SessionGraph
from graph.answer import (
    Analysis,
    Answer,
    DatabaseCost,
    Effort,
    Findings,
    Interpretation,
    Offer,
    ResultHeader,
    StatementDetails,
    TurnAnswer,
)
from graph.checkpoints import sqlite_checkpointer
from graph.events import FINDING_CHUNKS, Chunk
from graph.ports import Analysed, Emit, Question, Written
from graph.state import Rows
from tests.fakes import TURN, FakeWriter, fake_ports
from tests.support.cases import assert_each

EVENTS_LEAVE_OUT = {"route", "results_summary", "remembered", "rows_head"}
EVENTS_LEAVE_OUT |= {*Effort.model_fields, *DatabaseCost.model_fields}
"""The route shows in which chunks come; the summary of the results is for the next questions only. Effort and
cost are in `done`, the facts were in `memory`, unless they are forgotten, and the chunk of the results has
more rows.
"""

HEAD = Rows(
    columns=[{"name": "n", "type": "integer"}], rows=[[3]], row_count=200, truncated=True, cut_by="rows"
)
FILLED: dict[str, JsonValue] = {
    "dialect": "duckdb",
    "explanation": "Counting the customers.",
    "standalone_question": "How many customers in Norway?",
    "sql_pretty": "SELECT\n  3 AS n",
    "corrections": ["Joined `visit`."],
    "options": [{"label": "amount", "question": "By amount"}],
    "columns": [{"name": "n", "type": "integer"}],
    "row_count": 200,
    "truncated": True,
    "cut_by": "rows",
    "headline": "Three",
    "references": [
        {
            "key": "value_n",
            "span": [0, 6],
            "result_id": None,
            "how": "value of n",
            "value": "3",
            "cells": [{"row": 0, "column": "n"}],
            "cell_count": 1,
        }
    ],
    "left_out": ["The result has no fact `f9`."],
    "chart": {"mark": "bar"},
    "suggestions": ["And in Sweden?"],
    "findings": [
        {
            "text": "There are three.",
            "reading": "That seems few.",
            "references": [
                {
                    "key": "value_n",
                    "span": [0, 16],
                    "result_id": "c1",
                    "how": "value of n",
                    "value": "3",
                    "cells": [{"row": 0, "column": "n"}],
                    "cell_count": 1,
                }
            ],
        }
    ],
    "code": [{"language": "sql", "content": "SELECT 3", "checked": True}],
    "link": [{"label": "Results", "resource_type": "result", "resource_id": "c1"}],
    "action": [{"label": "Sweden", "action": "ask", "payload": {"question": "How many in Sweden?"}}],
    "steps": 3,
    "tool_calls": 4,
    "limit_reached": True,
    "database_ms": 12,
    "rows_read": 3,
    "bytes_read": 24,
    "route": "rows",
    "sql": "SELECT 3 AS n",
    "results_summary": "1 row of n: 3",
    "analysis": "Three.",
    "clarification": "By what?",
    "rows_head": [[3]],
    "remembered": ["f1"],
    "context": {"tables": ["customer"], "terms": ["t1"], "instructions": [], "examples": []},
}
RUN = Run(
    id="r1",
    owner="o",
    session_id="s1",
    message_id="m1",
    question="How many?",
    created_at=1,
    status="complete",
)
SHOWN_BY_LINKS = {
    *(set(Answer.model_fields) - {"remembered"}),
    *("id", "run_id", "role", "query", "status", "error", "tokens_used", "elapsed_ms", "timestamp"),
    *("given_sql", "timeline", "chart_choice", "chosen_chart", "chart_refusal", "versions"),
}
OWN = {"remembered", "client_message_id", "feedback", "source_message_id", "version"}
"""Fields that a link leaves out: they are its owner's own."""
THROUGH_THE_GRAPH = [
    *Interpretation.model_fields,
    *StatementDetails.model_fields,
    *ResultHeader.model_fields,
    *Findings.model_fields,
]


class FullAnalyst:
    async def analyse(self, question: Question, sql: str, rows: Rows, emit: Emit) -> Analysed:
        findings = Findings.model_validate(FILLED).model_dump()
        return Analysed(Analysis(text=str(FILLED["analysis"]), **findings), str(FILLED["results_summary"]))


class FullRunner:
    async def kept(self, sql: str) -> Rows | None:
        return None

    async def run(self, sql: str) -> Rows:
        return HEAD

    async def keep(self) -> None: ...


@pytest.fixture
async def graph(tmp_path: Path) -> AsyncGenerator[SessionGraph]:
    cipher = ClearCheckpoints(Fernet.generate_key())
    async with sqlite_checkpointer(tmp_path / "checkpoints.db", cipher) as saver:
        yield SessionGraph(saver)


def test_every_field_of_an_answer_has_an_example_that_differs_from_its_default() -> None:
    def check(name: str) -> None:
        assert FILLED[name] != TurnAnswer().model_dump()[name]

    assert_each(Answer.model_fields, check)


def test_every_field_of_an_answer_is_stored_and_read_again() -> None:
    def check(name: str) -> None:
        stored = document(_message())
        assert stored[name] == FILLED[name]
        assert TypeAdapter(Message).validate_python(stored) == _message()

    assert_each(Answer.model_fields, check)


def test_every_field_of_an_answer_is_on_the_wire_and_required_there() -> None:
    def check(name: str) -> None:
        body = json.loads(MessageBody.model_validate(_message()).model_dump_json())
        assert body[name] == FILLED[name]
        assert name in MessageBody.model_json_schema(mode="serialization")["required"]

    assert_each(Answer.model_fields, check)


def test_every_field_of_an_answer_is_in_an_event() -> None:
    def check(name: str) -> None:
        said = [json.loads(event.model_dump_json()) for event in message_events(_message(), HEAD)]
        values = [value for event in said for value in (event, event["content"]) if isinstance(value, dict)]
        assert FILLED[name] in [value.get(name) for value in values] + [event["content"] for event in said]

    assert_each(sorted(set(Answer.model_fields) - EVENTS_LEAVE_OUT), check)


def test_a_link_shows_every_field_but_what_is_the_owners_own() -> None:
    assert set(MessageBody.model_fields) == SHOWN_BY_LINKS | OWN, "decide whether links show the new field"
    dumped = _message().model_dump()
    private = {
        "remembered": ["f1"],
        "client_message_id": "c1",
        "source_message_id": "m0",
        "version": 3,
        "feedback": {"rating": "down", "comment": "private", "corrected_sql": "SELECT 1"},
    }
    message = Message.model_validate({**dumped, **private})
    link = ShareLink(
        id="l1",
        owner="o",
        kind="answer",
        thing_id="m1",
        session_id="s1",
        before_sequence=None,
        title=None,
        connection_ids=("d1",),
        created_at=1,
        expires_at=2,
    )
    shared = SharedThing(link=link, title=None, messages=[message], next_cursor=None, board=None)
    (shown,) = SharedBody.of(shared).messages.items
    plain = MessageBody.model_validate(message)
    assert {name for name in MessageBody.model_fields if getattr(shown, name) != getattr(plain, name)} == OWN
    assert not any(getattr(shown, name) for name in OWN)


def test_every_finding_has_a_chunk_of_its_name() -> None:
    assert list(FINDING_CHUNKS) == list(Findings.model_fields)
    types = {name: kind.model_fields["type"].default for name, kind in FINDING_CHUNKS.items()}
    assert types == {name: name for name in Findings.model_fields}


@pytest.mark.parametrize("name", THROUGH_THE_GRAPH)
async def test_every_field_of_an_answer_goes_through_the_checkpoints(graph: SessionGraph, name: str) -> None:
    answer = await _asked(graph, "sql", str(FILLED["sql"]))
    assert answer.model_dump()[name] == FILLED[name]


@pytest.mark.parametrize("name", Offer.model_fields)
async def test_every_field_of_a_question_back_goes_through_the_checkpoints(
    graph: SessionGraph, name: str
) -> None:
    answer = await _asked(graph, "clarify", str(FILLED["clarification"]))
    assert answer.model_dump()[name] == FILLED[name]
    assert answer.clarification == FILLED["clarification"]


def test_what_is_emitted_again_is_a_chunk() -> None:
    for event in message_events(_message(), HEAD):
        again: TypeAdapter[Chunk] = TypeAdapter(Chunk)
        assert again.validate_json(event.model_dump_json()) == event


async def _asked(graph: SessionGraph, route: str, text: str) -> TurnAnswer:
    """The answer as it is derived from the checkpoint of the turn's last step."""
    written = Written.model_validate({**FILLED, "route": route, "text": text})
    ports = replace(
        fake_ports(FakeWriter([written], dialect="duckdb")), runner=FullRunner(), analyst=FullAnalyst()
    )
    [_ async for _ in graph.ask(TURN, ports)]
    return await graph.answer(TURN)


def _message() -> Message:
    return answer_message(RUN, TurnAnswer.model_validate(FILLED), 1)
