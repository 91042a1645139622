"""Finds text in the arguments of a call that was read from a database in the same turn.

A stored text can tell a model to pass on other stored texts. The person who is asked should see that.
"""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from app.modules.tools.results import NamedResult

MIN_CHARACTERS = 6
"""Shorter texts occur everywhere."""
_EXCERPT = 60
_MOST_WARNINGS = 10


def quotations(
    arguments: Mapping[str, JsonValue], results: Sequence[NamedResult], names: Sequence[str]
) -> list[str]:
    """Returns a sentence for each argument that holds text of a result, or is part of such text.

    `names` are those of the results. Case and white space do not count. Takes time in proportion to the rows.
    """
    texts = [(path, text) for path, text in _texts("", arguments) if len(text) >= MIN_CHARACTERS]
    warnings: list[str] = []
    for path, text in texts:
        for name, result in zip(names, results, strict=True):
            found = _found_in(text, result)
            if found is not None:
                cut = found if len(found) <= _EXCERPT else f"{found[:_EXCERPT]}…"
                warnings.append(f"{path} holds text that was read in this turn: {cut!r} ({name}).")
                break
    return warnings[:_MOST_WARNINGS]


def _found_in(text: str, result: NamedResult) -> str | None:
    """Returns the text that argument and result share: one of them is part of the other."""
    for row in result.rows["rows"]:
        for cell in row:
            if isinstance(cell, bool) or not isinstance(cell, str | int | float):
                continue
            stored = _folded(str(cell))
            if len(stored) < MIN_CHARACTERS:
                continue
            if stored in text:
                return stored
            if text in stored:
                return text
    return None


def _texts(path: str, value: JsonValue | Mapping[str, JsonValue]) -> Iterator[tuple[str, str]]:
    """Yields every text and number of a value, names of fields included, with where it stands."""
    if isinstance(value, Mapping):
        for name, each in value.items():
            inner = f"{path}.{name}" if path else name
            if path:
                yield inner, _folded(name)
            yield from _texts(inner, each)
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from _texts(f"{path}[{at}]", each)
    elif isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool)):
        yield path, _folded(str(value))


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
