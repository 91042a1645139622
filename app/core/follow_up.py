"""Jobs that follow an answer: patient with the store, and given up after some tries."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from app.core.bus.job_worker import Disposition, Work
from app.core.bus.port import BusUnavailable, LeasedJob, RunRef
from app.core.storage.port import StorageUnavailable

MAX_TRIES = 5

_AGAIN_SECONDS = 1.0

logger = logging.getLogger(__name__)


def follow_up(do: Callable[[RunRef], Awaitable[None]]) -> Work:
    """Work that may fail. While the store or the bus is unavailable the job waits, which counts as no try."""

    async def work(leased: LeasedJob) -> Disposition:
        ref = leased.ref
        if leased.tries > MAX_TRIES:
            logger.error(
                "the %s job of session %s (run %s) is given up after %d tries",
                *(leased.kind, ref.session_id, ref.run_id, MAX_TRIES),
            )
            return "done"
        while True:
            try:
                await do(ref)
            except (StorageUnavailable, BusUnavailable) as error:
                logger.warning("a %s job waits: %s", leased.kind, error)
                await asyncio.sleep(_AGAIN_SECONDS)
            else:
                return "done"

    return work
