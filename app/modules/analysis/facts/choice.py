"""The reply of a model that chooses statements: facts of the sheet, calls for others, and a reading.

Any text gives a choice. What it says beside references is never shown, except for a reading that passes the
gate.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from app.core.llm.errors import ReplyTooDeep
from app.core.llm.reply_schema import ReplySchema
from app.modules.analysis.facts.calls import CALL, KINDS, LONGEST_CALL, FactCallRefused
from app.modules.analysis.facts.fact import Fact, FactSheet
from app.modules.analysis.facts.wording import Wording

MOST_CHOSEN = 3
_MOST_READ = 60
"""References of a reply that are read; more are a loop."""
_LONGEST_REPLY = 20_000

CHOICE = ReplySchema(
    "choose_statements",
    "Chooses the statements that answer the question.",
    {"facts": {"type": "array", "items": {"type": "string"}}, "reading": {"type": "string"}},
)
_NUMBER = re.compile(r"f? ?(\d{1,3})", re.IGNORECASE)
_BARE_NUMBERS = re.compile(
    r"(?:[\s,;.:\[\](){}\"'#*-]|and\b|facts?\b|statements?\b|answer\b|\d{1,3}\b)+", re.IGNORECASE
)
_REFERENCE = re.compile(
    rf"(?P<call>{CALL.pattern})|\bf ?(?P<number>\d{{1,3}})\b|(?P<key>[a-z]\w*_\w+)", re.IGNORECASE
)
_ANSWER = re.compile(r"\banswer\W*:", re.IGNORECASE)
_READING = re.compile(r"^\W*reading\W*:\s*(?P<sentence>.+)$", re.IGNORECASE | re.MULTILINE)

AnswerCall = Callable[[str], Fact]
"""Makes the fact of a call. Raises `FactCallRefused` with the reason."""
JudgeReading = Callable[[str], str | None]
"""Returns why a reading may not be shown, as a clause that follows "it". None if it may."""


@dataclass(frozen=True)
class FactChoice:
    """Facts in the order of the text, never empty if the sheet has any, and why others were left out."""

    facts: Sequence[Fact]
    reading: str | None
    left_out: Sequence[str]


def read_choice(
    reply: str,
    sheet: FactSheet,
    *,
    answer_call: AnswerCall,
    judge_reading: JudgeReading,
    wording: Wording,
) -> FactChoice:
    """Read a reply. Where it names no fact, the choice is the lead of the sheet."""
    references, said = _parts(reply[-_LONGEST_REPLY:], sheet)
    left_out = list[str]()
    chosen = dict[str, Fact]()
    calls = 0
    refused = 0
    for reference in references[:_MOST_READ]:
        if len(chosen) == MOST_CHOSEN:
            left_out.append(wording.say("left_out.more"))
            break
        calls += "(" in reference
        try:
            fact = _found(reference, sheet, answer_call if calls <= MOST_CHOSEN else _refuse)
        except FactCallRefused:
            refused += 1
        else:
            if all(each.statement != fact.statement for each in chosen.values()):
                chosen.setdefault(fact.key, fact)
    left_out += [wording.say("left_out.statement", count=refused)] if refused else []
    if not chosen:
        left_out.append(wording.say("own_choice"))
    reading = " ".join(said.split())
    fault = judge_reading(reading) if reading and chosen else None
    if fault is not None:
        left_out.append(wording.say("left_out.sentence", count=1))
    return FactChoice(
        facts=list(chosen.values()) or sheet.lead,
        reading=reading if reading and chosen and fault is None else None,
        left_out=left_out,
    )


def _found(reference: str, sheet: FactSheet, answer_call: AnswerCall) -> Fact:
    """Return the fact of a number (`f3`), a key or a call. Raises `FactCallRefused` if there is none."""
    if "(" in reference:
        return answer_call(reference)
    number = _NUMBER.fullmatch(reference)
    if number is not None and 1 <= int(number[1]) <= len(sheet.facts):
        return sheet.facts[int(number[1]) - 1]
    if reference in sheet.by_key:
        return sheet.by_key[reference]
    raise FactCallRefused("no statement has this name")


def _refuse(_: str) -> Fact:
    raise FactCallRefused("too many calls were made")


def _parts(reply: str, sheet: FactSheet) -> tuple[list[str], str]:
    """Return the references of a reply and its reading, from its object or else from its text."""
    try:
        for found in CHOICE.read_objects(reply):
            reading = found.get("reading")
            references = list(_listed(found.get("facts"), sheet))
            return references, reading if isinstance(reading, str) else ""
    except ReplyTooDeep:
        return [], ""
    line = _READING.search(reply)
    if line is None:
        return list(_find_references(_ANSWER.split(reply)[-1], sheet)), ""
    text = f"{reply[: line.start()]}\n{reply[line.end() :]}"
    return list(_find_references(_ANSWER.split(text)[-1], sheet)), line["sentence"]


def _listed(value: JsonValue, sheet: FactSheet) -> Iterator[str]:
    """Yield the references of a list, also of one in a single text."""
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, int) and not isinstance(each, bool):
            yield str(each)
        elif isinstance(each, str) and (text := each.strip().strip("{}").strip()):
            is_one = len(text) > LONGEST_CALL or CALL.fullmatch(text) or _NUMBER.fullmatch(text)
            references = [text] if is_one else list(_find_references(text, sheet))
            yield from references or [text]


def _find_references(text: str, sheet: FactSheet) -> Iterator[str]:
    """Yield the references in a text. Bare numbers count only where it has nothing else."""
    if _BARE_NUMBERS.fullmatch(text.strip()):
        yield from re.findall(r"\d+", text)
        return
    for found in _REFERENCE.finditer(text):
        if found["number"] is not None:
            yield f"f{found['number']}"
        elif found["call"] is not None and found["call"].partition("(")[0].lower() in KINDS:
            yield found["call"]
        elif found["key"] in sheet.by_key:
            yield found["key"]
