"""Databases as models: `kai/` and a readable form of the name. Pure."""

import re
from collections.abc import Mapping, Sequence

from app.modules.database_connection.model import Connection
from app.modules.records.model import Mode

AGENT = ":agent"
"""Ends the name of a model whose questions are investigated in agent mode. No other name has a colon."""
_WORDS = re.compile(r"\w+")
_SUFFIX = 6


def models_of(connections: Sequence[Connection]) -> Mapping[str, Connection]:
    """Returns databases by their names as models; `connections` are oldest first.

    Of several with the same name, the oldest has the plain one, and others end with a part of their ids.
    """
    models: dict[str, Connection] = {}
    for connection in connections:
        name = plain_name(connection)
        models[name if name not in models else f"{name}-{_suffix(connection)}"] = connection
    return models


def model_named(connections: Sequence[Connection], name: str) -> Connection | None:
    """Returns a database by its name as a model, with or without the part of its id, or by its id.

    A name with that part stays good also if the older database of the same name is deleted.
    """
    found = models_of(connections).get(name)
    if found is not None:
        return found
    for each in connections:
        if name in (each.id, f"{plain_name(each)}-{_suffix(each)}"):
            return each
    return None


def mode_named(name: str) -> tuple[str, Mode | None]:
    """Returns the name of a model without its mode, and the mode; None for that of the session."""
    plain = name.removesuffix(AGENT)
    return plain, None if plain == name else "agent"


def plain_name(connection: Connection) -> str:
    words = _WORDS.findall(connection.name.lower())
    return "kai/" + ("-".join(words) or connection.id)


def _suffix(connection: Connection) -> str:
    return connection.id[-_SUFFIX:]
