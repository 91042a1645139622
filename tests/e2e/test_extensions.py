"""The example of an extension, installed beside KAI and called by the model."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import JsonValue

from tests.e2e.conftest import model_settings
from tests.e2e.test_investigations import PLAN, QUESTION, calls, finish, named
from tests.e2e.test_tools import Calls
from tests.support.scripted_model import ScriptedModel
from tests.support.server import client_of, running_server

EXAMPLE = Path(__file__).parents[2] / "examples" / "working-days"
APRIL: Calls = ("count_working_days", {"country": "DE", "start": "2025-04-01", "end": "2025-04-30"})
BROKEN = """[kai.tools]
broken = no_such_module:register
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with the example as its wheel installs it, and a package whose entry point fails."""
    folder = tmp_path_factory.mktemp("site")
    uv = Path(sys.executable).parent / "uv"
    offline = ["--no-deps", "--no-build-isolation", "--offline", "--quiet"]
    subprocess.run(
        [uv, "pip", "install", *offline, "--python", sys.executable, "--target", folder, EXAMPLE],
        check=True,
        timeout=100,
    )
    broken = folder / "kai_broken-0.1.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: kai-broken\nVersion: 0.1\n")
    (broken / "entry_points.txt").write_text(BROKEN)
    return str(folder)


async def test_a_safe_extension_is_called_and_a_broken_one_is_a_line_of_the_list(
    tmp_path: Path, model: ScriptedModel, shop: str, installed: str
) -> None:
    settings = {
        **model_settings(model),
        "PYTHONPATH": installed,
        "KAI_TOOLS__EXTENSIONS": "true",
        "KAI_TOOLS__SAFE_EXTENSIONS": json.dumps(["working_days.*"]),
    }
    with running_server(tmp_path, settings) as server:
        async with client_of(server) as kai:
            listed = (await kai.http.get("/tools")).json()
            broken, example = listed["extensions"]
            assert (broken["name"], broken["package"], broken["status"]) == (
                "broken",
                "kai-broken 0.1",
                "failed",
            )
            assert "no_such_module" in broken["error"]
            assert (example["package"], example["status"]) == ("kai-working-days 1.0.0", "loaded")
            assert example["tools"] == ["count_working_days", "list_holidays"]
            tools = {each["name"]: each for each in listed["items"]}
            counts = tools["count_working_days"]
            assert (counts["category"], counts["gate"], counts["modes"]) == (
                "extension",
                "free",
                ["ask", "agent"],
            )

            session = await kai.open_session(await kai.connect(shop))
            finding: JsonValue = {"result": "r1.1", "fact": "value(working_days)"}
            model.say(PLAN, calls(APRIL), finish("It had 20.", findings=[finding], main_result="r1.1"))
            events = await kai.ask(session, QUESTION)
            (returned,) = named(events, "tool_result")
            assert (returned["status"], returned["result_id"] is not None) == ("done", True)
            message = (await kai.session(session))["messages"]["items"][-1]
            (found,) = message["findings"]
            assert "20" in found["text"]


async def test_an_extension_that_is_not_named_safe_is_offered_in_agent_mode_only_and_asks_there(
    tmp_path: Path, model: ScriptedModel, shop: str, installed: str
) -> None:
    settings = {**model_settings(model), "PYTHONPATH": installed, "KAI_TOOLS__EXTENSIONS": "true"}
    with running_server(tmp_path, settings) as server:
        async with client_of(server) as kai:
            listed = (await kai.http.get("/tools")).json()["items"]
            tools = {each["name"]: each for each in listed}
            assert (tools["count_working_days"]["gate"], tools["count_working_days"]["modes"]) == (
                "asks",
                ["agent"],
            )
            session = await kai.open_session(await kai.connect(shop))
            model.say(PLAN, calls(APRIL), finish("It had 20."))
            (returned,) = named(await kai.ask(session, QUESTION), "tool_result")
            assert returned["status"] == "failed"
            assert "count_working_days" not in model.requests[1].tools

            model.say(PLAN, calls(APRIL))
            events = await kai.ask(session, QUESTION, mode="agent")
            (card,) = named(events, "confirmation")
            assert card["description"] == "Count working days in DE, 2025-04-01 to 2025-04-30."
            assert named(events, "tool_result") == []
            assert events[-1].data["status"] == "awaiting_approval"


async def test_without_the_setting_no_extension_is_looked_for(
    tmp_path: Path, model: ScriptedModel, installed: str
) -> None:
    with running_server(tmp_path, {**model_settings(model), "PYTHONPATH": installed}) as server:
        async with client_of(server) as kai:
            listed = (await kai.http.get("/tools")).json()
            assert listed["extensions"] == []
            assert "count_working_days" not in {each["name"] for each in listed["items"]}
