"""Routes that build themselves when they are first read."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from fastapi.routing import APIRoute

from app.http.router import Router


@pytest.fixture
def frequent_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("frequent_switches")
def test_a_route_that_two_threads_read_at_once_is_whole_for_both() -> None:
    async def read_item(item_id: str, most: int = 1) -> dict[str, int]:
        return {item_id: most}

    with ThreadPoolExecutor(2) as threads:
        for _ in range(50):
            router = Router()
            router.get("/items/{item_id}")(read_item)
            (route,) = router.routes
            assert isinstance(route, APIRoute)
            both = Barrier(2)

            def read(route: APIRoute = route, both: Barrier = both) -> tuple[object, object]:
                both.wait()
                return route.response_field, route.dependant

            first, second = (each.result() for each in [threads.submit(read), threads.submit(read)])
            assert first == second
