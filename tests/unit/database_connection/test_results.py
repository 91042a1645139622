"""How values leave a database: JSON under a type, within bounds."""

import datetime as dt
import json
import math
from decimal import Decimal
from math import fsum
from random import Random
from struct import pack, unpack

import pytest

from app.core.values.numbers import of_single_precision
from app.modules.database_connection.limits import StatementLimits
from app.modules.database_connection.results import RawRows, ResultSet, collect
from tests.support.cases import assert_each

LIMITS = StatementLimits()


def one_column(*values: object, limits: StatementLimits = LIMITS) -> ResultSet:
    return collect(RawRows(["a"], [None], [[value] for value in values]), limits)


def test_a_value_becomes_the_json_that_keeps_it() -> None:
    def check(value: object, expected: object) -> None:
        kept = one_column(value).rows[0][0]
        assert kept == expected
        assert type(kept) is type(expected)
        json.dumps(kept, allow_nan=False)

    assert_each(
        [
            (None, None),
            (True, True),
            (2**53, 2**53),
            (2**53 + 1, "9007199254740993"),
            (-(2**63), "-9223372036854775808"),
            (0.1, 0.1),
            (19366.140000000014, 19366.14),
            (-193834.0799999912, -193834.08),
            (3643263.8600005, 3643263.86),
            (0.1 + 0.2, 0.3),
            (1 / 3, 0.333333333333333),
            (-0.0, 0.0),
            (1000000000000.01, 1000000000000.01),
            (1234567890123456.0, 1234567890123456.0),
            (0.000123456789012345, 0.000123456789012345),
            (12345678901.230042, 12345678901.23),
            (100000000000.123, 100000000000.123),
            (600.000000000068, 600.0),
            (123456789.12345678, 123456789.123457),
            (1.7976931348623157e308, 1.7976931348623157e308),
            (5e-324, 5e-324),
            (math.nan, None),
            (-math.inf, None),
            (Decimal(10), 10),
            (Decimal("10.50"), 10.5),
            (Decimal("NaN"), None),
            (Decimal("1E+20"), "100000000000000000000"),
            (Decimal("0.1234567890123456789"), "0.1234567890123456789"),
            (Decimal(123456789012345678901), "123456789012345678901"),
            (dt.datetime(2024, 5, 1, 10, tzinfo=dt.UTC), "2024-05-01T10:00:00+00:00"),
            (dt.date(2024, 5, 1), "2024-05-01"),
            (dt.time(10, 30), "10:30:00"),
            (b"\x00\xff", "AP8="),
            ({"a": [1, math.nan, 0.1 + 0.2]}, {"a": [1, None, 0.3]}),
            ("Zoë", "Zoë"),
        ],
        check,
    )


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([None, 1, 2], "integer"),
        ([1, 2.5], "number"),
        ([True], "boolean"),
        (["2024-01-01", None], "date"),
        (["2024-01-01 10:00:00", "2024-01-01T10:00:00.5Z"], "datetime"),
        (["10:00:00"], "time"),
        (["2024-01-01", "soon"], "text"),
        ([1, "a"], "text"),
        ([b""], "binary"),
        ([None], "text"),
        ([], "text"),
    ],
)
def test_a_column_without_a_declared_type_gets_the_one_that_fits_its_values(
    values: list[object], kind: str
) -> None:
    assert one_column(*values).columns == (("a", kind),)


def test_repeated_column_names_are_numbered_and_never_collide() -> None:
    raw = RawRows(["id", "id", "id_2", "id"], [None] * 4, [])
    assert [column.name for column in collect(raw, LIMITS).columns] == ["id", "id_3", "id_2", "id_4"]


@pytest.mark.parametrize(("rows", "truncated"), [(2, False), (3, True)])
def test_only_a_row_beyond_the_limit_makes_a_result_truncated(rows: int, truncated: bool) -> None:
    result = one_column(*range(rows), limits=StatementLimits(max_rows=2))
    assert (len(result.rows), result.truncated) == (2, truncated)
    assert result.cut_by == ("rows" if truncated else None)


def test_rows_end_when_their_size_reaches_the_limit() -> None:
    result = one_column(*["x" * 400] * 10, limits=StatementLimits(max_bytes=1_000))
    assert (len(result.rows), result.truncated, result.cut_by) == (2, True, "bytes")


@pytest.mark.parametrize("value", ["x" * 101, b"x" * 101, ["x" * 101]])
def test_a_long_cell_is_cut_and_the_result_says_so(value: object) -> None:
    result = one_column(value, limits=StatementLimits(max_cell_characters=100))
    assert len(str(result.rows[0][0])) == 100
    assert (result.truncated, result.cut_by) == (True, "values")


def test_the_sum_of_many_amounts_has_no_more_decimals_than_they() -> None:
    random = Random(7)
    for largest in (100, 10_000, 1_000_000, 10_000_000):
        for _ in range(50):
            amounts = [random.randrange(largest) / 100 for _ in range(20_000)]
            assert one_column(sum(amounts)).rows[0][0] == round(fsum(amounts), 2)
    assert one_column(sum([0.1] * 100_000)).rows[0][0] == 10_000


@pytest.mark.parametrize("digits", [0.1, 1.1, 3.4028235e38, 16777216.0, 1e-10, 123456.79, 0.33333334])
def test_a_number_of_single_precision_has_the_digits_that_tell_it_apart(digits: float) -> None:
    (double,) = unpack("f", pack("f", digits))
    assert of_single_precision(double) == digits
