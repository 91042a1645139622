"""Private keys without the line that begins them: base64 whose bytes begin as a private key does.

Such are DER of PKCS#1, PKCS#8 (encrypted, too), SEC 1 and DSA, and the format of OpenSSH. Certificates,
public keys and other base64 begin otherwise.
"""

import re
from base64 import b64decode
from collections.abc import Iterator
from typing import NamedTuple

from app.core.redaction.shapes import Span

_RUN = re.compile(r"[A-Za-z0-9+/]+")
_BETWEEN = re.compile(r"(?:\\{1,4}[nr]|[\s>\"',|])*")
"""What may stand between two lines: their end, also as JSON writes it, indents, marks of quotes."""
_OPENSSH = b"openssh-key-v1\0"
_HEAD = re.compile(
    r"(?:M(?:(?<![A-Za-z0-9+/].)|(?<=\\[nr]M))[A-P][A-Za-z0-9+/]{22}"
    r"|b(?:(?<![A-Za-z0-9+/].)|(?<=\\[nr]b))3BlbnNzaC1rZXktdjEA[A-Za-z0-9+/]{4})"
)
"""The first 18 bytes: those of a sequence in DER, or of a key of OpenSSH."""
_FEWEST = 40
"""Characters of a key. Fewer are an example of how one begins."""
_LINE = 20
"""Characters of a line, except of the last one."""
_BEGINNINGS = re.compile(
    rb"\x02\x01\x00\x02[\x40-\x82]"  # version 0 and a large number: PKCS#1, DSA
    rb"|\x02\x01[\x00\x01]\x30(?:[\x00-\x7f]|\x81.|\x82..)\x06"  # version, algorithm: PKCS#8
    rb"|\x02\x01\x01\x04[\x14-\x42]"  # version 1 and bytes: SEC 1
    rb"|\x30[\x00-\x7f]\x06[\x09\x0a]\x2a\x86\x48\x86\xf7\x0d\x01(?:\x05|\x0c\x01)",  # encrypted PKCS#8
    re.DOTALL,
)


class _Key(NamedTuple):
    start: int
    end: int
    is_whole: bool


def private_key_spans(text: str) -> Iterator[Span]:
    """Yields the places of private keys, in order.

    The text has ASCII characters only.
    """
    yield from ((key.start, key.end) for key in _keys(text))


def begun_private_key(text: str) -> int | None:
    """Returns the start of a private key that may go on behind the end of the text. None if there is none."""
    for key in _keys(text):
        rest = _BETWEEN.match(text, key.end)
        last = key.end if rest is None else rest.end()
        if not key.is_whole and len(text) - last < _LINE and _RUN.sub("", text[last:]) == "":
            return key.start
    return None


def _keys(text: str) -> Iterator[_Key]:
    at = 0
    while (head := _HEAD.search(text, at)) is not None:
        at = head.end()
        start = head.start()
        begins = b64decode(head[0])
        if begins.startswith(_OPENSSH):
            body = "".join(_lines(text, start, None)[0])
            size = _openssh_size(b64decode(body[: len(body) // 4 * 4]))
        elif (size := _der_size(begins)) is None:
            continue
        lines, end = _lines(text, start, size)
        found = sum(map(len, lines))
        at = max(at, end)
        if found >= _FEWEST:
            yield _Key(start, end, size is not None and found >= _characters(size))


def _lines(text: str, start: int, size: int | None) -> tuple[list[str], int]:
    """Returns the lines of base64 from a place on, and where they end, for a key of so many bytes."""
    needed = None if size is None else _characters(size)
    lines: list[str] = []
    found = 0
    at = end = start
    while (run := _RUN.match(text, at)) is not None:
        length = len(run[0])
        is_last = needed is not None and found + length >= needed
        if lines and length < _LINE and not is_last:
            break
        lines.append(run[0])
        found += length
        end = run.end()
        if is_last:
            while text.startswith("=", end):
                end += 1
            break
        between = _BETWEEN.match(text, end)
        at = end if between is None else between.end()
    return lines, end


def _characters(size: int) -> int:
    """Returns the characters of so many bytes, without padding."""
    return -(-4 * size // 3)


def _der_size(begins: bytes) -> int | None:
    """Returns the bytes of a private key in DER. None if it is none."""
    more = max(begins[1] - 0x80, 0)
    content = 2 + more
    if more > 2 or _BEGINNINGS.match(begins, content) is None:
        return None
    return content + (int.from_bytes(begins[2:content], "big") if more else begins[1])


def _openssh_size(key: bytes) -> int | None:
    """Returns the bytes of a key of OpenSSH; None if they do not say."""
    at = len(_OPENSSH)
    for skipped in (0, 0, 0, 4, 0):  # cipher, derivation and its options; number of keys and the public one
        length = key[at + skipped : at + skipped + 4]
        if len(length) < 4:
            return None
        at += skipped + 4 + int.from_bytes(length, "big")
    return at
