"""What statements do: the description names exactly what the statement has."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import sqlglot

from app.modules.sql.provenance.model import QueryDescription, StatementDescription
from app.modules.sql.provenance.reading import describe
from app.modules.sql.statement import Statement
from tests.support.cases import assert_each
from tests.support.declared import declared

DIALECTS = ("sqlite", "duckdb", "postgres", "mysql")
CORPUS = Path(__file__).parents[2] / "corpus" / "provenance.txt"
LEAST_STATEMENTS = 60


@dataclass
class Case:
    database: str
    dialects: tuple[str, ...]
    sql: str = ""
    expected: list[str] = field(default_factory=list)


def read_corpus() -> tuple[dict[str, dict[str, list[str]]], list[Case]]:
    databases: dict[str, dict[str, list[str]]] = {}
    cases: list[Case] = []
    for line in CORPUS.read_text().splitlines():
        if line.startswith("@"):
            name, _, tables = line[1:].partition(" ")
            databases[name] = {
                table.strip('"'): [column.strip().strip('"') for column in columns.split(",")]
                for table, columns in re.findall(r'("[^"]+"|\w+)\(([^)]*)\)', tables)
            }
        elif (header := re.fullmatch(r"# (\w+): (.+)", line)) and header[1] in databases:
            dialects = DIALECTS if header[2] == "all" else tuple(header[2].split(", "))
            cases.append(Case(header[1], dialects))
        elif line.startswith("> "):
            cases[-1].expected.append(line[2:])
        elif line and not line.startswith("#"):
            cases[-1].sql = line
    return databases, cases


DATABASES, CASES = read_corpus()


def described(sql: str, dialect: str, database: str = "chinook") -> StatementDescription:
    found = describe(Statement(sql, dialect), declared(dialect, DATABASES[database]))
    assert found is not None
    return found


def result_of(sql: str, dialect: str = "sqlite", database: str = "chinook") -> QueryDescription:
    return described(sql, dialect, database).queries[-1]


def same(sql: str, dialect: str) -> str:
    """Returns a condition as sqlglot writes it."""
    return sqlglot.parse_one(sql, dialect=dialect).sql(dialect)


def named(found: StatementDescription) -> Iterator[str]:
    """Yields the tables, joins, filters and groupings that a description names, in the corpus's form."""
    for query in found.queries:
        for source in query.sources:
            if source.kind == "table":
                alias = "" if source.alias == source.name else f" {source.alias}"
                yield f"table {source.name}{alias}"
        for join in query.joins:
            rest = f" {join.place} {join.condition or ', '.join(join.using)}" if join.place != "none" else ""
            yield f"join {join.kind} {join.alias}{rest}"
        for each in query.filters:
            yield f"{each.clause} {each.sql}"
        for grouping in query.groupings:
            word = "group" if grouping.kind == "expression" else grouping.kind
            yield f"{word} {grouping.sql}"
        for other in query.others:
            yield f"other {other}"


def wanted(case: Case, dialect: str) -> Iterator[str]:
    for line in case.expected:
        word, _, rest = line.partition(" ")
        join = re.fullmatch(r"(\w+ \S+) (on|where) (.+)", rest) if word == "join" else None
        if join:
            yield f"join {join[1]} {join[2]} {same(join[3], dialect)}"
        elif word in ("where", "having", "qualify", "group"):
            yield f"{word} {same(rest, dialect)}"
        elif word != "column":
            yield line


def test_a_description_names_exactly_what_the_statement_has() -> None:
    def check(case: Case, dialect: str) -> None:
        found = described(case.sql, dialect, case.database)
        assert Counter(named(found)) == Counter(wanted(case, dialect))
        columns = {column.name: column for column in found.queries[-1].columns}
        for line in case.expected:
            if line.startswith("column "):
                name, _, sources = line.removeprefix("column ").partition(" <- ")
                assert {f"{each.table}.{each.column}" for each in columns[name].sources} == set(
                    sources.split(", ")
                )

    assert_each(
        [
            pytest.param(case, dialect, id=f"{place}-{dialect}")
            for place, case in enumerate(CASES)
            for dialect in case.dialects
        ],
        check,
    )


def test_every_dialect_has_sixty_statements() -> None:
    for dialect in DIALECTS:
        assert sum(dialect in case.dialects for case in CASES) >= LEAST_STATEMENTS - 10
    assert len(CASES) >= LEAST_STATEMENTS


