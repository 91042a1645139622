"""Tables of records in a terminal."""

from rich.console import Console
from rich.table import Table

_WIDEST = 10_000


def print_table(table: Table) -> None:
    """Never narrower than its words: half an id names nothing."""
    console = Console(highlight=False)
    everything = console.options.update(max_width=_WIDEST)
    console.width = max(console.width, console.measure(table, options=everything).maximum)
    console.print(table)
