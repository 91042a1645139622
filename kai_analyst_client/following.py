"""Following a run: what to request next, and which frames are new. It does no I/O."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import get_args

from httpx_sse import ServerSentEvent
from pydantic import JsonValue

from kai_analyst_client.errors import KaiError, error_of_reply, unreachable
from kai_analyst_client.flows import Reply, Request, pause_of, segment
from kai_analyst_client.schema import Done, Event, OtherChunk

_MOST_FAILURES = 12
"""Connections in a row that bring no event. With their pauses that is about 45 seconds."""
_LONGEST_PAUSE_SECONDS = 5.0


def _models_by(field: str) -> dict[JsonValue, type[Event]]:
    """Returns the models whose field has one value, by that value. Of several, the last in `Event`."""
    found: dict[JsonValue, type[Event]] = {}
    for model in get_args(Event):
        values = get_args(model.model_fields[field].annotation) if field in model.model_fields else ()
        if len(values) == 1:
            found[values[0]] = model
    return found


_EVENTS = _models_by("event")
"""Chunks are `OtherChunk` here."""
_CHUNKS = _models_by("type")


def event_of(data: Mapping[str, JsonValue]) -> Event | None:
    """Returns an event as its model. Returns None for an event that this client does not know."""
    model = _EVENTS.get(data.get("event"))
    if model is OtherChunk:
        model = _CHUNKS.get(data.get("type"), OtherChunk)
    return None if model is None else model.model_validate(data)


class Following:
    """A reader's place in the events of a run. Over all its connections, each event comes once, in order."""

    def __init__(self, session_id: str, run_id: str | None, ask: Request | None, *, after: int = 0) -> None:
        """`ask` starts the run; with a `run_id` it is followed only. An empty `session_id` is that of a new
        session, which the first answer names.
        """
        self.session_id = session_id
        self.run_id = run_id
        self.ended = False
        self.last_event_id = after
        self._ask = ask
        self._failures = 0
        self._tries = 1
        self._pause_seconds = 0.0
        self._is_kept = True

    def next_request(self) -> Request:
        """Returns the question, or once its run is known the rest of the run's events."""
        if self.run_id is None and self._ask is not None:
            return replace(self._ask, wait_seconds=self._pause_seconds)
        headers = {"Last-Event-ID": str(self.last_event_id)} if self.last_event_id else {}
        path = f"/sessions/{segment(self.session_id)}/runs/{segment(self.run_id or '')}/stream"
        return Request("GET", path, headers=headers, wait_seconds=self._pause_seconds)

    def begin(self, headers: Mapping[str, str]) -> None:
        """A stream has begun."""
        self.run_id = headers.get("x-run-id") or self.run_id
        self.session_id = headers.get("x-kai-session") or self.session_id
        self._pause_seconds = 0.0

    def refuse(self, request: Request, reply: Reply) -> None:
        """The request was answered without a stream. Raises `KaiError` unless it is to be sent again."""
        error = error_of_reply(reply.status, reply.headers, reply.content)
        if reply.status == 202:
            # The store is unavailable: KAI goes on trying to store the question.
            self.run_id = reply.headers.get("x-run-id") or str(error.members["run_id"])
            self.session_id = str(error.members.get("session_id") or self.session_id)
            self._is_kept = False
            self.lose(error)
        elif not self._is_kept and reply.status in (404, 503):
            self.lose(error)
        else:
            self._pause_seconds = pause_of(error, request, self._tries)
            self._tries += 1

    def take(self, frame: ServerSentEvent) -> Event | None:
        """Returns the event of a frame. Returns None for comments, unknown events and those known already."""
        if not frame.data:
            return None
        number = int(frame.id)
        if number <= self.last_event_id and frame.event != "done":
            return None
        event = event_of(json.loads(frame.data))
        if event is None:
            return None
        self.last_event_id = number
        self._failures = 0
        self._is_kept = True
        self.ended = isinstance(event, Done)
        return event

    def lose(self, error: Exception | None) -> None:
        """The connection ended before `done`. Raises `KaiError` after too many in a row."""
        self._failures += 1
        if self._failures > _MOST_FAILURES:
            if isinstance(error, KaiError):
                raise error
            raise unreachable(f"The stream ends again and again: {error or 'no reason given'}") from error
        self._pause_seconds = min(_LONGEST_PAUSE_SECONDS, 0.1 * 2**self._failures)
