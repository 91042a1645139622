"""Progress of a scan."""

from dataclasses import dataclass
from typing import Literal

ScanState = Literal["never", "running", "complete", "failed"]


@dataclass(frozen=True, kw_only=True)
class ScanChanges:
    """What a scan found otherwise than the one before: numbers of tables, and of columns of other tables."""

    tables_new: int = 0
    tables_gone: int = 0
    columns_new: int = 0
    columns_gone: int = 0

    @property
    def sentence(self) -> str:
        """The changes in words: `3 tables new, 1 column gone.` Empty if there are none."""
        said = [
            f"{count} {kind if count == 1 else f'{kind}s'} {change}"
            for count, kind, change in (
                (self.tables_new, "table", "new"),
                (self.tables_gone, "table", "gone"),
                (self.columns_new, "column", "new"),
                (self.columns_gone, "column", "gone"),
            )
            if count
        ]
        return f"{', '.join(said)}." if said else ""


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
    changes: ScanChanges | None = None
    """None until the catalog has been read, and for the first scan of an address."""
