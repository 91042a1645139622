"""KAI as its users meet it: a process of its own, a socket, and clients that speak HTTP and SSE."""

import os
import signal
from collections.abc import AsyncGenerator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import httpx
from httpx_sse import EventSource, ServerSentEvent, aconnect_sse

from tests.support.kai_process import KaiProcess, start_kai
from tests.support.patience import PATIENT_MEMORY
from tests.support.waiting import until

STDERR = 2
TLS = httpx.create_ssl_context()
"""Shared by the clients: making one takes longer than most tests' requests."""

START_SECONDS = 90
STREAM_SECONDS = 90

NO_QUOTAS = {
    f"KAI_QUOTAS__{name}": "0"
    for name in (
        "REQUESTS_PER_MINUTE",
        "QUESTIONS_PER_MINUTE",
        "RUNS",
        "SESSIONS",
        "STREAMS",
        "TOKENS_PER_DAY",
        "BYTES_PER_DAY",
    )
}
"""Tests are all one owner, in a great hurry."""


@dataclass
class Server:
    """A running `kai serve` or other role, with its options.

    `kill` is kill -9, and `start` begins again on the same data.
    """

    data_dir: Path
    settings: dict[str, str] = field(default_factory=dict)
    role: str = "serve"
    clock_ahead_seconds: int = 0
    """By how much the process thinks it is later than it is."""
    address: str = ""
    has_waited: bool = False
    """Another server held its store when it started last."""
    log: Path | None = None
    """Where its log goes; by default, to where the tests say theirs."""
    _process: KaiProcess | None = None
    _output: TextIO | None = None

    def start(self) -> None:
        clean = {
            name: value for name, value in os.environ.items() if not name.startswith(("KAI_", "OPENAI_"))
        }
        environment = {
            **clean,
            "KAI_DATA_DIR": str(self.data_dir),
            "KAI_PORT": "0",
            "KAI_WORKER__PORT": "0",
            "KAI_TUNING__WORKER__FOLLOW_UP_PAUSE_SECONDS": "0",
            **PATIENT_MEMORY,
            **NO_QUOTAS,
            **self.settings,
        }
        output, its_output = os.pipe()
        self._output = os.fdopen(output)
        with ExitStack() as files:
            files.callback(os.close, its_output)
            log = files.enter_context(self.log.open("a")).fileno() if self.log else STDERR
            self._process = start_kai(
                self.role.split(),
                environment=environment,
                folder=Path.cwd(),
                stdout=its_output,
                stderr=log,
                clock_ahead_seconds=self.clock_ahead_seconds,
            )
        line = self.next_line()
        self.has_waited = line.startswith("Another KAI uses this store")
        if self.has_waited:
            line = self.next_line()
        assert line.startswith(("KAI is ready ", "KAI works")), f"KAI said {line!r}"
        self.address = line.split()[-1]

    def next_line(self) -> str:
        """The next line that it says."""
        assert self._output is not None
        return self._output.readline()

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def freeze(self) -> None:
        """It neither works nor ends, until `thaw`."""
        self.tell(signal.SIGSTOP)

    def thaw(self) -> None:
        self.tell(signal.SIGCONT)

    def tell(self, which: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(which)

    def wait(self, seconds: float = START_SECONDS) -> int:
        """How it ended, by itself or by a signal (negative). Raises `TimeoutError` if it has not in time."""
        assert self._process is not None
        return self._process.wait(seconds)

    @property
    def process_id(self) -> int:
        assert self._process is not None
        return self._process.process_id

    def cpu_seconds(self, has_children: bool = False) -> float:
        """Processor time the server has used so far, of all its threads. `has_children` adds
        those of its child processes that have ended."""
        assert self._process is not None
        fields = Path(f"/proc/{self._process.process_id}/stat").read_text().rsplit(")", 1)[1].split()
        ticks = sum(map(int, fields[11 : 15 if has_children else 13]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def resident_kib(self) -> int:
        assert self._process is not None
        status = Path(f"/proc/{self._process.process_id}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.send_signal(signal.SIGCONT)  # a frozen one ends, too
            self._process.wait(START_SECONDS)
            assert self._output is not None
            self._output.close()
            self._process = None


@contextmanager
def running_server(
    data_dir: Path, settings: dict[str, str] | None = None, log: Path | None = None
) -> Iterator[Server]:
    server = Server(data_dir, settings or {}, log=log)
    server.start()
    try:
        yield server
    finally:
        server.kill()


@dataclass(frozen=True)
class Event:
    """An event of a stream as it came."""

    id: int
    name: str
    data: dict[str, Any]

    @classmethod
    def of(cls, frame: ServerSentEvent) -> "Event":
        data = frame.json()
        assert data["event"] == frame.event
        return cls(int(frame.id), frame.event, data)


@dataclass
class Stream:
    """A stream under way: its run, and the events it brings."""

    run_id: str
    frames: AsyncGenerator[ServerSentEvent]

    async def next(self) -> Event:
        return Event.of(await anext(self.frames))

    async def until(self, name: str, **data: object) -> list[Event]:
        """Events up to and including the first of this name that holds this data."""
        events: list[Event] = []
        while True:
            events.append(await self.next())
            last = events[-1]
            if last.name == name and all(last.data.get(key) == value for key, value in data.items()):
                return events

    async def rest(self) -> list[Event]:
        return [Event.of(frame) async for frame in self.frames]


async def _frames_of(source: EventSource) -> AsyncGenerator[ServerSentEvent]:
    """The events proper: httpx-sse also gives an empty one for each comment."""
    async for frame in source.aiter_sse():
        if frame.data:
            yield frame


class Client:
    """What an integrator does, over one HTTP client."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http

    async def connect(self, url: str) -> str:
        """Register a database; its id."""
        answer = await self.http.post("/database-connections", json={"url": url, "name": "test"})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    async def open_session(self, connection_id: str) -> str:
        answer = await self.http.post("/sessions", json={"db_connection_id": connection_id})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    async def session(self, session_id: str) -> dict[str, Any]:
        answer = await self.http.get(f"/sessions/{session_id}")
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json()
        return body

    @asynccontextmanager
    async def asking(
        self, session_id: str, query: str, idempotency_key: str | None = None, **body: object
    ) -> AsyncGenerator[Stream]:
        url = f"/sessions/{session_id}/query/stream"
        sent = {"query": query, **body}
        headers = {} if idempotency_key is None else {"Idempotency-Key": idempotency_key}
        async with aconnect_sse(self.http, "POST", url, json=sent, headers=headers) as source:
            assert source.response.status_code == 200, (await source.response.aread()).decode()
            frames = _frames_of(source)
            yield Stream(source.response.headers["X-Run-Id"], frames)

    @asynccontextmanager
    async def following(
        self, session_id: str, run_id: str, last_event_id: int | None = None
    ) -> AsyncGenerator[Stream]:
        headers = {} if last_event_id is None else {"Last-Event-ID": str(last_event_id)}
        url = f"/sessions/{session_id}/runs/{run_id}/stream"
        async with aconnect_sse(self.http, "GET", url, headers=headers) as source:
            frames = _frames_of(source)
            yield Stream(run_id, frames)

    async def ask(self, session_id: str, query: str, **body: object) -> list[Event]:
        """A whole turn."""
        async with self.asking(session_id, query, None, **body) as stream:
            return await stream.rest()

    async def until_idle(self) -> None:
        """Wait until no session has a run under way."""

        async def idle() -> bool:
            answer = await self.http.get("/sessions", params={"status": "processing"})
            return not answer.json()["items"]

        await until(idle)

    async def cancel(self, session_id: str, run_id: str) -> None:
        answer = await self.http.post(f"/sessions/{session_id}/runs/{run_id}/cancel")
        assert answer.status_code == 202, answer.text


@asynccontextmanager
async def client_of(server: Server) -> AsyncGenerator[Client]:
    async with httpx.AsyncClient(
        base_url=f"{server.address}/api/v1",
        timeout=httpx.Timeout(STREAM_SECONDS),
        limits=httpx.Limits(max_connections=None),
        verify=TLS,
    ) as http:
        yield Client(http)


def chunks(events: list[Event], kind: str) -> list[Any]:
    """The contents of the answer's chunks of a type, without those of the calls of an investigation."""
    return [
        event.data["content"]
        for event in events
        if event.name == "chunk" and event.data["type"] == kind and not event.data.get("tool_call_id")
    ]


def steps(events: list[Event]) -> list[str]:
    return [event.data["step"] for event in events if event.name == "status"]
