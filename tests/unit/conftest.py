"""A clock that stands still, and metrics of their own."""

import pytest
from prometheus_client import CollectorRegistry

from tests.support.clock import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def metrics() -> CollectorRegistry:
    return CollectorRegistry()
