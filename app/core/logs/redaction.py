"""Removes secrets and control characters from every text that is logged, and values from tracebacks.

Every pattern takes linear time: its repetitions are bounded, or end where the next match begins. Texts may
come from attackers, and are redacted in the event loop.
"""

import re
import traceback
from collections.abc import Callable, Iterator

MAX_CHARACTERS = 128 * 1024
"""A longer text is cut. Longer than any statement is by default."""

_HIDDEN = "[redacted]"
_WORDS = re.compile(r"[^\s\"'<>]+")
"""Words that may contain a URL; a URL is never longer than a word."""
_URL = re.compile(r"[a-z0-9+.-]://", re.IGNORECASE)


def _without_credentials(word: re.Match[str]) -> str:
    """Returns a word with the part of a URL between its scheme and its last @ redacted."""
    text = word[0]
    scheme = _URL.search(text)
    at = text.rfind("@")
    if scheme is None or at < scheme.end():
        return text
    return f"{text[: scheme.end()]}{_HIDDEN}{text[at:]}"


def _without_kai_key(found: re.Match[str]) -> str:
    """Redact a key. A name without digits is kept, because it is that of a collection."""
    return _HIDDEN if any(character.isdigit() for character in found[0]) else found[0]


def _without_web_token(found: re.Match[str]) -> str:
    return _HIDDEN if found[1] is not None else found[0]


_SECRETS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"(?i)\b(bearer|basic)\s+[^\s\"',;]+"), rf"\1 {_HIDDEN}"),
    (_WORDS, _without_credentials),
    (
        re.compile(
            r"(?i)((?:passw(?:or)?d|passphrase|pwd|secret(?:[_-](?:access[_-])?key)?|token|api[_-]?key)"
            r"\"?'?\s*[=:]\s*)(?:\"[^\"]{1,200}\"|'[^']{1,200}'|[^\s,;&}]+)",
        ),
        rf"\1{_HIDDEN}",
    ),
    (re.compile(r"\bkai_[\w-]{20,}"), _without_kai_key),
    (re.compile(r"\bsk-[\w-]{8,}"), _HIDDEN),
    (re.compile(r"\b(?:gh[opsur]_\w{36}|xox[abeprs]-[\w-]{10}|(?:AKIA|ASIA)[0-9A-Z]{16})[\w-]*"), _HIDDEN),
    (re.compile(r"\bS[ACNOUX][A-Z2-7]{56}\b"), _HIDDEN),  # seeds of NATS keys
    (re.compile(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]*"), _HIDDEN),
    # JSON Web Tokens. The rest is optional so that a run of letters is read once, whatever follows it.
    (re.compile(r"\beyJ[\w-]+(\.[\w-]+\.[\w-]*)?"), _without_web_token),
    (re.compile(r"\bgAAAA[\w-]{50,}={0,2}"), _HIDDEN),  # texts encrypted by Fernet
    (re.compile(r"(?<![\w-])[\w-]{43}=(?![\w=])"), _HIDDEN),  # Fernet keys
)
_MOST_LINKS = 10
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def redacted(text: str) -> str:
    """Returns the text without keys, tokens and credentials of URLs, cut to `MAX_CHARACTERS`."""
    if len(text) > MAX_CHARACTERS:
        text = f"{text[:MAX_CHARACTERS]} [{len(text) - MAX_CHARACTERS} characters cut]"
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text


def inert(text: str) -> str:
    """Returns the text with control characters escaped, so that it forges no line and no terminal code."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def traceback_without_values(error: BaseException) -> str:
    """Returns frames and class names of an exception and of its causes, the first cause first.

    The text of an exception is left out: it may hold a row, a question or a URL.
    """
    links = list(_chain(error))[:_MOST_LINKS]
    return "\n".join(_described(each) for each in reversed(links))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        if isinstance(error, BaseExceptionGroup):
            yield from (each for inner in error.exceptions for each in _chain(inner))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _described(error: BaseException) -> str:
    frames = "".join(traceback.StackSummary.extract(traceback.walk_tb(error.__traceback__)).format())
    return f"{frames}{type(error).__module__}.{type(error).__qualname__}"
