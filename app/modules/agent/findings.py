"""Looks up the facts that the findings of an investigation name, and lets the program say them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.core.markdown import without_images
from app.modules.agent.sheets import ResultSheet, TurnSheets
from app.modules.analysis.facts.across import Across, Side, read_across, relate
from app.modules.analysis.facts.calls import FactCallRefused
from app.modules.analysis.facts.composing import reference
from app.modules.analysis.facts.fact import Fact
from app.modules.analysis.facts.reading import ReadingGate
from app.modules.analysis.facts.wording import Wording
from app.modules.tools.results import ResultUnknown
from app.modules.tools.toolsets.control import GivenFinding
from graph.state import Finding

_WHAT_HELPS = (
    "Name the right result and a key of its facts as it stands there, make a call for one, or leave the "
    "finding out. Then call finish again."
)
_LONGEST_ECHO = 120
_MOST_FINDINGS = 12
_IN_TEXT = re.compile(
    r"`?(?:\b(?P<across>(?:gap|change|same)\(r\d{1,3}\.\d{1,3}\.[^()\n]{1,200}\))"
    r"|\b(?P<result>r\d{1,3}\.\d{1,3})\.(?P<fact>[a-z]\w*(?:\([^()\n]{0,300}\))?))`?"
)
_QUALIFIED = re.compile(r"(r\d{1,3}\.\d{1,3})\.([a-z].*)", re.DOTALL)
_EMPTY_LINE = re.compile(r"[\s\-*+.,;:()]*(?:\d{1,2}[.)])?[\s\-*+.,;:()]*")


@dataclass(frozen=True)
class FoundFact:
    """A finding in words of the program. `notice` says what is missing of its result."""

    finding: Finding
    headline: str | None = None
    notice: str = ""


@dataclass(frozen=True)
class LookedUp:
    """What findings name: the facts, in the model's order, and why other findings have none."""

    found: Sequence[FoundFact]
    refused: Sequence[tuple[GivenFinding, str]]
    readings: Sequence[str] = ()
    """Faults of the readings that were left out."""

    @property
    def objections(self) -> str:
        """What is wrong with findings, in words for the model. Empty if nothing is."""
        if not self.refused:
            return ""
        lines = [f"- {each.result} {each.fact[:_LONGEST_ECHO]}: {why}." for each, why in self.refused]
        return "\n".join(["These findings name no fact:", *lines, _WHAT_HELPS])

    def left_out(self, wording: Wording, sentences: int = 0) -> list[str]:
        """What is not shown, a sentence each; `sentences` more of the model's were left out elsewhere."""
        counts = {"finding": len(self.refused), "sentence": len(self.readings) + sentences}
        return [wording.say(f"left_out.{part}", count=count) for part, count in counts.items() if count]


async def look_up(given: Sequence[GivenFinding], sheets: TurnSheets, gate: ReadingGate) -> LookedUp:
    """Returns the facts that the findings name. Of two that say the same, the first counts."""
    found: dict[str, FoundFact] = {}
    refused: list[tuple[GivenFinding, str]] = []
    faults: list[str] = []
    for each in given[:_MOST_FINDINGS]:
        try:
            fact = await _find(each, sheets)
        except ResultUnknown:
            refused.append((each, "there is no such result"))
            continue
        except FactCallRefused as error:
            refused.append((each, str(error)))
            continue
        reading = without_images(" ".join((each.reading or "").split())) or None
        if reading is not None and (fault := gate.fault(reading)) is not None:
            faults.append(fault)
            reading = None
        finding = Finding(**{**fact.finding, "reading": reading})
        found.setdefault(finding["text"], replace(fact, finding=finding))
    return LookedUp(list(found.values()), refused, faults)


async def _find(given: GivenFinding, sheets: TurnSheets) -> FoundFact:
    """Returns the fact of a finding, without its reading. Raises `ResultUnknown` or `FactCallRefused`."""
    text = given.fact.strip().strip("`").strip()
    if (across := read_across(text)) is not None:
        return await _find_across(across, sheets)
    qualified = _QUALIFIED.fullmatch(text)
    of = await sheets.read(given.result if qualified is None else qualified[1])
    return found_fact(of, _fact_of(of, text if qualified is None else qualified[2]))


def _fact_of(of: ResultSheet, text: str) -> Fact:
    """Raises `FactCallRefused`."""
    if (known := of.sheet.by_key.get(text)) is not None:
        return known
    if "(" not in text:
        raise FactCallRefused(f"{of.name} has no such fact")
    return of.calls.answer(text)


async def _find_across(across: Across, sheets: TurnSheets) -> FoundFact:
    sides = [await sheets.read(name) for name, _ in (across.left, across.right)]
    facts = [_fact_of(of, key) for of, (_, key) in zip(sides, (across.left, across.right), strict=True)]
    labels = [of.result.kept["database"] for of in sides]
    names = labels if len({*labels}) == 2 and all(labels) else [of.name for of in sides]
    left, right = (
        Side(result=of.name, result_id=of.result.id, name=name, fact=fact)
        for of, name, fact in zip(sides, names, facts, strict=True)
    )
    text, references = relate(across.kind, left, right, wording=sheets.wording)
    notice = next((of.sheet.notice for of in sides if of.sheet.notice), "")
    finding = Finding(text=text, reading=None, references=references)
    return FoundFact(finding, notice=notice)


def found_fact(of: ResultSheet, fact: Fact) -> FoundFact:
    """Returns a fact of a result as a finding without a reading."""
    span = (0, len(fact.statement))
    finding = Finding(
        text=fact.statement,
        reading=None,
        references=[reference(fact, span=span, result_id=of.result.id)],
    )
    return FoundFact(finding, headline=fact.headline or None, notice=of.sheet.notice)


def findings_in(text: str) -> tuple[list[GivenFinding], str]:
    """Returns the facts that a text names, such as `r2.1.total_revenue`, and what remains of it."""
    given = [
        GivenFinding(result=found["result"] or "", fact=found["across"] or found["fact"])
        for found in _IN_TEXT.finditer(text)
    ]
    lines: list[str] = []
    for line in text.splitlines():
        rest = _IN_TEXT.sub("", line)
        if rest == line or not _EMPTY_LINE.fullmatch(rest):
            lines.append(re.sub(r"\s*\(\s*\)", "", rest))
    return given, "\n".join(lines)
