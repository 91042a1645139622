"""What a statement's columns are: keys, counts and sums, which add up, and all else, which does not."""

import pytest

from app.modules.analysis.figures.statement import read_statement
from tests.support.cases import assert_each

DIALECTS = ("sqlite", "postgres", "mysql", "duckdb")


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("c", "key"),
        ("COUNT(*)", "count"),
        ("COUNT(a)", "count"),
        ("SUM(a)", "sum"),
        ("SUM(a * b)", "sum"),
        ("SUM(CASE WHEN a > 1 THEN 1 ELSE 0 END)", "sum"),
        ("ROUND(SUM(a), 2)", "sum"),
        ("COALESCE(SUM(a), 0)", "sum"),
        ("CAST(SUM(a) AS DECIMAL(10, 2))", "sum"),
        ("SUM(a) - SUM(b)", "sum"),
        ("SUM(a) / 1000", "sum"),
        ("-SUM(a)", "sum"),
        ("COUNT(DISTINCT a)", "distinct"),
        ("SUM(DISTINCT a)", "distinct"),
        ("AVG(a)", "average"),
        ("MIN(a)", "extreme"),
        ("MAX(a)", "extreme"),
        ("SUM(a) / COUNT(*)", "ratio"),
        ("100.0 * SUM(a) / SUM(b)", "ratio"),
        ("100.0 * SUM(a) / (SELECT SUM(a) FROM t)", "ratio"),
        ("AVG(a) * COUNT(*)", "ratio"),
        ("SUM(a) + 10", "mixed"),
        ("MAX(a) - MIN(a)", "mixed"),
        ("SUM(SUM(a)) OVER (ORDER BY c)", "running"),
        ("SUM(SUM(a)) OVER (ORDER BY c ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)", "moving"),
        ("AVG(SUM(a)) OVER (ORDER BY c ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)", "moving"),
        ("SUM(SUM(a)) OVER (ORDER BY c ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)", "running"),
        ("SUM(a) - LAG(SUM(a)) OVER (ORDER BY c)", "change"),
        ("100.0 * (SUM(a) - LAG(SUM(a)) OVER (ORDER BY c)) / LAG(SUM(a)) OVER (ORDER BY c)", "change"),
        ("SUM(a) * 100.0 / SUM(SUM(a)) OVER ()", "window"),
        ("RANK() OVER (ORDER BY SUM(a) DESC)", "rank"),
        ("1", "constant"),
    ],
)
def test_a_columns_kind_is_read_from_its_expression(dialect: str, expression: str, kind: str) -> None:
    reading = read_statement(f"SELECT c, {expression} AS n FROM t GROUP BY c", dialect)
    assert reading.outputs is not None
    assert reading.outputs[1].kind == kind


@pytest.mark.parametrize(
    ("sql", "kinds"),
    [
        ("WITH m AS (SELECT c, SUM(a) AS s FROM t GROUP BY c) SELECT c, s FROM m", ["key", "sum"]),
        ("SELECT c, s FROM (SELECT c, COUNT(*) AS s FROM t GROUP BY c) AS m", ["key", "count"]),
        ("SELECT * FROM (SELECT c, AVG(a) AS v FROM t GROUP BY c) AS m", ["key", "average"]),
        (
            "WITH m AS (SELECT c, d, SUM(a) AS s FROM t GROUP BY c, d) SELECT c, SUM(s) FROM m GROUP BY c",
            ["key", "sum"],
        ),
        (
            "WITH m AS (SELECT c, d, AVG(a) AS v FROM t GROUP BY c, d) SELECT c, SUM(v) FROM m GROUP BY c",
            ["key", "mixed"],
        ),
        (
            "WITH m AS (SELECT c, SUM(a) AS s FROM t GROUP BY c) SELECT name, m.s FROM m JOIN x ON x.c = m.c",
            ["plain", "mixed"],
        ),
        (
            "SELECT name, (SELECT COUNT(*) FROM o WHERE o.t = t.id) AS orders FROM t",
            ["plain", "count"],
        ),
        ("SELECT name, (SELECT COUNT(*) FROM o) AS orders FROM t", ["plain", "constant"]),
        ("SELECT SUM(a) FILTER (WHERE b > 1) AS s, a AS k FROM t GROUP BY a", ["sum", "key"]),
        ("SELECT name, price FROM t", ["plain", "plain"]),
    ],
)
def test_a_kind_is_followed_through_inner_queries(sql: str, kinds: list[str]) -> None:
    reading = read_statement(sql, "postgres")
    assert reading.outputs is not None
    assert [output.kind for output in reading.outputs] == kinds


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT c, COUNT(*) AS n FROM t GROUP BY ROLLUP (c)",
        "SELECT c, COUNT(*) AS n FROM t GROUP BY GROUPING SETS ((c), ())",
        "SELECT 'a' AS c, COUNT(*) AS n FROM t UNION ALL SELECT 'all', COUNT(*) FROM u",
        "SELECT * FROM (SELECT 'a' AS c, COUNT(*) AS n FROM t UNION SELECT 'b', COUNT(*) FROM u) AS x",
    ],
)
def test_rows_of_subtotals_and_of_several_queries_are_not_added_up(sql: str) -> None:
    assert read_statement(sql, "postgres").added_up


