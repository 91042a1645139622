"""The words of a model that may be shown beside facts: the others are left out, sentence by sentence."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

FindFault = Callable[[str], str | None]
"""Returns why a sentence may not be shown. None if it may."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})\s*([\w+#-]*)")
_CODE = frozenset(
    ["bash", "dax", "js", "javascript", "py", "python", "r", "sh", "shell", "sql", "ts", "typescript"]
)
"""Languages of code. A block of another one may be a table or a picture of figures: it is judged."""
_HEADING = re.compile(r" {0,3}(#{1,6})\s+")
_ITEM = re.compile(r"(?:\s*(?:>|[-*+]\s|\d{1,3}[.)]\s))+\s*")
_RULE = re.compile(r"[\s:|-]*-[\s:|-]*")
_CELL = re.compile(r"(?<=\|)\s*([\w.]+)\s*(?=\|)")
"""A cell of one word, which may be a name: a quoted word is one if tables or columns have it."""
_END = re.compile(r"(?<=[.!?…])[\"'”»)\]*_]*\s+")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_ADDRESS = re.compile(r"<?https?://\S+")


@dataclass(frozen=True)
class _Block:
    """A part of Markdown that is kept or left out by itself; of prose, each sentence."""

    kind: Literal["prose", "heading", "row", "code", "figure", "empty"]
    text: str
    opening: str = ""
    level: int = 0


@dataclass(frozen=True)
class KeptWords:
    """What remains of a text, and why each part that does not was left out."""

    text: str
    faults: Sequence[str]
    begins_with_sentence: bool
    """False if the text begins with a heading, an item, a row or code."""


def keep_words(markdown: str, find_fault: FindFault) -> KeptWords:
    """Returns the text without the sentences that have a fault. Code and the addresses of links stay."""
    faults: list[str] = []
    judged = [_judged(block, find_fault, faults) for block in _blocks(markdown)]
    blocks = _without_empty_parts([each for each in judged if each is not None])
    text = "\n".join(block.opening + block.text for block in blocks)
    first = next((each for each in blocks if each.kind != "empty"), None)
    return KeptWords(
        re.sub(r"\n{3,}", "\n\n", text).strip(),
        faults,
        begins_with_sentence=first is not None and first.kind == "prose" and not first.opening.strip(),
    )


def _judged(block: _Block, find_fault: FindFault, faults: list[str]) -> _Block | None:
    """Returns what remains of a block, None if nothing does. Adds the faults of what was left out."""
    if block.kind in ("code", "empty") or _RULE.fullmatch(block.text):
        return block
    said: list[str] = []
    for sentence in _END.split(block.text) if block.kind == "prose" else [block.text]:
        bare = _ADDRESS.sub(" ", _LINK.sub(r"\1", sentence))
        fault = find_fault(_CELL.sub(r"`\1`", bare) if block.kind == "row" else bare)
        if fault is None:
            said.append(sentence)
        else:
            faults.append(fault)
    return replace(block, text=" ".join(said)) if said else None


def _blocks(markdown: str) -> Iterator[_Block]:
    """Yields the parts of a text; a sentence that goes on in the next line is one with it."""
    prose: _Block | None = None
    lines = iter(markdown.splitlines())
    for line in lines:
        block = _block(line, lines)
        if prose is not None and block.kind == "prose" and not block.opening.strip():
            prose = replace(prose, text=f"{prose.text} {block.text}")
            continue
        if prose is not None:
            yield prose
        prose = block if block.kind == "prose" else None
        if prose is None:
            yield block
    if prose is not None:
        yield prose


def _block(line: str, following: Iterator[str]) -> _Block:
    if fence := _FENCE.match(line):
        text = "\n".join([line, *_up_to(following, fence[1])])
        return _Block("code" if fence[2].lower() in _CODE else "figure", text)
    if heading := _HEADING.match(line):
        return _Block("heading", line[heading.end() :], opening=heading[0], level=len(heading[1]))
    if line.lstrip().startswith("|"):
        return _Block("row", line)
    if not line.strip():
        return _Block("empty", "")
    item = _ITEM.match(line)
    start = item.end() if item else 0
    return _Block("prose", line[start:].strip(), opening=line[:start])


def _up_to(lines: Iterator[str], fence: str) -> Iterator[str]:
    """Yields the lines up to the end of a fenced block."""
    for line in lines:
        yield line
        if line.strip().startswith(fence):
            return


def _without_empty_parts(blocks: Sequence[_Block]) -> list[_Block]:
    """Returns the blocks without headings that have nothing below, and tables that have lost their rows."""
    kept: list[_Block] = []
    for block in reversed(blocks):
        below = next((each for each in reversed(kept) if each.kind != "empty"), None)
        if block.kind == "heading" and (below is None or 0 < below.level <= block.level):
            continue
        kept.append(block)
    kept.reverse()
    return [block for at, block in enumerate(kept) if block.kind != "row" or not _is_rest_of_table(kept, at)]


def _is_rest_of_table(blocks: Sequence[_Block], at: int) -> bool:
    """True if the table around this row has no rows below its header."""
    first = at
    while first > 0 and blocks[first - 1].kind == "row":
        first -= 1
    rows = 0
    for block in blocks[first:]:
        if block.kind != "row":
            break
        rows += not _RULE.fullmatch(block.text)
    return rows < 2
