"""Redacts a text that arrives in pieces, wherever it is cut."""

import re

from app.core.redaction.columns import TableHead
from app.core.redaction.private_keys import begun_private_key
from app.core.redaction.shapes import may_begin_token
from app.core.redaction.text import HIDDEN, in_ascii, secrets_in
from app.core.redaction.values import table_head

HELD_CHARACTERS = 64
"""Characters at the end of what has arrived that are looked at: a part of them that may belong to a secret is
held back until the rest shows what it is."""

_SEEN_CHARACTERS = 512
"""Characters before them that are remembered, because a secret is known by what stands before it."""
_MOST_HELD = 8_192
_LONGEST_LINE = 4_000
"""Characters of a line. A longer one is no part of a table."""
_TELLING = 3
"""Characters of a word that may be the beginning of a token; fewer pass at once."""
_PLAIN = re.compile(r"[A-Za-z ,.!?()\n]*")
_NAMES = re.compile(
    "pass|pwd|pw|kennwort|contrase|clave|signature|secret|token|key|credential|auth|bearer|basic|sig"
)
"""The beginnings of what `_NAMED` matches, in lower case."""
_NAMED = re.compile(
    r"(?:pass\w{0,10}|pwd|(?<![a-z0-9])pw|kennwort|contrase\w{0,3}|clave|signature|secret\w{0,10}|token\w{0,8}|key\w{0,8}|credentials?|auth\w{0,12}|bearer|basic|sig)"
    r"[\"'`\]\\]{0,3}(?:\s{0,4}(?:=>|:=|=|:|,)?\s{0,4}(?:[>|][+-]?\s{1,12})?|\s{0,4}\{[^{}\"]{0,40}=\s{0,4}|\s+(?:is|was|to)\s*:?\s+|\s+(?:bearer|basic|token)\s+)"
    r"(?:\\{0,3}[\"'`](?:'\\''|''|\\[\"'`]|[^\"'`\n]){0,400}+|[^\s\"'`,;]{0,400})$",
    re.IGNORECASE,
)
_LONGEST_WORD = 4_096
_CAPITALS = re.compile(r"[a-z][A-Z]|[A-Z]{3}")
_PARTS = re.compile(r"[\"'`(\[{<=:,;|]")
_NUMBERED = 6
"""Characters of a word with digits that may belong to a secret."""
_KEY_BEGINS = "-----BEGIN "
_KEY_ENDS = "-----END"
_MAY_BEGIN_KEY = re.compile(r"-{1,5}(?:B(?:E(?:G(?:I(?:N)?)?)?)?)?$")
_STEPS = 256
"""A text is searched again when it has grown by this fraction of it, so that all searches together take
linear time. The first pieces are searched at once."""
_HELD_STEPS = 8
"""The same for what is held back of it."""


class _Tables:
    """Redacts the values below names of secrets in tables. Rows of such tables pass as whole lines."""

    def __init__(self) -> None:
        self._head: TableHead | None = None
        """That of the table whose rows may follow."""
        self._before = ""
        """The line before."""
        self._line = ""
        """What has arrived of the line; it has passed, unless there is a head."""

    def feed(self, piece: str) -> str:
        first, *others = piece.split("\n")
        shown = [self._add(first)]
        for line in others:
            shown += [self._end_line(), "\n", self._add(line)]
        return "".join(shown)

    def end(self) -> str:
        """Returns the rest."""
        return self._end_line()

    def _add(self, text: str) -> str:
        if self._head is None:
            self._line = (self._line + text)[: _LONGEST_LINE + 1]
            return text
        self._line += text
        if len(self._line) <= _LONGEST_LINE:
            return ""
        self._head = None  # no row is so long
        return self._line

    def _end_line(self) -> str:
        """Returns what has not passed of the line."""
        line = in_ascii(self._line)
        shown = "" if self._head is None else self._line
        secrets = None if self._head is None else self._head.secrets_of(line, 0, len(line))
        if secrets is None:
            self._head = table_head(f"{self._before}\n{line}")
        for start, stop in reversed(secrets or ()):
            shown = shown[:start] + HIDDEN + shown[stop:]
        self._before, self._line = line, ""
        return shown


