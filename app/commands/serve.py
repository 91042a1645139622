"""`kai serve` and `kai demo`: open the services, put the application over them, run the server."""

import asyncio
import gc
import shlex
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from datetime import date
from functools import partial
from pathlib import Path
from signal import SIGINT, SIGTERM
from socket import IPPROTO_TCP, TCP_NODELAY, AddressFamily, create_server, socket
from types import FrameType
from typing import Literal, TypeVar

import uvicorn
from fastapi import FastAPI
from prometheus_client import CollectorRegistry
from pydantic import SecretStr

from app.bootstrap import CommonServices, Services, open_services, open_worker
from app.core.auth.api_keys import ApiKeys, NewKey
from app.core.auth.caller import LOCAL_OWNER
from app.core.bus.nats_server import NatsServer
from app.core.bus.port import BusUnavailable
from app.core.errors import Invalid, reason
from app.core.logs.start import start_logs
from app.core.secrets import load_or_create_keys
from app.core.settings import NatsSettings, Settings, StoreKind
from app.core.storage.port import Equals, StorageHeld, StorageRefused, StorageUnavailable
from app.core.storage.typesense_server import TypesenseServer
from app.core.tracing.export import traced
from app.http.connection import connection_class
from app.http.readiness import Readiness
from app.http.router import build_routes
from app.http.served_part import Part
from app.main import create_app, create_health_app
from app.sample_data.build import build_sample
from app.terminal.console import say, server_settings

GRACEFUL_SHUTDOWN_SECONDS = 5
"""Streams end within 2 s of it."""

_OBJECTS_BETWEEN_COLLECTIONS = 10_000
"""A turn makes and keeps many objects for its while. At Python's 700, collections took a tenth of a turn."""

_TRY_AGAIN_SECONDS = 2
_FROM_HERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared, not bound
"""Address for a browser on this machine if KAI listens on every address."""

WorkerKind = Literal["runs", "history", "memory", "graph"]

_T = TypeVar("_T")

SAMPLE_NAME = "Sample business"
_DEMO_OWNER = "demo"
_DEMO_KEY = "Demo"
_SAMPLE_QUESTION = "Top 5 products by revenue"


async def serve(host: str | None, port: int | None, data_dir: Path | None) -> None:
    """Serves everything in this process."""
    await _serve(_settings(host, port, data_dir), "all", "all")


async def serve_api(part: Part, host: str | None, port: int | None, *, data_dir: Path | None) -> None:
    """Serves the API or a part of it. Workers answer its runs."""
    await _serve(_settings(host, port, data_dir), "api", part)


async def _serve(settings: Settings, role: Literal["all", "api"], part: Part) -> None:
    start_logs(settings, access_log=settings.access_log is not False)
    with _bind(settings) as opened, traced():
        waiting = partial(_standing_by, opened)
        async with _when_available(lambda: open_services(settings, role, waiting), settings) as services:
            await _check_door(services, settings)
            server = _Server(create_app(services, settings, part), services, settings)
            serves = "" if part == "all" else f" for {part}"
            await server.listen(opened, f"KAI is ready{serves} at {{}}".format)


async def work(kind: WorkerKind, data_dir: Path | None) -> None:
    """Answers queued runs, or does jobs of one kind. Serves only health routes."""
    settings = server_settings(data_dir)
    start_logs(settings, access_log=settings.access_log is not False)
    its = settings.model_copy(update={"host": settings.worker.host, "port": settings.worker.port})
    with _bind(its, "KAI_WORKER__HOST and KAI_WORKER__PORT") as opened, traced():
        role: Literal["worker", "history", "memory", "graph"] = "worker" if kind == "runs" else kind
        async with _when_available(lambda: open_worker(settings, role), settings) as worker:
            server = _Server(create_health_app(worker.readiness, worker.metrics), worker, settings)
            await server.listen(opened, "KAI works; its health is at {}/readyz".format)


