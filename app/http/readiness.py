"""Readiness of a process: every dependency answers, and the process is not about to stop."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from app.core.storage.port import StorageStarting
from app.core.storage.typesense_client import ServerStarting

CHECK_SECONDS = 2.0

Check: TypeAlias = tuple[str, Callable[[], Awaitable[object]]]
"""Name of a dependency, and a call that raises or times out when it is unavailable."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Dependency:
    """Result of a check; `error` holds no secrets and is None if the dependency answered."""

    name: str
    milliseconds: int
    error: str | None = None


@dataclass(frozen=True)
class ReadinessReport:
    status: Literal["ready", "unavailable", "draining"]
    dependencies: Sequence[Dependency]


class Readiness:
    """Readiness of this process."""

    def __init__(self, checks: Sequence[Check]) -> None:
        self._checks = checks
        self.draining = False

    def drain(self) -> None:
        """Announce that the process is about to stop. Cannot be undone."""
        self.draining = True

    async def look(self) -> ReadinessReport:
        """Check all dependencies concurrently. Takes at most `CHECK_SECONDS`."""
        found = await asyncio.gather(*(_look(name, check) for name, check in self._checks))
        if self.draining:
            return ReadinessReport("draining", found)
        return ReadinessReport("unavailable" if any(each.error for each in found) else "ready", found)


def _explanation(failure: Exception) -> str | None:
    """Why a store that has been started cannot be read yet, also behind an error of the checkpoints."""
    for each in (failure, failure.__cause__):
        if isinstance(each, StorageStarting | ServerStarting):
            return str(each)
    return None


async def _look(name: str, check: Callable[[], Awaitable[object]]) -> Dependency:
    began, error = time.monotonic(), None
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            await check()
    except TimeoutError:
        error = f"does not answer within {CHECK_SECONDS:g} s"
    except Exception as failure:  # noqa: BLE001 - a probe: any exception of a client library means unavailable
        error = _explanation(failure) or "does not answer as it should"
        logger.warning("%s is unavailable (%s)", name, type(failure).__name__)
    return Dependency(name, round((time.monotonic() - began) * 1000), error)
