"""The runs that a process has begun and not ended, for the process that follows it.

An attempt that a dying process has begun counts against its run; one that only waited does not. In one
process the logs of runs are in memory, so this is what remains of them.
"""

import logging
from pathlib import Path

logger = logging.getLogger(__name__)

_MOST_RUNS = 10_000
_LINES_BETWEEN = 1_000
"""Lines that are added before the file is rewritten without those that have ended."""


class BegunRuns:
    """The latest attempt that has begun at each open run. In memory, so it ends with its process."""

    def __init__(self) -> None:
        self._attempts: dict[str, int] = {}

    def attempt(self, run_id: str) -> int:
        """Returns 0 if none has begun, or the run has ended."""
        return self._attempts.get(run_id, 0)

    def begin(self, run_id: str, attempt: int) -> None:
        self._attempts[run_id] = attempt

    def end(self, run_id: str) -> None:
        self._attempts.pop(run_id, None)


class BegunRunsFile(BegunRuns):
    """Survives its process in a file, which is appended to and rarely rewritten.

    It need not survive the machine: without it, an attempt is repeated once more. So nothing is synced, and a
    full disk fails no run.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._lines = 0
        for line in _read(path):
            self._apply(*line)
        latest = [*self._attempts.items()][-_MOST_RUNS:]
        self._attempts = dict(latest)
        self._rewrite()

    def begin(self, run_id: str, attempt: int) -> None:
        self._apply(run_id, attempt)
        self._append(run_id, attempt)

    def end(self, run_id: str) -> None:
        if run_id in self._attempts:
            self._apply(run_id, 0)
            self._append(run_id, 0)

    def _apply(self, run_id: str, attempt: int) -> None:
        self._attempts.pop(run_id, None)
        if attempt > 0:
            self._attempts[run_id] = attempt

    def _append(self, run_id: str, attempt: int) -> None:
        self._lines += 1
        if self._lines > _LINES_BETWEEN + len(self._attempts):
            self._rewrite()
            return
        try:
            with self._path.open("a") as file:
                file.write(f"{run_id} {attempt}\n")
        except OSError as error:
            logger.warning("%s cannot be written: %s", self._path, error)

    def _rewrite(self) -> None:
        self._lines = len(self._attempts)
        text = "".join(f"{run_id} {attempt}\n" for run_id, attempt in self._attempts.items())
        new = self._path.with_suffix(".new")
        try:
            new.write_text(text)
            new.replace(self._path)
        except OSError as error:
            logger.warning("%s cannot be written: %s", self._path, error)


def _read(path: Path) -> list[tuple[str, int]]:
    """Returns the lines of the file; one that was cut or damaged is left out."""
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return []
    words = [line.split(" ") for line in lines]
    return [(each[0], int(each[1])) for each in words if len(each) == 2 and each[1].isdecimal()]
