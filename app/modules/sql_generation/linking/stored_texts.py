"""The texts stored in a database, looked up by what users write."""

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from threading import Lock
from typing import NamedTuple

from rapidfuzz import fuzz, process

from app.core.redaction.names import names_secret
from app.modules.sql_generation.linking.words import text_key

_MOST_TEXTS = 100_000
"""The most texts of a database. They take about 30 MB, and a second or two to index."""
_CLOSE = 80
_LONGEST_NAME = 5
"""Words of a text that may be called by one of them."""
_SELECTIVE = 4
"""A word that occurs in more texts is not looked up."""


class StoredText(NamedTuple):
    table: str
    column: str
    text: str


class StoredTexts:
    """Stored texts by table and column, as scanned. Lookups by key ignore case, accents and plurals.

    Columns that are named as secrets are, such as `password`, count as columns that were not scanned: what
    is found here stands in prompts, warnings and results of tools.
    """

    def __init__(
        self, texts: Mapping[str, Mapping[str, Sequence[str]]], before: "StoredTexts | None" = None
    ) -> None:
        """`before` are the texts of an earlier state of the scan: what it has read since is added to them."""
        self.scanned = texts
        kept = {} if before is None else before.kept_in(texts)
        self.texts = {table: kept[table] if table in kept else _shown(each) for table, each in texts.items()}
        self.made_at = time.monotonic()
        self.shared_places = _Places()
        """Those of the earlier state, as long as none of its texts is left out."""
        if before is not None and len(kept) == len(before.texts):
            self.shared_places = before.shared_places

    def kept_in(
        self, texts: Mapping[str, Mapping[str, Sequence[str]]]
    ) -> Mapping[str, Mapping[str, Sequence[str]]]:
        """Returns the columns of the tables whose texts are the same objects in `texts`."""
        return {
            table: shown for table, shown in self.texts.items() if texts.get(table) is self.scanned[table]
        }

    def of_key(self, key: str) -> Sequence[StoredText]:
        """Returns the places where a text with this key (see `text_key`) is stored."""
        return self.places.by_key.get(key, ())

    def of_word(self, word: str) -> Sequence[StoredText]:
        """Returns the texts of several words that contain `word`; none if there are many."""
        keys = self.places.by_word.get(word, [])
        if len(keys) > _SELECTIVE:
            return ()
        return [each for key in sorted(keys) for each in self.places.by_key[key]]

    def like(self, key: str, limit: int) -> list[StoredText]:
        """Returns texts whose keys are similar to `key`, nearest first. `limit` counts keys."""
        places = self.places
        near = process.extract(key, places.keys, scorer=fuzz.ratio, score_cutoff=_CLOSE, limit=limit)
        return [each for match, _, _ in near for each in places.by_key[match]]

    def knows(self, table: str, column: str) -> bool:
        """True if all texts of a column were kept by the scan."""
        return column in self.texts.get(table, {})

    def holds(self, table: str, column: str, text: str) -> bool:
        """True if a column held exactly this text when it was scanned."""
        return text in self.texts.get(table, {}).get(column, ())

    def nearest(self, table: str, column: str, text: str) -> list[str]:
        """Returns the texts of a column that are most similar to `text`, nearest first, at most three."""
        texts = self.texts.get(table, {}).get(column, ())
        keys = {each: text_key(each) for each in texts}
        near = process.extract(text_key(text), keys, scorer=fuzz.WRatio, score_cutoff=70, limit=3)
        return [each for _, _, each in near]

    @cached_property
    def places(self) -> "_Places":
        """Built, or added to, on first use: for the most texts it takes a second or two."""
        self.shared_places.add(self.texts)
        return self.shared_places


class _Places:
    """Texts by their keys, and the keys of longer texts by their words.

    Another thread may read while texts are added.
    """

    def __init__(self) -> None:
        self.by_key: dict[str, list[StoredText]] = {}
        self.by_word: dict[str, list[str]] = {}
        self.keys: list[str] = []
        self._tables: set[str] = set()
        self._count = 0
        self._adding = Lock()

    def add(self, texts: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
        """Add the texts of tables that are not here yet, up to the most."""
        with self._adding:
            new = {table: columns for table, columns in texts.items() if table not in self._tables}
            self._tables.update(new)
            for stored in islice(_each(new), _MOST_TEXTS - self._count):
                self._count += 1
                if key := text_key(stored.text):
                    self._add(key, stored)

    def _add(self, key: str, stored: StoredText) -> None:
        if key in self.by_key:
            self.by_key[key].append(stored)
            return
        self.by_key[key] = [stored]
        words = dict.fromkeys(key.split())
        for word in words if 1 < len(key.split()) <= _LONGEST_NAME else ():
            self.by_word.setdefault(word, []).append(key)
        self.keys.append(key)


def _shown(columns: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
    return {name: stored for name, stored in columns.items() if not names_secret(name)}


def _each(texts: Mapping[str, Mapping[str, Sequence[str]]]) -> Iterator[StoredText]:
    for table, columns in texts.items():
        for column, values in columns.items():
            for text in values:
                yield StoredText(table, column, text)
