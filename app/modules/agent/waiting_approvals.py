"""The number of calls that wait for people, for the metrics."""

import asyncio
import logging

from prometheus_client import CollectorRegistry, Gauge

from app.core.storage.port import StorageUnavailable
from app.modules.agent.records import InvestigationRecords

logger = logging.getLogger(__name__)

_SECONDS = 15.0
"""As often as Prometheus asks by default."""


class WaitingApprovals:
    """Every process that answers counts the calls of all."""

    def __init__(self, records: InvestigationRecords, metrics: CollectorRegistry) -> None:
        self._records = records
        self._waiting = Gauge(
            "kai_approvals_waiting", "Calls of tools that wait for approval", registry=metrics
        )

    async def count_for_ever(self) -> None:
        while True:
            await asyncio.sleep(_SECONDS)
            try:
                self._waiting.set(await self._records.count_waiting())
            except StorageUnavailable as error:
                logger.info("waiting approvals are counted later: %s", error)
            except Exception:
                logger.exception("waiting approvals could not be counted")
