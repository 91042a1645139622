"""What a database holds, at a glance, as it was computed for one of its readers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from app.core.auth.caller import Attribute
from graph.described import described

PageLanguage = Literal["en", "de"]
PAGE_LANGUAGES: tuple[PageLanguage, ...] = get_args(PageLanguage)
Missing = Literal["off", "not_scanned", "waiting", "failed"]


@described
@dataclass(frozen=True, kw_only=True)
class MonthValue:
    """A figure in one month."""

    month: str
    """The month: 2026-10."""
    value: float | None
    """Its value. Null for a month without rows."""


@described
@dataclass(frozen=True, kw_only=True)
class Figure:
    """A count or a sum over whole months, and on the overview's latest day."""

    name: str
    """What is counted or added up, in words of the schema."""
    table: str
    """Table whose rows are counted, or whose column is added up."""
    kind: Literal["count", "sum"]
    """`count` of rows, or `sum` of a column."""
    unit: str | None
    """Unit of the values. Null if it is unknown."""
    value: float
    """The figure over the months from `first_month` to `last_month`."""
    first_month: str
    """First of these months."""
    last_month: str
    """Last of these months: the last that the data covers whole."""
    before: float | None
    """The same months of the year before. Null if the data does not cover them whole."""
    months: Sequence[MonthValue]
    """At most the last 24 months that the data covers whole."""
    latest: float | None
    """The figure on the latest day. Null if it has no rows on that day."""
    usual: float | None
    """Average of the four same weekdays before. Null if the data does not go back so far."""
    question: str
    """Question that gives the figure by month."""
    sql: str
    """Statement of that question."""


@described
@dataclass(frozen=True, kw_only=True)
class WorthAsking:
    """A question, and the computed sentence that makes it worth asking."""

    question: str
    """The question."""
    finding: str
    """A sentence of its analysis, without its full stop."""
    sql: str
    """Statement of the question."""


@described
@dataclass(frozen=True, kw_only=True)
class TableUse:
    """A table, and how many of the caller's latest answers read it."""

    name: str
    """Name of the table."""
    row_count: int | None
    """Number of rows at the scan, an estimate for large tables. Null if unknown."""
    answers: int
    """Number of answers whose statement reads it."""


@described
@dataclass(frozen=True, kw_only=True)
class Overview:
    """Figures, questions and tables of a database, in one language."""

    figures: Sequence[Figure]
    """At most three."""
    questions: Sequence[WorthAsking]
    """At most four."""
    latest_day: str | None
    """The latest day before today with rows of a figure: 2026-11-24. Null without figures."""
    tables: Sequence[TableUse]
    """At most eight tables, the most used first."""
    answers: int
    """Number of the caller's latest answers that were looked at."""
    left_out: Sequence[str]
    """Tables without figures, as they have more rows than `KAI_OVERVIEW__TABLE_ROWS` or were read too slowly.
    """
    is_of_role: bool
    """The statements ran as the caller's role, or by policies: rows that they may not see are not counted."""


@dataclass(frozen=True, kw_only=True)
class KeptOverview:
    """The overview of a connection for one reader. Times are epoch milliseconds.

    `claim`, `role` and `attributes` are those that its statements run with; `rights` is the fingerprint of
    what policies let its reader see. `due_at` is when a worker computes it next; a worker that does so has
    moved it to the end of its lease. None: not before it is read again.
    """

    id: str
    owner: str
    db_connection_id: str
    claim: str | None
    role: str | None
    attributes: Mapping[str, Attribute] | None = None
    rights: str | None = None
    read_at: int
    due_at: int | None
    computed_at: int | None = None
    missing: Missing | None = "waiting"
    by_language: Mapping[PageLanguage, Overview] | None = None
