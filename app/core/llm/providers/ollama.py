"""Models in Ollama, by its own protocol: LangChain's client builds requests, and the stream is read here.

LangChain reads arguments of calls a second time where they look like JSON or Python; KAI takes them as they
are.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence

import httpx
import ollama
from langchain_core.messages import BaseMessage
from langchain_ollama import ChatOllama, OllamaEmbeddings
from pydantic import JsonValue

from app.core.llm import errors
from app.core.llm.capabilities import ListedModel, ModelTraits
from app.core.llm.chunks import ReplyChunk, TokenUsage, ToolCallDelta
from app.core.llm.messages import ChatRequest
from app.core.llm.providers import ollama_api
from app.core.llm.providers.langchain_chat import as_langchain
from app.core.llm.providers.profiles import traits_of
from app.core.llm.settings import ModelSettings
from app.core.llm.tokens import estimated_tokens

_FAILURES = (
    ollama.ResponseError,
    ollama.RequestError,
    httpx.HTTPError,
    OSError,
    ValueError,
    TypeError,
    LookupError,
    RecursionError,
)
"""What Ollama's client raises for failures and for malformed answers."""


class _Client(ChatOllama):
    """Builds requests, and passes on the parts of a reply as Ollama sends them."""

    def parts(
        self, messages: list[BaseMessage], tools: Sequence[dict[str, JsonValue]]
    ) -> AsyncIterator[Mapping[str, object] | str]:
        """Yields the parts of a reply."""
        return self._acreate_chat_stream(messages, tools=list(tools) or None)

    async def close(self) -> None:
        await _close(self._client, self._async_client)


class OllamaService:
    """Connections to one chat model."""

    def __init__(self, client: _Client) -> None:
        self._client = client

    @property
    def profile(self) -> ModelTraits:
        """LangChain's data on the model."""
        return traits_of(self._client)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ReplyChunk]:
        """Yields the chunks of a reply as they arrive."""
        client = self._client
        changes: dict[str, object] = {}
        if request.max_tokens is not None:
            changes["num_predict"] = request.max_tokens
        if request.temperature is not None:
            changes["temperature"] = request.temperature
        chat = client.model_copy(update=changes) if changes else client
        calls = 0
        try:
            tools = [tool.as_request() for tool in request.tools]
            async for part in chat.parts(as_langchain(request.messages), tools):
                if not isinstance(part, ollama.ChatResponse):
                    raise TypeError("not a part of a reply")
                yield _chunk(part, calls)
                calls += len(part.message.tool_calls or ())
        except _FAILURES as error:
            raise _translated(error, client.model) from None

    async def close(self) -> None:
        await self._client.close()


def _chunk(part: ollama.ChatResponse, calls_before: int) -> ReplyChunk:
    message = part.message
    made = tuple(
        ToolCallDelta(
            calls_before + position, "", call.function.name, json.dumps(dict(call.function.arguments))
        )
        for position, call in enumerate(message.tool_calls or ())
    )
    read = part.prompt_eval_count
    written = part.eval_count
    counted = part.done and (read is not None or written is not None)
    return ReplyChunk(
        text=message.content or "",
        reasoning=message.thinking or "",
        tool_calls=made,
        finish_reason=(part.done_reason or "stop") if part.done else None,
        usage=TokenUsage(read or 0, (read or 0) + (written or 0)) if counted else None,
    )


class _EmbeddingClient(OllamaEmbeddings):
    async def close(self) -> None:
        await _close(self._client, self._async_client)


class OllamaEmbeddingService:
    """Connections to one embedding model."""

    def __init__(self, client: _EmbeddingClient) -> None:
        self._client = client

    async def embed(self, texts: list[str]) -> tuple[list[list[float]], int | None]:
        """Returns a vector a text, in order. The tokens are estimated: LangChain passes no counts on."""
        try:
            return await self._client.aembed_documents(texts), estimated_tokens(texts)
        except _FAILURES as error:
            raise _translated(error, self._client.model) from None

    async def close(self) -> None:
        await self._client.close()


async def connect(settings: ModelSettings) -> OllamaService:
    """Returns connections to a chat model. A window that is set is the window that Ollama gives the model."""
    return OllamaService(
        _Client(
            model=settings.model,
            base_url=ollama_api.url_of(settings),
            num_predict=settings.max_output_tokens,
            num_ctx=settings.context_window,
            temperature=settings.temperature,
            client_kwargs=_client_options(settings),
        )
    )


async def connect_embedding(settings: ModelSettings) -> OllamaEmbeddingService:
    """Returns connections to an embedding model."""
    return OllamaEmbeddingService(
        _EmbeddingClient(
            model=settings.model,
            base_url=ollama_api.url_of(settings),
            client_kwargs=_client_options(settings),
        )
    )


async def list_models(settings: ModelSettings) -> Sequence[ListedModel]:
    """Returns the models that Ollama has. Raises `ModelUnavailable` or `ModelRejected`."""
    return await ollama_api.list_models(settings)


async def _close(client: ollama.Client | None, async_client: ollama.AsyncClient | None) -> None:
    if client is not None:
        client.close()  # type: ignore[no-untyped-call]
    if async_client is not None:
        await async_client.close()  # type: ignore[no-untyped-call]


def _client_options(settings: ModelSettings) -> dict[str, object]:
    timeout = httpx.Timeout(settings.total_timeout_seconds, connect=settings.connect_timeout_seconds)
    return {"timeout": timeout, "headers": ollama_api.headers_of(settings), "follow_redirects": False}


def _translated(error: Exception, model: str) -> errors.ModelUnavailable | errors.ModelRejected:
    cures = ollama_api.CURES
    match error:
        case ollama.ResponseError() if error.status_code >= 300:
            refusal = errors.ServiceRefusal(
                status=error.status_code, message=error.error, headers={}, cures=cures
            )
            return errors.refused(refusal, model)
        case httpx.ConnectTimeout():
            return errors.not_accepted(cures)
        case httpx.ConnectError() | ConnectionError():
            return errors.not_connected(cures)
        case _:
            return errors.ended_early(model, str(error), cures)