class RedactedStream:
    """Returns the pieces without secrets. Plain words pass at once."""

    def __init__(self) -> None:
        self._tables = _Tables()
        self._seen = ""
        self._held = ""
        self._searched = 0
        """Characters of what is held that were searched."""
        self._length = 0
        """Characters that have arrived."""

    def feed(self, piece: str) -> str:
        """Returns the text that is certain to hold no part of a secret."""
        return self._feed(self._tables.feed(piece))

    def end(self) -> str:
        """Returns the rest."""
        return self._feed(self._tables.end()) + self._release(len(self._held))

    def _feed(self, piece: str) -> str:
        self._length += len(piece)
        if not self._held and self._is_plain(piece):
            self._seen = (self._seen + piece)[-_SEEN_CHARACTERS:]
            return piece
        self._held += piece
        if len(self._held) - self._searched < max(self._length // _STEPS, self._searched // _HELD_STEPS):
            return ""
        shown = self._release(self._safe_length())
        self._searched = len(self._held)
        return shown

    def _is_plain(self, piece: str) -> bool:
        if _PLAIN.fullmatch(piece) is None:
            return False
        around = self._seen[-HELD_CHARACTERS:] + piece
        if _begun_value(around) is not None:
            return False
        word = around[around.rfind(" ") + 1 :].rpartition("\n")[2]
        if len(word) >= HELD_CHARACTERS // 4 or _CAPITALS.search(word):
            return False
        return len(word) < _TELLING or not may_begin_token(word.lstrip("("))

    def _safe_length(self) -> int:
        """Returns how much of what is held may pass."""
        text = self._seen + self._held
        tail = text[-max(len(self._held), HELD_CHARACTERS) - _SEEN_CHARACTERS :]
        offset = len(text) - len(tail)
        begun = (_begun_private_key(tail), _begun_value(tail))
        starts = [start + offset for start in begun if start is not None]
        end = len(tail) - tail.endswith("\n")
        word = _last_word(tail[:end])
        if word and _may_be_secret(word):
            starts.append(end - len(word) + offset)
        safe = min([len(text), *starts])
        for start, stop in secrets_in(text):
            if start < safe and (stop > safe or stop == len(text)):
                safe = start
        safe -= len(self._seen)
        return max(0, safe) if len(self._held) < _MOST_HELD else len(self._held)

    def _release(self, length: int) -> str:
        if not length:
            return ""
        text = self._seen + self._held
        begin = len(self._seen)
        end = begin + length
        parts: list[str] = []
        at = begin
        for start, stop in secrets_in(text):
            if stop <= begin or start >= end:
                continue
            parts += [text[at : max(at, start)], HIDDEN]
            at = min(stop, end)
        shown = "".join([*parts, text[at:end]])
        self._seen = text[:end][-_SEEN_CHARACTERS:]
        self._held = text[end:]
        return shown


def _begun_value(text: str) -> int | None:
    """Returns the start of the name whose value ends the text, perhaps unfinished. None if there is none."""
    for name in _NAMES.finditer(in_ascii(text).lower()):
        if _NAMED.match(text, name.start()) is not None:
            return name.start()
    return None


def _begun_private_key(text: str) -> int | None:
    """Returns the start of a private key that has not ended. None if there is none."""
    start = text.find(_KEY_BEGINS, text.rfind(_KEY_ENDS) + 1)
    if start >= 0:
        return start
    if (bare := begun_private_key(in_ascii(text))) is not None:
        return bare
    begun = _MAY_BEGIN_KEY.search(text, max(0, len(text) - len(_KEY_BEGINS)))
    return None if begun is None else begun.start()


def _last_word(text: str) -> str:
    """Returns the word that ends the text, of a long one the end. Empty if the text ends in a blank."""
    end = text[-_LONGEST_WORD:]
    return "" if not end or end[-1].isspace() else end.rsplit(None, 1)[-1]


def _may_be_secret(word: str) -> bool:
    if "://" in word or len(word) >= HELD_CHARACTERS // 2:
        return True
    if len(word) >= _NUMBERED and any(map(str.isdigit, word)):
        return True
    last = _PARTS.split(word)[-1]
    return bool(last) and (_CAPITALS.search(last) is not None or may_begin_token(last))
