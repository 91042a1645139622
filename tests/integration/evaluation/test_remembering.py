"""`kai eval --memory`: dialogues through KAI, with a writer that obeys whatever facts its prompt holds."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from rich.console import Console

from app.core.errors import Invalid
from app.core.settings import read_settings
from kai_analyst_tasks.dialogues.dialogue_set import Dialogue, DialogueSetInvalid, read_dialogues
from kai_analyst_tasks.dialogues.run import (
    DialogueStatementFailed,
    MemoryEvaluation,
    MemoryOutcome,
    evaluate_memory_with,
)
from tests.integration.evaluation.conftest import Shop
from tests.support.command_line import kai
from tests.support.obeying_writer import ObeyingWriter
from tests.support.scripted_model import ScriptedModel

SET = Path(__file__).parents[3] / "examples" / "memory_dialogues.jsonl"
STORE = """
    CREATE TABLE Artist (ArtistId INTEGER PRIMARY KEY, Name TEXT);
    INSERT INTO Artist (Name) VALUES ('a'), ('b'), ('c'), ('d'), ('e'), ('f'), ('g');
    CREATE TABLE Customer (CustomerId INTEGER PRIMARY KEY, Country TEXT);
    INSERT INTO Customer (Country)
        VALUES ('Canada'), ('Brazil'), ('Brazil'), ('USA'), ('USA'), ('USA'), ('Norway');
    CREATE TABLE Track (TrackId INTEGER PRIMARY KEY, Composer TEXT, AlbumId INTEGER, GenreId INTEGER);
    INSERT INTO Track (Composer, AlbumId, GenreId)
        VALUES (NULL, NULL, 1), (NULL, 1, 1), ('x', 1, 1), ('x', 1, 1);
    CREATE TABLE Invoice (InvoiceId INTEGER PRIMARY KEY, Total REAL);
    INSERT INTO Invoice (Total) VALUES (1234.5), (5678.25);
"""


def dialogues(*ids: str) -> list[Dialogue]:
    return [each for each in read_dialogues(SET) if each.id in ids]


async def play(
    shop: Shop, model: ScriptedModel, *asked: Dialogue, writer: ObeyingWriter | None = None
) -> tuple[list[MemoryOutcome], ObeyingWriter]:
    """Ask dialogues over a small music store, in one file under the name of each database."""
    for name in {each.db for each in asked}:
        file = shop.folder / f"{name}.sqlite"
        file.parent.mkdir(exist_ok=True)
        with closing(sqlite3.connect(file)) as connection:
            connection.executescript(STORE)
    path = shop.folder / "dialogues.jsonl"
    path.write_text("".join(f"{each.model_dump_json()}\n" for each in asked))
    writer = writer or ObeyingWriter(asked)
    model.policy = writer
    wanted = MemoryEvaluation(dialogues=path, database=f"{shop.folder}/{{db}}.sqlite", output=shop.output)
    return await evaluate_memory_with(wanted, read_settings(), Console(quiet=True)), writer


def test_forty_dialogues_have_facts_that_change_and_facts_that_go_stale() -> None:
    found = read_dialogues(SET)
    assert len(found) == 40
    assert len({each.db for each in found}) >= 8
    assert {each.kind for each in found} == {"terminology", "preference", "procedure"}
    assert {each.scope for each in found} == {"workspace", "user"}
    assert sum(each.dropped is not None for each in found) >= 10
    assert sum(each.later is not None for each in found) >= 10


async def test_answers_use_the_facts_that_hold_and_no_stale_or_foreign_ones(
    shop: Shop, model: ScriptedModel
) -> None:
    asked = dialogues("chinook-domestic", "chinook-anonymous", "chinook-thousands")
    outcomes, writer = await play(shop, model, *asked)
    remembering = [each for each in outcomes if each.with_memory]
    assert [each for each in remembering if not each.right or each.wrong] == []
    assert all(each.shown == each.needed for each in remembering)
    assert {each.moment for each in remembering} == {"defined", "aside", "elsewhere", "afterwards"}
    # The prompts say the same as the events.
    meanings = [part for each in asked for part in (each.fact, each.foreign, each.later) if part]
    held = [[part.text for part in meanings if part.text in prompt] for prompt in writer.prompts]
    assert [len(each) for each in held] == [len(each.shown) for each in outcomes]
    without = [each for each in outcomes if not each.with_memory]
    assert all(not each.shown for each in without)
    right = {(each.dialogue, each.moment) for each in without if each.right}
    assert right == {
        *((each.id, "aside") for each in asked),
        ("chinook-anonymous", "afterwards"),
    }
    assert [json.loads(line)["dialogue"] for line in shop.output.read_text().splitlines()] == [
        each.dialogue for each in outcomes
    ]


async def test_an_answer_by_the_fact_of_another_owner_counts_as_wrong(
    shop: Shop, model: ScriptedModel
) -> None:
    (dialogue,) = dialogues("chinook-domestic")
    misled = dialogue.fact.model_copy(update={"sql": dialogue.foreign.sql})
    writer = ObeyingWriter([dialogue.model_copy(update={"fact": misled})])
    outcomes, _ = await play(shop, model, dialogue, writer=writer)
    (defined,) = [each for each in outcomes if each.with_memory and each.moment == "defined"]
    assert defined.shown == ("fact",)
    assert defined.wrong
    assert not defined.right


async def test_a_statement_of_the_set_that_does_not_run_is_named(shop: Shop, model: ScriptedModel) -> None:
    (dialogue,) = dialogues("chinook-domestic")
    broken = dialogue.fact.model_copy(update={"sql": "SELECT nothing FROM Customer"})
    with pytest.raises(DialogueStatementFailed, match="chinook-domestic"):
        await play(shop, model, dialogue.model_copy(update={"fact": broken}))


def test_a_dialogue_that_does_not_end_is_refused_with_its_line(shop: Shop) -> None:
    line = json.loads(SET.read_text().splitlines()[0])
    del line["later"]
    path = shop.folder / "dialogues.jsonl"
    path.write_text(json.dumps(line))
    with pytest.raises(DialogueSetInvalid, match=r"line 1: .*later or dropped"):
        read_dialogues(path)


async def test_dialogues_need_a_model_and_a_database_each(shop: Shop, model: ScriptedModel) -> None:
    wanted = MemoryEvaluation(dialogues=SET, database="shop.db", output=shop.output)
    with pytest.raises(Invalid, match="several databases"):
        await evaluate_memory_with(wanted, read_settings(), Console(quiet=True))


def test_the_command_refuses_dialogues_beside_questions(shop: Shop) -> None:
    ended = kai("eval", "questions.jsonl", "--memory", str(SET), "--db", "shop.db", data=shop.folder)
    assert ended.returncode == 2
    assert "--memory goes with --db" in ended.stderr
