"""How far the scan of a database is."""

from dataclasses import dataclass
from typing import Literal

ScanState = Literal["never", "running", "complete", "failed"]


@dataclass(frozen=True)
class ScanProgress:
    """Times are epoch milliseconds; `tables_total` is None until the catalog has been read.

    `tables_done` counts tables whose values were looked at. A running scan says so at least every
    few seconds by `updated_at`.
    """

    state: ScanState = "never"
    started_at: int | None = None
    updated_at: int | None = None
    tables_total: int | None = None
    tables_done: int = 0
    error: str | None = None
