"""Choice of the facts that a prompt shows: what to search for, and which of those found to show."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.core.llm.tokens import approximate_tokens
from app.core.words import split_identifier, without_accents
from app.modules.memory.fact_repository import text_key
from app.modules.memory.model import FactKind, StoredFact
from app.modules.memory.scope_choice import ORDER, common_words
from app.modules.memory.scopes import Scope

QUERY_CHARACTERS = 500
MOST_WORDS = 8

_EARLIER_QUESTIONS = 2
_MOST_OF_A_KIND = 4
_WITHOUT_LIMIT: FactKind = "terminology"
_LINE_TOKENS = 12
"""Of a line beside its text: kind, scope and date."""
_SHORTEST_STEM = 4
_ENDINGS = re.compile(r"(?:ings?|ied|ies|ed|es|en|s|e|n)$")
_RUN = re.compile(r"[^\W\d_]+|\d+")
_TERM = re.compile(
    r"^(.{2,80}?)(?:\s*[:=]\s|\s+(?:means?|is|are|stands? for|refers? to|bedeutet|heißt|ist|sind|meint|"
    r"steht für|stehen für)\s)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class FactLimits:
    """Limits of what a prompt shows: number and tokens of the facts."""

    facts: int = 10
    tokens: int = 600


@dataclass(frozen=True)
class FactQuery:
    """What to search for: as a text, and as beginnings of words."""

    text: str
    stems: Sequence[str]


def query_of(question: str, earlier: Sequence[str], tables: Sequence[str]) -> FactQuery:
    """Returns a query of at most 500 characters, in which the question is whole whatever its length.

    `earlier` are the questions before it, oldest first, of which the last two count; `tables` are those of
    the statement before it.
    """
    lines = [question.strip()]
    for more in (", ".join(tables), *reversed(earlier[-_EARLIER_QUESTIONS:])):
        room = QUERY_CHARACTERS - sum(len(line) + 1 for line in lines)
        cut = " ".join(more.split())[: max(room, 0)].strip()
        lines += [cut] if cut else []
    # The words of the question come first, for there are at most eight.
    stems = list(dict.fromkeys(stem for line in lines for stem in stems_of(line)))
    return FactQuery("\n".join(lines), stems[:MOST_WORDS])


def stems_of(text: str) -> list[str]:
    """Returns the beginnings of the telling words of a text, longest first. Most forms begin like this."""
    words = {word.casefold() for word in _RUN.findall(split_identifier(without_accents(text)))}
    telling = [word for word in words - common_words() if len(word) > 1]
    return list(dict.fromkeys(_stem(word) for word in sorted(telling, key=lambda word: (-len(word), word))))


def has_its_term(fact: StoredFact, stems: Sequence[str]) -> bool:
    """False for a definition of a term that none of the words is of, but only of the words that define it."""
    term = _term_of(fact)
    return not term or any(_are_alike(one, other) for one in term for other in stems)


def is_its_definition(fact: StoredFact, stems: Sequence[str]) -> bool:
    """True for the definition of a term that the words name whole."""
    term = _term_of(fact)
    return bool(term) and all(any(_are_alike(one, other) for other in stems) for one in term)


def _term_of(fact: StoredFact) -> Sequence[str]:
    """Returns the beginnings of the words of the term that a fact defines. Empty if it defines none."""
    if fact.kind != "terminology" or (found := _TERM.match(fact.text)) is None:
        return ()
    return stems_of(found.group(1))


def _are_alike(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def is_stale(about: Sequence[str], has_name: Callable[[str], bool]) -> bool:
    """True for a fact about a table or column that the catalogue does not have."""
    return not all(map(has_name, about))


def choose_facts(ranked: Mapping[Scope, Sequence[StoredFact]], limits: FactLimits) -> list[StoredFact]:
    """Returns the facts to show, in the order of scopes, and those of a scope as they are ranked.

    A text that is there already is left out, and what exceeds a limit: of a kind at most four, but any
    number of definitions.
    """
    chosen: list[StoredFact] = []
    kinds: Counter[FactKind] = Counter()
    tokens = 0
    for fact in _without_repetitions(ranked):
        if len(chosen) == limits.facts:
            break
        needed = approximate_tokens(fact.text) + _LINE_TOKENS
        is_one_too_many = kinds[fact.kind] == _MOST_OF_A_KIND and fact.kind != _WITHOUT_LIMIT
        if is_one_too_many or tokens + needed > limits.tokens:
            continue
        chosen.append(fact)
        kinds[fact.kind] += 1
        tokens += needed
    return chosen


def _without_repetitions(ranked: Mapping[Scope, Sequence[StoredFact]]) -> Iterator[StoredFact]:
    seen: set[str] = set()
    for scope in ORDER:
        for fact in ranked.get(scope, ()):
            key = text_key(fact.text)
            if key not in seen:
                seen.add(key)
                yield fact


def _stem(word: str) -> str:
    ending = _ENDINGS.search(word)
    if ending is None or len(word) - len(ending.group()) < _SHORTEST_STEM:
        return word
    return word[: ending.start()]
