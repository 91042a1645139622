"""The form of the log: readable lines on a terminal, JSON elsewhere, or what `KAI_LOG_FORMAT` says."""

import json
import os
import re
import subprocess
import sys

import pytest

PROGRAM = """
import logging, sys
from app.core.logs.start import start_logs
from app.core.settings import read_settings
start_logs(read_settings(), access_log={access_log})
logging.getLogger("kai.runs").info("run taken", extra={{"action": "taken", "run_id": "r1"}})
logging.getLogger("kai.access").info("request", extra={{"api_key": "sk-abcdefgh12345"}})
sys.stderr.write("the end")
"""
TEXT_LINE = re.compile(r"\d\d:\d\d:\d\d INFO kai\.runs: run taken \(action=taken, run_id=r1\)")


def logged(*, on_terminal: bool = False, access_log: bool = True, **variables: str) -> list[str]:
    """The lines that a process with these settings logs."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("KAI_", "OPENAI_"))}
    reading, writing = os.openpty() if on_terminal else os.pipe()
    command = [sys.executable, "-c", PROGRAM.format(access_log=access_log)]
    subprocess.run(command, env={**clean, **variables}, stderr=writing, check=True, timeout=60)
    said = os.read(reading, 65_536).decode()
    os.close(reading)
    os.close(writing)
    *lines, end = said.splitlines()
    assert end == "the end"
    return lines


@pytest.mark.parametrize("chosen", ["", "auto"])
def test_lines_are_text_on_a_terminal(chosen: str) -> None:
    taken, *_ = logged(on_terminal=True, KAI_LOG_FORMAT=chosen)
    assert TEXT_LINE.fullmatch(taken)


def test_lines_are_json_elsewhere() -> None:
    taken, *_ = logged()
    line = json.loads(taken)
    assert (line["logger"], line["action"], line["run_id"]) == ("kai.runs", "taken", "r1")


def test_a_named_format_holds_wherever_the_lines_go() -> None:
    assert TEXT_LINE.fullmatch(logged(KAI_LOG_FORMAT="text")[0])
    assert json.loads(logged(on_terminal=True, KAI_LOG_FORMAT="json")[0])["action"] == "taken"


def test_secrets_are_in_no_line_of_either_format() -> None:
    for chosen in ("text", "json"):
        lines = logged(KAI_LOG_FORMAT=chosen)
        assert "[redacted]" in lines[1]
        assert "sk-abcdefgh12345" not in "".join(lines)


def test_requests_are_logged_only_with_the_access_log() -> None:
    assert [json.loads(line)["logger"] for line in logged()] == ["kai.runs", "kai.access"]
    assert [json.loads(line)["logger"] for line in logged(access_log=False)] == ["kai.runs"]


def test_the_level_leaves_out_what_is_below_it() -> None:
    assert len(logged(KAI_LOG_LEVEL="info")) == 2
    assert logged(KAI_LOG_LEVEL="warning") == []
