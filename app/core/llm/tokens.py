"""Estimates of token counts without a vocabulary, which would need a download.

Tokenizers cut a text into words, digits and marks before they look anything up. The weights below are a
least-squares fit of such parts to the counts of Qwen2.5's tokenizer, which counts each digit as a token; for
GPT-4's tokenizer the estimate is close for prose, SQL and names, and 50 % too high for numbers and dates.
"""

import re
from collections.abc import Sequence
from math import ceil

_LOWER = "a-z\u00df-\u00f6\u00f8-\u00ff\u0101-\u017f"
_UPPER = "A-Z\u00c0-\u00d6\u00d8-\u00de"
_ANY_SCRIPT = [
    (re.compile(pattern), weight)
    for pattern, weight in (
        (rf" [{_LOWER}]+", 0.93),
        (rf" [{_LOWER}]{{7,}}", 0.71),
        (rf" [{_LOWER}]{{11,}}", 0.73),
        (rf"(?<![ {_LOWER}{_UPPER}])[{_LOWER}]+", 0.67),
        (rf"[{_UPPER}][{_LOWER}]+", 1.04),
        (rf"[{_UPPER}][{_LOWER}]{{5,}}", 0.62),
        (rf"[{_UPPER}][{_LOWER}]{{8,}}", 2.44),
        (rf"[{_UPPER}]+(?![{_LOWER}])", 0.91),
        (r"\d", 1.1),
        (r"(?<=\s) +|  +", 0.85),
        (r" (?=\d)", 0.61),
        (r"[!-/:-@\[-`{-~]+", 0.86),
        (r"[!-/:-@\[-`{-~]{2}", 0.2),
        (r"@", 1.37),
    )
]
_SCRIPTS = (
    ("\u0400-\u04ff", 0.35),  # Cyrillic
    ("\u0370-\u03ff\u1f00-\u1fff", 1.04),  # Greek
    ("\u3400-\u9fff", 0.49),  # Han
    ("\u3041-\u30ff", 0.86),  # kana
    ("\uac00-\ud7a3", 0.9),  # Hangul
    ("\u0600-\u06ff", 0.4),  # Arabic
    ("\u0590-\u05ff", 0.46),  # Hebrew
    ("\u0900-\u0dff", 1.13),  # of India
    ("\u0e00-\u0eff", 0.5),  # Thai, Lao
    ("\U00010000-\U0010ffff", 1.6),  # emoji
    ("\u00df-\u00ff\u00c0-\u00de\u0100-\u017f", 1.12),  # accented Latin letters, beside their words
)
_OTHER_SCRIPTS = [
    *((re.compile(f"[{letters}]"), weight) for letters, weight in _SCRIPTS),
    (re.compile("[^\x00-\x7f" + "".join(letters for letters, _ in _SCRIPTS) + "]"), 1.2),
]


def approximate_tokens(text: str) -> int:
    """Returns about the number of tokens: within 10 % for most texts of a paragraph or more, rounded up."""
    return max(ceil(unrounded_tokens(text)), 1 if text else 0)


def estimated_tokens(texts: Sequence[str]) -> int:
    """Returns about the number of tokens of several texts."""
    return sum(map(approximate_tokens, texts))


def unrounded_tokens(text: str) -> float:
    """Returns the estimate as a fraction: that of a text is the sum of those of its lines."""
    parts = _ANY_SCRIPT if text.isascii() else [*_ANY_SCRIPT, *_OTHER_SCRIPTS]
    return sum(len(part.findall(text)) * weight for part, weight in parts)
