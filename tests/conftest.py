"""One Typesense server for all tests that do not break it."""

from collections.abc import Iterator

import pytest

from app.core.storage.typesense_server import TypesenseServer


@pytest.fixture(scope="session")
def typesense_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TypesenseServer]:
    server = TypesenseServer(tmp_path_factory.mktemp("typesense"))
    server.start()
    yield server
    server.stop()
