"""Data of server-sent events, from bytes that arrive in any pieces."""

from collections.abc import Iterator

_MAX_EVENT_BYTES = 32 * 1_024 * 1_024
"""More than the longest reply that settings allow takes as one event."""

_NAMES_OF_DATA = (b"data", b"error")
"""llama.cpp sends an error in a field of that name."""


class EventData:
    """Splits a stream into the data of its events. Comments and other fields are passed over."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Yields the data of each event that the piece completes. Raises `ValueError` for an event of more
        than 32 MiB.
        """
        received = self._rest + piece
        # A carriage return at the end may be the first half of a line end.
        ends = max(received.rfind(b"\n"), received.rfind(b"\r", 0, len(received) - 1)) + 1
        self._rest = received[ends:]
        for line in received[:ends].splitlines():
            if line:
                self._take(line)
            elif self._data:
                yield self._event()
        if self._size + len(self._rest) > _MAX_EVENT_BYTES:
            raise ValueError("an event without an end")

    def end(self) -> Iterator[bytes]:
        """Yields the data of a last event that no blank line ends."""
        for line in self._rest.splitlines():
            self._take(line)
        if self._data:
            yield self._event()

    def _take(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name in _NAMES_OF_DATA:
            value = value.removeprefix(b" ")
            self._data.append(value if name == b"data" else b'{"error":%b}' % value)
            self._size += len(line)

    def _event(self) -> bytes:
        event = b"\n".join(self._data)
        self._data.clear()
        self._size = 0
        return event
