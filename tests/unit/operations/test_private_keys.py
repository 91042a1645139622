"""Private keys that are pasted without the line that begins them."""

import json
import random
import subprocess
import sys
import textwrap
from base64 import b64encode
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any

from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, rsa, x25519
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from app.core.redaction.stream import RedactedStream
from app.core.redaction.text import redacted
from tests.support.cases import assert_each

FORMATS = {
    "pkcs1": (PrivateFormat.TraditionalOpenSSL, NoEncryption()),
    "pkcs8": (PrivateFormat.PKCS8, NoEncryption()),
    "encrypted": (PrivateFormat.PKCS8, BestAvailableEncryption(b"x")),
    "openssh": (PrivateFormat.OpenSSH, NoEncryption()),
}
LACKING = {("pkcs1", "ed25519"), ("pkcs1", "x25519"), ("openssh", "x25519"), ("openssh", "dsa")}


@cache
def keys() -> dict[str, Any]:
    """Made by the tests that need them: to generate them takes a second."""
    return {
        "rsa": rsa.generate_private_key(65537, 2048),
        "rsa4096": rsa.generate_private_key(65537, 4096),
        "dsa": dsa.generate_private_key(2048),
        "p256": ec.generate_private_key(ec.SECP256R1()),
        "p521": ec.generate_private_key(ec.SECP521R1()),
        "ed25519": ed25519.Ed25519PrivateKey.generate(),
        "x25519": x25519.X25519PrivateKey.generate(),
    }


@cache
def pems() -> dict[str, str]:
    """The text of each key in each form that it has."""
    return {
        f"{name} {form}": key.private_bytes(Encoding.PEM, encoding, encryption).decode().strip()
        for name, key in keys().items()
        for form, (encoding, encryption) in FORMATS.items()
        if (form, name) not in LACKING
    }


WRITTEN: dict[str, Callable[[list[str]], str]] = {
    "without its first line": lambda lines: "\n".join(lines[1:]),
    "without both lines": lambda lines: "\n".join(lines[1:-1]),
    "in one line": lambda lines: "".join(lines[1:-1]),
    "with blanks for line ends": lambda lines: " ".join(lines[1:-1]),
    "quoted": lambda lines: "\n".join(f"> {line}" for line in lines[1:]),
    "indented": lambda lines: textwrap.indent("\n".join(lines[1:]), "      "),
    "in JSON": lambda lines: json.dumps({"it": "\n" + "\n".join(lines[1:-1])}),
    "with line ends of Windows": lambda lines: "\r\n".join(lines[1:-1]),
}


def parts(lines: list[str]) -> list[str]:
    body = lines[1:-1]
    return [line[at : at + 12] for line in body for at in range(0, len(line) - 11, 12)] + [body[-1]]


def test_a_key_without_its_first_line_is_redacted() -> None:
    def check(key: str, form: str) -> None:
        lines = pems()[key].splitlines()
        shown = redacted(f"This is it:\n\n{WRITTEN[form](lines)}\n\nThanks and bye.")
        assert [part for part in parts(lines) if part in shown] == []
        assert shown.startswith("This is it:")
        assert shown.endswith("Thanks and bye.")

    assert_each(list(product(pems(), WRITTEN)), check)


def test_no_line_of_such_a_key_passes_in_pieces() -> None:
    def check(key: str, longest: int) -> None:
        lines, sizes, stream = pems()[key].splitlines(), random.Random(longest), RedactedStream()
        text = "The key:\n" + "\n".join(lines[1:-1]) + "\nand it goes on with words."
        shown, at = "", 0
        while at < len(text):
            size = sizes.randint(1, longest)
            shown += stream.feed(text[at : at + size])
            at += size
        shown += stream.end()
        assert [part for part in parts(lines) if part in shown] == []
        assert shown.endswith("and it goes on with words.")

    assert_each(list(product(pems(), [7, 50])), check)


def test_a_key_that_is_cut_off_is_redacted_as_far_as_it_goes() -> None:
    lines = pems()["rsa pkcs8"].splitlines()
    assert redacted("\n".join(lines[1:6]) + "\n…") == "[redacted]\n…"
    openssh = pems()["ed25519 openssh"].splitlines()
    assert redacted("\n".join(openssh[1:4]) + "\nand so on") == "[redacted]\nand so on"


def harmless() -> Iterator[str]:
    public = keys()["rsa"].public_key()
    yield public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    yield public.public_bytes(Encoding.PEM, PublicFormat.PKCS1).decode().replace("-----BEGIN", "")
    yield public.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    yield keys()["p256"].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    chance = random.Random(7)
    for begin in (
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff\xe0\x00\x10JFIF",
        b"GIF89a",
        b"%PDF-1.7",
        b"PK\3\4",
        b"",
    ):
        yield b64encode(begin + chance.randbytes(3_000)).decode()
    certificate = bytes.fromhex("308203253082020da003020102021455a0")
    yield b64encode(certificate + chance.randbytes(788)).decode()
    yield b64encode(bytes.fromhex("30820276308201de020100") + chance.randbytes(600)).decode()  # a request
    yield b64encode(bytes.fromhex("3029020100") + b"\x04\x06public" + chance.randbytes(40)).decode()  # SNMP
    yield "Keys begin with MIIEpAIBAAKCAQEA or MIIEvQIBADANBgkqhkiG9w0BAQEF, and b3BlbnNzaC1rZXktdjEAAAAA."
    yield from (b64encode(chance.randbytes(size)).decode() for size in (16, 20, 32, 48, 64))


def test_other_base64_stays() -> None:
    def check(text: str) -> None:
        assert redacted(text) == text

    assert_each(list(harmless()), check)


HOSTILE = [
    "MIIEpAIBAAKCAQEAMIIEpAIB\n",
    "b3BlbnNzaC1rZXktdjEAAAAA ",
    "MIIEpAIBAAKCAQEA",
    "MC4CAQAwBQYDK2Vw. ",
    "M\\n",
    "MIIEpAIBAAKCAQEAx3n5/dHk ,",
]


def test_texts_of_nothing_but_beginnings_are_read_in_linear_time() -> None:
    """Square time would take hours. A process of its own, because a regular expression cannot be stopped."""
    program = f"""
from app.core.redaction.text import redacted
from app.core.redaction.stream import RedactedStream
for text in {HOSTILE!r}:
    whole = text * (300_000 // len(text))
    redacted(whole)
    stream = RedactedStream()
    for at in range(0, 60_000, 50):
        stream.feed(whole[at : at + 50])
    stream.end()
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
