"""Runs that find no free worker report their place before one is free."""

from pathlib import Path

from tests.e2e.conftest import model_settings
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Client, client_of, running_server, steps

ONE_AT_A_TIME = {"KAI_WORKER__CONCURRENCY": "1"}


async def wait_in_line(kai: Client, model: ScriptedModel, shop: str) -> None:
    """Ask in three sessions while one run at a time may be answered; check all events."""
    connection = await kai.connect(shop)
    sessions = [await kai.open_session(connection) for _ in range(3)]
    model.say(Scripted("CHAT: first", hold_after=0), "CHAT: second", "CHAT: third")
    async with kai.asking(sessions[0], "one") as one:
        await one.until("status", step="generating_sql")
        await model.until(lambda: model.on_hold == 1)
        async with kai.asking(sessions[1], "two") as two:
            next_to_begin = await two.next()
            async with kai.asking(sessions[2], "three") as three:
                last = await three.next()
                assert model.on_hold == 1
                model.release()
                rests = [await stream.rest() for stream in (one, two, three)]
    assert [each.data["step"] for each in (next_to_begin, last)] == ["waiting", "waiting"]
    assert [each.data["place"] for each in (next_to_begin, last)] == [1, 2]
    for events in rests:
        assert steps(events)[-1] == "saving"
        assert events[-1].data["status"] == "complete"
        assert "waiting" not in steps(events)
    ids = [event.id for event in (last, *rests[2])]
    assert ids == sorted(set(ids))


async def test_runs_tell_their_place_before_a_worker_is_free(
    shop: str, model: ScriptedModel, tmp_path: Path
) -> None:
    with running_server(tmp_path, model_settings(model) | ONE_AT_A_TIME) as server:
        async with client_of(server) as kai:
            await wait_in_line(kai, model, shop)
