"""Instructions, glossary terms and verified examples that apply to a question and fit its prompt."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Generic, TypeVar

from app.core.llm.tokens import approximate_tokens
from app.modules.context_store.model import Example, Instruction, Term
from app.modules.sql_generation.linking.bm25 import Bm25
from app.modules.sql_generation.linking.words import telling_words, words_of
from graph.state import Precedent

Shown = TypeVar("Shown")

_MOST_EXAMPLES = 3
_EXAMPLE_TOKENS = 1_200
_TERM_TOKENS = 600
_INSTRUCTION_TOKENS = 800


@dataclass(frozen=True)
class Business:
    """All entries of a database, newest first. The examples are verified."""

    examples: Sequence[Example] = field(default=())
    terms: Sequence[Term] = field(default=())
    instructions: Sequence[Instruction] = field(default=())


@dataclass(frozen=True)
class Chosen(Generic[Shown]):
    """What a prompt shows of one kind, and the ids of its entries."""

    shown: Shown
    ids: list[str]


def house_rules(business: Business, tables: Collection[str]) -> Chosen[str]:
    """Returns instructions for the whole database, and for the shown tables: the latest that fit."""
    return _within(_INSTRUCTION_TOKENS, "\n", _rules(business.instructions, tables))


def glossary(business: Business, conversation: Sequence[str]) -> Chosen[str]:
    """Returns terms that occur in the conversation: the latest that fit."""
    return _within(_TERM_TOKENS, "\n", _occurring(business.terms, conversation))


def precedents(
    business: Business, conversation: Sequence[str], fault: Callable[[str], str | None]
) -> Chosen[list[Precedent]]:
    """Returns at most three verified examples that resemble the conversation and fit, most similar last.

    `fault` returns why a statement would not run: an example with a fault is left out.
    """
    kept: list[Example] = []
    spent = 0
    sound = (each for each in _alike(business.examples, conversation) if fault(each.sql) is None)
    for example in islice(sound, _MOST_EXAMPLES):
        cost = approximate_tokens(f"{example.question}\n{example.sql}")
        if spent + cost <= _EXAMPLE_TOKENS:
            spent += cost
            kept.append(example)
    kept.reverse()
    shown = [Precedent(question=one_line(example.question), sql=example.sql) for example in kept]
    return Chosen(shown, [example.id for example in kept])


def _rules(instructions: Sequence[Instruction], tables: Collection[str]) -> Iterator[tuple[str, str]]:
    for each in instructions:
        if each.scope is None or each.scope in tables:
            about = "" if each.scope is None else f"{each.scope}: "
            yield each.id, f"- {about}{one_line(each.text)}"


def _occurring(terms: Sequence[Term], conversation: Sequence[str]) -> Iterator[tuple[str, str]]:
    for each in mentioned_terms(terms, conversation):
        sql = f" (SQL: {one_line(each.sql)})" if each.sql else ""
        yield each.id, f"- {one_line(each.term)}: {one_line(each.meaning)}{sql}"


def mentioned_terms(terms: Sequence[Term], conversation: Sequence[str]) -> Iterator[Term]:
    said = f" {' '.join(words_of(' '.join(conversation)))} "
    for each in terms:
        words = " ".join(words_of(each.term))
        if words and f" {words} " in said:
            yield each


def _alike(examples: Sequence[Example], conversation: Sequence[str]) -> Iterator[Example]:
    by_id = {each.id: each for each in examples}
    index = Bm25({each.id: telling_words(each.question) for each in examples})
    for example_id in index.ranked(telling_words(" ".join(conversation))):
        yield by_id[example_id]


def _within(budget_tokens: int, between: str, texts: Iterator[tuple[str, str]]) -> Chosen[str]:
    """Returns the first texts that fit together, each with its id. A text that is too long gives way to a
    shorter one.
    """
    kept: list[str] = []
    ids: list[str] = []
    for entry_id, text in texts:
        if approximate_tokens(between.join([*kept, text])) <= budget_tokens:
            kept.append(text)
            ids.append(entry_id)
    return Chosen(between.join(kept), ids)


def one_line(text: str) -> str:
    """Returns a text of people with single spaces in place of its line breaks."""
    return " ".join(text.split())
