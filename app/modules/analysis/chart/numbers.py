"""Numbers of a picture as text: exact, or short as on an axis."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal

from app.core.language import Language
from app.core.values.numbers import as_decimal
from app.modules.analysis.chart.choice import NumberFormat
from app.modules.analysis.figures import NumericColumn
from app.modules.analysis.formats import Formats, Unit, unit_of_column

_SCALES: dict[Language, Sequence[str]] = {
    "en": ("", "k", "M", "bn", "tn"),
    "de": ("", "Tsd.", "Mio.", "Mrd.", "Bio."),
    "es": ("", "mil", "M", "mil M", "B"),
    "fr": ("", "k", "M", "Md", "Bn"),
}
_THIN = "\N{NARROW NO-BREAK SPACE}"
_LONGEST_LABEL = 7
_SHORT = 3
"""Significant digits of a short number."""
_SHORT_FROM = 10_000
_ZERO = re.compile("0")
_LARGEST = 20
"""Powers of ten up to which a number is divided without a loss."""
_SMALLEST_SHARE = 0.0005
_PERCENT_WORDS = ("percent", "percentage", "pct", "prozent", "porcentaje", "pourcentage", "(%)")


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """The numbers of one measure. `suffix` is a reader's own unit."""

    formats: Formats
    unit: Unit | None = None
    suffix: str = ""
    form: NumberFormat = "auto"

    def exact(self, value: float | Decimal | int) -> str:
        return self.formats.amount(_decimal(value), self.unit) + self._end

    def short(self, value: float | Decimal | int) -> str:
        """Three significant digits with k, M or their like from 10,000 on; percentages have none of these."""
        amount = _decimal(value)
        if self.unit in ("percent", "ratio") or abs(amount) < _SHORT_FROM:
            return self.exact(value) if self.unit in ("percent", "ratio") else self._rounded(amount)
        power = min((amount.adjusted()) // 3, len(_SCALES["en"]) - 1)
        scaled = _significant(amount.scaleb(-3 * power))
        if abs(scaled) >= 1000 and power < len(_SCALES["en"]) - 1:
            power, scaled = power + 1, scaled.scaleb(-3)
        return self.framed(self._plain(scaled), scale=power, negative=amount < 0)

    def labels(self, values: Sequence[float | int]) -> list[str]:
        """Labels at marks: exact where all of them have room so, and short otherwise."""
        if self.unit in ("percent", "ratio") and self.form != "exact":
            return self._percents(
                [_decimal(value) * (1 if self.unit == "percent" else 100) for value in values]
            )
        written = self._alike([_decimal(value) for value in values])
        if self.form == "exact" or (
            self.form != "compact" and max(map(len, written), default=0) <= _LONGEST_LABEL
        ):
            return written
        return [self.short(value) for value in values]

    def _percents(self, values: Sequence[Decimal]) -> list[str]:
        """Per cent with one decimal each if any of them has one."""
        rounded = [value.quantize(Decimal("0.1"), ROUND_HALF_UP) for value in values]
        are_whole = [each == each.to_integral_value() for each in rounded]
        percent = replace(self, unit="percent", suffix="")
        return [
            percent.framed(self.formats.amount(abs(each), places=1), negative=each < 0)
            if is_whole and each and not all(are_whole)
            else self.formats.percent(value.scaleb(-2))
            for value, each, is_whole in zip(values, rounded, are_whole, strict=True)
        ]

    def _alike(self, values: Sequence[Decimal]) -> list[str]:
        """Exact numbers; whole ones have two decimals if any other has."""
        has_parts = any(each != each.to_integral_value() for each in values if abs(each) >= 1)
        return [
            self.framed(self.formats.amount(abs(each), places=2), negative=each < 0)
            if has_parts and each and each == each.to_integral_value()
            else self.exact(each)
            for each in values
        ]

    def ticks(self, values: Sequence[float]) -> list[str]:
        """Labels of an axis: the unit stands at the highest number only."""
        amounts = [_decimal(value) for value in values]
        if self.unit == "ratio":
            amounts = [each * 100 for each in amounts]
        power = 0 if self.unit in ("percent", "ratio") else _power(amounts)
        scaled = [each.scaleb(-3 * power) for each in amounts]
        places = max(max(0, -int(each.normalize().as_tuple().exponent)) for each in scaled)
        plain = [self.formats.amount(abs(each), places=places if each else 0) for each in scaled]
        signed = [f"-{text}" if each < 0 else text for each, text in zip(scaled, plain, strict=True)]
        top = self.framed(plain[-1], scale=power, negative=scaled[-1] < 0)
        return [*signed[:-1], top]

    def shares(self, parts: Sequence[float]) -> list[str]:
        """Shares of one with one decimal each; those that would read as zero are below the smallest."""
        percent = replace(self, unit="percent", suffix="")
        return [
            f"<{percent.framed(self.formats.amount(Decimal('0.1'), places=1))}"
            if 0 < part < _SMALLEST_SHARE
            else percent.framed(self.formats.amount(_decimal(part * 100), places=1))
            for part in parts
        ]

    def bare(self, name: str) -> str:
        """A measure's name without the unit that its numbers have."""
        words = name.split(" ")
        units = {"" if self.unit == "ratio" else self.unit.lower(), *_PERCENT_WORDS} if self.unit else set()
        kept = [each for each in words if each.lower() not in units]
        return " ".join(kept) if kept else name

    @property
    def _end(self) -> str:
        return f"{_THIN}{self.suffix}" if self.suffix else ""

    def _rounded(self, amount: Decimal) -> str:
        if amount == amount.to_integral_value():
            return self.exact(amount)
        return self.framed(self._plain(_significant(amount)), scale=0, negative=amount < 0)

    def _plain(self, amount: Decimal) -> str:
        places = max(0, -int(amount.as_tuple().exponent))
        return self.formats.amount(abs(amount), places=places)

    def framed(self, text: str, *, scale: int = 0, negative: bool = False) -> str:
        """Put a number without its sign into the frame of the unit, such as "€" before it."""
        name = _SCALES[self.formats.language][scale]
        scaled = f"{text}{_THIN}{name}" if name else text
        frame = "0" if self.unit is None else self.formats.amount(Decimal(0), self.unit)
        framed = _ZERO.sub(lambda _: scaled, frame, count=1)
        return ("-" if negative else "") + framed + self._end


def numbers_of(
    measure: NumericColumn, formats: Formats, *, form: NumberFormat, suffix: str | None
) -> Numbers:
    unit = unit_of_column(measure.name, measure.known, is_ratio=measure.kind == "ratio")
    if form == "percent" and unit is None:
        unit = "ratio" if all(abs(value) <= 1 for value in measure.known) else "percent"
    return Numbers(formats=formats, unit=unit, suffix=suffix or "", form=form)


def _decimal(value: float | Decimal | int) -> Decimal:
    return value if isinstance(value, Decimal) else as_decimal(value) or Decimal(0)


def _significant(amount: Decimal) -> Decimal:
    if not amount:
        return Decimal(0)
    if amount.adjusted() > _LARGEST:
        return Decimal(f"{amount:.{_SHORT}g}")
    places = max(0, _SHORT - 1 - amount.adjusted())
    return amount.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


def _power(amounts: Sequence[Decimal]) -> int:
    """The thousands that ticks are divided by: whole numbers, or from millions on at most two decimals."""
    largest = max(map(abs, amounts))
    if largest.adjusted() > _LARGEST:
        return 0
    for power in range(len(_SCALES["en"]) - 1, 0, -1):
        scaled = [each.scaleb(-3 * power) for each in amounts]
        digits = 2 if power > 1 else 0
        if largest.adjusted() >= 3 * power and all(each == round(each, digits) for each in scaled):
            return power
    return 0
