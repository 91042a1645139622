"""Words of questions and schemas in one form: lower case, singular, identifiers split."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

from app.core import words

_TOKEN = re.compile(
    r"""(?<!\w)(?:"(?P<double>[^"]+)"|“(?P<curly>[^”]+)”|['\u2018](?P<single>[^'\u2019]+)['\u2019](?!\w))
      | (?P<date>\d{4}-\d{2}-\d{2})(?!\d)
      | (?P<number>(?:(?<!\w)-)?\d+(?:,\d{3})+(?:\.\d+)?|(?:(?<!\w)-)?\d+\.\d+|(?:(?<!\w)-)?\d+)(?![^\W_])
      | (?P<sign>!=|<>|[<>]=?|[=≤≥,%+])
      | (?P<word>[^\W_]+(?:['\u2019](?:s|t|re|ve|ll|d|m)\b)?)""",
    re.VERBOSE,
)
_WORD = re.compile(r"[^\W_]+")


WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_IRREGULAR: Mapping[str, str] = WORDS["irregular"]
_ABBREVIATIONS: Mapping[str, str] = WORDS["abbreviations"]
_SYNONYMS = [frozenset(line.split()) for line in WORDS["synonyms"].splitlines()]

QUOTED = "“”"
"""The `raw` and the `word` of each quoted text."""
REVENUE = frozenset({"revenue", "sale", "turnover", "spent", "spend", "spending"})
SELLING = ("sold", "bought", "buy", "buying", "purchased", "ordered")
ORDERING = frozenset({"order", "invoice", "sale", "purchase"})
GROUPING = frozenset({"by", "per", "each", "every"})


@dataclass(frozen=True, kw_only=True)
class Token:
    """`text` is as written, `raw` its lower case, `word` the singular it is looked up by."""

    text: str
    raw: str
    word: str
    kind: Literal["word", "number", "date", "sign", "quoted"]
    owns: bool = False
    """True if written with a possessive apostrophe: "Iron Maiden's"."""

    @property
    def capital(self) -> bool:
        return self.text[:1].isupper()

    @property
    def plural(self) -> bool:
        return self.raw != self.word


def word_set(text: str) -> frozenset[str]:
    """Returns the words of a text that are separated by spaces."""
    return frozenset(text.split())


def tokenise(text: str) -> list[Token]:
    """Returns the tokens of a text in order. A quoted text is one token; other punctuation is dropped."""
    return [token for match in _TOKEN.finditer(text) for token in _tokens(match)]


_ONE_OF = re.compile(
    r"((?:which|what)(?: one)? of (?:the|these|those|our|my)(?: [a-z]+){1,3}?) (?:has|is|was|does)\b"
)
"""Which of many is one: the verb says so."""
_REQUEST = re.compile(
    r"(?:(?:please|pls|plz|kindly|can|could|would|you|i|we|want|need|like|to|d|let|s|hey|hi|hello|kai|,) )*"
    r"(?:show|list(?!.* (?:new|acquired|won|gained|onboarded|first time) )|display|give|get|find|return|tell"
    r"|see|print|fetch|retrieve)(?! rate)(?: (?:me|us))? "
)
"""Where rows are new, "list" stays: it tells that they are to be listed, not counted."""


_DEVELOPS = (
    re.compile(
        r"how (?:did|do|does|has|have|had|is|are|was|were) (?P<what>.+?) (?:been )?"
        r"(?:develop|evolv|progress|chang|trend)(?:e|s|es|ed|ing)?(?= |$)"
    ),
    re.compile(r"(?P<what>.*?)(?:\b(?:the|a) )?(?:trends?|development|evolution)(?: (?:of|in))?(?= |$)"),
)
_OVER_UNIT = re.compile(
    r"(?:per|by|each|every|over the) (?:day|week|month|quarter|year)s?(?= |$)"
    r"|(?:dai|week|month|quarter|year)ly|over time|annual"
)


def _over_time(tokens: list[Token]) -> list[Token]:
    """Returns "revenue over time" for "how did revenue develop" and "revenue trend"."""
    text = " ".join(token.raw for token in tokens)
    for form in _DEVELOPS:
        if found := form.match(text):
            start = len(text[: found.start("what")].split())
            end = start + len(found["what"].split())
            rest = [*tokens[start:end], *tokens[len(found[0].split()) :]]
            return rest if _OVER_UNIT.search(text) else [*rest, *tokenise("over time")]
    return tokens


def tokenise_question(text: str) -> list[Token]:
    """Returns the tokens of a question without its request: "show" in "please show me" names no table."""
    tokens = tokenise(text)
    request = _REQUEST.match(" ".join(token.raw for token in tokens))
    asked = tokens[len(request[0].split()) :] if request else tokens
    if one := _ONE_OF.match(" ".join(token.raw for token in asked)):
        at = len(one[1].split()) - 1
        asked[at] = replace(asked[at], raw=asked[at].word)
    return _over_time(asked)


def _tokens(match: re.Match[str]) -> list[Token]:
    match match.lastgroup:
        case "double" | "curly" | "single":
            return [Token(text=match[match.lastgroup], raw=QUOTED, word=QUOTED, kind="quoted")]
        case "number":
            digits = match[0].replace(",", "")
            return [Token(text=match[0], raw=digits, word=digits, kind="number")]
        case "date":
            return [Token(text=match[0], raw=match[0], word=match[0], kind="date")]
        case "sign":
            return [Token(text=match[0], raw=match[0], word=match[0], kind="sign")]
        case _:
            parts = [_word(part) for part in words.split_identifier(_without_clitic(match[0])).split()]
            owns = match[0].lower().replace("\u2019", "'").endswith("'s")
            return [*parts[:-1], replace(parts[-1], owns=True)] if owns and parts else parts


def _without_clitic(text: str) -> str:
    lowered = text.lower().replace("\u2019", "'")
    if lowered.endswith("n't") or lowered == "cannot":
        return "not"
    return text[: lowered.find("'")] if "'" in lowered else text


def _word(text: str) -> Token:
    if number := words.NUMBER_WORDS.get(text.lower()):
        return Token(text=text, raw=str(number), word=str(number), kind="number")
    return Token(text=text, raw=text.lower(), word=singular(text.lower()), kind="word")


def singular(word: str) -> str:
    """Returns a guess at the singular of a lower-case word; irregular forms are known."""
    if len(word) > 4 and word.endswith("ie"):
        return word.removesuffix("ie") + "y"
    return _IRREGULAR.get(word) or words.singular(word)


@lru_cache(maxsize=10_000)
def words_of(identifier: str) -> tuple[str, ...]:
    """Returns the normalised words of an identifier or a stored value: `InvoiceLines` gives invoice, line."""
    spelled = _ABBREVIATIONS.get(identifier.lower(), identifier)
    found = [word.lower() for word in _WORD.findall(words.split_identifier(spelled))]
    return tuple(singular(_ABBREVIATIONS.get(word, word)) for word in found)


def synonyms(word: str) -> frozenset[str]:
    """Returns other words for `word`, without itself."""
    return frozenset(other for group in _SYNONYMS if word in group for other in group - {word})
