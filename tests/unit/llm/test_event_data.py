"""Server-sent events, however their bytes are cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.llm import event_data
from app.core.llm.event_data import EventData


def data_of(*pieces: bytes) -> list[bytes]:
    events = EventData()
    found = [data for piece in pieces for data in events.feed(piece)]
    return [*found, *events.end()]


STREAM = (
    ': comment\n\ndata: {"a": "é"}\n\nevent: x\ndata:two\ndata: lines\nid: 7\n\ndata: [DONE]\n\n'
).encode()


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
@given(cuts=st.lists(st.integers(0, len(STREAM) + 12), max_size=12))
def test_events_are_the_same_wherever_the_stream_is_cut(line_end: bytes, cuts: list[int]) -> None:
    stream = STREAM.replace(b"\n", line_end)
    ends = [0, *sorted(cuts), len(stream)]
    pieces = [stream[start:end] for start, end in pairwise(ends)]
    assert data_of(*pieces) == ['{"a": "é"}'.encode(), b"two\nlines", b"[DONE]"]


def test_an_event_is_yielded_with_the_piece_that_completes_it() -> None:
    events = EventData()
    assert list(events.feed(b"data: 1\n")) == []
    assert list(events.feed(b"\ndata: 2")) == [b"1"]


def test_a_last_event_without_a_blank_line_counts() -> None:
    assert data_of(b"data: 1\n\ndata: 2\n") == [b"1", b"2"]
    assert data_of(b"data: 1\n\ndata: 2") == [b"1", b"2"]


def test_an_event_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_data, "_MAX_EVENT_BYTES", 100)
    with pytest.raises(ValueError, match="without an end"):
        data_of(*[b"x" * 30] * 4)
    with pytest.raises(ValueError, match="without an end"):
        data_of(*[b"data: " + b"x" * 30 + b"\n"] * 4)
