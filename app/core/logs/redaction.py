"""Removes secrets and control characters from every text that is logged."""

import re

_HIDDEN = "[redacted]"
_SECRETS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?i)\b(bearer|basic)\s+[^\s\"',;]+"), rf"\1 {_HIDDEN}"),
    (re.compile(r"(\b[a-z][a-z0-9+.-]*://)[^\s\"'<>]*@", re.IGNORECASE), rf"\1{_HIDDEN}@"),
    (
        re.compile(
            r"(?i)\b([\w-]*(?:passw(?:or)?d|pwd|secret|token|api[_-]?key))(\"?'?\s*[=:]\s*)[^\s,;&}]+"
        ),
        rf"\1\2{_HIDDEN}",
    ),
    (re.compile(r"\bkai_(?=[\w-]*\d)[\w-]{20,}"), _HIDDEN),  # names of collections have no digits
    (re.compile(r"\bsk-[\w-]{8,}"), _HIDDEN),
    (re.compile(r"\beyJ[\w-]+\.[\w-]+\.[\w-]*"), _HIDDEN),  # JSON Web Tokens
    (re.compile(r"\bgAAAA[\w-]{50,}={0,2}"), _HIDDEN),  # what Fernet has encrypted
    (re.compile(r"(?<![\w-])[\w-]{43}=(?![\w=])"), _HIDDEN),  # Fernet keys
)
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def redacted(text: str) -> str:
    """Returns the text without keys, tokens and credentials of URLs."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text


def inert(text: str) -> str:
    """Returns the text with control characters escaped, so that it forges no line and no terminal code."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
