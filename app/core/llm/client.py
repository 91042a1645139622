"""Clients of model services. The client library is imported on first use, which takes a second."""

import asyncio
import ssl
import warnings
from collections.abc import AsyncGenerator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx
from pydantic import JsonValue, SecretStr

from app.core.llm.chunks import ReplyChunk
from app.core.llm.settings import ModelSettings

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from app.core.llm.chat_client import ChatClient, ChatConnection

_OPENAI = "https://api.openai.com/v1"
_NO_KEY = SecretStr("none")
"""Placeholder key for services without keys: the protocol requires the header."""


def make_client(settings: ModelSettings) -> "ChatClient":
    """Returns a client with its own connection pool. Call it in a thread: the first call takes a second.

    All settings that decide where a prompt goes are passed, so the library reads none from `OPENAI_...`
    variables. The client does not retry, because it would wait as long as a service asks it to.
    """
    from openai import Timeout  # noqa: PLC0415 - a second of import

    from app.core.llm.chat_client import ChatClient  # noqa: PLC0415

    # The library warns about its own methods, which are not used here.
    warnings.filterwarnings("ignore", ".*OpenAI's structured output feature", UserWarning)
    base_url = settings.base_url or _OPENAI
    return ChatClient(
        model=settings.model,
        base_url=base_url,
        api_key=settings.api_key or _NO_KEY,
        openai_proxy=None,
        timeout=Timeout(settings.total_timeout_seconds, connect=settings.connect_timeout_seconds),
        max_retries=0,
        extra_body=_output_limit(base_url, settings.max_output_tokens),
        temperature=settings.temperature,
        stream_chunk_timeout=None,
        use_responses_api=False,
    )


def make_embedding_client(settings: ModelSettings) -> "AsyncOpenAI":
    """Returns a client with its own connection pool. Call it in a thread: the first call takes a second.

    The client retries. Its caller limits the total time.
    """
    from openai import AsyncOpenAI, Timeout  # noqa: PLC0415 - a second of import

    return AsyncOpenAI(
        base_url=settings.base_url or _OPENAI,
        api_key=(settings.api_key or _NO_KEY).get_secret_value(),
        timeout=Timeout(settings.total_timeout_seconds, connect=settings.connect_timeout_seconds),
        max_retries=settings.max_retries,
    )


async def connect(settings: ModelSettings) -> "ChatConnection":
    """Returns connections to the service of a chat model. The first call imports its client in a thread."""
    client = await asyncio.to_thread(make_client, settings)
    certificates = await asyncio.to_thread(_certificates)
    from app.core.llm.chat_client import ChatConnection  # noqa: PLC0415 - loaded with the client by now

    return ChatConnection(client, certificates, settings.connect_timeout_seconds)


@cache
def _certificates() -> ssl.SSLContext:
    """Returns the trusted authorities, from certifi or `SSL_CERT_FILE`. Reading them takes a while."""
    return httpx.create_ssl_context()


def stream_chunks(
    connection: "ChatConnection",
    prompt: Sequence[dict[str, JsonValue]],
    *,
    usage: bool,
    max_tokens: int | None = None,
    fields: Mapping[str, JsonValue] | None = None,
) -> AsyncGenerator[ReplyChunk]:
    """Yields the chunks of a reply as they arrive. `usage` requests a count of tokens in the last one.

    `max_tokens` limits this reply; None is the model's configured limit. `fields` are added to the request
    unchanged.

    Raises `ModelUnavailable` or `ModelRejected`. Closing the generator, or cancelling its reader,
    closes the request.
    """
    client = connection.client
    limit: Mapping[str, JsonValue] = client.extra_body or {}
    if max_tokens is not None:
        limit = _output_limit(client.openai_api_base or _OPENAI, max_tokens)
    return connection.chunks(client.request(prompt, usage=usage, fields={**limit, **(fields or {})}))


def _output_limit(base_url: str, tokens: int) -> dict[str, JsonValue]:
    """Returns the output limit by the name that the service accepts.

    OpenAI's newer models refuse `max_tokens`. Mistral refuses, and Ollama ignores, `max_completion_tokens`.
    """
    host = urlsplit(base_url).hostname or ""
    new = host.endswith((".openai.com", ".openai.azure.com"))
    return {"max_completion_tokens" if new else "max_tokens": tokens}
