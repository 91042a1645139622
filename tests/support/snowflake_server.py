"""Runs the fake of Snowflake's server (`snowflake_program.py`) in an environment of its own."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from filelock import FileLock
from sqlalchemy import URL

from app.core.servers import free_port
from tests.support.fakes import run_fake, statements_of

_ENVIRONMENT = Path(sys.prefix) / "fakesnow"
_REQUIREMENTS = Path(__file__).parents[2] / "requirements" / "fakesnow.txt"
_PROGRAM = Path(__file__).with_name("snowflake_program.py")
PASSWORD, TOKEN = "s3cret/with@signs", "a-token-that-is-valid"


@dataclass(frozen=True)
class SnowflakeServer:
    port: int
    private_key: str
    """PEM of the account's key."""

    def url(self, *, database: str = "SHOP", user: str = "analyst", **query: str) -> str:
        """Returns the URL with a password unless a key or a token is given."""
        has_other = query.keys() & {"private_key", "token"}
        return URL.create(
            "snowflake",
            username=user,
            password=None if has_other else PASSWORD,
            host="127.0.0.1",
            port=self.port,
            database=database,
            query={"warehouse": "asking", **query},
        ).render_as_string(hide_password=False)

    def run(self, script: str) -> None:
        """Run statements, each of which ends a line with a semicolon, with the right to write."""
        import snowflake.connector

        options: dict[str, Any] = {"server_session_keep_alive": False, "login_timeout": 10}
        with (
            snowflake.connector.connect(
                user="analyst",
                password=PASSWORD,
                account="local",
                host="127.0.0.1",
                port=self.port,
                protocol="http",
                warehouse="asking",
                enable_server_session_keep_alive_auto_detection=False,
                **options,
            ) as connection,
            connection.cursor() as cursor,
        ):
            for statement in statements_of(script):
                cursor.execute(statement)


@contextmanager
def snowflake_server(script: str) -> Iterator[SnowflakeServer]:
    """A server in a process of its own, which has run the statements of a script."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    server = SnowflakeServer(free_port(), private.decode())
    with tempfile.TemporaryDirectory(prefix="kai-snowflake-") as folder:
        (Path(folder) / "script.sql").write_text(script, encoding="utf-8")
        (Path(folder) / "key.pem").write_bytes(public)
        command = [_python(), str(_PROGRAM), str(server.port), folder]
        with run_fake(command):
            yield server


def _python() -> str:
    """Returns the interpreter of the environment, which is made first where there is none."""
    python = _ENVIRONMENT / "bin" / "python"
    with FileLock(f"{_ENVIRONMENT}.lock"):
        if not (_ENVIRONMENT / "made").exists():
            uv = str(Path(sys.prefix) / "bin" / "uv")
            subprocess.run([uv, "venv", "--quiet", "--clear", str(_ENVIRONMENT)], check=True)
            options = ["--quiet", "--system-certs", "--require-hashes", "--python", str(_ENVIRONMENT)]
            subprocess.run([uv, "pip", "install", *options, "-r", str(_REQUIREMENTS)], check=True)
            (_ENVIRONMENT / "made").touch()
    return str(python)