def test_the_result_comes_last_and_after_the_queries_that_it_reads() -> None:
    found = described("WITH t AS (SELECT name FROM genre) SELECT name FROM t", "sqlite")
    assert [each.role for each in found.queries] == ["cte", "result"]
    assert found.queries[1].sources[0].query == found.queries[0].id


def test_a_recursive_query_traces_its_columns_to_tables_and_not_to_itself() -> None:
    found = described(
        "WITH RECURSIVE c(a, b) AS (SELECT employee_id, last_name FROM employee UNION ALL "
        "SELECT reports_to, a FROM c JOIN employee ON employee_id = a) SELECT b FROM c",
        "sqlite",
    )
    cte = next(each for each in found.queries if each.role == "cte")
    assert cte.is_recursive
    sources = {each.column for each in found.queries[-1].columns[0].sources}
    assert sources == {"last_name", "employee_id", "reports_to"}
    assert all(
        source.table == "employee" for query in found.queries for c in query.columns for source in c.sources
    )


def test_correlated_queries_are_known_by_the_columns_around_them() -> None:
    found = described(
        "SELECT (SELECT count(*) FROM track t WHERE t.album_id = a.album_id), "
        "(SELECT count(*) FROM genre) FROM album a",
        "postgres",
    )
    assert [each.is_correlated for each in found.queries] == [True, False, False]


def test_order_limit_and_the_place_of_nulls_are_those_of_the_dialect() -> None:
    for dialect, nulls in (("sqlite", "first"), ("mysql", "first"), ("postgres", "last"), ("duckdb", "last")):
        query = result_of("SELECT name AS n FROM genre ORDER BY n LIMIT 5 OFFSET 2", dialect)
        assert [(key.sql, key.output, key.nulls) for key in query.order] == [("name", "n", nulls)]
        assert (query.limit, query.offset) == ("5", "2")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_happens_to_nulls_is_named(dialect: str) -> None:
    query = result_of(
        "SELECT coalesce(t.composer, 'unknown'), nullif(t.bytes, 0), count(t.composer) FROM album a "
        "LEFT JOIN track t ON t.album_id = a.album_id WHERE a.title IS NOT NULL AND t.genre_id IS NULL",
        dialect,
    )
    assert [(rule.kind, rule.sql) for rule in query.nulls] == [
        ("unmatched", "t"),
        ("replaced", "COALESCE(t.composer, 'unknown')"),
        ("made", "NULLIF(t.bytes, 0)"),
        ("skipped", "COUNT(t.composer)"),
        ("removed", "a.title"),
        ("required", "t.genre_id"),
    ]


def test_windows_have_their_partition_order_and_frame_also_by_name() -> None:
    query = result_of(
        "SELECT sum(total) OVER w FROM invoice WINDOW w AS (PARTITION BY customer_id ORDER BY invoice_date "
        "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
        "postgres",
    )
    (window,) = query.windows
    assert (window.function, window.partition_by, window.order_by) == (
        "SUM(total)",
        ["customer_id"],
        ["invoice_date"],
    )
    assert window.frame == "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"
    assert query.columns[0].kind == "window"
    assert not query.is_aggregated


def test_a_star_that_cannot_be_expanded_is_shown_and_not_guessed() -> None:
    query = result_of("SELECT * EXCLUDE (composer) FROM track", "duckdb")
    assert not query.has_all_columns
    assert [(column.sql, column.kind) for column in query.columns] == [("* EXCLUDE (composer)", "unknown")]


def test_a_star_gives_the_columns_of_the_result_in_their_order() -> None:
    natural = result_of("SELECT * FROM album NATURAL JOIN artist", "postgres")
    assert [column.name for column in natural.columns] == ["artist_id", "album_id", "title", "name"]
    assert natural.has_all_columns


def test_a_statement_that_cannot_be_parsed_has_no_description() -> None:
    assert describe(Statement("SELEC 1", "sqlite"), declared("sqlite", {})) is None
    assert describe(Statement("SELECT (" * 5_000, "sqlite"), declared("sqlite", {})) is None


def test_without_a_schema_only_qualified_columns_belong_to_a_source() -> None:
    found = describe(Statement("SELECT g.name, id FROM genre g, track t", "sqlite"), declared("sqlite", {}))
    assert found is not None
    assert found.tables == []
    assert [each.source for column in found.queries[-1].columns for each in column.inputs] == ["g", ""]
