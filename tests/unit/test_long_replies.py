"""Long replies of models are read in linear time, also while they stream in pieces of a few letters."""

import pytest

from app.core.llm.chunks import ReplyChunk
from app.core.llm.text_tools import TextToolReader
from app.core.llm.transcript import ReplyStream
from app.modules.sql_generation.reply import SqlDeltas, read_reply
from app.modules.sql_generation.reply_object import REPLY_OBJECT
from tests.support.processor import processor_seconds, slowness

LINES = 8_000
FENCES = 3_000
PIECE = 4
SECONDS = 0.5
"""Of the reference; the limit is twice that, since other tests run beside this one."""

REPLIES = {
    "lines of a table": "Here:\n| region | revenue |\n|---|---|\n"
    + "".join(f"| N{number} | {number}.5 |\n" for number in range(LINES)),
    "lines below a password": "| user | password |\n|---|---|\n"
    + "".join(f"| u{number} | hunter{number} |\n" for number in range(LINES)),
    "heads of tables": "| user | key |\n" * LINES,
    "rules of tables": "|---|---|\n" * LINES,
    "fences": "```" * FENCES,
    "fences with a language": "```sql\n" * FENCES,
    "blocks": "```sql\nselect from ((\n```\n" * (FENCES // 2),
    "blocks of tools": "```tool \nx\n```x\n" * FENCES,
    "a word": "a1" * 30_000,
    "keys that never end": "-----BEGIN RSA PRIVATE KEY-----\n" * 2_000,
}


@pytest.mark.parametrize("name", REPLIES)
def test_a_long_reply_is_read_in_linear_time(name: str) -> None:
    text = REPLIES[name]

    def read() -> None:
        deltas, tools = SqlDeltas(), TextToolReader(lambda _: None)
        shown: list[str] = []
        stream = ReplyStream(lambda token: shown.append(deltas.feed(token)), REPLY_OBJECT)
        for start in range(0, len(text), PIECE):
            stream.take(ReplyChunk(text=text[start : start + PIECE]))
            tools.feed(text[start : start + PIECE])
        stream.take(ReplyChunk(finish_reason="stop"))
        stream.whole_text("model")
        deltas.end()
        read_reply(text, "sqlite")

    assert processor_seconds(read) < 2 * SECONDS * slowness()
