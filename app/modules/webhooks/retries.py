"""Trying again to send to a receiver, in the same way to webhooks, mail and chats."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

DeliveryState = Literal["waiting", "delivered", "given_up"]

RETRY_SECONDS: Sequence[int] = (60, 300, 1_800, 7_200, 21_600)
"""Waits after each failed try but the last one."""


class DeliveryFailed(Exception):
    """A receiver has not taken it. The text names no address. `again`: another try may succeed.
    `is_gone`: the receiver wants nothing any more.
    """

    def __init__(self, text: str, *, again: bool, is_gone: bool = False) -> None:
        super().__init__(text)
        self.again = again
        self.is_gone = is_gone


@dataclass(frozen=True)
class AfterTry:
    """What a delivery is after a try, when it is tried again (epoch ms), and why the try failed."""

    state: DeliveryState
    due_at: int | None = None
    error: str | None = None


def settle_try(failure: DeliveryFailed | None, tries: int, now: int) -> AfterTry:
    """Returns the delivery after so many tries, the last of which was made at `now`."""
    if failure is None:
        return AfterTry("delivered")
    if failure.again and tries <= len(RETRY_SECONDS):
        return AfterTry("waiting", now + RETRY_SECONDS[tries - 1] * 1_000, str(failure))
    return AfterTry("given_up", None, str(failure))


def check_tries(tries: int) -> None:
    """Raises `DeliveryFailed` for a try too many: the processes that made the last ones have died."""
    if tries > len(RETRY_SECONDS) + 1:
        raise DeliveryFailed("KAI stopped while it was sending.", again=False)
