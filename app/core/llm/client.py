"""The client library, imported late: it takes a second, and a server without a model needs none of it."""

import warnings
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from pydantic import JsonValue, SecretStr

from app.core.llm.errors import translated
from app.core.llm.settings import ModelSettings

if TYPE_CHECKING:
    from langchain_core.messages import AIMessageChunk
    from openai import AsyncOpenAI

    from app.core.llm.chat_client import ChatClient

_OPENAI = "https://api.openai.com/v1"
_NO_KEY = SecretStr("none")
"""Placeholder key for services without keys: the protocol requires the header."""


def make_client(settings: ModelSettings) -> "ChatClient":
    """A client with a connection pool of its own. Slow at first: to be called in a thread.

    Everything that the library would else take from `OPENAI_...` variables, and that decides where a
    prompt goes, is given. It tries nothing again, as it would wait as long as a service asks it to.
    """
    from openai import Timeout  # noqa: PLC0415 - a second of import

    from app.core.llm.chat_client import ChatClient  # noqa: PLC0415

    # The library's advice about methods of its own that are not used here.
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
    """A client with a connection pool of its own. Slow at first: to be called in a thread.

    It tries again by itself, for as long as its caller bears.
    """
    from openai import AsyncOpenAI, Timeout  # noqa: PLC0415 - a second of import

    return AsyncOpenAI(
        base_url=settings.base_url or _OPENAI,
        api_key=(settings.api_key or _NO_KEY).get_secret_value(),
        timeout=Timeout(settings.total_timeout_seconds, connect=settings.connect_timeout_seconds),
        max_retries=settings.max_retries,
    )


async def stream_chunks(
    client: "ChatClient",
    prompt: Sequence[tuple[str, str]],
    *,
    usage: bool,
    max_tokens: int | None = None,
    fields: Mapping[str, JsonValue] | None = None,
) -> "AsyncGenerator[AIMessageChunk]":
    """The reply's chunks as they come, `usage` asking for a count of tokens with the last.

    `max_tokens` is the limit of this reply; None is the model's usual one. `fields` are added to the
    request as they stand.

    Raises `ProviderUnavailable` or `ProviderRejected`. Closing it, or cancelling its reader, closes the
    request.
    """
    body = dict(client.extra_body or {})
    if max_tokens is not None:
        body = {**_output_limit(client.openai_api_base or _OPENAI, max_tokens)}
    # In `extra_body`, since for a `response_format` of its own the library parses every reply as JSON.
    stream = client.astream(list(prompt), stream_usage=usage, extra_body={**body, **(fields or {})})
    chunks = cast("AsyncGenerator[AIMessageChunk]", stream)
    async with aclosing(chunks):
        while (chunk := await _next_chunk(chunks, client.model_name)) is not None:
            yield chunk


async def _next_chunk(chunks: "AsyncGenerator[AIMessageChunk]", model: str) -> "AIMessageChunk | None":
    import openai  # noqa: PLC0415 - loaded with the client by now

    try:
        return await anext(chunks, None)
    except (
        openai.OpenAIError,
        OSError,
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        # The library raises whatever a chunk that is not as it should be leads to.
        raise translated(error, model) from None


def _output_limit(base_url: str, tokens: int) -> dict[str, int]:
    """OpenAI's newer models refuse the old name; Mistral refuses, and Ollama ignores, the new one."""
    host = urlsplit(base_url).hostname or ""
    new = host.endswith((".openai.com", ".openai.azure.com"))
    return {"max_completion_tokens" if new else "max_tokens": tokens}
