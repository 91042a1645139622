"""Recordings of what other programs read of KAI, and of what it stores: `make wire` records them again.

`tests/frozen/wire` has the description of the API, the recorded streams of the page as each reader of events
makes them, and the forms of stored documents. A change that is meant shows as their difference.
"""

import asyncio
import io
import json
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import zip_longest
from pathlib import Path

from pydantic import JsonValue, TypeAdapter
from rich.console import Console

from app.core.bus.event_log import LogEntry
from app.modules.protocols.agui.fold import EventFold
from app.modules.protocols.frame_stream import Fold, Frame, Position, encoded
from app.modules.protocols.langgraph.chat import langchain_message
from app.modules.protocols.langgraph.fold import MODES, RunFold, ThreadRun
from app.modules.protocols.langgraph.thread_events import CHANNELS, ThreadFold
from app.modules.protocols.messages import question_of_run
from app.modules.protocols.openai.fold import ChunkFold, CompletionFold
from app.modules.records.model import Run
from app.modules.run import sse
from app.modules.run.record import AttemptRecord
from app.terminal.transcript import Transcript
from graph.answer import TurnAnswer
from graph.events import Reset, SessionEvent
from kai_analyst_client.answers import Answer, add_event
from kai_analyst_client.following import event_of
from tests.support import frozen_stores, golden_streams
from tests.support.documents import documents

FOLDER = Path(__file__).parents[1] / "frozen" / "wire"

_EVENT: TypeAdapter[SessionEvent] = TypeAdapter(SessionEvent)
_STREAMS = (
    "answered",
    "approved",
    "asked_back",
    "cancelled",
    "failed",
    "investigated",
    "repaired",
)
_ASKED_AT = 1_800_000_000_000

Events = list[tuple[int, SessionEvent]]
"""Events of a run, with their ids."""


def description() -> str:
    """Returns the documents of the APIs without their version."""
    found = {
        prefix: {**api, "info": {name: text for name, text in api["info"].items() if name != "version"}}
        for prefix, api in documents().items()
    }
    return json.dumps(found, indent=1) + "\n"


def recorded_runs() -> dict[str, Events]:
    """Returns runs of the page's recorded streams by name, and one that a second attempt has begun again."""
    runs: dict[str, Events] = {}
    for name in _STREAMS:
        recorded = json.loads((golden_streams.FOLDER / f"{name}.json").read_text())
        for number, events in enumerate(recorded["runs"], 1):
            numbered = [(each.pop("id"), _EVENT.validate_python(each)) for each in events]
            runs[f"{name} {number}"] = numbered
    whole = runs.pop("investigated 1")
    again = [Reset(reason="The worker has stopped."), *(event for _, event in whole)]
    runs["begun again"] = [*whole[:-1], *enumerate(again, 2_000_001)]
    return runs


def frames(reader: str) -> str:
    """Returns the recorded runs as a reader of events makes them."""
    return "".join(f"# {name}\n\n{READERS[reader](events)}\n" for name, events in recorded_runs().items())


_OF_WORKERS = ("conversation_memories", "overviews")
"""Collections that workers fill while the rest is recorded, or later."""


def stored_forms() -> str:
    """Returns the kinds of values of all fields that are stored, by their collections.

    They are those of the recorded streams' conversations, and of one without a model.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "folder"
        asyncio.run(golden_streams.record_in(folder))
        frozen_stores.use(Path.cwd(), folder, {})
        forms: dict[str, dict[str, set[str]]] = {}
        with closing(sqlite3.connect(folder / "kai.db")) as store:
            for (name,) in store.execute("SELECT name FROM _collections ORDER BY name").fetchall():
                if name in _OF_WORKERS:
                    continue
                fields = forms.setdefault(name, {})
                for (text,) in store.execute(f'SELECT _document FROM "{name}"'):
                    for field, kind in _kinds("", json.loads(text)):
                        fields.setdefault(field, set()).add(kind)
    written = {
        name: {field: " | ".join(sorted(fields[field])) for field in sorted(fields)}
        for name, fields in forms.items()
    }
    return json.dumps(written, indent=1) + "\n"


def first_difference(recorded: str, found: str) -> str:
    """Returns the first line that differs, with its number and the lines before it. Empty if none does."""
    lines = recorded.splitlines()
    for number, (one, other) in enumerate(zip_longest(lines, found.splitlines())):
        if one != other:
            before = "\n".join(lines[max(0, number - 3) : number])
            return f"line {number + 1}:\n{before}\nrecorded: {one}\nfound:    {other}"
    return ""


def _kinds(path: str, value: JsonValue) -> Iterator[tuple[str, str]]:
    """Yields the paths and kinds of a document's values. Objects of a list have the same paths."""
    if isinstance(value, dict) and value:
        for name, each in value.items():
            yield from _kinds(f"{path}.{name}" if path else name, each)
    elif isinstance(value, list) and value:
        for each in value:
            yield from _kinds(f"{path}[]", each)
    else:
        yield path, type(value).__name__


