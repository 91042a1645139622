"""Warnings about rules: same names, opposite demands, rules that never apply, and too many of them."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from app.modules.rules.model import BUDGET_TOKENS, Rule, RuleScope

_OVERLAP = 0.75
"""Share of the content words of the shorter of two sentences that the other one has, too."""
_FEWEST_WORDS = 2
_SENTENCE = re.compile(r"[^.!?\n;]+")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_FORBIDS = re.compile(
    r"\b(?:never|avoid|must\s?n[o']t|should\s?n[o']t|do\s?n[o']t|does\s?n[o']t|can\s?not|can't|may not|"
    r"not|no|without|refrain from|stop)\b",
    re.IGNORECASE,
)
_EMPTY = frozenset(
    {
        "a", "an", "the", "and", "or", "of", "in", "on", "to", "for", "with", "by", "from", "at", "as",
        "is", "are", "be", "it", "its", "this", "that", "these", "those", "all", "any", "each", "every",
        "always", "never", "must", "should", "shall", "may", "can", "will", "do", "does", "don", "not",
        "no", "avoid", "without", "please", "only", "also", "when", "if", "then", "than", "so", "you",
        "your", "we", "our", "i", "mustn't", "shouldn't", "don't", "doesn't", "can't", "cannot",
        "refrain", "stop", "use",
    }
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class KnownDatabase:
    """A database as far as scopes look at it. `tables` is None before its first scan."""

    id: str
    name: str
    tables: Collection[str] | None


def warnings_of(
    rules: Sequence[Rule], databases: Sequence[KnownDatabase] | None
) -> dict[tuple[str, str], list[str]]:
    """Returns the warnings about each rule, by its key.

    `databases` are those that the caller can use; None if they are not known, or not all of them.
    """
    found: dict[tuple[str, str], list[str]] = {rule.key: [] for rule in rules}
    for rule in rules:
        if rule.fault:
            found[rule.key].append(f"It is not applied. {rule.fault}")
    readable = [rule for rule in rules if rule.fault is None]
    for rule in readable:
        found[rule.key] += _never_applied(rule, databases)
    for at, rule in enumerate(readable):
        for other in readable[at + 1 :]:
            for each in _between(rule, other):
                found[rule.key].append(each.format(other=_called(other)))
                found[other.key].append(each.format(other=_called(rule)))
    for rule in _beyond_budget([rule for rule in readable if rule.active]):
        found[rule.key].append(
            f"With all rules before it, it exceeds the {BUDGET_TOKENS:,} tokens for rules: it is left out "
            "where they all apply."
        )
    return found


def _called(rule: Rule) -> str:
    return f"{rule.name} ({rule.path})" if rule.path else rule.name


def _never_applied(rule: Rule, databases: Sequence[KnownDatabase] | None) -> Iterator[str]:
    if rule.tokens > BUDGET_TOKENS:
        yield f"It is never applied: alone it has more than {BUDGET_TOKENS:,} tokens."
    if databases is None:
        return
    scope = rule.scope
    within = [each for each in databases if _is_of(scope, each)]
    if scope.connections and not within:
        yield "It never applies to your questions: you have no connection that its scope names."
    known = [each.tables for each in within]
    is_known = bool(known) and all(tables is not None for tables in known)
    if is_known and not any(scope.names_any_table(tables or ()) for tables in known):
        yield "It can never apply: no table fits its table_patterns."


def _is_of(scope: RuleScope, database: KnownDatabase) -> bool:
    wanted = {each.casefold() for each in scope.connections}
    return not wanted or database.id in wanted or database.name.casefold() in wanted


def _between(rule: Rule, other: Rule) -> Iterator[str]:
    if rule.name.casefold() == other.name.casefold():
        yield "The rule {other} has the same name: a question that names it means both."
    if not (rule.active and other.active and rule.priority == other.priority):
        return
    if not _overlap(rule.scope, other.scope):
        return
    if (pair := opposed(rule.text, other.text)) is not None:
        said = " and ".join(f'"{_safe(sentence)}"' for sentence in pair)
        yield f"It may contradict {{other}}, which has the same priority: {said}."


def _safe(sentence: str) -> str:
    text = " ".join(sentence.split())
    text = text if len(text) <= 100 else f"{text[:99]}…"
    return text.replace("{", "{{").replace("}", "}}")


def opposed(one: str, other: str) -> tuple[str, str] | None:
    """Returns the first two sentences of which one forbids what the other does not, in the same words."""
    others = [(each, _forbids(each), _content(each)) for each in _sentences(other)]
    for sentence in _sentences(one):
        words = _content(sentence)
        forbids = _forbids(sentence)
        for against, against_forbids, against_words in others:
            fewest = max(_FEWEST_WORDS, min(len(words), len(against_words)))
            if forbids != against_forbids and len(words & against_words) >= _OVERLAP * fewest:
                return sentence, against
    return None


def _sentences(text: str) -> list[str]:
    return [each.strip(" -*#>\t") for each in _SENTENCE.findall(text) if each.strip(" -*#>\t")]


def _forbids(sentence: str) -> bool:
    return _FORBIDS.search(sentence) is not None


def _content(sentence: str) -> frozenset[str]:
    words = (word.casefold() for word in _WORD.findall(sentence))
    return frozenset(_stem(word) for word in words if word not in _EMPTY)


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word.removesuffix(ending)
    return word


def _overlap(one: RuleScope, other: RuleScope) -> bool:
    return (
        _share(one.connections, other.connections)
        and _share(one.chat_modes, other.chat_modes)
        and (
            not one.table_patterns
            or not other.table_patterns
            or any(_may_meet(left, right) for left in one.table_patterns for right in other.table_patterns)
        )
    )


def _share(one: Collection[str], other: Collection[str]) -> bool:
    folded = {each.casefold() for each in one}
    return not one or not other or any(each.casefold() in folded for each in other)


def _may_meet(one: str, other: str) -> bool:
    """True if a table may fit both globs, as far as one fits the other as a text, or both begin alike."""
    left, right = one.casefold(), other.casefold()
    if fnmatchcase(left, right) or fnmatchcase(right, left):
        return True
    starts = [re.split(r"[*?\[]", each, maxsplit=1)[0] for each in (left, right)]
    have_wildcards = all(len(start) < len(each) for start, each in zip(starts, (left, right), strict=True))
    return have_wildcards and (starts[0].startswith(starts[1]) or starts[1].startswith(starts[0]))


def _beyond_budget(rules: Sequence[Rule]) -> Iterator[Rule]:
    """Yields the rules that are left out where all that need no naming apply."""
    spent = 0
    for rule in sorted(rules, key=lambda rule: rule.order):
        if rule.apply == "manual":
            continue
        if spent + rule.tokens > BUDGET_TOKENS:
            if rule.tokens <= BUDGET_TOKENS:
                yield rule
        else:
            spent += rule.tokens