async def demo(
    host: str | None,
    port: int | None,
    data_dir: Path | None,
    *,
    store: StoreKind | None,
    nats: bool = False,
    access_log: bool = False,
) -> None:
    """Serve a sample business; requests are logged only with `access_log` or `KAI_ACCESS_LOG`."""
    settings = _settings(host, port, data_dir)
    start_logs(settings, access_log=access_log or settings.access_log is True)
    with (
        _bind(settings) as opened,
        traced(),
        _own_nats(settings, wanted=nats) as settings,
        _store_of_its_own(settings, store or ("typesense" if nats else settings.store)) as settings,
    ):
        waiting = partial(_standing_by, opened)
        async with _when_available(lambda: open_services(settings, "all", waiting), settings) as services:
            key = await _demo_key(services.identity.keys) if settings.login_required else None
            owner = LOCAL_OWNER if key is None else _DEMO_OWNER
            session_id = await _sample_session(services, owner, settings.data_dir.resolve() / "sample.db")
            server = _Server(create_app(services, settings), services, settings)
            await server.listen(opened, lambda address: _invitation(address, session_id, key))


@asynccontextmanager
async def _when_available(
    open_: Callable[[], AbstractAsyncContextManager[_T]], settings: Settings
) -> AsyncGenerator[_T]:
    """Tries again while a server is unavailable. Raises a refusal, and every other failure, at once."""
    async with AsyncExitStack() as opened:
        services: _T | None = None
        while services is None:
            try:
                services = await opened.enter_async_context(open_())
            except (StorageUnavailable, BusUnavailable) as error:
                if settings.store == "sqlite" or isinstance(error, StorageRefused):
                    raise
                say(f"{error} Trying again in {_TRY_AGAIN_SECONDS} s; Ctrl-C gives up.")
                await asyncio.sleep(_TRY_AGAIN_SECONDS)
        yield services


@asynccontextmanager
async def _standing_by(opened: socket, who: Callable[[], Awaitable[StorageHeld]]) -> AsyncGenerator[None]:
    """Serve only health while another process holds the store: alive, and not ready because of it."""

    async def check() -> None:
        raise await who()

    say(f"{await who()} Waiting until it has gone; Ctrl-C gives up.")
    app = create_health_app(Readiness([("store", check)]), CollectorRegistry())
    server = _StandbyServer(uvicorn.Config(app, log_config=None, log_level="warning", access_log=False))
    serving = asyncio.create_task(server.serve([opened.dup()]), name="serve health")
    try:
        yield
    finally:
        server.should_exit = True
        await serving


@contextmanager
def _store_of_its_own(settings: Settings, store: StoreKind) -> Generator[Settings]:
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


@contextmanager
def _own_nats(settings: Settings, *, wanted: bool) -> Generator[Settings]:
    """The settings of a demo whose jobs and streams go over a NATS that is started for it."""
    if not wanted:
        yield settings
        return
    server = NatsServer(settings.data_dir.resolve() / "nats")
    say("Starting NATS …")
    server.start()
    try:
        own_keys = b",".join(load_or_create_keys(settings.data_dir / "secret.key")).decode()
        key = settings.encryption_key or SecretStr(own_keys)
        nats = NatsSettings(url=SecretStr(server.url))
        yield settings.model_copy(update={"nats": nats, "encryption_key": key})
    finally:
        server.stop()


def _settings(host: str | None, port: int | None, data_dir: Path | None) -> Settings:
    """An empty option counts as not given, as with variables."""
    given = {"host": host, "port": port}
    return server_settings(data_dir).model_copy(
        update={name: value for name, value in given.items() if value is not None and value != ""}
    )


async def _check_door(services: Services, settings: Settings) -> None:
    """Raises `Invalid` if a login is required and no credential could pass it."""
    if not settings.login_required or services.identity.accepts_tokens:
        return
    if not await services.identity.keys.usable():
        raise Invalid(
            f"On {settings.host} KAI requires a login, and there is no key yet. Create one: "
            "kai keys create --owner YOU --role admin"
        )


def _bind(settings: Settings, names: str = "--port or KAI_PORT, --host or KAI_HOST") -> socket:
    """Binds the port before anything else is opened. Raises `Invalid` if it is in use."""
    family = AddressFamily.AF_INET6 if ":" in settings.host else AddressFamily.AF_INET
    try:
        opened = create_server((settings.host, settings.port), family=family, backlog=2_048)
    except OSError as error:
        raise Invalid(
            f"KAI cannot listen on {settings.host}, port {settings.port} ({reason(error)}). "
            f"Choose another by {names}."
        ) from error
    # asyncio does this only for sockets it has made itself; without it each small answer waits 40 ms.
    opened.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
    return opened


