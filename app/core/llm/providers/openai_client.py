"""Clients of OpenAI-compatible services and of Azure OpenAI. The client library is imported on first use,
which takes a second.
"""

import asyncio
import ssl
import warnings
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import httpx
from pydantic import JsonValue, SecretStr

from app.core.llm.capabilities import ListedModel, ModelTraits
from app.core.llm.errors import OPENAI_CURES, Cures, translated
from app.core.llm.providers.plain_http import get_json, positive
from app.core.llm.settings import ModelSettings

if TYPE_CHECKING:
    from openai import AsyncAzureOpenAI, AsyncOpenAI

    from app.core.llm.providers.openai_chat import AzureClient, ChatClient, ChatConnection

OPENAI_URL = "https://api.openai.com/v1"
AZURE_CURES = Cures(address="KAI_LLM__BASE_URL and KAI_LLM__API_VERSION", has_version=True)
_NO_KEY = SecretStr("none")
"""Placeholder key for services without keys: the protocol requires the header."""


def make_client(settings: ModelSettings) -> "ChatClient":
    """Returns a client with its own connection pool. Call it in a thread: the first call takes a second.

    All settings that decide where a prompt goes are passed, so the library reads none from `OPENAI_...`
    variables. The client does not retry, because it would wait as long as a service asks it to.
    """
    from openai import Timeout  # noqa: PLC0415 - a second of import

    from app.core.llm.providers.openai_chat import ChatClient  # noqa: PLC0415

    _ignore_own_warnings()
    base_url = settings.base_url or OPENAI_URL
    return ChatClient(
        model=settings.model,
        base_url=base_url,
        api_key=settings.api_key or _NO_KEY,
        openai_proxy=None,
        timeout=Timeout(settings.total_timeout_seconds, connect=settings.connect_timeout_seconds),
        max_retries=0,
        extra_body={_limit_name(base_url): settings.max_output_tokens},
        temperature=settings.temperature,
        stream_chunk_timeout=None,
        use_responses_api=False,
    )


def make_azure_client(settings: ModelSettings) -> "AzureClient":
    """Returns a client of the deployment that the model's name means. As `make_client` otherwise."""
    from openai import Timeout  # noqa: PLC0415 - a second of import

    from app.core.llm.providers.openai_chat import AzureClient  # noqa: PLC0415

    _ignore_own_warnings()
    return AzureClient(
        model=settings.model,
        azure_deployment=settings.model,
        azure_endpoint=settings.base_url,
        api_version=settings.api_version,
        api_key=settings.api_key or _NO_KEY,
        azure_ad_token=None,
        openai_proxy=None,
        timeout=Timeout(settings.total_timeout_seconds, connect=settings.connect_timeout_seconds),
        max_retries=0,
        extra_body={"max_completion_tokens": settings.max_output_tokens},
        temperature=settings.temperature,
        stream_chunk_timeout=None,
        use_responses_api=False,
    )


def _ignore_own_warnings() -> None:
    # The library warns about its own methods, which are not used here.
    warnings.filterwarnings("ignore", ".*OpenAI's structured output feature", UserWarning)


async def connect(settings: ModelSettings) -> "ChatConnection":
    """Returns connections to the service of a chat model. The first call imports its client in a thread."""
    is_azure = settings.provider == "azure"
    client: ChatClient | AzureClient
    if is_azure:
        client = await asyncio.to_thread(make_azure_client, settings)
    else:
        client = await asyncio.to_thread(make_client, settings)
    certificates = await asyncio.to_thread(_certificates)
    from app.core.llm.providers.openai_chat import ChatConnection  # noqa: PLC0415 - loaded by now

    return ChatConnection(
        client,
        certificates,
        settings.connect_timeout_seconds,
        limit_name="max_completion_tokens" if is_azure else _limit_name(settings.base_url or OPENAI_URL),
        cures=AZURE_CURES if is_azure else OPENAI_CURES,
    )


@cache
def _certificates() -> ssl.SSLContext:
    """Returns the trusted authorities, from certifi or `SSL_CERT_FILE`. Reading them takes a while."""
    return httpx.create_ssl_context()


