"""What an evaluation sees of an answer that changed something: a record, or a user's database."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing

from app.bootstrap import Services, open_services_for_once
from app.core.settings import read_settings
from app.core.storage.port import Document
from app.evaluation.answering import RunCosts
from kai_analyst_tasks.answers import OpenedTask, ask_kai, opened_task
from kai_analyst_tasks.planting.recipes import planted
from kai_analyst_tasks.scoring import SeenAnswer
from tests.integration.evaluation.conftest import Shop
from tests.support.model_script import Asked, Scripted
from tests.support.scripted_model import ScriptedModel

Meddle = Callable[[Services, OpenedTask, asyncio.AbstractEventLoop], None]


async def answered(shop: Shop, model: ScriptedModel, meddle: Meddle) -> SeenAnswer:
    """Ask while something else is done, in the thread of the model."""
    async with (
        open_services_for_once(read_settings()) as services,
        opened_task(services, planted("moved.price", 90).task, shop.folder / "task") as opened,
    ):
        loop = asyncio.get_running_loop()

        def reply(asked: Asked) -> Scripted | None:
            meddle(services, opened, loop)
            return Scripted("CHAT: That is all.")

        model.policy = reply
        return await ask_kai(services, opened, RunCosts())


async def test_an_answer_that_changes_nothing_has_no_changes(shop: Shop, model: ScriptedModel) -> None:
    answer = await answered(shop, model, lambda *_: None)
    assert (answer.changes, answer.databases_changed) == ([], [])


async def test_a_new_record_of_the_knowledge_is_a_change(shop: Shop, model: ScriptedModel) -> None:
    def define(services: Services, opened: OpenedTask, loop: asyncio.AbstractEventLoop) -> None:
        record: Document = {
            "id": "00000000-0000-4000-8000-000000000001",
            "owner": opened.owner,
            "db_connection_id": opened.connections[0].id,
            "term": "net",
            "meaning": "without tax",
        }
        asyncio.run_coroutine_threadsafe(services.storage.put("glossary", [record]), loop).result(30)

    answer = await answered(shop, model, define)
    ((collection, record),) = answer.changes
    assert collection == "glossary"
    assert "without tax" in record


async def test_a_row_of_a_database_that_changes_is_seen(shop: Shop, model: ScriptedModel) -> None:
    def delete(_: Services, opened: OpenedTask, loop: asyncio.AbstractEventLoop) -> None:
        (path,) = opened.files.values()
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA user_version = 7")
            connection.commit()

    answer = await answered(shop, model, delete)
    assert answer.databases_changed == ["business"]
