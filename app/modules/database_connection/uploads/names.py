"""Names of tables and columns in SQL, from headers and file names."""

import re
from collections.abc import Iterable, Sequence

_LONGEST = 60
_NOT_OF_A_WORD = re.compile(r"\W+")


def sql_name(text: str, otherwise: str) -> str:
    """Returns the text with `_` for all but letters and digits, or `otherwise` if nothing is left."""
    name = _NOT_OF_A_WORD.sub("_", text).strip("_")[:_LONGEST].rstrip("_")
    if not name:
        return otherwise
    return f"_{name}" if name[0].isdigit() else name


def column_names(headers: Sequence[str]) -> list[str]:
    """Returns a name for each header. Empty and repeated ones are numbered."""
    return _distinct(sql_name(header, f"column_{number}") for number, header in enumerate(headers, start=1))


def table_names(titles: Sequence[str]) -> list[str]:
    return _distinct(sql_name(title, f"table_{number}") for number, title in enumerate(titles, start=1))


def _distinct(names: Iterable[str]) -> list[str]:
    """SQL compares names without case."""
    taken: set[str] = set()
    distinct: list[str] = []
    for name in names:
        free = name
        number = 2
        while free.casefold() in taken:
            free = f"{name}_{number}"
            number += 1
        taken.add(free.casefold())
        distinct.append(free)
    return distinct
