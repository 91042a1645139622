"""Connection to NATS, with KAI's streams made or checked, and failures in the bus's own words."""

import asyncio
import logging
import ssl
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TypedDict
from urllib.parse import unquote, urlsplit

from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.errors import StaleConnectionError
from nats.js import JetStreamContext
from nats.js.api import StreamConfig
from nats.js.errors import APIError, NoStreamResponseError, NotFoundError, ServiceUnavailableError

from app.core.bus.nats_streams import StreamNames, consumer_configs, stream_configs
from app.core.bus.port import FOLLOW_UPS, BusUnavailable, FollowUp
from app.core.errors import CannotRun
from app.core.settings import NatsSettings
from app.core.tasks import end_tasks

NATS_FAILURES = (NatsError, OSError, TimeoutError)

TIMEOUT_SECONDS = 2.0
_CONNECT_SECONDS = 5.0
_CLOSE_SECONDS = 2.0
_RECONNECT_SECONDS = 0.25
_PING_SECONDS = 2
"""A server that has not answered two pings is left for another."""

_AGAIN_SECONDS = 0.5
_RESTORE_SECONDS = 5.0

_NOT_ENABLED = (10039, 10076)
_NOT_CLUSTERED = 10074
_EXISTS = 10058
_REPLICAS = (1, 3, 5)
_PERMISSIONS = "permissions violation"
_LOGIN = ("authorization", "authentication")

logger = logging.getLogger(__name__)


class NatsRefused(CannotRun):
    """NATS refuses what KAI needs, so waiting does not help."""


class _Client(Client):
    """Reconnects after every error of the server; the library closes for good after most of them."""

    @property
    def cluster_addresses(self) -> Sequence[str]:
        """Addresses of the servers of the cluster, as the server names them. Empty without a cluster."""
        info = self._server_info
        return info.get("connect_urls", ()) if "cluster" in info else ()

    async def _process_err(self, err_msg: str) -> None:
        if _PERMISSIONS in err_msg.lower():
            await super()._process_err(err_msg)
        else:
            logger.warning("NATS ends the connection: %s", err_msg)
            await self._process_op_err(StaleConnectionError())


