"""Chooses the tools that a step offers when there are too many for one prompt."""

import json
from collections.abc import Collection, Sequence
from functools import lru_cache

from app.core.llm.model import OfferedTool
from app.core.llm.tokens import approximate_tokens
from app.modules.sql_generation.linking.bm25 import Bm25
from app.modules.sql_generation.linking.words import telling_words

FIND_TOOLS = "find_tools"
MOST_TOOLS = 20
_MOST_FOUND = 8
_WINDOW_PART = 4


def choose_tools(
    offers: Sequence[OfferedTool], said: str, *, needed: Collection[str], window_tokens: int | None
) -> list[OfferedTool]:
    """Returns the tools of a step, in their order: all of them if they are few and short.

    Else those that share the rarer words with what was `said`, and `find_tools`, which finds the others.
    `needed` are the names of tools that stay: those that end an investigation, and those that this turn has
    called or found. The tools are at most 20 and fill at most a quarter of the model's window, but for the
    needed ones.
    """
    others = [offer for offer in offers if offer.name != FIND_TOOLS]
    room = None if window_tokens is None else window_tokens // _WINDOW_PART
    if len(others) <= MOST_TOOLS and (room is None or sum(map(offer_tokens, others)) <= room):
        return others
    kept = {offer.name: offer for offer in offers if offer.name in {*needed, FIND_TOOLS}}
    spent = sum(map(offer_tokens, kept.values()))
    for offer in [*find_tools(offers, said), *others]:
        if offer.name in kept or len(kept) >= MOST_TOOLS:
            continue
        if room is not None and spent + offer_tokens(offer) > room:
            continue
        kept[offer.name] = offer
        spent += offer_tokens(offer)
    return [offer for offer in offers if offer.name in kept]


def find_tools(offers: Sequence[OfferedTool], words: str) -> list[OfferedTool]:
    """Returns the tools that share a word, best first."""
    by_name = {offer.name: offer for offer in offers}
    texts = {offer.name: telling_words(f"{offer.name} {offer.description}") for offer in offers}
    return [by_name[name] for name in Bm25(texts).ranked(telling_words(words))]


def find_for_model(offers: Sequence[OfferedTool], words: str) -> list[OfferedTool]:
    """Returns what `find_tools` returns to the model: the best ones, without itself."""
    return [offer for offer in find_tools(offers, words) if offer.name != FIND_TOOLS][:_MOST_FOUND]


def offer_tokens(offer: OfferedTool) -> int:
    """Returns about the number of tokens that a tool takes in a prompt."""
    return _counted(f"{offer.name} {offer.description} {json.dumps(offer.parameters)}")


@lru_cache(maxsize=512)
def _counted(text: str) -> int:
    return approximate_tokens(text)
