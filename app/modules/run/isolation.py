"""Runs that may have killed their process are kept apart from others, so that the guilty one is found."""

import asyncio

from app.core.bus.port import RunRef

_SUSPECT = 1
_ALONE = 2


class Isolation:
    """Decides which runs may be under way together in one process.

    A run with one unclean end is not begun beside another such run, so those that one death has hit are
    spread over the processes. A run with two is begun alone, and nothing beside it: its third is its own.
    """

    def __init__(self) -> None:
        self._under_way: dict[RunRef, int] = {}
        """Unclean ends of the runs under way."""
        self._alone: RunRef | None = None
        """The run that has the process for itself, or waits until the others have ended."""
        self._changed = asyncio.Event()
        self._closed = False

    async def enter(self, ref: RunRef, unclean_ends: int) -> bool:
        """Begin the run here; `leave` follows. False when another process should try, or this one later.

        A run that is to be alone waits for the others to end.
        """
        if self._closed or not self._has_room(unclean_ends):
            return False
        if unclean_ends >= _ALONE:
            await self._empty(ref)
        if self._closed:
            return False
        self._under_way[ref] = unclean_ends
        return True

    def leave(self, ref: RunRef) -> None:
        """The run has ended here."""
        self._under_way.pop(ref, None)
        if self._alone == ref:
            self._alone = None
        self._wake()

    async def opened(self) -> None:
        """Returns once no run has the process for itself."""
        while self._alone is not None:
            await self._changed.wait()

    def close(self) -> None:
        """Let no more runs begin."""
        self._closed = True
        self._wake()

    def _has_room(self, unclean_ends: int) -> bool:
        if self._alone is not None:
            return False
        return unclean_ends != _SUSPECT or all(each == 0 for each in self._under_way.values())

    async def _empty(self, ref: RunRef) -> None:
        self._alone = ref
        try:
            while self._under_way and not self._closed:
                await self._changed.wait()
        except asyncio.CancelledError:
            self.leave(ref)
            raise

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
