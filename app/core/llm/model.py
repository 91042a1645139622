"""A language model behind any OpenAI-compatible endpoint."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from pydantic import SecretStr

from app.core.llm.thinking import VisibleText
from app.core.llm.tokens import approximate_tokens

if TYPE_CHECKING:
    from langchain_core.messages import AIMessageChunk
    from langchain_openai import ChatOpenAI

NO_KEY = SecretStr("none")
"""For servers that ask for no key: the protocol has a header to fill."""


class ModelUnavailable(Exception):
    """The model did not answer, not in time, or broke off; asking again may work."""


class ModelRejected(Exception):
    """The model's service refused the request; asking again changes nothing."""


@dataclass(frozen=True)
class ModelSettings:
    """Which model, where, and how long it may take; `max_retries` counts tries after the first."""

    model: str
    base_url: str | None
    api_key: SecretStr | None
    connect_timeout_seconds: float
    first_token_timeout_seconds: float
    """How long the model may send nothing, at the start and later."""
    total_timeout_seconds: float
    max_retries: int
    max_output_tokens: int
    temperature: float | None


@dataclass(frozen=True)
class PromptMessage:
    """A part of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Reply:
    """A whole reply; `tokens_used` counts prompt and reply, by the provider or approximately."""

    text: str
    tokens_used: int


class LanguageModel:
    """One model for one task. Made within a running event loop, closed by `close`."""

    def __init__(self, settings: ModelSettings) -> None:
        self.name = settings.model
        self._settings = settings
        # The client library takes a second to import: a thread does it while the server starts.
        self._client = asyncio.create_task(asyncio.to_thread(_client, settings))

    async def reply(self, messages: Sequence[PromptMessage], on_token: Callable[[str], None]) -> Reply:
        """Have a reply written, handing each visible piece to `on_token` as it comes.

        A request is tried again only before the first token. Raises `ModelUnavailable` or
        `ModelRejected`; cancelling the caller closes the request.
        """
        prompt: list[tuple[str, str]] = [(message.role, message.content) for message in messages]
        visible, pieces, tokens_used = VisibleText(), list[str](), 0
        client = await asyncio.shield(self._client)
        async with _errors_told(self._settings), aclosing(_chunks(client, prompt)) as chunks:
            async with asyncio.timeout(self._settings.total_timeout_seconds):
                while (chunk := await self._next(chunks)) is not None:
                    if chunk.usage_metadata is not None:
                        tokens_used = chunk.usage_metadata["total_tokens"]
                    if piece := visible.feed(chunk.text):
                        pieces.append(piece)
                        on_token(piece)
        if rest := visible.end():
            pieces.append(rest)
            on_token(rest)
        text = "".join(pieces)
        if not text.strip():
            raise ModelUnavailable(f"The model {self.name} gave an empty answer.")
        asked = sum(approximate_tokens(message.content) for message in messages)
        return Reply(text, tokens_used or asked + approximate_tokens(text))

    async def close(self) -> None:
        client = await self._client
        await client.root_async_client.close()

    async def _next(self, chunks: "AsyncGenerator[AIMessageChunk]") -> "AIMessageChunk | None":
        silence = self._settings.first_token_timeout_seconds
        try:
            async with asyncio.timeout(silence):
                return await anext(chunks, None)
        except TimeoutError as error:
            raise ModelUnavailable(f"The model {self.name} sent nothing for {silence:g} s.") from error


def _chunks(client: "ChatOpenAI", prompt: list[tuple[str, str]]) -> "AsyncGenerator[AIMessageChunk]":
    return cast("AsyncGenerator[AIMessageChunk]", client.astream(prompt))


def _client(settings: ModelSettings) -> "ChatOpenAI":
    from langchain_openai import ChatOpenAI  # noqa: PLC0415 - a second of import
    from openai import Timeout  # noqa: PLC0415

    return ChatOpenAI(
        model=settings.model,
        base_url=settings.base_url,
        api_key=settings.api_key or NO_KEY,
        timeout=Timeout(settings.total_timeout_seconds, connect=settings.connect_timeout_seconds),
        max_retries=settings.max_retries,
        max_completion_tokens=settings.max_output_tokens,
        temperature=settings.temperature,
        stream_usage=True,
        stream_chunk_timeout=None,
        use_responses_api=False,
    )


@asynccontextmanager
async def _errors_told(settings: ModelSettings) -> AsyncGenerator[None]:
    """The library's errors in our words, which never hold a key or a prompt."""
    import openai  # noqa: PLC0415 - loaded with the client by now

    name = settings.model
    try:
        yield
    except TimeoutError as error:
        total = settings.total_timeout_seconds
        raise ModelUnavailable(f"The model {name} did not finish within {total:g} s.") from error
    except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
        raise ModelRejected("The model's service refused the key. Check KAI_LLM__API_KEY.") from error
    except openai.NotFoundError as error:
        cure = "Check KAI_LLM__MODEL and KAI_LLM__BASE_URL."
        raise ModelRejected(f"The model's service does not know the model {name}. {cure}") from error
    except (openai.RateLimitError, openai.InternalServerError, openai.ConflictError) as error:
        raise ModelUnavailable(f"The model's service answered {error.status_code}.") from error
    except openai.APIStatusError as error:
        if error.status_code == 408:
            raise ModelUnavailable("The model's service answered 408.") from error
        raise ModelRejected(f"The model's service refused the request ({error.status_code}).") from error
    except openai.APITimeoutError as error:
        raise ModelUnavailable("The model's service did not answer in time.") from error
    except openai.APIConnectionError as error:
        raise ModelUnavailable("The model's service cannot be reached.") from error
    except (openai.OpenAIError, OSError, ValueError, TypeError) as error:
        raise ModelUnavailable("The model's service broke its answer off.") from error
