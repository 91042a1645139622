"""Types of columns: found from the text of all cells, and the SQL that casts them. A cell fits or is NULL.

`{v}` in a pattern of SQL stands for the trimmed text of a cell.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.modules.database_connection.uploads.model import CellOrder, CellType

_SHEET_ERRORS = ("#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!")
MISSING = (*_SHEET_ERRORS, "-", "--", "N/A", "NA", "NAN", "NONE", "NULL")
"""Cells that mean "no value" in a column whose other cells have a type other than text."""

_POINT = r"[+-]?((0|[1-9]\d*|[1-9]\d{0,2}(,\d{3})+)(\.\d+)?|\.\d+)([eE][+-]?\d{1,3})?"
_COMMA = r"[+-]?((0|[1-9]\d*|[1-9]\d{0,2}(\.\d{3})+)(,\d+)?|,\d+)([eE][+-]?\d{1,3})?"
_DIALLED = r"\+\d{7,}"
"""Telephone numbers, which would lose their sign as numbers."""
_CLOCK = r"\d{1,2}:\d{2}(:\d{2}(\.\d{1,9})?)?"
_TRUE = "('true', 'yes', 't', 'y')"
_FALSE = "('false', 'no', 'f', 'n')"
_DIGITS_OF_BIGINT = 18
_DIGITS_OF_DECIMAL = 38
_MAX_DECIMAL_SCALE = 18

_NUMBERS: Sequence[CellType] = ("integer", "number")

Written = tuple[CellType, CellOrder | None]
_ORDERS: Mapping[CellOrder, tuple[str, Sequence[str]]] = {
    "ymd": (r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}", ("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d")),
    "dmy": (r"\d{1,2}[-/.]\d{1,2}[-/.]\d{4}", ("%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y")),
    "mdy": (r"\d{1,2}[-/.]\d{1,2}[-/.]\d{4}", ("%m/%d/%Y", "%m-%d-%Y", "%m.%d.%Y")),
}
_ALL: Sequence[Written] = (
    ("integer", "point"),
    ("integer", "comma"),
    ("number", "point"),
    ("number", "comma"),
    ("boolean", None),
    *(("date", order) for order in _ORDERS),
    *(("datetime", order) for order in _ORDERS),
)
"""Types other than text, in the order in which the first that all cells fit is taken."""


@dataclass(frozen=True)
class ColumnCounts:
    """Numbers of cells of a column: not empty, not `MISSING`, and those that fit each of `_ALL`.

    `scale`: most digits after the decimal point and comma. `whole`: most digits before them. `grouped`:
    cells that are numbers either way, with different values. `marked_days`: dates with points, which are
    written with the day first. `dialled`: telephone numbers.
    """

    cells: int
    present: int
    fits: Mapping[Written, int]
    scale: Mapping[CellOrder, int]
    whole: Mapping[CellOrder, int]
    exponents: int
    grouped: int
    marked_days: int
    dialled: int


@dataclass(frozen=True)
class FoundType:
    type: CellType
    written: CellOrder | None
    doubt: str = ""
    """A sentence's end that says how else the cells could have been read. Empty if there is no doubt."""


def counts_sql(column: str) -> list[str]:
    """Expressions that `read_counts` reads, for a column given as SQL."""
    text = f"trim({column})"
    value = f"CASE WHEN upper({text}) IN {MISSING} THEN NULL ELSE {text} END"
    whole_and_scale = [
        f"coalesce(max(length(regexp_extract({value}, '{pattern}', 1))), 0)"
        for pattern in (r"[{mark}](\d+)", r"^[+-]?([\d{other}]*)")
        for pattern in (
            pattern.replace("{mark}", ".").replace("{other}", ","),
            pattern.replace("{mark}", ",").replace("{other}", "."),
        )
    ]
    return [
        f"count({column})",
        f"count({value})",
        *(f"count({cast_sql(value, kind, written)})" for kind, written in _ALL),
        *whole_and_scale,
        f"count_if(regexp_matches({value}, '[eE]'))",
        f"count_if(regexp_full_match({value}, '[+-]?[1-9]\\d{{0,2}}[.,]\\d{{3}}'))",
        f"count_if(contains({value}, '.'))",
        f"count_if(regexp_full_match({value}, '{_DIALLED}'))",
    ]


