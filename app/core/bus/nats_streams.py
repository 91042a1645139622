"""Names and configurations of KAI's streams and consumers in JetStream."""

from dataclasses import dataclass

from nats.js.api import (
    AckPolicy,
    ConsumerConfig,
    DiscardPolicy,
    RetentionPolicy,
    StorageType,
    StreamConfig,
)

from app.core.bus.port import FOLLOW_UPS, Kind

LOG_SECONDS = 1_800
"""How long an event of a log is kept; a run takes minutes."""

MAX_FOLLOW_UPS = 100_000
"""Completed messages that no worker has seen; the oldest are dropped first."""

_MAX_PENDING = 100_000
"""Leases of a consumer at a time: more than all workers can hold."""

_DUPLICATE_SECONDS = 120.0


@dataclass(frozen=True)
class Names:
    """Every name and subject begins with the prefix, so that several KAIs can share an account."""

    prefix: str

    @property
    def user_messages(self) -> str:
        return f"{self.prefix}user-messages"

    @property
    def token_streams(self) -> str:
        return f"{self.prefix}token-streams"

    @property
    def message_completed(self) -> str:
        return f"{self.prefix}message-completed"

    @property
    def runs(self) -> str:
        """Subjects of all runs in the queue."""
        return f"{self.user_messages}.session.>"

    @property
    def queue_probes(self) -> str:
        """Subjects in the queue's stream that no consumer reads."""
        return f"{self.user_messages}.probe.>"

    @property
    def cancel(self) -> str:
        """Subject of signals to stop; not in a stream."""
        return f"{self.prefix}cancel"

    def run(self, session_id: str, run_id: str) -> str:
        return f"{self.user_messages}.session.{session_id}.{run_id}"

    def completed(self, session_id: str) -> str:
        return f"{self.message_completed}.session.{session_id}"

    def queue_probe(self, probe_id: str) -> str:
        return f"{self.user_messages}.probe.{probe_id}"

    def log_probe(self, probe_id: str) -> str:
        return f"{self.token_streams}.probe.{probe_id}"

    def log(self, run_id: str) -> str:
        return f"{self.token_streams}.run.{run_id}"

    def holder(self, run_id: str) -> str:
        """Subject that the worker that answers the run listens to; not in a stream."""
        return f"{self.prefix}holder.{run_id}"

    def stream_of(self, kind: Kind) -> str:
        return self.user_messages if kind == "run" else self.message_completed


def stream_configs(names: Names, replicas: int) -> list[StreamConfig]:
    """The queue refuses a second message of a run; logs are dropped by age, completed messages by number."""
    return [
        StreamConfig(
            name=names.user_messages,
            subjects=[f"{names.user_messages}.>"],
            retention=RetentionPolicy.WORK_QUEUE,
            discard=DiscardPolicy.NEW,
            discard_new_per_subject=True,
            max_msgs_per_subject=1,
            storage=StorageType.FILE,
            num_replicas=replicas,
        ),
        StreamConfig(
            name=names.token_streams,
            subjects=[f"{names.token_streams}.>"],
            retention=RetentionPolicy.LIMITS,
            max_age=LOG_SECONDS,
            allow_direct=True,
            storage=StorageType.FILE,
            num_replicas=replicas,
        ),
        StreamConfig(
            name=names.message_completed,
            subjects=[f"{names.message_completed}.>"],
            retention=RetentionPolicy.INTEREST,
            max_msgs=MAX_FOLLOW_UPS,
            duplicate_window=_DUPLICATE_SECONDS,
            storage=StorageType.FILE,
            num_replicas=replicas,
        ),
    ]


def consumer_configs(names: Names, lease_seconds: float) -> list[tuple[str, ConsumerConfig]]:
    """Each with its stream. A consumer's name is the kind of its jobs."""
    return [
        (names.user_messages, _consumer("run", lease_seconds, names.runs)),
        *((names.message_completed, _consumer(kind, lease_seconds)) for kind in FOLLOW_UPS),
    ]


def _consumer(kind: Kind, lease_seconds: float, subject: str | None = None) -> ConsumerConfig:
    return ConsumerConfig(
        durable_name=kind,
        filter_subject=subject,
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=lease_seconds,
        max_ack_pending=_MAX_PENDING,
    )
