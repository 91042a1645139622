"""The rolling summary of a conversation: by a model, or, without one, as a digest of its exchanges."""

from collections.abc import Sequence
from pathlib import Path

from app.core.llm.model import LanguageModel, ModelRejected, ModelUnavailable, PromptMessage
from app.core.llm.tokens import approximate_tokens
from app.modules.prompt_sections import sections
from app.modules.run.digest import MAX_TOKENS, cut_at_sentence, digest, exchange_line, kept_statements
from graph.errors import SummaryFailed
from graph.ports import Summarized
from graph.state import PastExchange

_WORDS = 300
"""About 400 tokens in English: below the limit also for tokenizers that count more."""

_INSTRUCTIONS = (Path(__file__).parent / "prompts" / "summary.md").read_text(encoding="utf-8")


class ModelSummarizer:
    """Writes the summary by one call of a model. Raises `SummaryFailed` if the model fails or writes
    nothing.

    A summary that is too long is cut at a sentence. Then the user's own rules from the covered exchanges
    are appended, because they may have been cut off.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    async def summarize(self, summary: str | None, exchanges: Sequence[PastExchange]) -> Summarized:
        folded = "\n\n".join(map(exchange_line, exchanges))
        messages = [
            PromptMessage("system", _INSTRUCTIONS.replace("{words}", str(_WORDS))),
            PromptMessage(
                "user", sections([("Summary so far", summary or "none"), ("Older exchanges", folded)])
            ),
        ]
        try:
            reply = await self._model.reply_within(messages, MAX_TOKENS)
        except (ModelUnavailable, ModelRejected) as error:
            raise SummaryFailed(str(error)) from error
        text = reply.text.strip()
        if reply.cut or approximate_tokens(text) > MAX_TOKENS:
            statements = kept_statements(summary, exchanges)
            room = MAX_TOKENS - approximate_tokens("\n".join(["", *statements]))
            text = "\n".join([cut_at_sentence(text, room), *statements])
        return Summarized(text, reply.tokens_used)

    def digest(self, summary: str | None, exchanges: Sequence[PastExchange]) -> str:
        return digest(summary, exchanges)


class DigestSummarizer:
    """Summarizes by one line per exchange, as far as they fit."""

    async def summarize(self, summary: str | None, exchanges: Sequence[PastExchange]) -> Summarized:
        return Summarized(digest(summary, exchanges))

    def digest(self, summary: str | None, exchanges: Sequence[PastExchange]) -> str:
        return digest(summary, exchanges)
