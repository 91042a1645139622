"""Models of Google Vertex AI, by LangChain's client over Google's SDK, which needs no gRPC."""

import asyncio
import warnings
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

import aiohttp
import google.auth
import httpx
from google.auth.exceptions import DefaultCredentialsError, GoogleAuthError, TransportError
from google.genai.errors import APIError
from langchain_core.messages import AIMessageChunk
from langchain_google_genai import ChatGoogleGenerativeAI, GoogleGenerativeAIEmbeddings
from langchain_google_genai._common import GoogleGenerativeAIError
from pydantic import JsonValue

from app.core.llm import errors
from app.core.llm.capabilities import ListedModel, ModelTraits
from app.core.llm.chunks import ReplyChunk
from app.core.llm.messages import ChatRequest
from app.core.llm.providers.langchain_chat import MessageChunkReader, as_langchain
from app.core.llm.providers.profiles import traits_of
from app.core.llm.settings import ModelSettings
from app.core.llm.tokens import estimated_tokens

_CURES = errors.Cures(
    key="the Google credentials and KAI_LLM__PROJECT",
    address="KAI_LLM__REGION and KAI_LLM__BASE_URL",
    has_version=True,
)
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_DEFAULT_LOCATION = "global"
_FILTERED = (
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "MODEL_ARMOR",
)
_FINISH_REASONS: Mapping[str, str] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "MALFORMED_FUNCTION_CALL": "error",
    "UNEXPECTED_TOOL_CALL": "error",
    "TOO_MANY_TOOL_CALLS": "error",
    "OTHER": "error",
    **dict.fromkeys(_FILTERED, "content_filter"),
}
_FAILURES = (
    APIError,
    GoogleGenerativeAIError,
    GoogleAuthError,
    aiohttp.ClientError,
    httpx.HTTPError,
    OSError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    RecursionError,
)
"""What Google's SDK and LangChain's client raise for failures and for malformed answers."""

# LangChain reads the bodies of refusals as if Google's SDK did not use aiohttp.
warnings.filterwarnings("ignore", "coroutine 'ClientResponse.json' was never awaited", RuntimeWarning)


class VertexService:
    """Connections to one chat model."""

    def __init__(self, client: ChatGoogleGenerativeAI) -> None:
        self._client = client

    @property
    def profile(self) -> ModelTraits:
        """LangChain's data on the model."""
        return traits_of(self._client)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ReplyChunk]:
        """Yields the chunks of a reply as they arrive."""
        changes: dict[str, object] = {}
        if request.max_tokens is not None:
            changes["max_output_tokens"] = request.max_tokens
        if request.temperature is not None:
            changes["temperature"] = request.temperature
        client = self._client
        chat = client.model_copy(update=changes) if changes else client
        tools = [tool.as_request() for tool in request.tools]
        prompt = as_langchain(request.messages)
        chunks = chat.bind_tools(tools).astream(prompt) if tools else chat.astream(prompt)
        reader = MessageChunkReader(_FINISH_REASONS, finish_field="finish_reason")
        try:
            async for chunk in chunks:
                if not isinstance(chunk, AIMessageChunk):
                    raise TypeError("not a chunk of a reply")
                _check_prompt(chunk)
                yield reader.read(chunk)
        except _FAILURES as error:
            raise _translated(error, client.model) from None

    async def close(self) -> None:
        await self._client.aclose()


def _check_prompt(chunk: AIMessageChunk) -> None:
    """Raises `ModelRejected` if Google has refused the prompt, which it reports as an empty reply."""
    feedback = chunk.response_metadata.get("prompt_feedback")
    if isinstance(feedback, dict) and feedback.get("block_reason"):
        raise errors.ModelRejected(
            "The model's service withheld its answer: its content filter objected to the question."
        )


