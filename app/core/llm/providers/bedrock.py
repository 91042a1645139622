"""Models of Amazon Bedrock, by LangChain's client of its Converse API.

AWS's SDK blocks, so each reply is read in a thread of its own, which ends with the reply.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, Protocol

import botocore.exceptions
from botocore.config import Config
from botocore.eventstream import ParserError
from langchain_aws import BedrockEmbeddings, ChatBedrockConverse
from langchain_aws.utils import create_aws_client
from langchain_core.messages import AIMessage, AIMessageChunk
from urllib3.exceptions import HTTPError

from app.core.llm import errors
from app.core.llm.capabilities import ListedModel, ModelTraits
from app.core.llm.chunks import ReplyChunk
from app.core.llm.messages import ChatRequest
from app.core.llm.providers.langchain_chat import MessageChunkReader, as_langchain
from app.core.llm.providers.profiles import traits_of
from app.core.llm.settings import ModelSettings
from app.core.llm.text_tools import as_text_prompt
from app.core.llm.tokens import estimated_tokens

_CURES = errors.Cures(
    key="the AWS credentials, or KAI_LLM__API_KEY",
    address="KAI_LLM__REGION and KAI_LLM__BASE_URL",
    has_version=True,
)
_MAX_CONNECTIONS = 1_000
_FINISH_REASONS: Mapping[str, str] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
    "malformed_model_output": "error",
    "malformed_tool_use": "error",
}
_STATUS_IN_STREAM: Mapping[str, int] = {
    "throttlingException": 429,
    "validationException": 400,
    "modelStreamErrorException": 500,
    "internalServerException": 500,
    "serviceUnavailableException": 503,
}
"""Statuses of errors that come as events of a stream."""
_QUOTA_CODES = frozenset({"ServiceQuotaExceededException", "ModelNotReadyException", "ModelTimeoutException"})
_FAILURES = (
    botocore.exceptions.BotoCoreError,
    botocore.exceptions.ClientError,
    ParserError,
    HTTPError,
    OSError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    RecursionError,
)
"""What AWS's SDK and LangChain's client raise for failures and for malformed answers."""


class _Response(Protocol):
    """A response of urllib3, as far as it is used here."""

    def shutdown(self) -> None: ...

    def close(self) -> None: ...


class _Reading:
    """A reply that a thread reads. `stop` may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._response: _Response | None = None
        self._is_stopped = False

    def begin(self, response: _Response) -> None:
        """Note the response that is read from now on."""
        with self._lock:
            self._response = response
            if self._is_stopped:
                _cut(response)

    def stop(self) -> None:
        """Cut the connection, so that the thread reads its end."""
        with self._lock:
            self._is_stopped = True
            if self._response is not None:
                _cut(self._response)


_READING: ContextVar[_Reading | None] = ContextVar("reading", default=None)
"""What the thread reads. Each thread has a context of its own."""


def _cut(response: _Response) -> None:
    try:
        response.shutdown()
    except (HTTPError, OSError, ValueError, RuntimeError):
        response.close()


def _note_response(http_response: Any, **_: object) -> None:
    reading = _READING.get()
    if reading is not None:
        reading.begin(http_response.raw)


