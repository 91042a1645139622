"""Reads database URLs by the kinds that the engines' folders have. Unknown kinds and options are refused."""

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pkgutil import iter_modules

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from app.modules.database_connection import engines
from app.modules.database_connection.engines.databases import Database
from app.modules.database_connection.engines.kinds import EngineKind
from app.modules.database_connection.errors import UrlNotSupported
from app.modules.database_connection.network import ONE_USER, Access


def _find_kinds() -> Iterator[EngineKind]:
    """Yields the kinds of every engine's folder. No driver is loaded."""
    for each in iter_modules(engines.__path__):
        if each.ispkg:
            kinds: Sequence[EngineKind] = import_module(f"{engines.__name__}.{each.name}.kind").KINDS
            yield from kinds


KINDS: Sequence[EngineKind] = sorted(_find_kinds(), key=lambda each: (each.port is None, each.schemes[0]))
"""All kinds of databases, servers first."""
_BY_SCHEME: Mapping[str, EngineKind] = {scheme: kind for kind in KINDS for scheme in kind.schemes}
_BY_DIALECT: Mapping[str, EngineKind] = {kind.dialect: kind for kind in KINDS}
_SUPPORTED = f"Supported are {', '.join(each.form for each in KINDS)}."


def read_url(text: str, access: Access = ONE_USER) -> Database:
    """Returns the database of a URL. Raises `UrlNotSupported`, whose text never repeats the URL."""
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise UrlNotSupported(f"This is not a database URL. {_SUPPORTED}") from None
    kind = _BY_SCHEME.get(url.drivername)
    if kind is None:
        raise UrlNotSupported(f"KAI has no driver for this kind of database. {_SUPPORTED}")
    if kind.port is not None and _begins_early(url):
        raise UrlNotSupported(
            "The user or the password contains one of @ : / ? #, which a URL writes as %40 %3A %2F %3F %23."
        )
    return kind.read(url, access)


def _begins_early(url: URL) -> bool:
    """True if the host begins at an @ of the password, so that another @ follows in it or behind it."""
    return "@" in (url.host or "") or re.search("@.*/", url.database or "") is not None


def with_kept_secrets(text: str, stored: str) -> str:
    """Returns a URL with the password and the parameters of a stored one, as far as it leaves them out.

    Parameters go to another server, too, so that its connection is as encrypted as before. The password, a
    key and a token do not: only a URL of the same server and user without a password keeps them, and none
    that has parameters of its own, since they may turn encryption off.
    """
    try:
        url, kept = make_url(text), make_url(stored)
    except (ArgumentError, ValueError):
        return text
    account, before = _account(url), _account(kept)
    if url.query or not url.host or account[0] != before[0]:
        return text
    if url.password is None and account == before:
        return url.set(password=kept.password, query=kept.query).render_as_string(hide_password=False)
    kind = _BY_SCHEME.get(kept.drivername)
    secret = () if kind is None else kind.secret_parameters
    query = {name: value for name, value in kept.query.items() if name not in secret}
    return url.set(query=query).render_as_string(hide_password=False)


def _account(url: URL) -> tuple[str, str | None, int, str | None]:
    kind = _BY_SCHEME.get(url.drivername)
    engine, port = (url.drivername, 0) if kind is None else (kind.dialect, kind.port or 0)
    return engine, url.host, url.port or port, url.username


def database_name(dialect: str, masked_url: str) -> str:
    """Returns a database's own name in SQL, from its masked URL: for DuckDB the name of its file."""
    kind = _BY_DIALECT.get(dialect)
    return "" if kind is None else kind.name_in_sql(masked_url)
