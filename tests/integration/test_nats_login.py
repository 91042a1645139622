"""Logins of NATS, tried on a real server: a wrong one is one clear line, and no secret is shown."""

import logging
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import nkeys
import pytest
from pydantic import SecretStr

from app.core.bus.nats_connection import NatsRefused, nats_connection
from app.core.bus.nats_jobs import NatsJobs
from app.core.settings import NatsSettings
from tests.support.buses import LEASE_SECONDS, new_prefix
from tests.support.certificates import Authority
from tests.support.nats_server import FragileNats


class Configured(FragileNats):
    """With lines of its own in the place of the user and password."""

    def __init__(self, folder: Path, lines: Sequence[str]) -> None:
        super().__init__(folder)
        self._lines = lines

    def configuration(self) -> list[str]:
        return [*super().configuration()[:2], *self._lines]


@contextmanager
def running(folder: Path, *lines: str) -> Iterator[FragileNats]:
    server = Configured(folder, lines)
    server.start()
    try:
        yield server
    finally:
        server.kill()


async def check(settings: NatsSettings) -> None:
    async with nats_connection(settings, LEASE_SECONDS) as connection:
        await NatsJobs(connection).check()


def new_nkey() -> tuple[str, str]:
    """A seed, and the user's name that belongs to it."""
    seed = nkeys.encode_seed(secrets.token_bytes(32), nkeys.PREFIX_BYTE_USER)
    return seed.decode(), nkeys.from_seed(bytearray(seed)).public_key.decode()


async def test_a_nkey_is_a_login_and_another_is_refused_and_not_shown(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (seed, user), (wrong, _) = new_nkey(), new_nkey()
    with running(tmp_path, f'authorization {{ users: [{{ nkey: "{user}" }}] }}') as server:
        url = SecretStr(f"nats://127.0.0.1:{server.port}")
        right = NatsSettings(url=url, nkey=SecretStr(seed), prefix=new_prefix())
        await check(right)
        with caplog.at_level(logging.DEBUG), pytest.raises(NatsRefused, match="KAI_NATS__NKEY") as refused:
            await check(right.model_copy(update={"nkey": SecretStr(wrong)}))
    assert wrong not in str(refused.value) + repr(right) + caplog.text
    assert seed not in repr(right) + caplog.text


async def test_a_server_with_tls_is_reached_by_its_authority_alone(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    stranger = Authority(tmp_path, "stranger")
    with running(tmp_path / "nats", f"tls {{ {certificate_of(authority)} }}") as server:
        settings = over_tls(server, authority)
        await check(settings)
        with pytest.raises(NatsRefused, match="KAI_NATS__CA_FILE"):
            await check(settings.model_copy(update={"ca_file": stranger.certificate}))


async def test_a_server_that_wants_a_client_certificate_gets_it(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    client = authority.sign("client")
    verified = f'tls {{ {certificate_of(authority)}, ca_file: "{authority.certificate}", verify: true }}'
    with running(tmp_path / "nats", verified) as server:
        without = over_tls(server, authority)
        await check(
            without.model_copy(update={"certificate_file": client.certificate, "key_file": client.key})
        )
        with pytest.raises(NatsRefused, match="KAI_NATS__CERTIFICATE_FILE"):
            await check(without)


def over_tls(server: FragileNats, authority: Authority) -> NatsSettings:
    url = SecretStr(f"tls://127.0.0.1:{server.port}")
    return NatsSettings(url=url, ca_file=authority.certificate, prefix=new_prefix())


def certificate_of(authority: Authority) -> str:
    """The server's own certificate, for its configuration."""
    pair = authority.sign("server")
    return f'cert_file: "{pair.certificate}", key_file: "{pair.key}"'
