"""Whether a process should be sent work: all it depends on answers, and it is not about to stop."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

CHECK_SECONDS = 2.0

Check: TypeAlias = tuple[str, Callable[[], Awaitable[object]]]
"""A dependency's name, and what raises, or takes too long, when it is away."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Dependency:
    """How a dependency answered, in words without secrets; `error` is None when it is well."""

    name: str
    milliseconds: int
    error: str | None = None


@dataclass(frozen=True)
class Verdict:
    status: Literal["ready", "unavailable", "draining"]
    dependencies: Sequence[Dependency]


class Readiness:
    """Of one process, for as long as it runs."""

    def __init__(self, checks: Sequence[Check]) -> None:
        self._checks = checks
        self.draining = False

    def drain(self) -> None:
        """From now on nothing new should come here. Not taken back."""
        self.draining = True

    async def look(self) -> Verdict:
        """Asks all dependencies at once; takes `CHECK_SECONDS` at most."""
        found = await asyncio.gather(*(_look(name, check) for name, check in self._checks))
        if self.draining:
            return Verdict("draining", found)
        return Verdict("unavailable" if any(each.error for each in found) else "ready", found)


async def _look(name: str, check: Callable[[], Awaitable[object]]) -> Dependency:
    began, error = time.monotonic(), None
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            await check()
    except TimeoutError:
        error = f"does not answer within {CHECK_SECONDS:g} s"
    except Exception as failure:  # noqa: BLE001 - a probe: whatever a client library raises means away
        error = "does not answer as it should"
        logger.warning("%s is away (%s)", name, type(failure).__name__)
    return Dependency(name, round((time.monotonic() - began) * 1000), error)
