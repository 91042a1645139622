"""LangChain's client of OpenAI's chat protocol, with a stream that is read as plain data.

LangChain keeps the settings, builds requests and describes tools. The stream does not pass through it: per
chunk that costs ten times as much as reading the JSON. The import takes a second, so it is late.
"""

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from langchain_openai import ChatOpenAI
from pydantic import JsonValue

from app.core.llm import errors
from app.core.llm.chunks import ChunkReader, ErrorInStream, ReplyChunk
from app.core.llm.event_data import EventData

_DONE = b"[DONE]"
_DRAIN_SECONDS = 0.1
"""Time for the end of a response after its last event, so that its connection can be used again."""
_MAX_ERROR_BYTES = 65_536
_MAX_CONNECTIONS = 1_000
_MAX_HEADER_BYTES = 65_536


class ChatClient(ChatOpenAI):
    """Builds requests."""

    def request(
        self, prompt: Sequence[dict[str, JsonValue]], *, usage: bool, fields: Mapping[str, JsonValue]
    ) -> dict[str, JsonValue]:
        """Returns the body of a request for a stream. `fields` replace the client's own."""
        body: dict[str, JsonValue] = self._get_request_payload(list(prompt), stream=True)
        body.pop("extra_body", None)
        counted: dict[str, JsonValue] = {"stream_options": {"include_usage": True}} if usage else {}
        return {**body, **counted, **fields}

    def headers(self) -> dict[str, str]:
        """Returns the headers of a request, with the key."""
        client = self.root_async_client
        given = {**client.default_headers, **client.auth_headers, "Accept": "text/event-stream"}
        # Compression of a stream would hold its chunks back.
        given["Accept-Encoding"] = "identity"
        return {name: value for name, value in given.items() if isinstance(value, str)}


class ChatConnection:
    """Connections to the service of a client. Created within a running event loop, closed by `close`."""

    def __init__(
        self, client: ChatClient, certificates: ssl.SSLContext, connect_timeout_seconds: float
    ) -> None:
        self.client = client
        self._url = f"{str(client.root_async_client.base_url).rstrip('/')}/chat/completions"
        self._proxy = _proxy_of(self._url)
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=connect_timeout_seconds)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=_MAX_CONNECTIONS, ssl=certificates),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=client.headers(),
            max_field_size=_MAX_HEADER_BYTES,
            timeout=timeout,
        )

    async def chunks(self, body: Mapping[str, JsonValue]) -> AsyncGenerator[ReplyChunk]:
        """Yields the chunks of a reply as they arrive.

        Raises `ModelUnavailable` or `ModelRejected`. Closing the generator, or cancelling its reader, closes
        the request.
        """
        model = self.client.model_name
        try:
            content = json.dumps(body, ensure_ascii=False).encode()
            async with self._session.post(self._url, data=content, proxy=self._proxy) as response:
                if not 200 <= response.status < 300:
                    raise errors.refused(await _refusal(response), model)
                async for chunk in _chunks(response):
                    yield chunk
        except aiohttp.ServerTimeoutError:
            raise errors.not_accepted() from None
        except (aiohttp.ClientConnectionError, OSError):
            raise errors.not_connected() from None
        except ErrorInStream as error:
            raise errors.ended_early(model, str(error)) from None
        except RecursionError:
            raise errors.ReplyTooDeep from None
        except (aiohttp.ClientError, ValueError):
            raise errors.ended_early(model) from None

    async def close(self) -> None:
        await self._session.close()
        await self.client.root_async_client.close()


async def _chunks(response: aiohttp.ClientResponse) -> AsyncGenerator[ReplyChunk]:
    events = EventData()
    reader = ChunkReader()
    async for piece in response.content.iter_any():
        for data in events.feed(piece):
            if data.startswith(_DONE):
                await _drain(response)
                return
            yield reader.read(data)
    for data in events.end():
        if not data.startswith(_DONE):
            yield reader.read(data)


async def _drain(response: aiohttp.ClientResponse) -> None:
    """Read the end of the response. A connection whose response does not end is closed."""
    with suppress(aiohttp.ClientError, TimeoutError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in response.content.iter_any():
                pass


async def _refusal(response: aiohttp.ClientResponse) -> errors.Refusal:
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > _MAX_ERROR_BYTES:
            break
    text = body[:_MAX_ERROR_BYTES].decode(errors="replace")
    return errors.Refusal(
        status=response.status,
        code=_error_code(text),
        message=text,
        path=response.url.path,
        headers=response.headers,
    )


def _error_code(body: str) -> str:
    """Returns the code in an error's body, or an empty text."""
    try:
        read: JsonValue = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    error = read.get("error", read) if isinstance(read, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, str) else ""


def _proxy_of(url: str) -> str | None:
    """Returns the proxy that the environment names for an address, as `HTTPS_PROXY` and `NO_PROXY` do."""
    address = urlsplit(url)
    if proxy_bypass(address.hostname or ""):
        return None
    proxies = getproxies()
    return proxies.get(address.scheme) or proxies.get("all")
