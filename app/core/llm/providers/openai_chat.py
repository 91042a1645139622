"""LangChain's clients of OpenAI's chat protocol and of Azure's, with a stream that is read as plain data.

LangChain keeps the settings, builds requests and describes tools. The stream does not pass through it: per
chunk that costs ten times as much as reading the JSON. The import takes a second, so it is late.
"""

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Literal
from urllib.parse import urlencode, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from langchain_openai import AzureChatOpenAI, ChatOpenAI
from langchain_openai.chat_models.base import BaseChatOpenAI
from pydantic import JsonValue, SecretStr

from app.core.llm import errors
from app.core.llm.capabilities import ModelTraits
from app.core.llm.chunks import ChunkReader, ErrorInStream, ReplyChunk
from app.core.llm.event_data import EventData
from app.core.llm.messages import ChatRequest
from app.core.llm.providers.profiles import traits_of

_DONE = b"[DONE]"
_DRAIN_SECONDS = 0.1
"""Time for the end of a response after its last event, so that its connection can be used again."""
_MAX_ERROR_BYTES = 65_536
_MAX_CONNECTIONS = 1_000
_MAX_HEADER_BYTES = 65_536


class _RequestBuilder(BaseChatOpenAI):
    """Builds requests."""

    @cached_property
    def _template(self) -> dict[str, JsonValue]:
        """A request whose prompt is one system message. Converting a long prompt takes LangChain
        milliseconds, and KAI's messages have the protocol's form already.
        """
        body: dict[str, JsonValue] = self._get_request_payload([("system", "")], stream=True)
        body.pop("extra_body", None)
        return body

    def request(
        self, prompt: Sequence[dict[str, JsonValue]], fields: Mapping[str, JsonValue]
    ) -> dict[str, JsonValue]:
        """Returns the body of a request for a stream. `fields` replace the client's own."""
        body = self._template
        match body["messages"]:
            case [{"role": role}]:  # some models call it developer
                messages = [{**each, "role": role} if each["role"] == "system" else each for each in prompt]
            case _:
                raise TypeError("a request without messages")
        return {**body, "messages": list[JsonValue](messages), **fields}

    def headers(self) -> dict[str, str]:
        """Returns the headers of a request, with the key."""
        client = self.root_async_client
        given = {**client.default_headers, **client.auth_headers, "Accept": "text/event-stream"}
        # Compression of a stream would hold its chunks back.
        given["Accept-Encoding"] = "identity"
        return {name: value for name, value in given.items() if isinstance(value, str)}


class ChatClient(_RequestBuilder, ChatOpenAI):
    """Builds requests to OpenAI-compatible services."""

    @property
    def url(self) -> str:
        return f"{str(self.root_async_client.base_url).rstrip('/')}/chat/completions"


class AzureClient(_RequestBuilder, AzureChatOpenAI):
    """Builds requests to Azure OpenAI, whose addresses name a deployment and a version of the API."""

    @property
    def url(self) -> str:
        base_url = str(self.root_async_client.base_url).rstrip("/")
        version = urlencode({"api-version": self.openai_api_version or ""})
        return f"{base_url}/chat/completions?{version}"

    def headers(self) -> dict[str, str]:
        """Returns the headers of a request, with the key."""
        key = self.openai_api_key
        if not isinstance(key, SecretStr):
            raise TypeError("a client without a key")
        return {**super().headers(), "api-key": key.get_secret_value()}


class ChatConnection:
    """Connections to the service of a client. Created within a running event loop, closed by `close`."""

    def __init__(
        self,
        client: ChatClient | AzureClient,
        certificates: ssl.SSLContext,
        connect_timeout_seconds: float,
        *,
        limit_name: Literal["max_tokens", "max_completion_tokens"],
        cures: errors.Cures,
    ) -> None:
        """`limit_name` is the request's field for the longest reply."""
        self.client = client
        self._limit_name = limit_name
        self._cures = cures
        self._proxy = _proxy_of(client.url)
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=connect_timeout_seconds)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=_MAX_CONNECTIONS, ssl=certificates),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=client.headers(),
            max_field_size=_MAX_HEADER_BYTES,
            timeout=timeout,
        )

    @property
    def profile(self) -> ModelTraits:
        """LangChain's data on the model."""
        return traits_of(self.client)

    def stream(self, request: ChatRequest) -> AsyncGenerator[ReplyChunk]:
        """Yields the chunks of a reply as they arrive.

        Raises `ModelUnavailable` or `ModelRejected`. Closing the generator, or cancelling its reader, closes
        the request.
        """
        fields: dict[str, JsonValue] = {}
        if request.max_tokens is not None:
            fields[self._limit_name] = request.max_tokens
        else:
            fields |= self.client.extra_body or {}
        if request.counts_usage:
            fields["stream_options"] = {"include_usage": True}
        if request.schema is not None:
            fields |= request.schema.request_fields(request.reply_format)
        if request.tools:
            fields["tools"] = [tool.as_request() for tool in request.tools]
        if request.temperature is not None:
            fields["temperature"] = request.temperature
        prompt = [message.as_request() for message in request.messages]
        return self._chunks(self.client.request(prompt, fields))

    async def _chunks(self, body: Mapping[str, JsonValue]) -> AsyncGenerator[ReplyChunk]:
        model = self.client.model_name
        try:
            content = json.dumps(body, ensure_ascii=False).encode()
            async with self._session.post(
                self.client.url, data=content, proxy=self._proxy, allow_redirects=False
            ) as response:
                if not 200 <= response.status < 300:
                    raise errors.refused(await _refusal(response, self._cures), model)
                async for chunk in _chunks(response):
                    yield chunk
        except aiohttp.ServerTimeoutError:
            raise errors.not_accepted(self._cures) from None
        except (aiohttp.ClientConnectionError, OSError):
            raise errors.not_connected(self._cures) from None
        except ErrorInStream as error:
            raise errors.ended_early(model, str(error), self._cures) from None
        except RecursionError:
            raise errors.ReplyTooDeep from None
        except (aiohttp.ClientError, ValueError):
            raise errors.ended_early(model, cures=self._cures) from None

    async def close(self) -> None:
        await self._session.close()
        await self.client.root_async_client.close()


async def _chunks(response: aiohttp.ClientResponse) -> AsyncGenerator[ReplyChunk]:
    events = EventData()
    reader = ChunkReader()
    is_stream = False
    async for piece in response.content.iter_any():
        for data in events.feed(piece):
            if data.startswith(_DONE):
                await _drain(response)
                return
            is_stream = True
            yield reader.read(data)
    for data in events.end():
        if not data.startswith(_DONE):
            is_stream = True
            yield reader.read(data)
    if not is_stream:
        raise ValueError("The response has no event.")


async def _drain(response: aiohttp.ClientResponse) -> None:
    """Read the end of the response. A connection whose response does not end is closed."""
    with suppress(aiohttp.ClientError, TimeoutError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in response.content.iter_any():
                pass


async def _refusal(response: aiohttp.ClientResponse, cures: errors.Cures) -> errors.ServiceRefusal:
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > _MAX_ERROR_BYTES:
            break
    text = body[:_MAX_ERROR_BYTES].decode(errors="replace")
    return errors.ServiceRefusal(
        status=response.status,
        code=_error_code(text),
        message=text,
        path=response.url.path,
        headers=response.headers,
        cures=cures,
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
