"""Trying again to send a notice, in the same way to webhooks, mail and chats."""

from collections.abc import Sequence

RETRY_SECONDS: Sequence[int] = (60, 300, 1_800, 7_200, 21_600)
"""Waits after each failed try but the last one."""


class DeliveryFailed(Exception):
    """A receiver has not taken a notice. The text names no address. `again`: another try may succeed."""

    def __init__(self, text: str, *, again: bool) -> None:
        super().__init__(text)
        self.again = again
