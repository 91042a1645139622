"""A sentence, or a part of one, that is written in the language of its reader."""

from typing import NamedTuple


class WarningPhrase(NamedTuple):
    """The `name` of a text of `result_warnings/texts.py`, and the `values` in it."""

    name: str
    values: "tuple[str | int | WarningPhrase, ...]" = ()
