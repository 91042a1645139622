"""Waiting for what another task or process brings about."""

import asyncio
from collections.abc import Awaitable, Callable


async def until(met: Callable[[], Awaitable[bool]], seconds: float = 60) -> None:
    """Raises `TimeoutError` when it is not met in time."""
    async with asyncio.timeout(seconds):
        while not await met():  # noqa: ASYNC110  (nothing tells)
            await asyncio.sleep(0.02)
