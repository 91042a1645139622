"""What a server tells of itself while it works, and what it never tells."""

import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.e2e.operations.conftest import CANARY, Watched
from tests.support.choices import FIRST
from tests.support.kai_process import start_kai
from tests.support.otlp import Collector
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import START_SECONDS

STATEMENT = f"SELECT name, country FROM customers WHERE name <> 'not {CANARY}'"
REPLY = f"The {CANARY}.\n```sql\n{STATEMENT}\n```"


async def test_a_request_is_one_line_with_its_id_route_status_duration_and_owner(watched: Watched) -> None:
    await watched.client.http.get("/sessions?limit=1", headers={"X-Request-Id": "asked-by.test_1"})
    line = await watched.line(request_id="asked-by.test_1")
    assert (line["logger"], line["level"], line["owner"]) == ("kai.access", "INFO", "local")
    assert (line["method"], line["route"], line["status"]) == ("GET", "/api/v1/sessions", 200)
    assert isinstance(line["duration_ms"], int)


async def test_the_answer_names_the_request_and_an_id_that_could_forge_a_line_is_replaced(
    watched: Watched,
) -> None:
    sent = {"kept": "abc-1", "with blanks": "abc 1", "too long": "a" * 65, "quoted": '"}{"'}
    answered = {
        why: (await watched.client.http.get("/sessions", headers={"X-Request-Id": given})).headers
        for why, given in sent.items()
    }
    assert answered.pop("kept")["X-Request-Id"] == "abc-1"
    for headers in answered.values():
        assert len(headers["X-Request-Id"]) == 36


async def test_an_invented_path_is_not_logged(watched: Watched) -> None:
    await watched.client.http.get(f"{watched.server.address}/{CANARY}/x")
    assert await watched.line(route="unmatched", status=404)
    assert CANARY not in watched.log.read_text()


async def test_a_line_from_within_a_run_names_the_run_its_session_and_its_owner(
    watched: Watched, model: ScriptedModel, shop: str
) -> None:
    session = await watched.client.open_session(await watched.client.connect(shop))
    model.say("Fine.\n```sql\nSELECT count(*) AS n FROM orders\n```", FIRST)
    done = (await watched.client.ask(session, "How many orders?"))[-1].data
    line = await watched.line(run_id=done["run_id"], logger="kai.audit")
    assert (line["logger"], line["session_id"], line["owner"]) == ("kai.audit", session, "local")
    life = [line["action"] for line in watched.lines(run_id=done["run_id"], logger="kai.runs")]
    assert life == ["taken", "finished"]


async def test_no_log_trace_or_metric_holds_a_question_a_statement_a_value_a_key_or_a_password(
    watched: Watched, model: ScriptedModel, canary_shop: str, collector: Collector
) -> None:
    client = watched.client
    connection = await client.connect(canary_shop)
    session = await client.open_session(connection)
    model.say(REPLY, f"It was {CANARY}.")
    events = await client.ask(session, f"Who is {CANARY}?")
    assert CANARY in str([event.data for event in events])
    model.say(Scripted(status=500, error=CANARY), Scripted(status=500, error=CANARY), Scripted(status=401))
    await client.ask(session, f"Where is {CANARY}?")
    await client.ask(session, "mine", sql=f"DELETE FROM customers WHERE name = '{CANARY}'")
    await client.ask(session, "mine", sql=f"SELECT {CANARY} FROM customers")
    await client.http.get(f"/database-connections/{connection}/tables/customers/sample")
    await client.http.get("/sessions", params={"q": CANARY})
    await client.http.post(
        "/database-connections", json={"url": f"postgresql://u:{CANARY}@127.0.0.1:1/x", "name": CANARY}
    )
    await client.http.post("/sessions", content=f'{{"{CANARY}": ', headers={"X-Request-Id": "the-last"})
    await watched.line(request_id="the-last")
    collector.until(lambda span: span.attributes.get("url.query") == "[redacted]")
    shown = watched.log.read_text() + await watched.metrics() + collector.raw.decode("latin-1")
    assert len(watched.lines(message="statement", session_id=session)) == 3  # one named an unknown column
    assert CANARY not in shown


async def test_every_line_is_json_with_time_level_and_logger(watched: Watched) -> None:
    await watched.client.http.get("/sessions")
    for line in watched.lines():
        assert {"time", "level", "logger", "message"} <= line.keys()


async def test_probes_are_logged_at_level_debug_only(watched: Watched) -> None:
    async with httpx.AsyncClient(base_url=watched.server.address, timeout=60) as http:
        await http.get("/healthz")
    assert (await watched.line(route="/healthz"))["level"] == "DEBUG"


@contextmanager
def running_demo(folder: Path, *options: str) -> Iterator[tuple[str, Path]]:
    """The address of `kai demo`, and the file of its log."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("KAI_", "OPENAI_"))}
    environment = {**clean, "KAI_DATA_DIR": str(folder / "data"), "KAI_PORT": "0"}
    log, (reading, writing) = folder / "log", os.pipe()
    with log.open("w") as file, os.fdopen(reading) as output:
        demo = start_kai(
            ["demo", *options],
            environment=environment,
            folder=Path.cwd(),
            stdout=writing,
            stderr=file.fileno(),
        )
        os.close(writing)
        addresses = (re.search(r"KAI is ready: open (\S+)", line) for line in output)
        try:
            yield next(found[1] for found in addresses if found), log
        finally:
            demo.send_signal(signal.SIGKILL)
            demo.wait(START_SECONDS)


def test_a_demo_logs_no_request_unless_it_is_asked_to(tmp_path: Path) -> None:
    for options, is_logged in (([], False), (["--access-log"], True)):
        with running_demo(tmp_path, *options) as (address, log):
            for _ in range(2):  # the line of the first is written before the second is answered
                assert httpx.get(f"{address}/api/v1/sessions", timeout=60).status_code == 200
            assert ("kai.access" in log.read_text()) == is_logged
