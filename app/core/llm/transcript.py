"""A reply while it is streamed."""

from collections.abc import Callable

from app.core.llm.chunks import ReplyChunk
from app.core.llm.errors import EmptyReply, ModelRejected, PassingFailure, ReplyTooLong
from app.core.llm.reply_schema import ReplySchema
from app.core.llm.thinking import VisibleText
from app.core.llm.tool_calls import ToolCall, ToolCallPieces
from app.core.redaction.stream import RedactedStream

_MOST_LOOKS = 100
"""The most searches for the end of an object, each in the whole reply."""
_CHUNKS_AFTER_OBJECT = 8
"""Chunks allowed after an object. The end of a block, the finish reason and the usage need fewer."""

_FINISHED = ("tool_calls", "stop")
"""Finish reasons after which calls are whole."""


class ReplyStream:
    """Collects chunks, passes visible text on, and at the end checks that the reply is complete.

    An incomplete statement may run and give a wrong answer, so an incomplete reply raises an error.
    """

    def __init__(
        self,
        on_token: Callable[[str], None],
        schema: ReplySchema | None = None,
        max_characters: int | None = None,
        *,
        collects_calls: bool = False,
    ) -> None:
        """`schema` is that of the requested object, which may arrive as arguments of the first tool call.
        `collects_calls`: the reply may call tools.
        """
        self._calls = ToolCallPieces() if collects_calls else None
        self._has_call = False
        self._on_token = on_token
        self._characters_left = max_characters
        self._looks = 0
        self._schema = schema
        self._chunks_after_object: int | None = None
        self._visible = VisibleText()
        self._without_secrets = RedactedStream()
        self._pieces: list[str] = []
        self._finish_reason: str | None = None
        self.tokens_used = 0
        self.input_tokens = 0
        self.cached_tokens: int | None = None

    @property
    def begun(self) -> bool:
        """True if any text was passed on, or a call of a tool has begun."""
        return bool(self._pieces) or self._has_call

    @property
    def text(self) -> str:
        """The text passed on so far."""
        return "".join(self._pieces)

    def take(self, chunk: ReplyChunk) -> None:
        """Add a chunk. Raises `ModelRejected` if the reply exceeds its maximum length."""
        if chunk.usage is not None:
            self.tokens_used = chunk.usage.total_tokens
            self.input_tokens = chunk.usage.input_tokens
            self.cached_tokens = chunk.usage.cached_tokens
        self._finish_reason = chunk.finish_reason or self._finish_reason
        before = len(self._pieces)
        arguments = _first_call(chunk) if self._schema is not None else ""
        self._count(len(chunk.text) + len(arguments) + len(chunk.refusal) + self._collect(chunk))
        self._pass_on(self._without_secrets.feed(self._visible.feed(chunk.text)) if chunk.text else "")
        self._pass_on(arguments)
        self._pass_on(chunk.refusal)
        if self._chunks_after_object is not None:
            self._chunks_after_object += 1
        elif self._may_end_object(before):
            self._looks += 1
            self._chunks_after_object = (
                0 if self._schema is not None and self._schema.is_in(self.text) else None
            )

    def _may_end_object(self, before: int) -> bool:
        is_wanted = self._schema is not None and self._looks < _MOST_LOOKS
        return is_wanted and "}" in "".join(self._pieces[before:])

    def _count(self, characters: int) -> None:
        if self._characters_left is None:
            return
        self._characters_left -= characters
        if self._characters_left < 0:
            raise ReplyTooLong("The model's answer was stopped: it is too long. Ask again, or ask for less.")

    @property
    def runs_on(self) -> bool:
        """True if the model continues after a complete object: a grammar may allow more line breaks."""
        return (self._chunks_after_object or 0) > _CHUNKS_AFTER_OBJECT

    @property
    def cut(self) -> bool:
        """True if the reply reached its token limit."""
        return self._finish_reason in {"length", "model_length"}

    def whole_text(self, model: str, *, may_be_cut: bool = False) -> str:
        """Returns the text. Raises `ModelUnavailable` or `ModelRejected` if it is incomplete."""
        match self._finish_reason:
            case None | "length" | "model_length" if self._chunks_after_object is not None:
                self._end_text()
            case None if not self.tokens_used:
                raise PassingFailure("The model's service ended its answer too early.")
            case "length" | "model_length" if not may_be_cut:
                cure = "Raise KAI_LLM__MAX_OUTPUT_TOKENS."
                raise ModelRejected(f"The answer of the model {model} is too long. {cure}")
            case "error" | "abort" | "insufficient_system_resource":
                raise PassingFailure("The model's service ended its answer too early.")
            case "content_filter":
                raise ModelRejected("The model's service withheld its answer: its content filter objected.")
            case _:
                self._end_text()
        text = self.text
        if not text.strip():
            raise EmptyReply(f"The model {model} gave an empty answer.")
        return text

    def whole_turn(self, model: str) -> tuple[str, list[ToolCall] | None]:
        """Returns the text and the calls of a reply that may have either.

        Returns None in place of the calls if the reply was cut: calls count only if the service says that
        the model has finished them. Raises `ModelUnavailable` or `ModelRejected` if the reply is incomplete
        otherwise, or empty.
        """
        calls = self._calls.calls() if self._calls is not None else []
        if calls and self._finish_reason is None:
            raise PassingFailure("The model's service broke its answer off.")
        if self._finish_reason == "content_filter" or not (calls or self.cut):
            return self.whole_text(model), []
        self._end_text()
        return self.text, calls if self._finish_reason in _FINISHED else None

    def _collect(self, chunk: ReplyChunk) -> int:
        """Add the pieces of calls in a chunk. Returns their characters."""
        if self._calls is None:
            return 0
        size = 0
        for call in chunk.tool_calls:
            self._has_call = True
            self._calls.add(call.index, call.name, call.arguments)
            size += len(call.arguments)
        return size

    def _end_text(self) -> None:
        self._pass_on(self._without_secrets.feed(self._visible.end()) + self._without_secrets.end())

    def _pass_on(self, piece: str) -> None:
        if piece:
            self._pieces.append(piece)
            self._on_token(piece)


def _first_call(chunk: ReplyChunk) -> str:
    """Returns the part of the first tool call's arguments in a chunk."""
    return "".join(call.arguments for call in chunk.tool_calls if call.index == 0)