def _limit_name(base_url: str) -> Literal["max_tokens", "max_completion_tokens"]:
    """Returns the name of the output limit that the service accepts.

    OpenAI's newer models refuse `max_tokens`. Mistral refuses, and Ollama ignores, `max_completion_tokens`.
    """
    host = urlsplit(base_url).hostname or ""
    is_new = host.endswith((".openai.com", ".openai.azure.com"))
    return "max_completion_tokens" if is_new else "max_tokens"


class EmbeddingConnection:
    """Connections to an embedding model over OpenAI's protocol. The client retries."""

    def __init__(self, client: "AsyncOpenAI", model: str, cures: Cures) -> None:
        self._client = client
        self._model = model
        self._cures = cures

    async def embed(self, texts: list[str]) -> tuple[list[list[float]], int | None]:
        """Returns the vectors in order, and the tokens that the service counted. Raises `ModelUnavailable` or
        `ModelRejected`.
        """
        import openai  # noqa: PLC0415 - loaded with the client by now

        try:
            answer = await self._client.embeddings.create(
                model=self._model, input=texts, encoding_format="float"
            )
            in_order = sorted(answer.data, key=lambda each: each.index)
            tokens: int | None = None
            if answer.usage is not None:  # not every service counts
                tokens = answer.usage.total_tokens
            return [each.embedding for each in in_order], tokens
        except (openai.OpenAIError, OSError, AttributeError, LookupError, TypeError, ValueError) as error:
            # The library raises any of these for a malformed answer.
            raise translated(error, self._model, self._cures) from None

    async def close(self) -> None:
        await self._client.close()


async def connect_embedding(settings: ModelSettings) -> EmbeddingConnection:
    """Returns connections to the service of an embedding model."""
    client = await asyncio.to_thread(_make_embedding_client, settings)
    cures = AZURE_CURES if settings.provider == "azure" else OPENAI_CURES
    return EmbeddingConnection(client, settings.model, cures)


def _make_embedding_client(settings: ModelSettings) -> "AsyncOpenAI | AsyncAzureOpenAI":
    from openai import (  # noqa: PLC0415 - a second of import
        AsyncAzureOpenAI,
        AsyncOpenAI,
        DefaultAsyncHttpxClient,
        Timeout,
    )

    http_client = DefaultAsyncHttpxClient(follow_redirects=False)
    timeout = Timeout(settings.total_timeout_seconds, connect=settings.connect_timeout_seconds)
    key = (settings.api_key or _NO_KEY).get_secret_value()
    if settings.provider == "azure":
        return AsyncAzureOpenAI(
            azure_endpoint=settings.base_url or "",
            api_version=settings.api_version,
            api_key=key,
            timeout=timeout,
            max_retries=settings.max_retries,
            http_client=http_client,
        )
    return AsyncOpenAI(
        base_url=settings.base_url or OPENAI_URL,
        api_key=key,
        timeout=timeout,
        max_retries=settings.max_retries,
        http_client=http_client,
    )


async def list_models(settings: ModelSettings) -> Sequence[ListedModel]:
    """Returns the models that the service lists. Azure OpenAI lists no deployments to holders of a key.

    Raises `ModelUnavailable` or `ModelRejected`.
    """
    if settings.provider == "azure":
        return ()
    url = f"{(settings.base_url or OPENAI_URL).rstrip('/')}/models"
    key = (settings.api_key or _NO_KEY).get_secret_value()
    body = await get_json(settings, url, headers={"Authorization": f"Bearer {key}"}, cures=OPENAI_CURES)
    entries = body.get("data") if isinstance(body, dict) else body
    listed = map(_listed, entries) if isinstance(entries, list) else ()
    return [each for each in listed if each is not None]


def _listed(entry: JsonValue) -> ListedModel | None:
    """Returns None for an entry without a name. Each kind of server has names of its own for the rest."""
    name = entry.get("id") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(name, str):
        return None
    windows = ("max_model_len", "context_length", "max_context_length", "context_window")
    window = next((size for key in windows if (size := positive(entry.get(key))) is not None), None)
    parameters = entry.get("supported_parameters")
    mistral = entry.get("capabilities")
    takes_tools: bool | None = None
    if isinstance(parameters, list):
        takes_tools = "tools" in parameters
    elif isinstance(mistral, dict) and isinstance(calls := mistral.get("function_calling"), bool):
        takes_tools = calls
    traits = ModelTraits(context_window=window, takes_tools=takes_tools)
    return ListedModel(name=name, traits=traits, is_of_ollama=entry.get("owned_by") == "library")