class VertexEmbeddingService:
    """Connections to one embedding model."""

    def __init__(self, client: GoogleGenerativeAIEmbeddings) -> None:
        self._client = client

    async def embed(self, texts: list[str]) -> tuple[list[list[float]], int | None]:
        """Returns a vector a text, in order. The tokens are estimated: LangChain passes no counts on."""
        try:
            return await self._client.aembed_documents(texts), estimated_tokens(texts)
        except _FAILURES as error:
            raise _translated(error, self._client.model) from None

    async def close(self) -> None:
        await self._client.client.aio.aclose()


async def connect(settings: ModelSettings) -> VertexService:
    """Returns connections to a chat model. Raises `ModelRejected` without credentials."""
    return VertexService(await asyncio.to_thread(_make_client, settings))


def _make_client(settings: ModelSettings) -> ChatGoogleGenerativeAI:
    return ChatGoogleGenerativeAI(
        model=settings.model,
        max_tokens=settings.max_output_tokens,
        temperature=settings.temperature,
        timeout=settings.total_timeout_seconds,
        max_retries=1,
        **_place(settings),
    )


async def connect_embedding(settings: ModelSettings) -> VertexEmbeddingService:
    """Returns connections to an embedding model. Raises `ModelRejected` without credentials."""
    return VertexEmbeddingService(await asyncio.to_thread(_make_embedding_client, settings))


def _make_embedding_client(settings: ModelSettings) -> GoogleGenerativeAIEmbeddings:
    return GoogleGenerativeAIEmbeddings(model=settings.model, **_place(settings))


async def list_models(settings: ModelSettings) -> Sequence[ListedModel]:
    """Returns the models that Google publishes in Vertex AI. Raises `ModelUnavailable` or `ModelRejected`."""
    client = await asyncio.to_thread(_make_client, settings)
    try:
        models = await client.async_client.models.list(config={"query_base": True})
        names = [each.name async for each in models if each.name is not None]
    except _FAILURES as error:
        raise _translated(error, settings.model) from None
    finally:
        await client.aclose()
    return [ListedModel(name=name.rpartition("/")[2]) for name in names]


def _place(settings: ModelSettings) -> dict[str, Any]:
    """Returns where requests go, and with which credentials. Raises `ModelRejected` without credentials."""
    try:
        with warnings.catch_warnings():
            # The library advises against the credentials of a user, which suit a laptop.
            warnings.simplefilter("ignore", UserWarning)
            credentials, _ = google.auth.default(scopes=[_SCOPE])
    except DefaultCredentialsError:
        raise errors.ModelRejected(
            "There are no Google credentials: set GOOGLE_APPLICATION_CREDENTIALS to a key file, or run "
            "gcloud auth application-default login."
        ) from None
    return {
        "vertexai": True,
        "project": settings.project,
        "location": settings.region or _DEFAULT_LOCATION,
        "credentials": credentials,
        "base_url": settings.base_url,
    }


def _translated(error: BaseException, model: str) -> errors.ModelUnavailable | errors.ModelRejected:
    """Returns an error as one of KAI's. LangChain wraps those of Google's SDK."""
    cause: BaseException | None = error
    while cause is not None:
        match cause:
            case APIError():
                refusal = errors.ServiceRefusal(
                    status=cause.code,
                    message=str(cause),
                    headers=_retry_after(cause.details),
                    cures=_CURES,
                )
                return errors.refused(refusal, model)
            case TransportError() | aiohttp.ClientConnectionError() | httpx.ConnectError():
                return errors.not_connected(_CURES)
            case GoogleAuthError():
                return errors.ModelRejected(f"Google refused the credentials. Check {_CURES.key}.")
            case _:
                cause = cause.__cause__
    if isinstance(error, ConnectionError):
        return errors.not_connected(_CURES)
    return errors.ended_early(model, cures=_CURES)


def _retry_after(details: JsonValue) -> Mapping[str, str]:
    """Returns the pause that the body of an error asks for, as a header."""
    error = details.get("error") if isinstance(details, dict) else None
    entries = error.get("details") if isinstance(error, dict) else None
    for each in entries if isinstance(entries, list) else ():
        delay = each.get("retryDelay") if isinstance(each, dict) else None
        if isinstance(delay, str):
            return {"retry-after": delay.removesuffix("s")}
    return {}
