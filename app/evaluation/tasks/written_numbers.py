"""Parse the numbers that a text has in digits, in any locale."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

NumberKind = Literal["plain", "percent", "points", "times", "ordinal"]
Bound = Literal["exact", "about", "below", "above", "at_most", "at_least"]

_SCALES = {
    **dict.fromkeys(("k", "thousand", "tsd", "tausend"), 1e3),
    **dict.fromkeys(("m", "mm", "mn", "mio", "million", "millions", "millionen"), 1e6),
    **dict.fromkeys(("b", "bn", "mrd", "billion", "billions", "milliarde", "milliarden"), 1e9),
}
_UNIT = (
    r"(?:(?P<points>[ \u00a0\u202f-]?(?:percentage[ -]points?|prozentpunkten?|pp\b|ppts?\b))"
    r"|(?P<percent>[ \u00a0\u202f]?(?:%|percent\b|per cent\b|pct\b|prozent\b)|-percent\b)"
    r"|(?P<times>[ \u00a0\u202f]?(?:x\b|×|times\b|[ -]?fold\b|[ -]?mal\b|[ -]?fach\w*))"
    r"|[ \u00a0\u202f-]?(?P<scale>thousand\b|tsd\b\.?|tausend\b|mio\b\.?|millions?\b|"
    r"millionen\b|mrd\b\.?|billions?\b"
    r"|milliarden?\b|bn\b|mn\b|mm\b|(?<=[\d ])[kKMB]\b|(?<=\d)m\b)"
    r"|(?P<ordinal>st\b|nd\b|rd\b|th\b))?"
)
_DIGITS = re.compile(
    r"(?<![\w.,/])(?<!\d:)(?<!e[+-])(?P<sign>[-−–+±] "
    r"?(?=[\d$€£.]))?(?P<currency>[$€£]|USD |EUR |GBP )?(?P<sign2>[-−])?"
    r"(?P<digits>\d{1,3}(?:[ \u00a0\u202f]\d{3}){1,5}(?:[.,]\d{1,30})?(?!\d)|"
    r"\d{1,30}(?:[.,'’]\d{1,30}){0,8}|\.\d{1,30})" + _UNIT,
    re.IGNORECASE,
)
_BOUNDS: tuple[tuple[str, str, Bound], ...] = (
    (
        (
            "nearly|almost|just under|just below|just shy of|close to|approaching|fast|"
            "knapp|beinahe|nahezu|slightly (?:under|below|less than)|a little (?:under|"
            "less than)|not quite"
        ),
        "≲",
        "below",
    ),
    ("at least|mindestens|no (?:fewer|less) than", "≥", "at_least"),
    (
        "at most|no more than|(?<!add )(?<!adds )(?<!added )(?<!adding )up to|höchstens|maximal|bis zu",
        "≤",
        "at_most",
    ),
    (
        (
            "(?:less|fewer|smaller|younger|shorter|lower|lighter) than|under|below|weniger als|unter|beneath|"
            "(?:kleiner|jünger|kürzer|niedriger|geringer|leichter) als|unterhalb von"
        ),
        "<",
        "at_most",
    ),
    (
        (
            "(?:more|older|longer|larger|bigger|heavier) than|over|above|exceed(?:s|ed|"
            "ing)?|greater than|higher than|upwards? of|"
            "just over|slightly (?:over|above|more than)|well over|north of|surpass(?:es|"
            "ed|ing)?|topp(?:ed|ing)|tops|mehr als|über|gut|a little over|crossed|past|"
            "beyond|(?:höher|größer|älter|länger|schwerer) als|oberhalb von"
        ),
        ">",
        "above",
    ),
    (
        (
            "about|around|roughly|approximately|approx\\.?|circa|ca\\.?|some|rund|etwa|"
            "ungefähr|an estimated|or so|in the region of|more or less|approximat\\w+|"
            "zirka"
        ),
        "[~≈]",
        "about",
    ),
)
_BEFORE: list[tuple[re.Pattern[str], Bound]] = [
    (
        re.compile(
            rf"(?:\b(?:{words})|{marks}) ?(?:(?:the|a|an|of|by|to|um|auf|at|with) )?[$€£(]?$", re.IGNORECASE
        ),
        bound,
    )
    for words, marks, bound in _BOUNDS
]
_OR_MORE = re.compile(r" ?(?:or|oder) (?:more|above|higher|greater|mehr)|\+", re.IGNORECASE)
_OR_LESS = re.compile(r" ?(?:or|oder) (?:less|fewer|below|lower|weniger)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class WrittenNumber:
    """A number in a text.

    `readings` are the values it may stand for, each with the unit of its last written digit: 1.234 is
    1234 in German and 1.234 in English. Percentages are shares of one: 5 % is 0.05.
    """

    start: int
    end: int
    readings: tuple[tuple[float, float], ...]
    kind: NumberKind
    bound: Bound = "exact"
    signed: int = 0

    @property
    def value(self) -> float:
        return self.readings[0][0]

    def fits(self, value: float) -> bool:
        """Return True if the value, rounded, may be written as this number."""
        return any(_fits(value, written, step, bound=self.bound) for written, step in self.readings)


def _fits(value: float, written: float, step: float, *, bound: Bound) -> bool:
    half = 0.5 * step + 1e-9 * max(abs(value), abs(written))
    loose = abs(written) * (0.07 if bound == "about" else 0.0)
    if bound == "about":
        return abs(value - written) <= max(half, loose)
    if bound == "below":
        return (
            written * 0.88 - half <= value <= written + half
            if written >= 0
            else written - half <= value <= written * 0.88
        )
    if bound in ("above", "at_least"):
        return (
            written - (half if bound == "at_least" else min(half, 1e-6 * abs(written)))
            <= value
            <= written * 1.5 + half
        )
    if bound == "at_most":
        return written * 0.6 - half <= value <= written + half
    return abs(value - written) <= half


def written_numbers(text: str) -> Iterator[WrittenNumber]:
    """Yield the numbers in order."""
    for found in _DIGITS.finditer(text):
        number = _in_digits(text, found)
        if number is not None:
            yield number


def _in_digits(text: str, found: re.Match[str]) -> WrittenNumber | None:
    after = text[found.end() : found.end() + 3]
    if after[:1] == ":" and after[1:3].isdigit():
        return None  # a time of day
    readings = _readings(found["digits"])
    kind: NumberKind = "plain"
    factor = 1.0
    if found["points"]:
        kind = "points"
        factor = 0.01
    elif found["percent"]:
        kind = "percent"
        factor = 0.01
    elif found["times"]:
        kind = "times"
    elif found["ordinal"]:
        kind = "ordinal"
    elif found["scale"]:
        factor = _SCALES[found["scale"].lower().rstrip(".")]
    if after[:1].isalpha() and not (found["scale"] or found["percent"] or found["times"] or found["ordinal"]):
        return None  # 3D, 2nd-hand
    sign = found["sign2"] or (found["sign"] or "").strip()
    start = found.start()
    if sign in ("-", "–", "−") and _is_dash(text, found):
        sign, start = "", start + len(found["sign"] or "")
    signed = -1 if sign in ("-", "−", "–") else 1 if sign == "+" else 0
    negative = -1.0 if signed < 0 else 1.0
    scaled = tuple((value * factor * negative, step * factor) for value, step in readings)
    if found["scale"] in ("m", "M"):  # metres
        scaled += tuple((value * negative, step) for value, step in readings)
    return WrittenNumber(
        start=start,
        end=found.end(),
        readings=scaled,
        kind=kind,
        bound=_bound_around(text, start, found.end()),
        signed=signed,
    )


def _is_dash(text: str, found: re.Match[str]) -> bool:
    """Return True if the dash is a range, a pause or a bullet, and not a minus sign."""
    before = text[: found.start()][-2:]
    spaced = (found["sign"] or "").endswith(" ")
    return (
        spaced
        or bool(before.strip() and before[-1:] not in (" ", "(", "\n", ":"))
        or (not text[: found.start()].strip(" \n•") and spaced)
    )


def _readings(digits: str) -> list[tuple[float, float]]:
    bare = re.sub("[ \u00a0\u202f'’]", "", digits)
    commas = bare.count(",")
    dots = bare.count(".")
    if commas and dots:
        decimal = "," if bare.rfind(",") > bare.rfind(".") else "."
        return [_decimal(bare, decimal)]
    mark = "," if commas else "." if dots else ""
    if not mark:
        return [_decimal(bare, ".")]
    head, *groups = bare.split(mark)
    grouped = bool(head) and len(head) <= 3 and head != "0" and all(len(each) == 3 for each in groups)
    if len(groups) > 1:
        return [_decimal(bare.replace(mark, ""), ".")]
    if not grouped:
        return [_decimal(bare, mark)]
    whole = _decimal(bare.replace(mark, ""), ".")
    broken = _decimal(bare, mark)
    return [whole, broken] if mark == "," else [broken, whole]


def _decimal(bare: str, mark: str) -> tuple[float, float]:
    other = "." if mark == "," else ","
    plain = bare.replace(other, "").replace(mark, ".")
    places = len(plain.partition(".")[2])
    return float(plain[:300]), 10.0**-places


def _bound_around(text: str, start: int, end: int) -> Bound:
    before = text[max(0, start - 26) : start]
    found = next((bound for pattern, bound in _BEFORE if pattern.search(before)), None)
    if found is not None:
        return found
    after = text[end : end + 14]
    if _OR_MORE.match(after):
        return "at_least"
    return "at_most" if _OR_LESS.match(after) else "exact"
