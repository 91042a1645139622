"""A language model, whichever service runs it."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from typing import TypeVar

from app.core.llm.calls import Call, ModelCalls
from app.core.llm.capabilities import (
    NO_TRAITS,
    ModelCapabilities,
    ReplyFormat,
    capabilities_from,
    reply_format_for,
)
from app.core.llm.catalog import ModelCatalog
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
from app.core.llm.messages import ChatRequest, PromptMessage
from app.core.llm.reply_schema import ReplySchema
from app.core.llm.services import ChatService, connect, is_at_openai
from app.core.llm.settings import ModelSettings
from app.core.llm.text_tools import TextToolReader, as_text_prompt
from app.core.llm.tokens import approximate_tokens
from app.core.llm.tool_calls import OfferedTool, ToolCall
from app.core.llm.transcript import ReplyStream

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
    fault: str = ""
    """What is wrong with a call that could not be read, in words for the model."""


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """A request, and what becomes of its reply."""

    request: ChatRequest
    on_token: Callable[[str], None]
    max_retries: int
    collects_calls: bool = False
    """Read the service's own calls of tools."""
    text_tools: TextToolReader | None = None
    """Reads the calls of a reply that has them as text."""


class LanguageModel:
    """One model for one task. Create it in a running event loop; `close` ends it."""

    def __init__(
        self, settings: ModelSettings, calls: ModelCalls, catalog: ModelCatalog | None = None
    ) -> None:
        """`catalog` is that of the model's service. Models of one service share it."""
        self.name = settings.model
        self._settings = settings
        self._calls = calls
        self._catalog = catalog or ModelCatalog(settings)
        self._owns_catalog = catalog is None
        self._has_refused_tools = False
        self.known: ModelCapabilities | None = None
        """What was last known of the model. None before it was looked up."""
        self._usage_is_counted = True
        self._reply_format = reply_format_for(settings.model, settings.reply_format)
        self._connecting: asyncio.Task[ChatService] | None = None

    @property
    def takes_tools(self) -> bool:
        """False if the settings let the model call no tools."""
        return self._settings.tools != "off"

    @property
    def max_output_tokens(self) -> int:
        return self._settings.max_output_tokens

    @property
    def known_window(self) -> int | None:
        """Tokens that prompt and reply may take together. None until something says so."""
        if self._settings.context_window is not None:
            return self._settings.context_window
        if self.known is None or self.known.window_source == "default":
            return None
        return self.known.context_window

    async def capabilities(self) -> ModelCapabilities:
        """Returns what is known of the model so far. Asks the service once, for a few seconds at most.

        Raises `ModelRejected` if the settings do not suffice to connect to the service.
        """
        settings = self._settings
        is_set = settings.context_window is not None and settings.tools != "auto"
        service = NO_TRAITS if is_set else await self._catalog.traits(settings.model)
        connection = await asyncio.shield(self.prepare())
        self.known = capabilities_from(
            tools=settings.tools,
            context_window=settings.context_window,
            service=service,
            profile=connection.profile,
            has_refused_tools=self._has_refused_tools,
            is_openai=is_at_openai(settings),
        )
        return self.known

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
        request = ChatRequest(messages=messages, temperature=temperature)
        return await self._reply(_Asked(request=request, on_token=on_token, max_retries=retries))

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
            request = ChatRequest(
                messages=write_prompt(reply_format),
                schema=schema,
                reply_format=reply_format,
                temperature=temperature,
            )
            retries = self._settings.max_retries
            return await self._reply(_Asked(request=request, on_token=on_token, max_retries=retries))
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
        request = ChatRequest(messages=messages, max_tokens=max_tokens)
        return await self._reply(_Asked(request=request, on_token=lambda _: None, max_retries=0))

    async def converse(
        self,
        messages: Sequence[PromptMessage],
        tools: Sequence[OfferedTool],
        on_token: Callable[[str], None],
    ) -> Said:
        """Generate a reply that may call tools. Calls are not checked: names and arguments are the model's.

        A reply that is longer than it may be comes back as `cut`. If the service refuses tools in the
        request, and the settings leave the choice to KAI, they are described as text from now on. Otherwise
        as `reply`.
        """
        if (await self.capabilities()).tools == "text":
            return await self._converse_in_text(messages, tools, on_token)
        request = ChatRequest(messages=messages, tools=tools)
        retries = self._settings.max_retries
        asked = _Asked(request=request, on_token=on_token, max_retries=retries, collects_calls=True)
        try:
            return await self._total(asked, self._try_until_said)
        except FormatRejected as rejected:
            if not tools or self._settings.tools != "auto":
                raise
            if isinstance(rejected, ToolsRejected):
                self._refuse_tools(rejected)
            said = await self._converse_in_text(messages, tools, on_token)
            self._refuse_tools(rejected)
            return said

    def _refuse_tools(self, rejected: FormatRejected) -> None:
        if not self._has_refused_tools:
            self._has_refused_tools = True
            logger.warning("model %s is offered tools as text from now on: %s", self.name, rejected)

    async def _converse_in_text(
        self,
        messages: Sequence[PromptMessage],
        tools: Sequence[OfferedTool],
        on_token: Callable[[str], None],
    ) -> Said:
        reader = TextToolReader(on_token)
        asked = _Asked(
            request=ChatRequest(messages=as_text_prompt(messages, tools)),
            on_token=reader.feed,
            max_retries=self._settings.max_retries,
            text_tools=reader,
        )
        return await self._total(asked, self._try_until_said)

    async def _reply(self, asked: _Asked) -> Reply:
        return await self._total(asked, self._try_until_replied)

    async def _total(self, asked: _Asked, attempt: Callable[[_Asked, Call], Awaitable[T]]) -> T:
        """Everything that is sent to a model passes here, and leaves its secrets here."""
        asked = replace(asked, request=asked.request.redacted())
        total = self._settings.total_timeout_seconds
        with self._calls.of(self.name, "chat", self._settings.provider) as call:
            try:
                async with asyncio.timeout(total):
                    return await attempt(asked, call)
            except TimeoutError as error:
                raise ModelUnavailable(f"The model {self.name} did not finish within {total:g} s.") from error

    def prepare(self) -> asyncio.Task[ChatService]:
        """Begin to import the client library in a thread, which takes a second; the first reply does so
        otherwise. Returns the task.
        """
        has_failed = self._connecting is not None and _has_failed(self._connecting)
        if self._connecting is None or has_failed:
            name = f"model {self.name}: import its client"
            self._connecting = asyncio.create_task(connect(self._settings), name=name)
        return self._connecting

    async def close(self) -> None:
        if self._connecting is not None:
            with suppress(ModelRejected, ModelUnavailable):
                connection = await self._connecting
                await connection.close()
        if self._owns_catalog:
            await self._catalog.close()

    async def _try_until_replied(self, asked: _Asked, call: Call) -> Reply:
        return await self._try_until(asked, call, self._try)

    async def _try_until_said(self, asked: _Asked, call: Call) -> Said:
        return await self._try_until(asked, call, self._try_to_say)

    async def _try_until(
        self,
        asked: _Asked,
        call: Call,
        attempt: Callable[[_Asked, ReplyStream, Call], Awaitable[T]],
    ) -> T:
        tries = 0
        while True:
            transcript = ReplyStream(
                asked.on_token,
                asked.request.schema,
                self._settings.max_reply_characters,
                collects_calls=asked.collects_calls,
            )
            try:
                return await attempt(asked, transcript, call)
            except UsageNotCounted:
                if tries > asked.max_retries:
                    raise
                self._usage_is_counted = False
            except PassingFailure as failure:
                if transcript.begun or tries >= asked.max_retries:
                    raise
                await asyncio.sleep(_pause_seconds(failure, tries))
            tries += 1
            call.tried_again()

    async def _try(self, asked: _Asked, transcript: ReplyStream, call: Call) -> Reply:
        try:
            await self._listen(asked, transcript)
        finally:
            used = _note_usage(asked.request, transcript, call)
        try:
            text = transcript.whole_text(self.name, may_be_cut=asked.request.max_tokens is not None)
        except EmptyReply as empty:
            if asked.request.schema is None:
                raise
            raise FormatRejected(str(empty)) from None
        return Reply(text, used, transcript.cut)

    async def _try_to_say(self, asked: _Asked, transcript: ReplyStream, call: Call) -> Said:
        try:
            await self._listen(asked, transcript)
        except ReplyTooLong:
            return Said(transcript.text, (), _note_usage(asked.request, transcript, call), cut=True)
        except BaseException:
            _note_usage(asked.request, transcript, call)
            raise
        used = _note_usage(asked.request, transcript, call)
        if asked.text_tools is not None:
            return self._said_in_text(asked.text_tools, transcript, used)
        text, calls = transcript.whole_turn(self.name)
        return Said(text, calls or (), used, cut=calls is None)

    def _said_in_text(self, reader: TextToolReader, transcript: ReplyStream, used: int) -> Said:
        """A block that is closed is whole, however the reply ended."""
        if not reader.is_closed:
            if transcript.cut:
                return Said(reader.text, (), used, cut=True)
            transcript.whole_text(self.name)
        made, fault = reader.end()
        return Said(reader.text, () if made is None else (made,), used, fault=fault)

    async def _listen(self, asked: _Asked, transcript: ReplyStream) -> None:
        connection = await asyncio.shield(self.prepare())
        silence = self._settings.first_token_timeout_seconds
        now = asyncio.get_running_loop().time
        request = replace(asked.request, counts_usage=self._usage_is_counted)
        reader = asked.text_tools
        try:
            async with (
                asyncio.timeout(silence) as patience,
                aclosing(connection.stream(request)) as chunks,
            ):
                async for chunk in chunks:
                    transcript.take(chunk)
                    if transcript.begun:
                        silence = min(silence, self._settings.token_timeout_seconds)
                    patience.reschedule(now() + silence)
                    if transcript.runs_on or (reader is not None and reader.runs_on):
                        break
        except TimeoutError as error:
            raise ModelUnavailable(f"The model {self.name} sent nothing for {silence:g} s.") from error


def _note_usage(request: ChatRequest, transcript: ReplyStream, call: Call) -> int:
    """Count the tokens of a reply, also of an interrupted one, as reported or estimated. Returns them."""
    read, used = transcript.input_tokens, transcript.tokens_used
    if not used and transcript.begun:
        read = sum(approximate_tokens(message.content) for message in request.messages)
        used = read + approximate_tokens(transcript.text)
    if used:
        call.used(read, used - read, transcript.cached_tokens)
    return used


def _has_failed(task: "asyncio.Task[ChatService]") -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


def _pause_seconds(failure: PassingFailure, tries: int) -> float:
    """Returns the pause that the service asks for, else exponential backoff with jitter."""
    if failure.pause_seconds is not None:
        return failure.pause_seconds
    longest = min(_FIRST_PAUSE_SECONDS * 2**tries, MAX_PAUSE_SECONDS)
    return random.uniform(longest / 2, longest)  # noqa: S311 - no secret
