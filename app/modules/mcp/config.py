"""The file that names the MCP servers KAI may use. Only this file names servers, never a route."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    HttpUrl,
    SecretStr,
    TypeAdapter,
    ValidationError,
    field_validator,
)

from app.core.errors import CannotRun, file_error_text

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]*(?:_[A-Za-z0-9-]+)*")
_MAX_NAME = 24
_MOST_SERVERS = 50


class _Server(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    description: str = ""


class HttpServer(_Server):
    """A server that is reached by a URL. `headers` are sent with each request, and shown nowhere."""

    transport: Literal["streamableHttp"]
    url: str
    headers: dict[str, SecretStr] = {}

    @field_validator("url")
    @classmethod
    def _is_http(cls, url: str) -> str:
        parsed = TypeAdapter(HttpUrl).validate_python(url)
        if parsed.username or parsed.password:
            raise ValueError("put credentials into headers, not into the URL")
        return url

    @property
    def address(self) -> str:
        """Where arguments of calls go, for people."""
        return self.url


class StdioServer(_Server):
    """A program that KAI starts. Its environment is `env` and nothing else."""

    transport: Literal["stdio"]
    command: Annotated[str, Field(min_length=1)]
    args: tuple[str, ...] = ()
    env: dict[str, SecretStr] = {}

    @property
    def address(self) -> str:
        """The command line, for people."""
        return " ".join([self.command, *self.args])


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    servers: dict[str, Annotated[HttpServer | StdioServer, Field(discriminator="transport")]] = Field(
        alias="mcpServers", max_length=_MOST_SERVERS
    )

    @field_validator("servers")
    @classmethod
    def _have_short_names(
        cls, servers: dict[str, HttpServer | StdioServer]
    ) -> dict[str, HttpServer | StdioServer]:
        for name in servers:
            if _NAME.fullmatch(name) is None or len(name) > _MAX_NAME:
                raise ValueError(
                    f"{name[:40]!r} is no name for a server: at most {_MAX_NAME} letters, digits, - and "
                    "single _, a letter first"
                )
        return servers


@dataclass(frozen=True, kw_only=True)
class McpConfiguration:
    """Servers by name, and how KAI deals with them."""

    servers: dict[str, HttpServer | StdioServer]
    networks: Sequence[IPv4Network | IPv6Network]
    """Loopback and private networks in which servers may be. Public addresses need no mention."""
    call_seconds: float
    check_seconds: float


def read_servers(file: Path) -> dict[str, HttpServer | StdioServer]:
    """Returns the servers of a file, by name. Raises `CannotRun` for a file that cannot be used."""
    try:
        return _File.model_validate_json(file.read_bytes()).servers
    except OSError as error:
        raise CannotRun(f"KAI_MCP__CONFIG: {file_error_text(error)}") from error
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        wrong = first["msg"].removeprefix("Value error, ")
        raise CannotRun(f"KAI_MCP__CONFIG: {file}: {place or 'the file'}: {wrong}") from None
