"""Schema linking: the tables, columns and ways to join them that matter to a question, within a budget.

A schema that fits is shown whole: measured, leaving out tables that fit only costs accuracy.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.core.llm.tokens import approximate_tokens
from app.core.ranking import fused
from app.modules.sql_generation.linking.cards import brief_card, least_card
from app.modules.sql_generation.linking.mentions import StoredTextMention, mentions
from app.modules.sql_generation.linking.words import words_of
from app.modules.sql_generation.schema_index import SchemaIndex

_PICKED = 6
"""Tables shown with all their columns; measured, five with their neighbours hold the right ones in 98 %."""
_LEAST_CARD_TOKENS = 16


@dataclass(frozen=True)
class Linked:
    """Cards of tables, most relevant first, and the stored texts that were perhaps mentioned."""

    cards: str
    tables: Sequence[str]
    mentions: Sequence[StoredTextMention]


def link(
    index: SchemaIndex,
    conversation: Sequence[str],
    at_hand: Sequence[str],
    *,
    budget_tokens: int,
    near: Sequence[str] = (),
) -> Linked:
    """`conversation` is oldest first, `at_hand` the tables of the statement before this question, `near`
    those whose vectors are nearest to it.

    At least one table is shown, with the columns that fit.
    """
    mentioned = mentions(conversation, index.stored, index.columns)
    if index.fits(budget_tokens):
        return Linked("\n\n".join(index.cards.values()), list(index.cards), mentioned)
    ranking = rank(index, conversation, at_hand, mentioned=mentioned, near=near)
    asked = set(words_of(" ".join(conversation)))
    shown = dict(_within(_candidates(index, ranking, asked), budget_tokens))
    if not shown:
        first = (ranking or sorted(index.cards))[0]
        shown = {first: least_card(index.tables[first], asked, budget_tokens, detail=index.detail)}
    left_out = f"({len(index.cards) - len(shown)} more tables are not shown.)"
    return Linked("\n\n".join([*shown.values(), left_out]), list(shown), mentioned)


def rank(
    index: SchemaIndex,
    conversation: Sequence[str],
    at_hand: Sequence[str],
    *,
    mentioned: Sequence[StoredTextMention],
    near: Sequence[str] = (),
) -> list[str]:
    """Tables that have anything to do with the conversation, best first."""
    by_words = index.words.ranked(words_of(" ".join(conversation)))
    by_texts = [place.table for mention in mentioned if mention.exact for place in mention.places]
    by_vectors = [name for name in near if name in index.tables]
    return fused([by_words, list(dict.fromkeys(by_texts)), at_hand, by_vectors])


def _candidates(
    index: SchemaIndex, ranking: Sequence[str], asked: set[str]
) -> Iterator[tuple[str, list[str]]]:
    """Tables in the order they are worth showing, each with its cards, longest first."""
    picked = list(ranking[:_PICKED])
    whole = [*picked, *index.foreign_keys.between(picked)]
    beside = [name for name in index.foreign_keys.neighbours(picked) if name not in whole]
    for name in whole:
        yield name, [index.cards[name], brief_card(index.tables[name], asked, index.detail)]
    for name in dict.fromkeys([*beside, *ranking]):
        if name not in whole:
            yield name, [brief_card(index.tables[name], asked, index.detail)]


def _within(candidates: Iterator[tuple[str, list[str]]], budget_tokens: int) -> Iterator[tuple[str, str]]:
    """The first card of each table that still fits."""
    left = budget_tokens
    for name, cards in candidates:
        for card in cards:
            cost = approximate_tokens(card) + 1
            if cost <= left:
                left -= cost
                yield name, card
                break
        if left < _LEAST_CARD_TOKENS:
            return
