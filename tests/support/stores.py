"""The stores that keep KAI's records. Another adapter takes part in all tests by one line in `ADAPTERS`."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from uuid import uuid4

import pytest

from app.core.bus.local import LocalDecisions
from app.core.storage.port import Storage
from app.core.storage.sqlite import open_sqlite
from app.core.storage.typesense_server import TypesenseServer
from tests.support.typesense import address_of, open_typesense

Open = Callable[[], AbstractAsyncContextManager[Storage]]
"""Opens the same store, again and again."""


def sqlite(request: pytest.FixtureRequest) -> Open:
    folder: Path = request.getfixturevalue("tmp_path")
    return lambda: open_sqlite(folder / "kai.db")


def typesense(request: pytest.FixtureRequest) -> Open:
    server: TypesenseServer = request.getfixturevalue("typesense_server")
    address, prefix = address_of(server), f"t{uuid4().hex}_"
    return lambda: open_typesense(address, prefix)


def decided_typesense(request: pytest.FixtureRequest) -> Open:
    """As the processes of a KAI open it. The books are changed as sessions and runs are."""
    server: TypesenseServer = request.getfixturevalue("typesense_server")
    address, prefix, decisions = address_of(server), f"t{uuid4().hex}_", LocalDecisions()
    return lambda: open_typesense(address, prefix, decisions, decided=["books"])


ADAPTERS = {"sqlite": sqlite, "typesense": typesense, "typesense, decided over the bus": decided_typesense}