class BedrockService:
    """Connections to one chat model."""

    def __init__(self, client: ChatBedrockConverse) -> None:
        self._client = client
        client.client.meta.events.register("after-call.bedrock-runtime.ConverseStream", _note_response)

    @property
    def profile(self) -> ModelTraits:
        """LangChain's data on the model."""
        return traits_of(self._client)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ReplyChunk]:
        """Yields the chunks of a reply as they arrive.

        A request that is cancelled before its response begins is closed when it begins.
        """
        changes: dict[str, object] = {}
        if request.max_tokens is not None:
            changes["max_tokens"] = request.max_tokens
        if request.temperature is not None:
            changes["temperature"] = request.temperature
        chat = self._client.model_copy(update=changes) if changes else self._client
        reader = MessageChunkReader(_FINISH_REASONS, finish_field="stopReason")
        reading = _Reading()
        read: asyncio.Queue[AIMessageChunk | Exception | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def pass_on(item: AIMessageChunk | Exception | None) -> None:
            with suppress(RuntimeError):  # the loop may be closed by now
                loop.call_soon_threadsafe(read.put_nowait, item)

        def read_reply() -> None:
            _READING.set(reading)
            try:
                for chunk in _chunks(chat, request):
                    pass_on(chunk)
            except _FAILURES as error:
                pass_on(error)
            finally:
                pass_on(None)

        threading.Thread(target=read_reply, name=f"model {chat.model_id}: read", daemon=True).start()
        try:
            while (item := await read.get()) is not None:
                if isinstance(item, Exception):
                    raise _translated(item, chat.model_id) from None
                yield reader.read(item)
        finally:
            reading.stop()

    async def close(self) -> None:
        await asyncio.to_thread(self._client.client.close)
        await asyncio.to_thread(self._client.bedrock_client.close)


def _chunks(chat: ChatBedrockConverse, request: ChatRequest) -> Iterator[AIMessageChunk]:
    if request.tools:
        tools = [tool.as_request() for tool in request.tools]
        chunks = chat.bind_tools(tools).stream(as_langchain(request.messages))
    else:
        # Bedrock refuses calls and results in a request that offers no tools.
        chunks = chat.stream(as_langchain(as_text_prompt(request.messages, ())))
    for chunk in chunks:
        yield chunk if isinstance(chunk, AIMessageChunk) else _as_chunk(chunk)


def _as_chunk(message: AIMessage) -> AIMessageChunk:
    """Returns a whole reply as a chunk: LangChain asks for one where a model cannot stream calls of tools."""
    return AIMessageChunk(
        content=message.content,
        tool_calls=message.tool_calls,
        response_metadata=message.response_metadata,
        usage_metadata=message.usage_metadata,
    )


class BedrockEmbeddingService:
    """Connections to one embedding model."""

    def __init__(self, client: BedrockEmbeddings) -> None:
        self._client = client

    async def embed(self, texts: list[str]) -> tuple[list[list[float]], int | None]:
        """Returns a vector a text, in order. The tokens are estimated: LangChain passes no counts on."""
        try:
            return await asyncio.to_thread(self._client.embed_documents, texts), estimated_tokens(texts)
        except _FAILURES as error:
            raise _translated(error, self._client.model_id) from None

    async def close(self) -> None:
        await asyncio.to_thread(self._client.client.close)


async def connect(settings: ModelSettings) -> BedrockService:
    """Returns connections to a chat model. Raises `ModelRejected` without a region."""
    return await asyncio.to_thread(_make_service, settings)


def _make_service(settings: ModelSettings) -> BedrockService:
    try:
        client = ChatBedrockConverse(
            model_id=settings.model,
            client=_make_client(settings, "bedrock-runtime"),
            bedrock_client=_make_client(settings, "bedrock"),
            max_tokens=settings.max_output_tokens,
            temperature=settings.temperature,
        )
    except _FAILURES as error:
        raise _translated(error, settings.model) from None
    return BedrockService(client)


async def connect_embedding(settings: ModelSettings) -> BedrockEmbeddingService:
    """Returns connections to an embedding model. Raises `ModelRejected` without a region."""
    client = await asyncio.to_thread(_make_client, settings, "bedrock-runtime")
    return BedrockEmbeddingService(BedrockEmbeddings(model_id=settings.model, client=client))


async def list_models(settings: ModelSettings) -> Sequence[ListedModel]:
    """Returns the models that Bedrock has for texts in the region. Raises `ModelUnavailable` or
    `ModelRejected`.
    """
    return await asyncio.to_thread(_list_models, settings)


def _list_models(settings: ModelSettings) -> Sequence[ListedModel]:
    client = _make_client(settings, "bedrock")
    try:
        body = client.list_foundation_models(byOutputModality="TEXT")
        return [ListedModel(name=str(each["modelId"])) for each in body["modelSummaries"]]
    except _FAILURES as error:
        raise _translated(error, settings.model) from None
    finally:
        client.close()


def _make_client(
    settings: ModelSettings, service: str
) -> Any:  # the SDK makes its clients' types at run time
    """Returns a client of AWS's SDK, which is untyped. Raises `ModelRejected` without a region."""
    config = Config(
        connect_timeout=settings.connect_timeout_seconds,
        read_timeout=settings.first_token_timeout_seconds,
        retries={"total_max_attempts": 1},
        max_pool_connections=_MAX_CONNECTIONS,
    )
    try:
        return create_aws_client(
            service_name=service,
            region_name=settings.region or None,
            endpoint_url=settings.base_url,
            config=config,
            api_key=settings.api_key,
        )
    except _FAILURES as error:
        raise _translated(error, settings.model) from None


def _translated(error: Exception, model: str) -> errors.ModelUnavailable | errors.ModelRejected:
    """Returns an error as one of KAI's. LangChain wraps some of the SDK's."""
    if isinstance(error, ValueError) and isinstance(error.__cause__, Exception):
        error = error.__cause__
    match error:
        case botocore.exceptions.ClientError():
            return _refused(error, model)
        case botocore.exceptions.NoCredentialsError() | botocore.exceptions.PartialCredentialsError():
            return errors.ModelRejected(
                "There are no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, "
                "or KAI_LLM__API_KEY to a key of Amazon Bedrock."
            )
        case botocore.exceptions.NoRegionError():
            return errors.ModelRejected("Amazon Bedrock needs a region: set KAI_LLM__REGION.")
        case botocore.exceptions.ConnectTimeoutError():
            return errors.not_accepted(_CURES)
        case botocore.exceptions.EndpointConnectionError() | botocore.exceptions.ConnectionClosedError():
            return errors.not_connected(_CURES)
        case botocore.exceptions.BotoCoreError() if not isinstance(
            error, botocore.exceptions.HTTPClientError | botocore.exceptions.ResponseStreamingError
        ):
            kind = type(error).__name__
            return errors.ModelRejected(
                f"AWS's client could not send the request ({kind}). Check {_CURES.key}, and {_CURES.address}."
            )
        case _:
            return errors.ended_early(model, cures=_CURES)


def _refused(
    error: botocore.exceptions.ClientError, model: str
) -> errors.ModelUnavailable | errors.ModelRejected:
    reported = error.response.get("Error", {})
    code = str(reported.get("Code", ""))
    response = error.response.get("ResponseMetadata", {})
    status = _STATUS_IN_STREAM.get(code) or int(response.get("HTTPStatusCode", 500))
    refusal = errors.ServiceRefusal(
        status=429 if code in _QUOTA_CODES else status,
        message=str(reported.get("Message", "")),
        headers=response.get("HTTPHeaders", {}),
        cures=_CURES,
    )
    return errors.refused(refusal, model)