def _run(events: Events) -> Run:
    done = next(event for _, event in reversed(events) if event.event == "done")
    return Run(
        id=done.run_id,
        owner="ann",
        session_id=done.session_id,
        message_id=done.message_id,
        question="How many customers per country?",
        created_at=_ASKED_AT,
    )


def _turn(run: Run) -> ThreadRun:
    return ThreadRun(
        run_id=run.id,
        thread_id=run.session_id,
        message_id=run.message_id,
        question=langchain_message(question_of_run(run)),
    )


def _own(events: Events) -> str:
    return "".join(
        sse._encoded(LogEntry(number, event.event, event.model_dump_json())).decode()
        for number, event in events
    )


def _folded(fold_of: Callable[[Run], Fold]) -> Callable[[Events], str]:
    def written(number: int, made: Sequence[Frame | None]) -> Iterator[str]:
        for index, frame in enumerate(made):
            position = f"{Position(number, index)}"
            yield f"{position} has no frame\n\n" if frame is None else encoded(position, frame).decode()

    def read(events: Events) -> str:
        fold = fold_of(_run(events))
        made = [*written(0, fold.begin())]
        for number, event in events:
            made += written(number, fold.frames(event))
        return "".join(made)

    return read


def _completion(events: Events) -> str:
    fold = CompletionFold(_run(events), "kai/shop")
    for _, event in events:
        fold.add(event)
    return f"{fold.completion.model_dump_json(indent=1)}\n"


def _record(events: Events) -> str:
    record = AttemptRecord()
    for _, event in events:
        record.observe(event)
    shown = record.complement(TurnAnswer()).model_dump(mode="json")
    return (
        json.dumps(
            {"timeline": [each.model_dump(mode="json") for each in record.timeline()], **shown}, indent=1
        )
        + "\n"
    )


def _terminal(events: Events) -> str:
    printed = io.StringIO()
    transcript = Transcript(Console(file=printed, width=100, color_system=None))
    for _, event in events:
        transcript.show(event)
    return f"{printed.getvalue()}exit code {transcript.exit_code}, waiting {len(transcript.waiting)}\n"


def _client(events: Events) -> str:
    answer = Answer()
    for _, event in events:
        read = event_of(event.model_dump(mode="json"))
        answer = answer if read is None else add_event(answer, read)
    dumped = TypeAdapter(Answer).dump_python(answer, mode="json")
    return json.dumps(dumped, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


READERS: dict[str, Callable[[Events], str]] = {
    "own": _own,
    "langgraph": _folded(lambda run: RunFold(_turn(run), MODES)),
    "langgraph_values": _folded(lambda run: RunFold(_turn(run), ["values"])),
    "langgraph_events": _folded(lambda run: ThreadFold(_turn(run), CHANNELS, asked_at=run.created_at)),
    "agui": _folded(lambda run: EventFold(run, run.session_id, run.id)),
    "openai": _folded(lambda run: ChunkFold(run, "kai/shop", include_usage=True)),
    "openai_completion": _completion,
    "record": _record,
    "terminal": _terminal,
    "client": _client,
}


def recordings() -> Iterator[tuple[Path, str]]:
    """Yields each file with its contents."""
    yield FOLDER / "openapi.json", description()
    for reader in READERS:
        yield FOLDER / f"{reader}.txt", frames(reader)
    yield FOLDER / "stored.json", stored_forms()


if __name__ == "__main__":
    for path, text in recordings():
        path.write_text(text)
