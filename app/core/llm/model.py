"""A language model behind any OpenAI-compatible endpoint."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

from pydantic import JsonValue

from app.core.llm.calls import Call, ModelCalls
from app.core.llm.capabilities import ReplyFormat, reply_format_for
from app.core.llm.client import connect, stream_chunks
from app.core.llm.errors import (
    MAX_PAUSE_SECONDS,
    EmptyReply,
    FormatRejected,
    ModelRejected,
    ModelUnavailable,
    PassingFailure,
    ReplyTooLong,
    ToolsRejected,
    UsageNotCounted,
)
from app.core.llm.reply_schema import ReplySchema
from app.core.llm.settings import ModelSettings
from app.core.llm.tokens import approximate_tokens
from app.core.llm.tool_calls import OfferedTool, ToolCall
from app.core.llm.transcript import ReplyStream

if TYPE_CHECKING:
    from app.core.llm.chat_client import ChatConnection

__all__ = [
    "LanguageModel",
    "ModelRejected",
    "ModelSettings",
    "ModelUnavailable",
    "OfferedTool",
    "PromptMessage",
    "Reply",
    "ReplyFormat",
    "ReplySchema",
    "Said",
    "ToolCall",
]

logger = logging.getLogger(__name__)

T = TypeVar("T")

_FIRST_PAUSE_SECONDS = 0.5


@dataclass(frozen=True)
class PromptMessage:
    """A part of a prompt. `calls` are those that the assistant made; each is answered by a message of role
    `tool` with its `call_id`.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: Sequence[ToolCall] = ()
    call_id: str = ""

    def as_request(self) -> dict[str, JsonValue]:
        """Returns the message as the chat protocol has it."""
        message: dict[str, JsonValue] = {"role": self.role, "content": self.content}
        if self.calls:
            message["tool_calls"] = [call.as_request() for call in self.calls]
        if self.role == "tool":
            message["tool_call_id"] = self.call_id
        return message


@dataclass(frozen=True)
class Reply:
    """A reply. `tokens_used` counts prompt and reply, as the provider reports or as estimated.

    `cut` is True if the reply reached the requested limit, so its end is missing.
    """

    text: str
    tokens_used: int
    cut: bool = False


@dataclass(frozen=True)
class Said:
    """A reply of a model that may call tools: text, calls, or both. `tokens_used` as in `Reply`.

    `cut` is True if the reply reached its limit. Its calls are then left out: the last one may lack its end,
    and an incomplete statement may run and give a wrong answer.
    """

    text: str
    calls: Sequence[ToolCall]
    tokens_used: int
    cut: bool = False


@dataclass(frozen=True)
class _Request:
    """A prompt and the limits of its reply. Without `max_tokens` the model's configured limit applies."""

    messages: Sequence[PromptMessage]
    on_token: Callable[[str], None]
    max_retries: int
    max_tokens: int | None = None
    schema: ReplySchema | None = None
    reply_format: ReplyFormat = "text"
    """Format of a reply with a schema."""
    temperature: float | None = None
    """None for the configured temperature."""
    tools: Sequence[OfferedTool] | None = None
    """Tools that the reply may call. None for a request that knows none."""


