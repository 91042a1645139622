"""The gate of readings: sentences of a model that stand beside the program's statements.

A reading may explain. It has no figure, no name of the rows and no word of meaning, so nothing in it can be
untrue of a result.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence

from app.core.words import without_accents
from app.modules.analysis.words import word_sets
from graph.state import Rows

_WORDS = word_sets(__file__)
_MONTHS_THAT_ARE_WORDS = {"may", "march", "mars", "mai"}
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|\w+")
_MOST_LABEL_WORDS = 12
_NAME_WORDS = 5
"""A cell of more words is a text: its single words are no names."""
_SHORT = 3
"""Letters of labels that count only in their own case: `IN`, `A`."""


def _folded(text: str) -> str:
    return without_accents(text.casefold().replace("ß", "ss"))


_ANY_PERSON = "body"
"""End of the English words that speak of all or of none."""


class ReadingGate:
    """Judges sentences of a model by the labels of all results that it has read."""

    def __init__(self, results: Sequence[Rows], names: Collection[str] = ()) -> None:
        """`names` are those of tables and columns: they may be said, also where a label is spelled alike."""
        self._names = {_folded(name) for name in names}
        self._labels: set[str] = set()
        self._short: set[str] = set()
        self._parts: set[str] = set()
        self._longest = 1
        for text in _texts(results):
            self._add(text)

    def _add(self, label: str) -> None:
        words = _words(label)
        if not words or len(words) > _MOST_LABEL_WORDS:
            return
        folded = " ".join(map(_folded, words))
        if len(folded) <= _SHORT:
            self._short.add(" ".join(words))
            return
        if folded in self._names:
            return
        self._labels.add(folded)
        self._longest = max(self._longest, len(words))
        if len(words) <= _NAME_WORDS:
            self._parts |= {_folded(each) for each in words if each[0].isupper() and len(each) > _SHORT}

    def fault(self, sentence: str) -> str | None:
        """Returns what a sentence has that may not be shown. None if it may."""
        bare = self._without_names(sentence)
        if "%" in bare or any(each.isnumeric() for each in bare):
            return "a figure"
        words = _words(bare)
        folded = [_folded(each) for each in words]
        if any(each in _WORDS["number_words"] for each in folded):
            return "a number in words"
        if any(_is_month(word, at) for at, word in enumerate(words)):
            return "a period"
        if self._has_label(words, folded):
            return "a name of the rows"
        if any(each in _WORDS["meaning_words"] or each.endswith(_ANY_PERSON) for each in folded):
            return "a word that compares"
        if any(each.isalpha() and not unicodedata.name(each, "").startswith("LATIN") for each in bare):
            return "letters that are not Latin"
        return None

    def _without_names(self, sentence: str) -> str:
        """Returns the sentence without the names of tables and columns that are no ordinary words."""

        def left(found: re.Match[str]) -> str:
            quoted = found[0].startswith("`")
            parts = [_folded(each) for each in re.findall(r"\w+", found[0])]
            is_name = all(each in self._names for each in parts) and (quoted or "_" in found[0])
            return " " if is_name else found[0]

        return re.sub(r"`[^`\n]+`|\w+(?:\.\w+)*", left, sentence)

    def _has_label(self, words: Sequence[str], folded: Sequence[str]) -> bool:
        if any(word in self._short for at, word in enumerate(words) if at > 0):
            return True
        if any(word[0].isupper() and each in self._parts for word, each in zip(words, folded, strict=True)):
            return True
        count = len(folded)
        for size in range(1, min(self._longest, count) + 1):
            for at in range(count - size + 1):
                run = " ".join(folded[at : at + size])
                if any(each in self._labels for each in (run, run.removesuffix("s"), f"{run}s")):
                    return True
        return False


def _texts(results: Sequence[Rows]) -> Iterator[str]:
    """Yields each text of the cells once."""
    seen: set[str] = set()
    for rows in results:
        for row in rows["rows"]:
            for cell in row:
                if isinstance(cell, str) and cell not in seen:
                    seen.add(cell)
                    yield cell


def _words(text: str) -> list[str]:
    """Returns the words; a possessive is no part of one."""
    return [each.split("'")[0] for each in _WORD.findall(text.replace("’", "'"))]


def _is_month(word: str, at: int) -> bool:
    folded = _folded(word)
    if folded in _MONTHS_THAT_ARE_WORDS:
        return word[0].isupper() and at > 0
    return folded in _WORDS["months"]
