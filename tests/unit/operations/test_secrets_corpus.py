"""The corpus of secrets and of what looks like them, whole and in pieces."""

import json
import random
import time
from pathlib import Path

import pytest

from app.core.llm.tool_calls import ToolCall
from app.core.redaction.stream import RedactedStream
from app.core.redaction.text import redacted
from tests.support.cases import assert_each

CORPUS = Path(__file__).parents[2] / "corpus"
SECRETS = [json.loads(line) for line in (CORPUS / "secrets.jsonl").read_text().splitlines()]
LOOKALIKES = (CORPUS / "secret_lookalikes.txt").read_text().splitlines()


def in_pieces(text: str, sizes: random.Random, longest: int) -> str:
    stream = RedactedStream()
    shown, at = "", 0
    while at < len(text):
        size = sizes.randint(1, longest)
        shown += stream.feed(text[at : at + size])
        at += size
    return shown + stream.end()


def test_the_corpus_is_large_enough() -> None:
    assert len(SECRETS) >= 150
    assert len({each["kind"] for each in SECRETS}) == len(SECRETS)
    assert len(LOOKALIKES) >= 130


def test_every_secret_is_found() -> None:
    def check(each: dict[str, str]) -> None:
        assert each["secret"] in each["text"]
        shown = redacted(each["text"])
        assert each["secret"] not in shown
        assert "[redacted]" in shown

    assert_each(SECRETS, check, ids=[each["kind"] for each in SECRETS])


def test_what_looks_like_a_secret_stays() -> None:
    def check(text: str) -> None:
        assert redacted(text) == text

    assert_each(LOOKALIKES, check)


@pytest.mark.parametrize("longest", [1, 3, 9, 40])
def test_no_secret_passes_in_pieces(longest: int) -> None:
    sizes = random.Random(longest)
    for each in SECRETS:
        text = f"The model says: {each['text']}\nand goes on."
        shown = in_pieces(text, sizes, longest)
        assert each["secret"] not in shown, each["kind"]
        parts = [each["secret"][at : at + 12] for at in range(0, max(1, len(each["secret"]) - 11), 6)]
        assert not [part for part in parts if len(part) == 12 and part in shown], (each["kind"], shown)


@pytest.mark.parametrize("longest", [1, 5, 30])
def test_pieces_without_secrets_arrive_whole(longest: int) -> None:
    sizes = random.Random(longest)
    for text in [*LOOKALIKES, "\n".join(LOOKALIKES)]:
        assert in_pieces(text, sizes, longest) == text


def test_plain_words_pass_at_once() -> None:
    stream = RedactedStream()
    words = ["Revenue", " rose", " by", " a", " tenth", ",", " most", " of", " it", " in", " Rome", "."]
    assert [stream.feed(word) for word in words] == words
    assert stream.end() == ""


def test_the_words_of_a_long_text_stay_as_they_are_around_its_secrets() -> None:
    text = "\n\n".join([*LOOKALIKES, *(each["text"] for each in SECRETS if "PRIVATE" not in each["text"])])
    shown = redacted(text * 3)
    assert all(line in shown for line in LOOKALIKES)
    assert not [each["kind"] for each in SECRETS if "PRIVATE" not in each["text"] and each["secret"] in shown]


def test_characters_of_other_scripts_move_no_secret() -> None:
    text = "größer \U0001f600 İstanbul: password=hunter2x, 売上 postgresql://ada:s3cr3t@db/shop é"
    expected = "größer \U0001f600 İstanbul: password=[redacted], 売上 postgresql://[redacted]@db/shop é"
    assert redacted(text) == expected


def test_the_arguments_of_a_call_stay_json() -> None:
    call = ToolCall(
        "1", "send", json.dumps({"password": "x", "text": 'the "api_key": "abc123def"', "n": [1]})
    )
    shown = json.loads(call.redacted().arguments)
    assert shown == {"password": "[redacted]", "text": 'the "api_key": "[redacted]"', "n": [1]}
    assert ToolCall("1", "send", "{broken").redacted().arguments == "{broken"


def test_a_text_of_100_kb_takes_a_few_milliseconds() -> None:
    """A generous bound on processor time: the figure itself is measured by hand (docs/security.md)."""
    text = (
        "\n".join([*LOOKALIKES, *(each["text"] for each in SECRETS)]) + "\n" + "Some words of prose. " * 3_800
    )[:100_000]
    redacted(text)
    best = min(_seconds(text) for _ in range(5))
    assert best < 0.05


def _seconds(text: str) -> float:
    begun = time.process_time()
    redacted(text)
    return time.process_time() - begun
