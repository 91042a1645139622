"""Names of KAI's keys in Redis."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RedisKeys:
    """All begin with the prefix, so several KAIs can share a server."""

    prefix: str

    @property
    def waiting(self) -> str:
        """Sorted set of waiting runs, by the time at which they were added."""
        return f"{self.prefix}runs:waiting"

    @property
    def leased(self) -> str:
        """Sorted set of leased runs, by the end of their lease (epoch milliseconds)."""
        return f"{self.prefix}runs:leased"

    @property
    def first(self) -> str:
        """Set of the waiting runs that no worker has leased before."""
        return f"{self.prefix}runs:first"

    @property
    def wake(self) -> str:
        """List on which idle workers block."""
        return f"{self.prefix}runs:wake"

    @property
    def cancellations(self) -> str:
        """Channel of the ids of runs that are to stop."""
        return f"{self.prefix}runs:cancellations"

    @property
    def completed(self) -> str:
        """Stream of the ids of completed messages."""
        return f"{self.prefix}message-completed"

    def cancelled(self, run_id: str) -> str:
        return f"{self.prefix}run:{run_id}:cancelled"

    def log(self, run_id: str) -> str:
        """Stream of the run's events."""
        return f"{self.prefix}run:{run_id}:log"

    def wake_reader(self, reader: str) -> str:
        """Stream that interrupts one process's blocking read of logs."""
        return f"{self.prefix}reader:{reader}:wake"
