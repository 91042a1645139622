"""Limits of a statement: time, rows, bytes, memory and threads."""

from dataclasses import dataclass

STATEMENT_CHARACTERS = 65_536
"""The longest statement that is parsed unless a setting says otherwise."""

STATEMENT_MEMORY_BYTES = 512 * 1024 * 1024
"""Memory limit of a statement on MariaDB and DuckDB, and of all statements of a process on SQLite."""


@dataclass(frozen=True, kw_only=True)
class StatementLimits:
    """Bounds of one statement. A result that reaches its rows, bytes or characters of a cell is cut and
    says so. A statement of more than `max_characters` is refused."""

    timeout_seconds: float = 30.0
    max_characters: int = STATEMENT_CHARACTERS
    max_rows: int = 10_000
    max_bytes: int = 16 * 1024 * 1024
    max_cell_characters: int = 64 * 1024


JOINED = StatementLimits(max_rows=50_000)
"""Bounds of all that a statement over several databases fetches from them together."""
JOINED_IF_APPROVED = StatementLimits(max_rows=250_000, max_bytes=64 * 1024 * 1024)
"""The same, once a person has approved the statement."""


@dataclass(frozen=True, kw_only=True)
class ConnectionLimits:
    """Bounds of a server's dealings with all user databases.

    `max_threads` statements run at a time; the others wait. A scan reads the catalog within
    `scan_seconds`, stops profiling values after `profile_seconds` (0: it reads no values), and gives each
    of its statements at most `profile_statement_seconds`. The first question waits for the catalog, and for
    the values no longer than `first_profile_seconds`. At most `max_checks` statements are parsed at a
    time, of one owner at most half as many, and a caller waits for `check_seconds`.
    """

    statement: StatementLimits = StatementLimits()
    connect_seconds: float = 10.0
    scan_seconds: float = 60.0
    profile_seconds: float = 600.0
    profile_statement_seconds: float = 2.0
    first_profile_seconds: float = 3.0
    max_threads: int = 16
    check_seconds: float = 20.0
    max_checks: int = 4
    max_cached_schemas: int = 64
