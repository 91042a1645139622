"""The pause between an answer and its title and memory."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.conftest import model_settings
from tests.support.scripted_model import AFTERWARDS, ScriptedModel
from tests.support.server import Client, Server, client_of, running_server
from tests.support.waiting import until

QUESTIONS = ("Are zebras white?", "Are zebras black?")
TITLE, MEMORY = AFTERWARDS
LONG = {"KAI_TUNING__WORKER__FOLLOW_UP_PAUSE_SECONDS": "600"}


async def ask_both(kai: Client, model: ScriptedModel, shop: str) -> str:
    session = await kai.open_session(await kai.connect(shop))
    for question in QUESTIONS:
        model.say("CHAT: Yes.")
        assert (await kai.ask(session, question))[-1].data["status"] == "complete"
    return session


def calls(model: ScriptedModel, kind: str) -> list[str]:
    """Those of this test: the server of other tests may still title what they asked."""
    return [each.text for each in model.afterwards if kind in each.text and "zebras" in each.text]


@pytest.mark.parametrize("ends", [Server.kill, Server.stop], ids=["killed", "stopped"])
async def test_answers_within_the_pause_share_their_calls_though_the_process_ends_in_it(
    shop: str, model: ScriptedModel, tmp_path: Path, ends: Callable[[Server], None]
) -> None:
    with running_server(tmp_path, model_settings(model) | LONG) as server:
        async with client_of(server) as kai:
            session = await ask_both(kai, model, shop)
        assert not calls(model, TITLE) + calls(model, MEMORY)
        ends(server)
        model.rule_after(TITLE, "Colours of zebras")
        model.rule_after(MEMORY, "Zebras were looked at.\nThemes: zebras")
        server.settings = model_settings(model)
        server.start()
        async with client_of(server) as kai:

            async def is_titled() -> bool:
                return bool((await kai.session(session))["title"] == "Colours of zebras")

            async def is_remembered() -> bool:
                return bool(calls(model, MEMORY))

            await until(is_titled)
            await until(is_remembered)
    for kind in AFTERWARDS:
        (text,) = calls(model, kind)
        assert all(question in text for question in QUESTIONS)
