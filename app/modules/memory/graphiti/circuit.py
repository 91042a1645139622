"""Circuit breaker: after failures in a row, calls are skipped for a while."""

import time
from collections.abc import Callable

FAILURES = 5
OPEN_SECONDS = 60.0


class Circuit:
    """Opens after 5 failures in a row, for 60 seconds. Then one call is tried, whose outcome decides."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures = 0
        self._opens_again_at: float | None = None

    @property
    def is_open(self) -> bool:
        """True while calls would be skipped."""
        return self._opens_again_at is not None and self._clock() < self._opens_again_at

    def admit(self) -> bool:
        """Returns False for a call to skip. Every admitted call is followed by `succeed` or `fail`."""
        if self._opens_again_at is None:
            return True
        if self.is_open:
            return False
        self._opens_again_at = self._clock() + OPEN_SECONDS  # the others wait for the outcome of this call
        return True

    def succeed(self) -> None:
        self._failures = 0
        self._opens_again_at = None

    def fail(self) -> None:
        self._failures += 1
        if self._failures >= FAILURES:
            self._opens_again_at = self._clock() + OPEN_SECONDS