def test_a_union_that_is_grouped_again_adds_up() -> None:
    sql = "SELECT c, SUM(a) AS s FROM (SELECT c, a FROM t UNION ALL SELECT c, a FROM u) AS x GROUP BY c"
    reading = read_statement(sql, "postgres")
    assert not reading.added_up
    assert reading.outputs is not None
    assert reading.outputs[1].kind == "sum"


@pytest.mark.parametrize(
    ("sql", "order", "descending", "limit"),
    [
        ("SELECT c, COUNT(*) AS n FROM t GROUP BY c ORDER BY n DESC LIMIT 10", 1, True, 10),
        ("SELECT c, COUNT(*) AS n FROM t GROUP BY c ORDER BY COUNT(*) LIMIT 3", 1, False, 3),
        ("SELECT c, COUNT(*) AS n FROM t GROUP BY c ORDER BY 2 DESC", 1, True, None),
        (
            "SELECT * FROM (SELECT c, COUNT(*) AS n FROM t GROUP BY c) AS x ORDER BY n DESC LIMIT 4",
            1,
            True,
            4,
        ),
        ("SELECT c FROM t ORDER BY d", None, False, None),
        ("SELECT c, n FROM (SELECT c, n FROM t LIMIT 7) AS x", None, False, 7),
        ("SELECT c, SUM(n) FROM (SELECT c, n FROM t LIMIT 7) AS x GROUP BY c", None, False, None),
    ],
)
def test_the_order_and_the_limit_are_the_statements_own(
    sql: str, order: int | None, descending: bool, limit: int | None
) -> None:
    reading = read_statement(sql, "postgres")
    assert (reading.order, reading.descending, reading.limit) == (order, descending, limit)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT c, COUNT(*) AS n FROM t GROUP BY c HAVING COUNT(*) > 3",
        "SELECT c, COUNT(*) AS n FROM t GROUP BY c ORDER BY n LIMIT 10 OFFSET 10",
        "SELECT c FROM (SELECT c, RANK() OVER (ORDER BY COUNT(*)) AS r FROM t GROUP BY c) AS x WHERE r <= 3",
        "WITH m AS (SELECT c, COUNT(*) AS n FROM t GROUP BY c) SELECT * FROM m WHERE n > 5",
    ],
)
def test_a_statement_that_leaves_groups_out_is_no_whole(sql: str) -> None:
    assert read_statement(sql, "postgres").selective


def test_a_condition_on_rows_leaves_no_group_out() -> None:
    assert not read_statement("SELECT c, COUNT(*) AS n FROM t WHERE a > 3 GROUP BY c", "postgres").selective


def test_the_calendar_unit_of_a_column_is_read_from_its_expression() -> None:
    def check(dialect: str, expression: str, unit: str | None) -> None:
        reading = read_statement(f"SELECT {expression} AS p, COUNT(*) AS n FROM t GROUP BY 1", dialect)
        assert reading.outputs is not None
        assert reading.outputs[0].unit == unit

    assert_each(
        [
            ("sqlite", "STRFTIME('%Y-%m', d)", "month"),
            ("sqlite", "STRFTIME('%Y', d)", "year"),
            ("sqlite", "STRFTIME('%Y-%W', d)", "week"),
            ("sqlite", "STRFTIME('%m', d)", None),
            ("sqlite", "STRFTIME('%Y-%m', d, 'unixepoch')", "month"),
            ("sqlite", "DATE(d, 'start of month')", "month"),
            ("sqlite", "DATE(d)", "day"),
            ("sqlite", "SUBSTR(d, 1, 7)", "month"),
            ("sqlite", "CAST(STRFTIME('%Y', d) AS INTEGER)", "year"),
            ("postgres", "DATE_TRUNC('quarter', d)", "quarter"),
            ("postgres", "DATE_TRUNC('month', d)::date", "month"),
            ("postgres", "TO_CHAR(d, 'YYYY-MM')", "month"),
            ("postgres", "TO_CHAR(d, 'IYYY-IW')", "week"),
            ("postgres", "EXTRACT(YEAR FROM d)", "year"),
            ("postgres", "EXTRACT(MONTH FROM d)", None),
            ("mysql", "DATE_FORMAT(d, '%Y-%m')", "month"),
            ("mysql", "YEAR(d)", "year"),
            ("mysql", "LEFT(d, 7)", "month"),
            ("duckdb", "DATE_TRUNC('week', d)", "week"),
            ("duckdb", "STRFTIME('%Y-%m', d)", "month"),
            ("duckdb", "d::DATE", "day"),
        ],
        check,
    )


@pytest.mark.parametrize("sql", ["", "no sql at all (((", "DELETE FROM t", "SELECT * FROM t", "VALUES (1)"])
def test_of_other_texts_nothing_is_known(sql: str) -> None:
    assert read_statement(sql, "sqlite").outputs is None
