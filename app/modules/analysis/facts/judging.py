"""The rules that a reading must meet: one short sentence of plain words that says nothing of the figures."""

import re
import unicodedata

from app.core.words import without_accents
from app.modules.analysis.facts.reading import ReadingGate
from app.modules.analysis.words import title, word_set
from graph.state import Rows

LONGEST_READING = 200
_FEWEST_WORDS = 3
_HIDDEN = frozenset({"Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"})
_MOST_NAMES = 200
_PLAIN = re.compile(r"[^\W\d_][^\n\r\d_<>\[\](){}*`#|\\/@=~^+&$€£%]*[.!?…]?")
_INNER_END = re.compile(r"[.!?…;:].*\w", re.DOTALL)
_CAUSE_WORDS = word_set("""
aufgrund because car causa causado causan cause caused causent causes causing daher dank debido deshalb
drive driven drives driving drove due durch entraine explain explained explains explique getrieben gracias
grund grunde hence impulsa impulsado owing parce porque provoca provoque raison razon reason reasons
resulted thanks therefore treibt trieb ursache verursacht wegen weil
""")


class ReadingJudge:
    """Judges readings of one result. Labels that the question has may be said."""

    def __init__(self, rows: Rows, question: str) -> None:
        asked = question.casefold()
        cells = (cell for row in rows["rows"] for cell in row if isinstance(cell, str))
        named = {cell for cell in cells if cell.strip() and cell.casefold() in asked}
        self._named = {_folded(each) for each in sorted(named)[:_MOST_NAMES]}
        self._columns = {_folded(title(column["name"])) for column in rows["columns"]}
        self._gate = ReadingGate([rows], self._named)

    def fault(self, reading: str) -> str | None:
        """Return why a reading may not be shown, as a clause that follows "it". None if it may."""
        if len(reading) > LONGEST_READING:
            return f"is longer than {LONGEST_READING} characters"
        is_hiding = any(unicodedata.category(each) in _HIDDEN for each in reading)
        if is_hiding or len(reading.split()) < _FEWEST_WORDS or not _PLAIN.fullmatch(reading):
            return "is no plain sentence"
        if _INNER_END.search(reading):
            return "is more than one sentence"
        found = self._gate.fault(reading)
        if found is not None:
            return f"has {found}"
        words = _folded(reading).split()
        said = f" {' '.join(words)} "
        names_data = any(f" {name} " in said for name in (*self._named, *self._columns))
        if names_data and not _CAUSE_WORDS.isdisjoint(words):
            return "names a cause"
        return None


def _folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", without_accents(text.casefold().replace("ß", "ss"))))