class LanguageModel:
    """One model for one task. Create it in a running event loop; `close` ends it."""

    def __init__(self, settings: ModelSettings, calls: ModelCalls) -> None:
        self.name = settings.model
        self._settings = settings
        self._calls = calls
        self.takes_tools = True
        """False once the service has refused a request and named its tools as the reason."""
        self._usage_is_counted = True
        self._reply_format = reply_format_for(settings.model, settings.reply_format)
        self._connecting: asyncio.Task[ChatConnection] | None = None

    async def reply(
        self,
        messages: Sequence[PromptMessage],
        on_token: Callable[[str], None],
        *,
        temperature: float | None = None,
    ) -> Reply:
        """Generate a reply, passing each visible piece to `on_token` as it arrives.

        Failures are retried only before the first piece. Raises `ModelUnavailable` or
        `ModelRejected`. Cancelling the caller closes the request.
        """
        retries = self._settings.max_retries
        return await self._reply(_Request(messages, on_token, retries, temperature=temperature))

    async def reply_by_schema(
        self,
        write_prompt: Callable[[ReplyFormat], Sequence[PromptMessage]],
        schema: ReplySchema,
        on_token: Callable[[str], None],
        *,
        temperature: float | None = None,
    ) -> Reply:
        """Generate an object by a schema, or text if the reply format is text.

        `write_prompt` returns the prompt for a format. If the service refuses the format, or the reply in it
        is empty, the request is repeated for text. If that succeeds, all later requests are for text. The
        text of the reply is the object as JSON or anything else, because no service guarantees the schema.

        Otherwise as `reply`.
        """
        reply_format = self._reply_format
        if reply_format == "text":
            return await self.reply(write_prompt("text"), on_token, temperature=temperature)
        try:
            asked = write_prompt(reply_format)
            retries = self._settings.max_retries
            request = _Request(
                asked,
                on_token,
                retries,
                schema=schema,
                reply_format=reply_format,
                temperature=temperature,
            )
            return await self._reply(request)
        except FormatRejected as rejected:
            reply = await self.reply(write_prompt("text"), on_token, temperature=temperature)
            if self._reply_format != "text":
                self._reply_format = "text"
                because = f"gave no reply by {reply_format}: {rejected}"
                logger.warning("model %s %s It is asked for text from now on.", self.name, because)
            return reply

    async def reply_within(self, messages: Sequence[PromptMessage], max_tokens: int) -> Reply:
        """Generate a reply of at most `max_tokens` tokens, without retries. A longer reply is cut.

        Raises `ModelUnavailable` or `ModelRejected`. Cancelling the caller closes the request.
        """
        return await self._reply(_Request(messages, lambda _: None, 0, max_tokens))

    async def converse(
        self,
        messages: Sequence[PromptMessage],
        tools: Sequence[OfferedTool],
        on_token: Callable[[str], None],
    ) -> Said:
        """Generate a reply that may call tools. Calls are not checked: names and arguments are the model's.

        A reply that is longer than it may be comes back as `cut`. If the service refuses the request for its
        tools, `takes_tools` is False from now on. Otherwise as `reply`.
        """
        request = _Request(messages, on_token, self._settings.max_retries, tools=tools)
        try:
            return await self._total(request, self._try_until_said)
        except ToolsRejected as rejected:
            if tools and self.takes_tools:
                self.takes_tools = False
                logger.warning("model %s is offered no tools from now on: %s", self.name, rejected)
            raise

    async def _reply(self, request: "_Request") -> Reply:
        return await self._total(request, self._try_until_replied)

    async def _total(self, request: "_Request", attempt: Callable[[_Request, Call], Awaitable[T]]) -> T:
        total = self._settings.total_timeout_seconds
        with self._calls.of(self.name, "chat") as call:
            try:
                async with asyncio.timeout(total):
                    return await attempt(request, call)
            except TimeoutError as error:
                raise ModelUnavailable(f"The model {self.name} did not finish within {total:g} s.") from error

    def prepare(self) -> "asyncio.Task[ChatConnection]":
        """Begin to import the client library in a thread, which takes a second; the first reply does so
        otherwise. Returns the task.
        """
        if self._connecting is None:
            name = f"model {self.name}: import its client"
            self._connecting = asyncio.create_task(connect(self._settings), name=name)
        return self._connecting

    async def close(self) -> None:
        if self._connecting is not None:
            connection = await self._connecting
            await connection.close()

    async def _try_until_replied(self, request: "_Request", call: Call) -> Reply:
        return await self._try_until(request, call, self._try)

    async def _try_until_said(self, request: "_Request", call: Call) -> Said:
        return await self._try_until(request, call, self._try_to_say)

    async def _try_until(
        self,
        request: "_Request",
        call: Call,
        attempt: Callable[[_Request, ReplyStream, Call], Awaitable[T]],
    ) -> T:
        tries = 0
        while True:
            longest = self._settings.max_reply_characters
            transcript = ReplyStream(
                request.on_token, request.schema, longest, collects_calls=request.tools is not None
            )
            try:
                return await attempt(request, transcript, call)
            except UsageNotCounted:
                if tries > request.max_retries:
                    raise
                self._usage_is_counted = False
            except PassingFailure as failure:
                if transcript.begun or tries >= request.max_retries:
                    raise
                await asyncio.sleep(_pause_seconds(failure, tries))
            tries += 1
            call.tried_again()

    async def _try(self, request: "_Request", transcript: ReplyStream, call: Call) -> Reply:
        try:
            await self._listen(request, transcript)
        finally:
            used = _note_usage(request, transcript, call)
        try:
            text = transcript.whole_text(self.name, may_be_cut=request.max_tokens is not None)
        except EmptyReply as empty:
            if request.schema is None:
                raise
            raise FormatRejected(str(empty)) from None
        return Reply(text, used, transcript.cut)

    async def _try_to_say(self, request: "_Request", transcript: ReplyStream, call: Call) -> Said:
        try:
            await self._listen(request, transcript)
        except ReplyTooLong:
            return Said(transcript.text, (), _note_usage(request, transcript, call), cut=True)
        except BaseException:
            _note_usage(request, transcript, call)
            raise
        used = _note_usage(request, transcript, call)
        text, calls = transcript.whole_turn(self.name)
        return Said(text, calls or (), used, cut=calls is None)

    async def _listen(self, request: "_Request", transcript: ReplyStream) -> None:
        connection = await asyncio.shield(self.prepare())
        silence = self._settings.first_token_timeout_seconds
        now = asyncio.get_running_loop().time
        prompt = [message.as_request() for message in request.messages]
        usage, limit = self._usage_is_counted, request.max_tokens
        fields = dict(request.schema.request_fields(request.reply_format)) if request.schema else {}
        if request.tools:
            fields["tools"] = [tool.as_request() for tool in request.tools]
        if request.temperature is not None:
            fields["temperature"] = request.temperature
        chunks = stream_chunks(connection, prompt, usage=usage, max_tokens=limit, fields=fields)
        try:
            async with asyncio.timeout(silence) as patience, aclosing(chunks):
                async for chunk in chunks:
                    transcript.take(chunk)
                    if transcript.begun:
                        silence = min(silence, self._settings.token_timeout_seconds)
                    patience.reschedule(now() + silence)
                    if transcript.runs_on:
                        break
        except TimeoutError as error:
            raise ModelUnavailable(f"The model {self.name} sent nothing for {silence:g} s.") from error


def _note_usage(request: _Request, transcript: ReplyStream, call: Call) -> int:
    """Count the tokens of a reply, also of an interrupted one, as reported or estimated. Returns them."""
    asked, used = transcript.input_tokens, transcript.tokens_used
    if not used and transcript.begun:
        asked = sum(approximate_tokens(message.content) for message in request.messages)
        used = asked + approximate_tokens(transcript.text)
    if used:
        call.used(asked, used - asked, transcript.cached_tokens)
    return used


def _pause_seconds(failure: PassingFailure, tries: int) -> float:
    """Returns the pause that the service asks for, else exponential backoff with jitter."""
    if failure.pause_seconds is not None:
        return failure.pause_seconds
    longest = min(_FIRST_PAUSE_SECONDS * 2**tries, MAX_PAUSE_SECONDS)
    return random.uniform(longest / 2, longest)  # noqa: S311 - no secret
