"""Parse numbers in text: digits in any locale, and English and German number words and fractions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
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
_WORDS = {
    word: value
    for value, words in enumerate(
        (
            "zero|null",
            "one|ein|eine|einer|einem|einen|eins",
            "two|zwei",
            "three|drei",
            "four|vier",
            "five|fünf",
            "six|sechs",
            "seven|sieben",
            "eight|acht",
            "nine|neun",
            "ten|zehn",
            "eleven|elf",
            "twelve|zwölf",
            "thirteen|dreizehn",
            "fourteen|vierzehn",
            "fifteen|fünfzehn",
            "sixteen|sechzehn",
            "seventeen|siebzehn",
            "eighteen|achtzehn",
            "nineteen|neunzehn",
            "twenty|zwanzig",
        )
    )
    for word in words.split("|")
}
_TENS = {
    word: 10 * value
    for value, words in enumerate(
        (
            "thirty|dreißig",
            "forty|vierzig",
            "fifty|fünfzig",
            "sixty|sechzig",
            "seventy|siebzig",
            "eighty|achtzig",
            "ninety|neunzig",
        ),
        start=3,
    )
    for word in words.split("|")
} | {"twenty": 20, "a hundred": 100, "one hundred": 100, "a dozen": 12, "hundert": 100, "ein dutzend": 12}
_UNITS = "|".join(word for word, value in _WORDS.items() if 1 <= value <= 9)
_SPELLED = "|".join(
    sorted({*_WORDS, *_TENS} - {"null", "ein", "eine", "einer", "einem", "einen"}, key=len, reverse=True)
)
_FRACTIONS = {
    **dict.fromkeys(("half", "halves", "hälfte"), 2),
    **dict.fromkeys(("third", "thirds", "drittel"), 3),
    **dict.fromkeys(("quarter", "quarters", "viertel", "fourth", "fourths"), 4),
    **dict.fromkeys(("fifth", "fifths", "fünftel"), 5),
    **dict.fromkeys(("sixth", "sixths", "sechstel"), 6),
    **dict.fromkeys(("eighth", "eighths", "achtel"), 8),
    **dict.fromkeys(("tenth", "tenths", "zehntel"), 10),
}
_SPOKEN = re.compile(
    r"\b(?:"
    r"(?P<over>(?:a|one|an|ein|eine|einem|two|zwei|three|drei|four|vier|five|fünf|seven|neun|nine)[ -])"
    r"(?P<under>thirds?|quarters?|fourths?|fifths?|sixths?|eighths?|tenths?|drittel|"
    r"viertel|fünftel|sechstel|achtel|zehntel)"
    r"|(?<!first )(?<!second )(?<!last )(?<!1st )(?<!2nd )(?<!ersten )(?<!zweiten "
    r")(?P<half>half|hälfte)(?! of (?:the year|the period|20\d\d|the "
    r"month))(?!-year)"
    r"|(?P<inof>one|two|three|four|five|eine[rs]?|zwei|drei) (?:in|out of|von) "
    r"(?P<outof>two|three|four|five|six|eight|ten|zwei|drei|vier|fünf|zehn)"
    r"|(?P<factor>twice|double[ds]?|doubling|tripled?|triples|tripling|quadrupled?|threefold|"
    r"twofold|fourfold|tenfold|thrice|halved|halves|doppelt\w*|verdoppelt\w*|"
    r"zweimal|dreimal|viermal|verdreifacht\w*|dreifache\w*|halbiert\w*|doppelte\w*)"
    rf"|(?P<tens>{'|'.join(_TENS)})(?:-(?P<ones>{_UNITS}))?(?P<pct1> percent| prozent)?"
    rf"|(?P<word>{_SPELLED})(?P<fold> times| mal)?(?P<scale> million(?:en)?| "
    rf"thousand| hundred| billion)?(?P<pct2> percent| prozent| %)?"
    r")\b",
    re.IGNORECASE,
)
_FACTORS: dict[str, float] = {
    "twice": 2,
    "doub": 2,
    "trip": 3,
    "quad": 4,
    "thre": 3,
    "twof": 2,
    "four": 4,
    "tenf": 10,
    "thri": 3,
}
_FACTORS |= {"halv": 0.5, "dopp": 2, "verdo": 2, "zwei": 2, "drei": 3, "vier": 4, "verdr": 3, "halb": 0.5}
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
    spoken: bool = False
    currency: bool = False
    signed: int = 0
    digits: int = 1
    """Significant digits: a number with few of them fits many values by chance."""

    scale: float = 1.0
    """1,000,000 for a number written in millions."""

    @property
    def value(self) -> float:
        return self.readings[0][0]

    def in_units(self, unit: float) -> "WrittenNumber":
        """The number with added readings for cells in thousands or millions: 9.16 for 9.16 million."""
        if self.kind != "plain" or self.scale != unit:
            return self
        return replace(
            self, readings=(*self.readings, *((v / unit, step / unit) for v, step in self.readings))
        )

    @cached_property
    def reach(self) -> tuple[float, float]:
        """Lower and upper bounds for the absolute value of any number that `fits` without slack."""
        sizes = [abs(value) for value, _ in self.readings]
        step = max(step for _, step in self.readings)
        return min(sizes) / 2 - step, max(sizes) * 2 + step

    def fits(self, value: float, *, slack: float = 1.0) -> bool:
        """Return True if the value, rounded, may be written as this number; `slack` scales the rounding."""
        written, step = self.readings[0]
        if _fits(value, written, step * slack, bound=self.bound, spoken=self.spoken):
            return True
        return len(self.readings) > 1 and any(
            _fits(value, written, step * slack, bound=self.bound, spoken=self.spoken)
            for written, step in self.readings[1:]
        )


def _fits(value: float, written: float, step: float, *, bound: Bound, spoken: bool) -> bool:
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
    """Yield all numbers in digits, then all in words; they may overlap."""
    for found in _DIGITS.finditer(text):
        number = _in_digits(text, found)
        if number is not None:
            yield number
    for found in _SPOKEN.finditer(text):
        number = _in_words(text, found)
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
    digits = len(found["digits"].replace(",", "").replace(".", "").strip("0 ").lstrip("0")) or 1
    return WrittenNumber(
        start=start,
        end=found.end(),
        readings=scaled,
        kind=kind,
        bound=bound_around(text, start, found.end()),
        currency=bool(found["currency"]),
        signed=signed,
        digits=digits,
        scale=factor,
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


def _in_words(text: str, found: re.Match[str]) -> WrittenNumber | None:
    bound = bound_around(text, found.start(), found.end())
    if found["under"] or found["half"]:
        below = _FRACTIONS[(found["under"] or found["half"]).lower()]
        over = _over(found["over"])
        if (
            found["under"]
            and found["under"].lower() in ("quarter", "third", "fourth", "fifth")
            and not re.match(
                r"\s*(?:of\b|the\b|more|less|higher|lower|larger|as\b|[,.;)]|$|to\b|from\b)",
                text[found.end() : found.end() + 8],
            )
        ):
            return None  # "a quarter earlier", "a third category"
        return _share(found, over / below, bound)
    if found["outof"]:
        part = _WORDS[found["inof"].lower()]
        whole = _WORDS[found["outof"].lower()]
        return (
            _share(found, part / whole, bound)
            if part < whole and found["inof"].lower() in ("one", "two", "three") and " in " in found.group()
            else None
        )
    if found["factor"]:
        word = found["factor"].lower()
        value = next(value for start, value in _FACTORS.items() if word.startswith(start))
        return WrittenNumber(
            start=found.start(),
            end=found.end(),
            readings=((value, value * 0.16),),
            kind="times",
            bound=bound,
            spoken=True,
        )
    factor = 1.0
    kind: NumberKind = "plain"
    if found["pct1"] or found["pct2"]:
        factor = 0.01
        kind = "percent"
    if found["tens"]:
        value = _TENS[found["tens"].lower()] + (_WORDS[found["ones"].lower()] if found["ones"] else 0)
    else:
        value = _WORDS[found["word"].lower()]
        if found["fold"] and kind == "plain":
            kind = "times"
        if found["scale"]:
            factor *= {"m": 1e6, "t": 1e3, "h": 100, "b": 1e9}[found["scale"].strip()[0].lower()]
    step = factor if kind != "times" else 0.2
    return WrittenNumber(
        start=found.start(),
        end=found.end(),
        readings=((value * factor, step),),
        kind=kind,
        bound=bound,
        spoken=True,
    )


def _over(word: str | None) -> int:
    return _WORDS.get((word or "a").strip(" -").lower(), 1)


def _share(found: re.Match[str], value: float, bound: Bound) -> WrittenNumber:
    return WrittenNumber(
        start=found.start(),
        end=found.end(),
        readings=((value, 0.05),),
        kind="percent",
        bound=bound,
        spoken=True,
    )


def bound_around(text: str, start: int, end: int) -> Bound:
    before = text[max(0, start - 26) : start]
    found = next((bound for pattern, bound in _BEFORE if pattern.search(before)), None)
    if found is not None:
        return found
    after = text[end : end + 14]
    if _OR_MORE.match(after):
        return "at_least"
    return "at_most" if _OR_LESS.match(after) else "exact"
