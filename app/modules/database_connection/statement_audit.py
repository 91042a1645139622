"""Every statement sent to a user's database leaves a line of audit, a span, and numbers."""

import asyncio
import hashlib
import logging
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from opentelemetry.trace import SpanKind
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from app.core.llm.calls import Meter, count_usage
from app.core.tracing.spans import span
from app.modules.database_connection.errors import PersonUnknown
from app.modules.database_connection.model import Connection
from app.modules.database_connection.results import ResultSet
from app.modules.database_connection.roles import DatabaseRoleMissing
from app.modules.database_connection.scan.progress import ScanProgress
from graph.errors import StatementRefused, StatementTimedOut

Purpose = Literal[
    "question",
    "version",
    "candidate",
    "offer",
    "join_probe",
    "provenance",
    "coverage",
    "investigation",
    "preview",
    "board",
    "schedule",
    "mcp",
    "overview",
    "evaluation",
]
_Outcome = Literal["ok", "refused", "failed", "timed_out", "cancelled"]

_SYSTEMS = {"postgres": "postgresql"}
"""OpenTelemetry's names of databases that differ from sqlglot's."""

logger = logging.getLogger("kai.audit")


@dataclass(frozen=True, kw_only=True)
class Asker:
    """The user for whom a statement runs, its purpose, and the run that it belongs to, if any."""

    owner: str
    purpose: Purpose
    session_id: str | None = None
    run_id: str | None = None
    claim: str | None = field(default=None, repr=False)
    """The value of the person's claim that chooses a database role."""


class StatementRecords:
    """`texts`: the audit log holds the statements themselves, too, and not only their SHA-256."""

    def __init__(self, registry: CollectorRegistry, *, texts: bool) -> None:
        self._texts = texts
        self._statements = Counter(
            "kai_statements",
            "Statements for users' databases, by how they ended",
            ["dialect", "outcome"],
            registry=registry,
        )
        self._refusals = Counter(
            "kai_guard_refusals", "Statements the guard refused, by its rule", ["rule"], registry=registry
        )
        self._abandoned = Gauge(
            "kai_statement_checks_abandoned",
            "Threads that still check a statement that no caller waits for",
            registry=registry,
        )
        self._seconds = Histogram(
            "kai_statement_duration_seconds",
            "From its check to its last row, waiting for a thread included",
            ["dialect"],
            buckets=(0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60),
            registry=registry,
        )
        self._rows = Histogram(
            "kai_statement_rows",
            "Rows kept of a result",
            ["dialect"],
            buckets=(0, 1, 10, 100, 1_000, 10_000, 100_000, 1_000_000),
            registry=registry,
        )

    def watch_abandoned_checks(self, count: Callable[[], int]) -> None:
        """Have the metric report this count."""
        self._abandoned.set_function(count)

    @contextmanager
    def record(self, connection: Connection, sql: str, asker: Asker) -> Generator["AuditRecord"]:
        """Write the record of a statement that is sent within the block."""
        record = AuditRecord()
        try:
            with span(f"query {connection.dialect}", _attributes(connection), SpanKind.CLIENT) as traced:
                yield record
                traced.set_attribute("db.response.returned_rows", record.rows or 0)
            record.outcome = "ok"
        except StatementRefused as refused:
            record.outcome = "refused"
            record.refused_as = refused.rule
            raise
        except DatabaseRoleMissing:
            record.outcome = "refused"
            record.refused_as = "role"
            raise
        except PersonUnknown:
            record.outcome = "refused"
            record.refused_as = "policy"
            raise
        except StatementTimedOut:
            record.outcome = "timed_out"
            raise
        except asyncio.CancelledError:
            record.outcome = "cancelled"
            raise
        finally:
            count_usage(record.usage)
            self._count(connection.dialect, record)
            self._tell(connection, sql, asker, record=record)

    def changed(self, connection: Connection, fields: Sequence[str]) -> None:
        """A change of a connection by its owner is recorded with the names of the fields."""
        logger.info(
            "connection changed",
            extra={"owner": connection.owner, "connection_id": connection.id, "fields": sorted(fields)},
        )

    def described(self, connection: Connection, table: str, columns: Sequence[str]) -> None:
        """A change of what people have written of a table, or of the columns that KAI does not read."""
        logger.info(
            "table changed",
            extra={
                "owner": connection.owner,
                "connection_id": connection.id,
                "table": table,
                "columns": sorted(columns),
            },
        )

    def scanned(self, connection: Connection, progress: ScanProgress) -> None:
        """A scan is recorded as a whole, in the name of the connection's owner."""
        logger.info(
            "scan",
            extra={
                "owner": connection.owner,
                "connection_id": connection.id,
                "dialect": connection.dialect,
                "purpose": "scan",
                "tables": progress.tables_done,
                "duration_ms": (progress.updated_at or 0) - (progress.started_at or 0),
                "outcome": "ok" if progress.state == "complete" else "failed",
            },
        )

    def _count(self, dialect: str, record: "AuditRecord") -> None:
        self._statements.labels(dialect, record.outcome).inc()
        self._seconds.labels(dialect).observe(record.seconds)
        if record.rows is not None:
            self._rows.labels(dialect).observe(record.rows)
        if record.refused_as is not None:
            self._refusals.labels(record.refused_as).inc()

    def _tell(self, connection: Connection, sql: str, asker: Asker, *, record: "AuditRecord") -> None:
        fields = {
            "owner": asker.owner,
            "purpose": asker.purpose,
            "session_id": asker.session_id,
            "run_id": asker.run_id,
            "connection_id": connection.id,
            "dialect": connection.dialect,
            "database_role": record.database_role,
            "policies": [*record.policies] or None,
            "statement_sha256": hashlib.sha256(sql.encode("utf-8", "replace")).hexdigest(),
            "rows": record.rows,
            "rows_read": record.rows_read,
            "bytes_read": record.bytes_read,
            "duration_ms": round(record.seconds * 1000),
            "outcome": record.outcome,
            "refused_as": record.refused_as,
        }
        logger.info("statement", extra={**fields, "statement": sql} if self._texts else fields)


class AuditRecord:
    """Outcome of a statement. It counts as failed until another outcome is set."""

    def __init__(self) -> None:
        self.outcome: _Outcome = "failed"
        self.refused_as: str | None = None
        self.database_role: str | None = None
        self.policies: Sequence[str] = ()
        """Names of the policies that changed the statement."""
        self.rows: int | None = None
        self.rows_read: int | None = None
        self.bytes_read: int | None = None
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    @property
    def usage(self) -> Meter:
        """What the statement has cost so far."""
        return Meter(
            database_ms=round(self.seconds * 1_000), rows_read=self.rows_read, bytes_read=self.bytes_read
        )

    def gave(self, result: ResultSet) -> None:
        self.rows = len(result.rows)
        self.rows_read = result.rows_read
        self.bytes_read = result.bytes_read


def _attributes(connection: Connection) -> dict[str, str]:
    return {"db.system.name": _SYSTEMS.get(connection.dialect, connection.dialect)}
