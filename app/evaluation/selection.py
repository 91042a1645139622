"""Which part of a question set is asked."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.core.errors import Invalid
from app.evaluation.question_set import Conversation

Split = Literal["tune", "report"]


@dataclass(frozen=True)
class Selection:
    """Conversations that hold one of `tags`, of one half, and `limit` of those as `seed` draws them.

    The half of a conversation depends on its id and the seed alone, so that what is tuned on one half
    never sees the other, however the set grows.
    """

    split: Split | None = None
    tags: Sequence[str] = ()
    limit: int | None = None
    seed: int = 0

    def of(self, conversations: Sequence[Conversation]) -> list[Conversation]:
        """In the order of the set. Raises `Invalid` when nothing is left."""
        chosen = [each for each in conversations if self._is_tagged(each) and self._is_in_split(each)]
        drawn = sorted(chosen, key=lambda each: self._draw("limit", each))[: self.limit]
        kept = {each[0].interaction for each in drawn}
        if not kept:
            raise Invalid("No question is left to ask; change --tag, --split or --limit.")
        return [each for each in chosen if each[0].interaction in kept]

    def _is_tagged(self, conversation: Conversation) -> bool:
        return not self.tags or any(tag in self.tags for each in conversation for tag in each.tags)

    def _is_in_split(self, conversation: Conversation) -> bool:
        return (
            self.split is None or self.split == ("tune", "report")[self._draw("split", conversation)[0] % 2]
        )

    def _draw(self, purpose: str, conversation: Conversation) -> bytes:
        text = f"{purpose}:{self.seed}:{conversation[0].interaction}"
        return hashlib.sha256(text.encode()).digest()
