"""Numbers as charts write them: in full, short (1.2M) or in percent."""

from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal, localcontext

from app.modules.reports.charts.model import Numbers

_LARGE = 10_000
_MOST_DIGITS = 4
_LONGEST = 1e18
_UNITS = ("", "K", "M", "B", "T")


def tick_format(ticks: Sequence[float], numbers: Numbers) -> Callable[[float], str]:
    """Writes the ticks of an axis, with as many digits as tell them apart."""
    largest = max((abs(each) for each in ticks), default=0.0)
    is_compact = numbers.format == "compact" or (numbers.format == "auto" and largest >= _LARGE)
    style = "compact" if is_compact else numbers.format

    def written(digits: int) -> Callable[[float], str]:
        return lambda value: _written(value, style, digits)

    for digits in range(_MOST_DIGITS):
        if len({written(digits)(each) for each in ticks}) == len(ticks):
            return written(digits)
    return written(_MOST_DIGITS)


def value_text(value: float | None, numbers: Numbers) -> str:
    """Writes a value as labels do. A gap is a dash."""
    if value is None:
        return "–"
    digits = {"compact": 1, "percent": 2}.get(numbers.format, _MOST_DIGITS)
    text = _written(value, numbers.format, digits)
    return f"{text} {numbers.unit}" if numbers.unit else text


def plain(value: float, digits: int) -> str:
    """With thousands separators and at most so many decimals."""
    return _written(value, "plain", digits)


def compact(value: float, digits: int) -> str:
    """1.2M: with at most so many decimals."""
    return _written(value, "compact", digits)


def _written(value: float, style: str, digits: int) -> str:
    if abs(value) >= _LONGEST:
        return f"{value:.4g}"
    exact = Decimal(repr(float(value)))
    if style == "percent":
        return f"{_rounded(exact * 100, digits)}%"
    if style != "compact":
        return _rounded(exact, digits)
    unit = 0
    while unit < len(_UNITS) - 1 and _nearest(abs(exact).scaleb(-3 * unit), digits) >= 1_000:
        unit += 1
    return _rounded(exact.scaleb(-3 * unit), digits) + _UNITS[unit]


def _rounded(value: Decimal, digits: int) -> str:
    text = f"{_nearest(value, digits):,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _nearest(value: Decimal, digits: int) -> Decimal:
    """Rounds half away from zero, as people do."""
    with localcontext(prec=60):
        return value.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
