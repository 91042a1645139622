"""Check the claims of an analysis; a model may correct contradicted ones once."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from app.modules.analysis.claims.strike import contradicted, in_first_sentence, struck, with_closing_line
from app.modules.analysis.figures import Figures
from graph.state import Claim, Rows

if TYPE_CHECKING:
    from app.modules.analysis.claims.table import ClaimTable

_CORRECTION = (Path(__file__).parent / "prompts" / "correction.md").read_text(encoding="utf-8")
_MOST_CORRECTED = 20
_PASSES = 12

Rewrite = Callable[[str], Awaitable[str | None]]
"""Asks the model for a new text with a correction prompt; returns None when no model answers."""


@dataclass(frozen=True)
class Checker:
    """Checks texts about one result. It works in a thread: a long text takes 0.1 seconds."""

    question: str
    sql: str
    rows: Rows
    found: Figures

    @cached_property
    def _table(self) -> "ClaimTable":
        """The parsed rows, shared by all texts that are checked."""
        from app.modules.analysis.claims.table import ClaimTable  # noqa: PLC0415  (numpy loads slowly)

        return ClaimTable(self.rows, self.question, self.sql, found=self.found)

    async def claims(self, text: str) -> list[Claim]:
        return await asyncio.to_thread(self._claims_in, text)

    def _claims_in(self, text: str) -> list[Claim]:
        from app.modules.analysis.claims.check import claims_in  # noqa: PLC0415  (numpy loads slowly)

        return claims_in(text, self._table)

    async def checked(self, text: str, rewrite: Rewrite, instead: str) -> tuple[str, list[Claim]]:
        """Return the text to show, and its claims.

        Contradicted claims are sent to `rewrite` once. Sentences that are still contradicted are removed and
        named in a closing line. `instead` replaces the body when nothing else is left.
        """
        claims = await self.claims(text)
        wrong = contradicted(claims)
        if not wrong:
            return text, claims
        again = await rewrite(correction(wrong))
        if again:
            new_claims = await self.claims(again)
            if len(contradicted(new_claims)) <= len(wrong):
                text = again
                claims = new_claims
        return await self._without_contradictions(text, claims, instead)

    async def _without_contradictions(
        self, text: str, claims: list[Claim], instead: str
    ) -> tuple[str, list[Claim]]:
        left_out: list[Claim] = []
        left = _PASSES
        while left > 0 and (wrong := contradicted(claims)):
            is_few = len(wrong) <= _MOST_CORRECTED
            # One sentence at a time: a sentence may be read differently without the one before it.
            if is_few and left > 1:
                wrong = in_first_sentence(text, wrong)
            left -= 1 if is_few else _PASSES // 3
            left_out += wrong
            text = struck(text, wrong)
            claims = await self.claims(text)
        if not left_out:
            return text, claims
        if not text or contradicted(claims):
            text = instead
            claims = await self.claims(text)
        whole, named = with_closing_line(text, left_out)
        return whole, [*claims, *named]


def correction(wrong: Sequence[Claim]) -> str:
    """The prompt that lists contradicted claims (the first 20) with the values of the rows."""
    lines = [
        f'- "{claim["text"]}": {claim["from"]["how"] if claim["from"] else "not in the rows"}'
        for claim in wrong[:_MOST_CORRECTED]
    ]
    return _CORRECTION.format(contradictions="\n".join(lines))
