"""Facts in a turn: found once, shown to the model, named to the user."""

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from app.core.secrets import ClearCheckpoints
from graph import SessionGraph
from graph.checkpoints import sqlite_checkpointer
from graph.errors import StatementFailed
from graph.events import Memory, Reset
from graph.ports import Ports, Written
from tests.fakes import TURN, DyingWriter, FakeFacts, FakeInvestigator, FakeWriter, ProcessDied, fake_ports


@pytest.fixture
async def graph(tmp_path: Path) -> AsyncGenerator[SessionGraph]:
    cipher = ClearCheckpoints(Fernet.generate_key())
    async with sqlite_checkpointer(tmp_path / "checkpoints.db", cipher) as saver:
        yield SessionGraph(saver)


def content_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


def ports(writer: FakeWriter, facts: FakeFacts | None = None) -> Ports:
    return replace(fake_ports(writer), facts=facts or FakeFacts())


async def test_the_model_reads_the_facts_and_the_answer_names_them(graph: SessionGraph) -> None:
    writer = FakeWriter()
    events = [event async for event in graph.ask(TURN, ports(writer))]
    (memory,) = [event for event in events if isinstance(event, Memory)]
    assert json.loads(memory.model_dump_json()) == {
        "event": "memory",
        "action": "used",
        "facts": [
            {
                "id": "f1",
                "kind": "terminology",
                "scope": "workspace",
                "text": "churn means no order for 90 days",
            }
        ],
        "reason": None,
    }
    assert [fact["id"] for fact in writer.asked[0].facts] == ["f1"]
    assert (await graph.answer(TURN)).remembered == ["f1"]


async def test_without_facts_nothing_is_said_of_them(graph: SessionGraph) -> None:
    events = [event async for event in graph.ask(TURN, ports(FakeWriter(), FakeFacts([])))]
    assert not [event for event in events if isinstance(event, Memory)]
    assert (await graph.answer(TURN)).remembered == []


async def test_an_answer_without_the_model_names_no_facts(graph: SessionGraph) -> None:
    builtin = FakeWriter([Written(route="sql", text="SELECT 3 AS n", author="builtin")])
    [_ async for _ in graph.ask(TURN, ports(builtin))]
    assert (await graph.answer(TURN)).remembered == []


async def test_the_next_turn_begins_without_facts(graph: SessionGraph) -> None:
    [_ async for _ in graph.ask(TURN, ports(FakeWriter()))]
    following = replace(TURN, run_id="r2", message_id="m2")
    [_ async for _ in graph.ask(following, fake_ports())]
    assert (await graph.answer(following)).remembered == []


async def test_no_checkpoint_holds_the_text_of_a_fact(graph: SessionGraph, tmp_path: Path) -> None:
    [_ async for _ in graph.ask(TURN, ports(FakeWriter()))]
    stored = await asyncio.to_thread(content_of, tmp_path)
    assert b"f1" in stored
    assert b"churn" not in stored


async def test_a_repair_reads_the_facts_of_its_question(graph: SessionGraph) -> None:
    bad = Written(route="sql", text="SELECT bad")
    writer = FakeWriter([bad, Written(route="sql", text="SELECT 3 AS n")])
    [_ async for _ in graph.ask(TURN, ports(writer))]
    assert [len(each.facts) for each in writer.asked] == [1, 1]


async def test_a_resumed_turn_names_its_facts_again_but_not_what_was_forgotten(graph: SessionGraph) -> None:
    for forgotten, named in ((set[str](), 1), ({"f1"}, 0)):
        turn = replace(TURN, run_id=f"r{named}", message_id=f"m{named}")
        bad = Written(route="sql", text="SELECT bad")
        dying = ports(DyingWriter([bad], deaths=1))
        with pytest.raises(ProcessDied):
            [_ async for _ in graph.ask(turn, dying)]
        resumed = ports(FakeWriter(), FakeFacts(forgotten=forgotten))
        events = [event async for event in graph.resume(turn, resumed)]
        assert isinstance(events[0], Reset)
        assert len([event for event in events if isinstance(event, Memory)]) == named


async def test_a_step_of_an_investigation_reads_the_facts(graph: SessionGraph) -> None:
    investigator = FakeInvestigator({1: ["look"]})
    writer = FakeWriter([Written(route="investigate", text="A plan.")])
    [_ async for _ in graph.ask(TURN, replace(ports(writer), investigator=investigator))]
    assert [[fact["id"] for fact in each] for each in investigator.remembered] == [["f1"], ["f1"]]


async def test_a_repair_that_fails_after_facts_were_read_fails_as_before(graph: SessionGraph) -> None:
    bad = ports(FakeWriter([Written(route="sql", text="SELECT bad")]))
    with pytest.raises(StatementFailed):
        [_ async for _ in graph.ask(TURN, bad)]