async def _demo_key(keys: ApiKeys) -> str:
    """Creates a key for this demo and revokes that of the previous demo, whose text is lost."""
    for each in await keys.usable([Equals("owner", _DEMO_OWNER)]):
        if each.name == _DEMO_KEY:
            await keys.revoke(each.id)
    _, text = await keys.create(
        NewKey(owner=_DEMO_OWNER, name=_DEMO_KEY, role="admin", scopes=frozenset(), expires_at=None)
    )
    return text


async def _sample_session(services: Services, owner: str, file: Path) -> str:
    """Returns the session of the invitation: an existing one, or a new one with all it needs."""
    await asyncio.to_thread(_build_once, file)
    known = await services.database_connections.repository.oldest(owner, 100)
    connection = next((each for each in known if each.name == SAMPLE_NAME), None)
    if connection is None:
        connection = await services.database_connections.register(
            owner, f"sqlite:///{file}", SAMPLE_NAME, description="An invented shop, two years of orders"
        )
        await services.database_connections.scan(owner, connection.id)
    session = await services.sessions.create(owner, connection.id, None, mode="ask", metadata={})
    return session.id


def _build_once(file: Path) -> None:
    if not file.exists():
        say("Building the sample business …")
        build_sample(file, date.today())  # noqa: DTZ011 - the sample ends on the user's own day


class _StandbyServer(uvicorn.Server):
    """One whose signals are those of the process, which waits: they end it."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


class _Server(uvicorn.Server):
    """A uvicorn server that announces its address once it listens. At the first signal to stop it reports
    that it drains and continues to serve for a while; at the second it stops at once.
    """

    def __init__(self, app: FastAPI, services: Services | CommonServices, settings: Settings) -> None:
        config = uvicorn.Config(
            app,
            http=connection_class(settings.http),
            ws="none",
            log_config=None,
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=GRACEFUL_SHUTDOWN_SECONDS,
            server_header=False,
        )
        super().__init__(config)
        self._app = app
        self._building: asyncio.Task[None] | None = None
        self._readiness = services.readiness
        self._models = services.models
        self._drain_seconds = settings.drain_seconds
        self._announcement = ""

    async def listen(self, opened: socket, announcement: Callable[[str], str]) -> None:
        """Serve until a signal stops the process. Announces the address once it listens."""
        host, port = opened.getsockname()[:2]
        reached = _FROM_HERE.get(host, host)
        self._announcement = announcement(f"http://{f'[{reached}]' if ':' in reached else reached}:{port}")
        gc.freeze()  # what is loaded by now stays: collections need not look at it again
        gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
        await self.serve([opened])

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Handles a signal without uvicorn's own handler, which ends the process as soon as nothing is
        served: open runs must still be handed over. A second signal stops at once.
        """
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
        say(self._announcement)
        self._building = asyncio.create_task(build_routes(self._app), name="build the routes")
        if self._models is not None:
            self._models.prepare()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        waits = self._drain_seconds and self.started and not self._readiness.draining
        self._readiness.drain()
        leave = super().handle_exit
        if waits:
            asyncio.get_running_loop().call_later(self._drain_seconds, leave, sig, frame)
        else:
            leave(sig, frame)


def _invitation(address: str, session_id: str, key: str | None) -> str:
    body = shlex.quote(f'{{"query": "{_SAMPLE_QUESTION}"}}')
    sign_in = "" if key is None else f"Sign in with this key, which is shown only now: {key}\n\n"
    header = "" if key is None else f" -H 'Authorization: Bearer {key}'"
    return (
        f"KAI is ready: open {address} and ask the sample business. Or ask it over HTTP ({address}/docs):\n\n"
        f"{sign_in}curl -N {address}/api/v1/sessions/{session_id}/query/stream{header}"
        f" -H 'Content-Type: application/json' -d {body}\n\nStop it with Ctrl-C."
    )
