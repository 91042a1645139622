"""The rolling summary of a conversation: by a model, or, without one, as a digest of its exchanges."""

from collections.abc import Sequence
from pathlib import Path

from app.core.llm.model import LanguageModel, ModelRejected, ModelUnavailable, PromptMessage
from app.core.llm.tokens import approximate_tokens
from app.modules.prompt_sections import sections
from graph.errors import SummaryFailed
from graph.ports import Summarized
from graph.state import Message

MAX_SUMMARY_TOKENS = 500
_WORDS = 300
"""Some 400 tokens in English: below the limit also for wordier tokenizers."""

_INSTRUCTIONS = (Path(__file__).parent / "prompts" / "summary.md").read_text(encoding="utf-8")


class ModelSummarizer:
    """Has a model write the summary; a failing model or an overlong summary is a `SummaryFailed`."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    async def summarize(self, summary: str | None, exchanges: Sequence[Message]) -> Summarized:
        folded = "\n\n".join(map(_line, exchanges))
        messages = [
            PromptMessage("system", _INSTRUCTIONS.replace("{words}", str(_WORDS))),
            PromptMessage(
                "user", sections([("Summary so far", summary or "none"), ("Older exchanges", folded)])
            ),
        ]
        try:
            reply = await self._model.reply(messages, on_token=lambda _: None)
        except (ModelUnavailable, ModelRejected) as error:
            raise SummaryFailed(str(error)) from error
        text = reply.text.strip()
        if not text or approximate_tokens(text) >= MAX_SUMMARY_TOKENS:
            raise SummaryFailed("The model's summary is empty or too long.")
        return Summarized(text, reply.tokens_used)


class DigestSummarizer:
    """Keeps a line an exchange, the newest that fit."""

    async def summarize(self, summary: str | None, exchanges: Sequence[Message]) -> Summarized:
        lines = [*(summary or "").splitlines(), *map(_line, exchanges)]
        while approximate_tokens("\n".join(lines)) >= MAX_SUMMARY_TOKENS:
            lines = lines[1:] if len(lines) > 1 else [lines[0][: len(lines[0]) // 2]]
        return Summarized("\n".join(lines))


def _line(exchange: Message) -> str:
    parts = [f"Asked: {exchange['query']}"]
    if exchange["results_summary"]:
        parts.append(f"Found: {exchange['results_summary']}")
    elif exchange["analysis"]:
        parts.append(f"Answered: {exchange['analysis']}")
    if exchange["sql"]:
        parts.append(f"SQL: {exchange['sql']}")
    return " ".join(" ".join(parts).split())
