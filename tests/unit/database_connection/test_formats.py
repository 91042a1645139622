"""Formats of dates and codes that are kept as text."""

from app.modules.database_connection.scan.formats import text_format
from tests.support.cases import assert_each


def test_a_format_is_what_all_values_share() -> None:
    def check(values: list[str], format_: str) -> None:
        assert text_format(values) == format_

    assert_each(
        [
            (["2024-01-31", "2023-12-01", "2020-02-29"], "YYYY-MM-DD"),
            (["2024-01-31 10:00:00", "2023-12-01 23:59:59.5", "2020-02-29 00:00:00"], "YYYY-MM-DD HH:MM:SS"),
            (["2024-01", "2024-02", "2024-12"], "YYYY-MM"),
            (["20240131", "20231201", "20200229"], "YYYYMMDD"),
            (["31/01/2024", "01/02/2024", "03/04/2024"], "DD/MM/YYYY"),
            (["1/31/2024", "1/2/2024", "3/4/2024"], "MM/DD/YYYY"),
            (["1/2/2024", "3/4/2024", "5/6/2024"], "DD/MM/YYYY or MM/DD/YYYY"),
            (["2024-01-31", "soon", "2020-02-29"], ""),
            (["2024-01-31", "2024-02-01"], ""),
            (["12345678", "99999999", "00000000"], "99999999"),
            (["AB-120", "ZZ-999", "QX-001"], "AA-999"),
            (["+47 22", "+49 30", "+33 11"], "+99 99"),
            (["Ann", "Bob", "Zoë"], ""),
            (["New York", "Las Vega", "San Jose"], ""),
            (["A-1", "B-22", "C-333"], ""),
            (["x1" * 30] * 3, ""),
        ],
        check,
    )
