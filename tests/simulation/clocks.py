"""Clocks and chance of the simulated world, in the place of the machine's own."""

import os
import random
import time
from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch
from uuid import UUID

import uuid_utils

from tests.simulation.loop import CURRENT, VirtualLoop

EPOCH_MS = 1_800_000_000_000
"""Time of day when a simulation begins."""


@contextmanager
def simulated_clocks(loop: VirtualLoop, seed: int) -> Generator[None]:
    """Times are those of the loop, plus the error of the process that asks; chance follows the seed.

    Everything within the block runs in one thread, so that the patches reach nothing else.
    """
    chance = random.Random(f"ids {seed}")

    def time_ns() -> int:
        process = CURRENT.get()
        skew = 0.0 if process is None else process.skew_seconds
        return EPOCH_MS * 1_000_000 + round((loop.time() + skew) * 1e9)

    def uuid7(timestamp: int | None = None, nanos: int | None = None) -> UUID:
        ms = time_ns() // 1_000_000 if timestamp is None else timestamp * 1_000 + (nanos or 0) // 1_000_000
        number = (ms << 80) | (7 << 76) | (chance.getrandbits(12) << 64) | (2 << 62) | chance.getrandbits(62)
        return UUID(int=number)

    state = random.getstate()
    random.seed(seed)
    with (
        patch.object(time, "monotonic", loop.time),
        patch.object(time, "time_ns", time_ns),
        patch.object(time, "time", lambda: time_ns() / 1e9),
        patch.object(uuid_utils, "uuid7", uuid7),
        patch.object(os, "urandom", chance.randbytes),
    ):
        try:
            yield
        finally:
            random.setstate(state)
