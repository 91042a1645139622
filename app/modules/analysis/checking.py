"""An analysis with its claims checked: a model may put right what the rows contradict, once."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from app.modules.analysis.claims.check import claims_in
from app.modules.analysis.claims.strike import contradicted, in_first_sentence, struck, with_closing_line
from app.modules.analysis.claims.table import ClaimTable
from app.modules.analysis.figures import Figures
from graph.state import Claim, Rows

_CORRECTION = (Path(__file__).parent / "prompts" / "correction.md").read_text(encoding="utf-8")
_MOST_CORRECTED = 20
_PASSES = 12

Rewrite = Callable[[str], Awaitable[str | None]]
"""Has a text written again as a prompt says; None when no model answers."""


@dataclass(frozen=True)
class Checker:
    """Checks texts about one result, in a thread: long ones take a tenth of a second."""

    question: str
    sql: str
    rows: Rows
    found: Figures

    @cached_property
    def _table(self) -> ClaimTable:
        """What was read of the rows for one text serves the next."""
        return ClaimTable(self.rows, self.question, self.sql, found=self.found)

    async def claims(self, text: str) -> list[Claim]:
        return await asyncio.to_thread(claims_in, text, self._table)

    async def checked(self, text: str, rewrite: Rewrite, instead: str) -> tuple[str, list[Claim]]:
        """The text that may be shown, and its claims.

        What is contradicted is sent back once by `rewrite`. What then remains is taken out and named in a
        closing line; `instead` is the body when nothing else is left.
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
        for left in range(_PASSES, 0, -1):
            if not (wrong := contradicted(claims)):
                break
            # One sentence at a time: the next may only be wrong after the one that goes.
            wrong = in_first_sentence(text, wrong) if left > 1 else wrong
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
    """The prompt that names each contradicted claim and what the rows say."""
    lines = [
        f'- "{claim["text"]}": {claim["from"]["how"] if claim["from"] else "not in the rows"}'
        for claim in wrong[:_MOST_CORRECTED]
    ]
    return _CORRECTION.format(contradictions="\n".join(lines))
