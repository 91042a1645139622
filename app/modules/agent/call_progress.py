"""Progress of calls: what a tool reports of its work, or the time that a silent one has taken."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from graph.events import Progress
from graph.ports import Emit

_PAUSE_SECONDS = 1.0
SILENT_SECONDS = 2.0
"""A call that has reported nothing for so long is said to be running still."""


class CallProgress:
    """Emits progress of one call, at most once a second."""

    def __init__(self, call_id: str, emit: Emit) -> None:
        self._call_id = call_id
        self._emit = emit
        self._last = monotonic() - _PAUSE_SECONDS
        self._has_reported = False

    def __call__(self, message: str, fraction: float) -> None:
        """`fraction` is from 0 to 1, or -1 if unknown."""
        self._has_reported = True
        if monotonic() - self._last >= _PAUSE_SECONDS:
            self._say(message, fraction)

    @contextmanager
    def of_silent_call(self) -> Iterator[None]:
        """Within the block, the time is reported every two seconds until the tool itself reports."""
        timer = asyncio.create_task(self._report_time(), name=f"call {self._call_id}: report its time")
        try:
            yield
        finally:
            timer.cancel()

    async def _report_time(self) -> None:
        began = monotonic()
        while True:
            await asyncio.sleep(SILENT_SECONDS)
            if self._has_reported:
                return
            self._say(f"Running for {monotonic() - began:.0f} s", -1)

    def _say(self, message: str, fraction: float) -> None:
        self._last = monotonic()
        self._emit(Progress(tool_call_id=self._call_id, message=message, fraction=fraction))
