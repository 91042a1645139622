"""The number of calls that wait for people, for the metrics."""

from prometheus_client import CollectorRegistry, Gauge

from app.modules.records.steps import InvestigationRecords

COUNT_SECONDS = 15.0
"""As often as Prometheus asks by default."""


class WaitingApprovals:
    """Every process that answers counts the calls of all."""

    def __init__(self, records: InvestigationRecords, metrics: CollectorRegistry) -> None:
        self._records = records
        self._waiting = Gauge(
            "kai_approvals_waiting", "Calls of tools that wait for approval", registry=metrics
        )

    async def count(self) -> None:
        """Raises `StorageUnavailable`."""
        self._waiting.set(await self._records.count_waiting())
