"""`kai serve` and `kai demo`: open the services, put the application over them, run the server."""

import asyncio
import gc
import os
import shlex
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from datetime import date
from pathlib import Path
from signal import SIGINT, SIGTERM
from socket import IPPROTO_TCP, TCP_NODELAY, AddressFamily, create_server, socket
from typing import Literal

import uvicorn
from fastapi import FastAPI
from pydantic import SecretStr

from app.bootstrap import Role, Services, open_services
from app.core.bus.port import BusUnavailable
from app.core.errors import Invalid
from app.core.http import LOCAL_OWNER
from app.core.settings import Settings, Store, read_settings
from app.core.storage.port import StorageRefused, StorageUnavailable
from app.core.storage.typesense_server import TypesenseServer
from app.main import create_app, create_health_app
from app.sample_data.build import build_sample
from app.terminal import say

GRACEFUL_SHUTDOWN_SECONDS = 5
"""Streams say farewell within 2 s of it."""

_TRY_AGAIN_SECONDS = 2

WorkerKind = Literal["runs", "history", "memory"]

SAMPLE_NAME = "Sample business"
_SAMPLE_QUESTION = "Top 5 products by revenue"


async def serve(host: str | None, port: int | None, data_dir: Path | None, role: Role = "all") -> None:
    """`all`: everything in this process; `api`: the routes and streams, whose runs workers answer."""
    settings = _settings(host, port, data_dir)
    with _bind(settings) as opened:
        async with _services(settings, role) as services:
            app = create_app(services, settings)
            await _listen(app, opened, lambda address: say(f"KAI is ready at {address}"))


async def work(kind: WorkerKind) -> None:
    """What others have taken in, of one kind; of the routes only those of its health."""
    settings = read_settings()
    its = settings.model_copy(update={"host": settings.worker.host, "port": settings.worker.port})
    with _bind(its, "KAI_WORKER__HOST and KAI_WORKER__PORT") as opened:
        async with _services(settings, "worker" if kind == "runs" else kind) as services:
            app = create_health_app(services)
            await _listen(app, opened, lambda address: say(f"KAI works; its health is at {address}/readyz"))


async def demo(host: str | None, port: int | None, data_dir: Path | None, store: Store | None) -> None:
    settings = _settings(host, port, data_dir)
    with _bind(settings) as opened, _store_of_its_own(settings, store or settings.store) as settings:
        async with _services(settings) as services:
            session_id = await _sample_session(services, settings.data_dir.resolve() / "sample.db")
            app = create_app(services, settings)
            await _listen(app, opened, lambda address: say(_invitation(address, session_id)))


@asynccontextmanager
async def _services(settings: Settings, role: Role = "all") -> AsyncGenerator[Services]:
    """Waits for a server that is away; a refusal, and all other failures, are told at once."""
    async with AsyncExitStack() as opened:
        services: Services | None = None
        while services is None:
            try:
                services = await opened.enter_async_context(open_services(settings, role))
            except (StorageUnavailable, BusUnavailable) as error:
                if settings.store == "sqlite" or isinstance(error, StorageRefused):
                    raise
                say(f"{error} Trying again in {_TRY_AGAIN_SECONDS} s; Ctrl-C gives up.")
                await asyncio.sleep(_TRY_AGAIN_SECONDS)
        yield services


@contextmanager
def _store_of_its_own(settings: Settings, store: Store) -> Generator[Settings]:
    """The settings of a demo in this store; a Typesense is started for it unless there is a key to one."""
    settings = settings.model_copy(update={"store": store})
    if store == "sqlite" or settings.typesense.api_key is not None:
        yield settings
        return
    server = TypesenseServer(settings.data_dir.resolve() / "typesense")
    say("Starting Typesense …")
    server.start()
    try:
        its = {"nodes": [server.url], "api_key": SecretStr(server.api_key)}
        yield settings.model_copy(update={"typesense": settings.typesense.model_copy(update=its)})
    finally:
        server.stop()


def _settings(host: str | None, port: int | None, data_dir: Path | None) -> Settings:
    given = {"host": host, "port": port, "data_dir": data_dir}
    settings = read_settings().model_copy(
        update={name: value for name, value in given.items() if value is not None}
    )
    if not settings.trust_network and settings.serves_others:
        raise Invalid(
            f"KAI has no login yet, so it serves this machine alone, and {settings.host} can be reached "
            "by others. Set KAI_TRUST_NETWORK=true if everybody who can reach it may use it."
        )
    return settings


def _bind(settings: Settings, names: str = "KAI_HOST and KAI_PORT") -> socket:
    """The port, taken before anything is opened. Raises `Invalid` when somebody else has it."""
    family = AddressFamily.AF_INET6 if ":" in settings.host else AddressFamily.AF_INET
    try:
        opened = create_server((settings.host, settings.port), family=family, backlog=2_048)
    except OSError as error:
        raise Invalid(
            f"KAI cannot listen on {settings.host}, port {settings.port} ({os.strerror(error.errno or 0)}). "
            f"Choose another by {names}."
        ) from error
    # asyncio does this only for sockets it has made itself; without it each small answer waits 40 ms.
    opened.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
    return opened


async def _sample_session(services: Services, file: Path) -> str:
    """The session that the invitation asks in: found again, or made with all it needs."""
    await asyncio.to_thread(_build_once, file)
    known, _ = await services.database_connections.page(LOCAL_OWNER, limit=100, cursor=None)
    connection = next((each for each in known if each.name == SAMPLE_NAME), None)
    if connection is None:
        connection = await services.database_connections.register(
            LOCAL_OWNER, f"sqlite:///{file}", SAMPLE_NAME, "An invented shop, two years of orders"
        )
        await services.database_connections.scan(LOCAL_OWNER, connection.id)
    session = await services.sessions.create(LOCAL_OWNER, connection.id, None, "ask", {})
    return session.id


def _build_once(file: Path) -> None:
    if not file.exists():
        say("Building the sample business …")
        build_sample(file, date.today())  # noqa: DTZ011 - the sample ends on the user's own day


class _Server(uvicorn.Server):
    """Says that it listens once it does."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Unlike the usual, which ends the process by the signal as soon as nothing is served any more: the
        runs under way are still to be handed over then. A second signal ends it at once."""
        loop, signals = asyncio.get_running_loop(), (SIGINT, SIGTERM)
        for each in signals:
            loop.add_signal_handler(each, self.handle_exit, each, None)
        try:
            yield
        finally:
            for each in signals:
                loop.remove_signal_handler(each)

    async def startup(self, sockets: list[socket] | None = None) -> None:
        await super().startup(sockets)
        self._announce()


async def _listen(app: FastAPI, opened: socket, announce: Callable[[str], None]) -> None:
    config = uvicorn.Config(
        app,
        log_level="warning",
        timeout_graceful_shutdown=GRACEFUL_SHUTDOWN_SECONDS,
        server_header=False,
    )
    host, port = opened.getsockname()[:2]
    gc.freeze()  # what is loaded by now stays: collections need not look at it again
    await _Server(config, lambda: announce(f"http://{host}:{port}")).serve([opened])


def _invitation(address: str, session_id: str) -> str:
    body = shlex.quote(f'{{"query": "{_SAMPLE_QUESTION}"}}')
    return (
        f"KAI is ready: open {address} and ask the sample business. Or ask it over HTTP ({address}/docs):\n\n"
        f"curl -N {address}/api/v1/sessions/{session_id}/query/stream"
        f" -H 'Content-Type: application/json' -d {body}\n\nStop it with Ctrl-C."
    )
