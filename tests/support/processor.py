"""Processor time, by a measure of the machine that runs the tests."""

import json
import re
import time
from collections.abc import Callable

_REFERENCE_SECONDS = 0.06
"""What `_work` takes on the machine whose seconds the limits are written in."""
_RUNS = 5


def processor_seconds(work: Callable[[], object]) -> float:
    """Returns the processor time of this process while it does something, of all threads."""
    began = time.process_time()
    work()
    return time.process_time() - began


def slowness() -> float:
    """Returns how many times longer this machine takes now than the reference; at least 1."""
    return max(1.0, min(processor_seconds(_work) for _ in range(_RUNS)) / _REFERENCE_SECONDS)


def _work() -> None:
    text = json.dumps([{"name": f"row {number}", "value": number * 1.5} for number in range(20_000)])
    json.loads(text)
    re.findall(r"\w+ \d+", text)