class NatsConnection:
    """One connection of the process. Streams that the server has lost are made again."""

    def __init__(
        self, settings: NatsSettings, lease_seconds: float, follow_ups: Sequence[FollowUp] = FOLLOW_UPS
    ) -> None:
        """`follow_ups` are the kinds of jobs that follow each answer."""
        self.names = StreamNames(settings.prefix)
        self.client = _Client()
        self.streams: JetStreamContext = self.client.jetstream(timeout=TIMEOUT_SECONDS)
        self.settings = settings
        self._lease_seconds = lease_seconds
        self._follow_ups = follow_ups
        self._opened = False
        self._refused_subject: str | None = None
        self._suspect = asyncio.Event()
        """Set when streams may be lost."""
        self._restored: list[Callable[[], None]] = []
        self._restoring: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connect, and make or check the streams.

        Raises `BusUnavailable`, or `NatsRefused` when NATS refuses the login, a permission or a stream.
        """
        await self._connect()
        self._check_replicas()
        await self._make_streams()
        self._opened = True
        self._restoring = asyncio.create_task(self._restore(), name="nats: restore streams")

    async def close(self) -> None:
        self._opened = False
        if self._restoring is not None:
            await end_tasks([self._restoring])
        with suppress(*NATS_FAILURES):
            # The library waits without end for a connection whose TLS handshake has failed.
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.client.close()

    def on_restored(self, call: Callable[[], None]) -> None:
        """Call after each reconnection, once the streams are there."""
        self._restored.append(call)

    @asynccontextmanager
    async def translated_errors(self) -> AsyncGenerator[None]:
        """Raises `BusUnavailable` when NATS is unavailable, slow or full."""
        try:
            yield
        except NATS_FAILURES as error:
            if isinstance(error, NotFoundError | ServiceUnavailableError | NoStreamResponseError):
                self._suspect.set()
            raise BusUnavailable(_reason(error)) from error

    # Connecting

    async def _connect(self) -> None:
        settings = self.settings
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                await self.client.connect(
                    settings.servers,
                    name="kai",
                    error_cb=self._report,
                    reconnected_cb=self._reconnected,
                    tls=_tls(settings),
                    **_login(settings),
                    user_credentials=None
                    if settings.credentials_file is None
                    else str(settings.credentials_file),
                    nkeys_seed_str=None if settings.nkey is None else settings.nkey.get_secret_value(),
                    connect_timeout=2,
                    reconnect_time_wait=_RECONNECT_SECONDS,  # type: ignore[arg-type]  # takes fractions
                    max_reconnect_attempts=-1,
                    ping_interval=_PING_SECONDS,
                    pending_size=0,  # publishing without a connection fails at once
                )
        except NATS_FAILURES as error:
            raise BusUnavailable(_reason(error)) from error

    async def _report(self, error: Exception) -> None:
        """Raises `NatsRefused` while connecting, when trying again does not help."""
        text = str(error).lower()
        if _PERMISSIONS in text:
            self._refused_subject = str(error)
            logger.warning("NATS refuses a permission: %s", error)
        elif not self._opened and any(word in text for word in _LOGIN):
            raise NatsRefused(
                "NATS refuses the login: check the user and password in KAI_NATS__URL, "
                "KAI_NATS__CREDENTIALS_FILE or KAI_NATS__NKEY."
            )
        elif not self._opened and isinstance(error, ssl.SSLError):
            raise NatsRefused(
                "The TLS connection to NATS fails: check KAI_NATS__CA_FILE, the server's name, and the "
                "certificate in KAI_NATS__CERTIFICATE_FILE, if NATS wants one."
            )
        else:
            logger.debug("NATS: %s", type(error).__name__)

    async def _reconnected(self) -> None:
        logger.info("NATS is connected again")
        self._suspect.set()

    # Streams

    async def _make_streams(self) -> None:
        self._refused_subject = None
        try:
            for config in stream_configs(self.names, self.settings.replicas):
                await self._make_stream(config)
            consumers = consumer_configs(self.names, self._lease_seconds, self._follow_ups)
            await asyncio.gather(*(self.streams.add_consumer(*each) for each in consumers))
        except APIError as error:
            raise self._refusal(error) from error
        except NATS_FAILURES as error:
            if self._refused_subject is not None:
                raise NatsRefused(
                    f"NATS refuses KAI's user a permission: {self._refused_subject.removeprefix('nats: ')}."
                ) from error
            raise BusUnavailable(_reason(error)) from error

    async def _make_stream(self, config: StreamConfig) -> None:
        name = config.name or ""
        try:
            found = (await self.streams.stream_info(name)).config
        except NotFoundError:
            await self._add_stream(config)
            return
        if found.subjects == [f"{self.names.decisions}.>"] and name == self.names.decisions:
            logger.info("the stream %s of an earlier version of KAI is made again", name)
            await self.streams.delete_stream(name)
            await self._add_stream(config)
            return
        if found.retention != config.retention or found.subjects != config.subjects:
            raise NatsRefused(
                f"NATS has a stream {config.name} that is not KAI's: choose another KAI_NATS__PREFIX."
            )
        if (found.num_replicas, found.max_age, found.max_msgs) != (
            config.num_replicas,
            config.max_age or 0,
            config.max_msgs or -1,
        ):
            await self.streams.update_stream(config.evolve(first_seq=found.first_seq))

    async def _add_stream(self, config: StreamConfig) -> None:
        try:
            await self.streams.add_stream(config)
        except APIError as error:
            if error.err_code != _EXISTS:  # another process has made it a moment ago
                raise

    def _check_replicas(self) -> None:
        """Raises `NatsRefused` if fewer servers keep a stream than there are. A server of a cluster names the
        addresses of all; of more than three it is not certain that they are of different servers.
        """
        servers = max(len(set(self.settings.servers)), min(3, len(self.client.cluster_addresses)))
        wanted = max(number for number in _REPLICAS if number <= servers)
        if self.settings.replicas < wanted:
            raise NatsRefused(
                f"NATS has {servers} servers, and with KAI_NATS__REPLICAS={self.settings.replicas} fewer "
                f"of them keep each stream: set KAI_NATS__REPLICAS={wanted}."
            )

    def _refusal(self, error: APIError) -> CannotRun:
        if isinstance(error, ServiceUnavailableError) or error.err_code in _NOT_ENABLED:
            if error.err_code is None or error.err_code in _NOT_ENABLED:
                return NatsRefused(
                    "JetStream is switched off in NATS, and KAI needs it: start the server with -js."
                )
            return BusUnavailable(_reason(error))
        if error.err_code == _NOT_CLUSTERED:
            return NatsRefused(
                f"One NATS server alone cannot keep {self.settings.replicas} replicas (KAI_NATS__REPLICAS)."
            )
        return BusUnavailable(f"JetStream refuses a stream of KAI's: {error.description}.")

    async def _restore(self) -> None:
        """Make again what the server has lost, then call those who wait for it."""
        while True:
            await self._suspect.wait()
            self._suspect.clear()
            try:
                async with asyncio.timeout(_RESTORE_SECONDS):
                    await self._make_streams()
            except (CannotRun, TimeoutError) as error:
                logger.warning("NATS lacks KAI's streams: %s", error)
                self._suspect.set()
            else:
                for call in self._restored:
                    call()
            await asyncio.sleep(_AGAIN_SECONDS)


@asynccontextmanager
async def nats_connection(
    settings: NatsSettings, lease_seconds: float, follow_ups: Sequence[FollowUp] = FOLLOW_UPS
) -> AsyncGenerator[NatsConnection]:
    """Raises as `NatsConnection.open`."""
    connection = NatsConnection(settings, lease_seconds, follow_ups)
    try:
        await connection.open()
        yield connection
    finally:
        await connection.close()


class _Login(TypedDict, total=False):
    user: str
    password: str
    token: str


def _login(settings: NatsSettings) -> _Login:
    """The login in the URL, also for servers of the cluster that are not in the URL."""
    for server in settings.servers:
        url = urlsplit(server)
        if url.username and url.password:
            return {"user": unquote(url.username), "password": unquote(url.password)}
        if url.username:
            return {"token": unquote(url.username)}
    return {}


def _tls(settings: NatsSettings) -> ssl.SSLContext | None:
    """None: the client's own, which trusts the system's authorities."""
    if settings.ca_file is None and settings.certificate_file is None:
        return None
    try:
        context = ssl.create_default_context(cafile=settings.ca_file)
        if settings.certificate_file is not None:
            context.load_cert_chain(settings.certificate_file, settings.key_file)
    except OSError as error:
        raise NatsRefused(
            f"A TLS file for NATS cannot be read (KAI_NATS__CA_FILE, KAI_NATS__CERTIFICATE_FILE, "
            f"KAI_NATS__KEY_FILE): {error.strerror or error}."
        ) from error
    return context


def _reason(error: Exception) -> str:
    if isinstance(error, APIError) and error.description:
        return f"NATS refuses: {error.description} (KAI_NATS__URL)."
    return "NATS does not answer (KAI_NATS__URL)."
