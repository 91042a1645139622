"""Names and configurations of KAI's streams and consumers in JetStream."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

from nats.js.api import (
    AckPolicy,
    ConsumerConfig,
    DiscardPolicy,
    RetentionPolicy,
    StorageType,
    StreamConfig,
)

from app.core.bus.port import FOLLOW_UPS, FollowUp, RunRef

LINES = 16
"""Runs wait in lines, each with a consumer. Owners are spread over the lines, and lines take turns."""

LOG_SECONDS = 1_800
"""How long an event of a log is kept; a run takes minutes."""

MAX_FOLLOW_UPS = 100_000
"""Completed messages that no worker has seen; the oldest are dropped first."""

DECISION_SECONDS = 86_400
"""How long the latest decision about a document is kept. A late write of an earlier state is repaired from it
by the next reader.
"""

_MAX_PENDING = 1_000_000
"""Leases of a consumer at a time: more than all workers can hold."""

_DUPLICATE_SECONDS = 120.0


@dataclass(frozen=True)
class StreamNames:
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
    def decisions(self) -> str:
        return f"{self.prefix}decisions"

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

    @property
    def ready(self) -> str:
        """Subject of signals that a line has a run to take; not in a stream."""
        return f"{self.prefix}ready"

    def line(self, line: int) -> str:
        """Subjects of the runs of a line."""
        return f"{self.user_messages}.session.{line}.>"

    def run(self, ref: RunRef) -> str:
        return f"{self.user_messages}.session.{line_of(ref.owner)}.{ref.session_id}.{ref.run_id}"

    def runs_of(self, session_id: str) -> str:
        """Subjects of the runs of a session."""
        return f"{self.user_messages}.session.*.{session_id}.*"

    def completed(self, session_id: str) -> str:
        return f"{self.message_completed}.session.{session_id}"

    def decision(self, document: str) -> str:
        return f"{self.decisions}.latest.{document}"

    def queue_probe(self, probe_id: str) -> str:
        return f"{self.user_messages}.probe.{probe_id}"

    def log_probe(self, probe_id: str) -> str:
        return f"{self.token_streams}.probe.{probe_id}"

    def log(self, run_id: str) -> str:
        return f"{self.token_streams}.run.{run_id}"

    def holder(self, run_id: str) -> str:
        """Subject that the worker that answers the run listens to; not in a stream."""
        return f"{self.prefix}holder.{run_id}"


def line_of(owner: str) -> int:
    return crc32(owner.encode()) % LINES


def run_consumer(line: int) -> str:
    return f"run-{line}"


def stream_configs(names: StreamNames, replicas: int) -> list[StreamConfig]:
    """The queue refuses a second message of a run; logs are dropped by age, completed messages by number.

    Of decisions the latest of each document is kept. They are read from their leader only, which has it.
    Where their stream is made again, its numbers go on above those of the lost one: they begin with the time
    in microseconds.
    """
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
        StreamConfig(
            name=names.decisions,
            subjects=[names.decision(">")],
            retention=RetentionPolicy.LIMITS,
            max_msgs_per_subject=1,
            max_age=DECISION_SECONDS,
            first_seq=time.time_ns() // 1_000,
            allow_direct=replicas == 1,
            storage=StorageType.FILE,
            num_replicas=replicas,
        ),
    ]


def consumer_configs(
    names: StreamNames, lease_seconds: float, follow_ups: Sequence[FollowUp] = FOLLOW_UPS
) -> list[tuple[str, ConsumerConfig]]:
    """Each with its stream: one for each line of runs, one for each kind that follows."""
    lines = (_consumer(run_consumer(line), lease_seconds, names.line(line)) for line in range(LINES))
    following = (_consumer(kind, lease_seconds) for kind in follow_ups)
    return [
        *((names.user_messages, consumer) for consumer in lines),
        *((names.message_completed, consumer) for consumer in following),
    ]


def _consumer(name: str, lease_seconds: float, subject: str | None = None) -> ConsumerConfig:
    return ConsumerConfig(
        durable_name=name,
        filter_subject=subject,
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=lease_seconds,
        max_ack_pending=_MAX_PENDING,
    )
