"""Recognizes questions about earlier conversations, in English and German."""

import re

_SAID = (
    r"(?:did|have|had) (?:we|you) (?:\w+ )?(?:find|found|discuss(?:ed)?|talk(?:ed)?|conclude[d]?) ",
    r"(?:did|have|had) we (?:\w+ )?look(?:ed)? (?:at|into)",
    r"we (?:have |had )?(?:\w+ )?(?:found out|talked about|discussed|concluded|looked into)",
    r"(?:did|have|had) i (?:\w+ )?ask(?:ed)? you",
    r"i (?:have |had )?(?:already |once )?asked you",
    r"(?:earlier|previous|past|last|other|former|older) (?:conversations?|chats?) with you",
    r"(?:our|my) (?:earlier|previous|past|last|other|former|older) (?:conversations?|chats?)",
    r"haben wir (?:.{0,60} )?(?:gefunden|herausgefunden|besprochen|festgestellt|untersucht)",
    r"habe ich dich (?:.{0,60} )?gefragt",
    r"(?:unser|mein)\w* (?:früher|letzt|vorig|vergangen)\w* (?:unterhaltung|gespräch|chat)",
)
_PAST = re.compile(rf"\b(?:{'|'.join(_SAID)})", re.IGNORECASE)
_LONGEST = 2_000
"""Characters of a question that are read."""


def asks_about_past(question: str) -> bool:
    """True for a question such as "What did we find about returns in spring?"."""
    return _PAST.search(" ".join(question[:_LONGEST].split())) is not None
