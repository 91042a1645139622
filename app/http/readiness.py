"""Readiness of a process: every dependency answers, and the process is not about to stop."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from app.core.secrets import SecretUnreadable
from app.core.storage.port import StorageFull, StorageHeld, StorageRefused, StorageStarting
from app.core.storage.starting import NotReadable

CHECK_SECONDS = 2.0
FRESH_SECONDS = 1.0
"""A report is repeated for so long, however often it is asked for."""

_DEFECT = "does not answer as it should"

Check: TypeAlias = tuple[str, Callable[[], Awaitable[object]]]
"""Name of a dependency, and a call that raises or times out when it is unavailable."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Dependency:
    """Result of a check; `error` holds no secrets and is None if the dependency answered."""

    name: str
    milliseconds: int
    error: str | None = None


Detail: TypeAlias = tuple[str, Callable[[], Awaitable[Mapping[str, str | int]]]]
"""Name of something that questions do not need, and a call that describes its state."""


@dataclass(frozen=True)
class ReadinessReport:
    status: Literal["ready", "unavailable", "draining"]
    dependencies: Sequence[Dependency]
    details: Mapping[str, Mapping[str, str | int]] = field(default_factory=dict)


class Readiness:
    """Readiness of this process."""

    def __init__(self, checks: Sequence[Check], details: Sequence[Detail] = ()) -> None:
        self._checks = checks
        self._details = details
        self._looking = asyncio.Lock()
        self._found: Sequence[Dependency] = ()
        self._described: Mapping[str, Mapping[str, str | int]] = {}
        self._found_at: float | None = None
        self.draining = False

    def drain(self) -> None:
        """Announce that the process is about to stop. Cannot be undone."""
        self.draining = True

    async def look(self) -> ReadinessReport:
        """Check all dependencies concurrently, unless they were just checked. Takes about `CHECK_SECONDS`."""
        async with self._looking:
            if self._found_at is None or time.monotonic() - self._found_at > FRESH_SECONDS:
                self._found = await asyncio.gather(*(_look(name, check) for name, check in self._checks))
                self._described = {name: await _describe(name, detail) for name, detail in self._details}
                self._found_at = time.monotonic()
            found, described = self._found, self._described
        if self.draining:
            return ReadinessReport("draining", found, described)
        status: Literal["ready", "unavailable"] = "ready"
        if any(each.error for each in found):
            status = "unavailable"
        return ReadinessReport(status, found, described)


def _explanation(failure: Exception) -> str:
    """Why a dependency is unavailable, also behind an error of the checkpoints. Texts of other errors may
    hold a URL, so of these only the class of the cause is named.
    """
    for each in (failure, failure.__cause__):
        if isinstance(
            each,
            SecretUnreadable | StorageStarting | StorageFull | StorageHeld | StorageRefused | NotReadable,
        ):
            return str(each)
    cause = failure.__cause__
    return f"{_DEFECT} ({type(cause).__name__})" if cause is not None else _DEFECT


async def _describe(
    name: str, detail: Callable[[], Awaitable[Mapping[str, str | int]]]
) -> Mapping[str, str | int]:
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            return await detail()
    except Exception as failure:  # noqa: BLE001 - a probe, as below
        logger.warning("%s is not described (%s)", name, type(failure).__name__)
        return {"state": "unknown"}


async def _look(name: str, check: Callable[[], Awaitable[object]]) -> Dependency:
    began, error = time.monotonic(), None
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            await check()
    except TimeoutError:
        error = f"does not answer within {CHECK_SECONDS:g} s"
    except Exception as failure:  # noqa: BLE001 - a probe: any exception of a client library means unavailable
        error = _explanation(failure)
        logger.warning("%s is unavailable (%s)", name, type(failure).__name__)
    return Dependency(name, round((time.monotonic() - began) * 1000), error)
