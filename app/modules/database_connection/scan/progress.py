"""Progress of a scan."""

from dataclasses import dataclass
from typing import Literal

ScanState = Literal["never", "running", "complete", "failed"]


@dataclass(frozen=True, kw_only=True)
class ScanProgress:
    """Progress of a scan. Times are epoch milliseconds. `tables_total` is None until the catalog has been
    read.

    `tables_done` counts tables whose values have been read. A running scan updates `updated_at` at least
    every few seconds.
    """

    state: ScanState = "never"
    started_at: int | None = None
    updated_at: int | None = None
    tables_total: int | None = None
    tables_done: int = 0
    error: str | None = None
