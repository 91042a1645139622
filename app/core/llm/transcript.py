"""A reply while it is streamed."""

from collections.abc import Callable

from app.core.llm.chunks import ReplyChunk
from app.core.llm.errors import EmptyReply, ModelRejected, PassingFailure
from app.core.llm.reply_schema import ReplySchema
from app.core.llm.thinking import VisibleText

_MOST_LOOKS = 100
"""The most searches for the end of an object, each in the whole reply."""
_CHUNKS_AFTER_OBJECT = 8
"""Chunks allowed after an object. The end of a block, the finish reason and the usage need fewer."""


class ReplyStream:
    """Collects chunks, passes visible text on, and at the end checks that the reply is complete.

    An incomplete statement may run and give a wrong answer, so an incomplete reply raises an error.
    """

    def __init__(
        self,
        on_token: Callable[[str], None],
        schema: ReplySchema | None = None,
        max_characters: int | None = None,
    ) -> None:
        """`schema` is that of the requested object, which may arrive as arguments of the first tool call."""
        self._on_token = on_token
        self._characters_left = max_characters
        self._looks = 0
        self._schema = schema
        self._chunks_after_object: int | None = None
        self._visible = VisibleText()
        self._pieces: list[str] = []
        self._finish_reason: str | None = None
        self.tokens_used = 0
        self.input_tokens = 0
        self.cached_tokens: int | None = None

    @property
    def begun(self) -> bool:
        """True if any text was passed on."""
        return bool(self._pieces)

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
        self._count(len(chunk.text) + len(arguments) + len(chunk.refusal))
        self._pass_on(self._visible.feed(chunk.text) if chunk.text else "")
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
            raise ModelRejected(
                "The model's answer was stopped: it is too long. "
                "To allow such answers, raise KAI_LLM__REPLY_CHARS."
            )

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
                pass
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
                self._pass_on(self._visible.end())
        text = self.text
        if not text.strip():
            raise EmptyReply(f"The model {model} gave an empty answer.")
        return text

    def _pass_on(self, piece: str) -> None:
        if piece:
            self._pieces.append(piece)
            self._on_token(piece)


def _first_call(chunk: ReplyChunk) -> str:
    """Returns the part of the first tool call's arguments in a chunk."""
    return "".join(call.arguments for call in chunk.tool_calls if call.index == 0)