def read_counts(values: Sequence[int]) -> ColumnCounts:
    cells, present, *rest = values
    fits = dict(zip(_ALL, rest, strict=False))
    scale_point, scale_comma, whole_point, whole_comma, exponents, grouped, points, dialled = rest[
        len(_ALL) :
    ]
    return ColumnCounts(
        cells,
        present,
        fits,
        scale={"point": scale_point, "comma": scale_comma},
        whole={"point": whole_point, "comma": whole_comma},
        exponents=exponents,
        grouped=grouped,
        marked_days=points,
        dialled=dialled,
    )


def find_type(counts: ColumnCounts, prefers_comma: bool) -> FoundType:
    """The first type that all cells fit. Text if there is none, or if the cells could mean two dates."""
    if counts.present in (0, counts.dialled):
        return FoundType("text", None)
    fitting = [each for each in _ALL if counts.fits[each] == counts.present]
    if ("date", "dmy") in fitting and ("date", "mdy") in fitting and counts.marked_days < counts.present:
        return FoundType("text", None, "may be dates with the day or the month first; choose the type date")
    if ("datetime", "dmy") in fitting and ("datetime", "mdy") in fitting:
        return FoundType("text", None, "may be times with the day or the month first; choose the type")
    orders: Sequence[CellOrder] = ("comma", "point") if prefers_comma else ("point", "comma")
    for order in orders:
        for kind in _NUMBERS:
            if (kind, order) in fitting:
                doubtful = counts.grouped == counts.present
                doubt = f"are read with a decimal {order}; the other way is possible" if doubtful else ""
                return FoundType(kind, order, doubt)
    if not fitting:
        return FoundType("text", None)
    kind_found, written = fitting[0]
    return FoundType(kind_found, written)


def cast_sql(value: str, kind: CellType, written: CellOrder | None, *, target: str | None = None) -> str:
    """SQL that is the value of a trimmed text cell, NULL if it does not fit. `target` is a number's type."""
    match kind:
        case "text":
            return value
        case "boolean":
            return (
                f"CASE WHEN lower({value}) IN {_TRUE} THEN true "
                f"WHEN lower({value}) IN {_FALSE} THEN false END"
            )
        case "integer" | "number":
            pattern = _COMMA if written == "comma" else _POINT
            digits = _without_groups(value, written)
            fits = f"regexp_full_match({value}, '{pattern}')"
            if kind == "integer":
                fits += f" AND regexp_full_match({digits}, '[+-]?\\d{{1,{_DIGITS_OF_BIGINT}}}')"
            return f"CASE WHEN {fits} THEN TRY_CAST({digits} AS {target or _plain_type(kind)}) END"
    pattern, formats = _ORDERS["ymd" if written is None or written in ("point", "comma") else written]
    if kind == "date":
        parsed = f"try_strptime({value}, {list(formats)})::DATE"
        return f"CASE WHEN regexp_full_match({value}, '{pattern}') THEN {parsed} END"
    if written in ("dmy", "mdy"):
        clocks = [f"{each} {clock}" for each in formats for clock in ("%H:%M", "%H:%M:%S", "%H:%M:%S.%g")]
        fits = f"regexp_full_match({value}, '{pattern} {_CLOCK}')"
        return f"CASE WHEN {fits} THEN try_strptime({value}, {clocks}) END"
    zone = r"\s?(Z|[+-]\d{2}(:?\d{2})?)?"
    fits = f"regexp_full_match({value}, '\\d{{4}}-\\d{{2}}-\\d{{2}}([ T]{_CLOCK}{zone})?')"
    return f"CASE WHEN {fits} THEN TRY_CAST({value} AS TIMESTAMP) END"


def number_type(counts: ColumnCounts, written: CellOrder | None) -> str:
    """Decimal if all digits fit, because sums of doubles are not exact."""
    order: CellOrder = "comma" if written == "comma" else "point"
    scale, whole = counts.scale[order], counts.whole[order]
    if counts.exponents or scale > _MAX_DECIMAL_SCALE or scale + whole > _DIGITS_OF_DECIMAL:
        return "DOUBLE"
    return f"DECIMAL({18 if scale + whole <= 18 else _DIGITS_OF_DECIMAL},{scale})"


def _plain_type(kind: CellType) -> str:
    return "BIGINT" if kind == "integer" else "DOUBLE"


def _without_groups(value: str, written: CellOrder | None) -> str:
    if written == "comma":
        return f"replace(replace({value}, '.', ''), ',', '.')"
    return f"replace({value}, ',', '')"
