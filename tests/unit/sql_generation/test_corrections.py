"""What a model certainly meant takes the place of what it wrote, and is said; everything else stays."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.modules.database_connection.schema import ForeignKey, Schema, Table, TableColumn
from app.modules.sql_generation.checking.correct import correct
from app.modules.sql_generation.checking.names import SchemaNames
from tests.support.corpus import DIALECTS
from tests.support.sql_noise import statement
from tests.unit.sql_generation.test_checks_by_chance import INDEXES


def table(name: str, columns: str, *keys: ForeignKey, primary: str = "id") -> Table:
    primaries = primary.split()
    made = [
        TableColumn(name=each, type="text", database_type="TEXT", primary_key=each in primaries)
        for each in columns.split()
    ]
    return Table(name=name, kind="table", columns=made, foreign_keys=keys)


TABLES = [
    table("museum", "id name opened"),
    table(
        "visit",
        "museum_id visitor_id total_spent name",
        ForeignKey(["museum_id"], "museum", ["id"]),
        ForeignKey(["visitor_id"], "visitor", ["id"]),
        primary="museum_id visitor_id",
    ),
    table("visitor", "id nick age"),
    table(
        "receipt", "no total a b", ForeignKey(["a", "b"], "visit", ["museum_id", "visitor_id"]), primary="no"
    ),
    table("game", "id home away", *(ForeignKey([each], "team", ["id"]) for each in ("home", "away"))),
    table("team", "id coach"),
]
NAMES = {dialect: SchemaNames(Schema(dialect, TABLES)) for dialect in DIALECTS}


def corrected(sql: str, dialect: str = "sqlite") -> tuple[str, list[str]]:
    found = correct(sql, NAMES[dialect])
    return found.sql, [each.said for each in found.corrections]


def test_names_with_line_breaks_may_be_written_as_prompts_show_them() -> None:
    columns = [TableColumn(name=name, type="text", database_type="TEXT") for name in ("id", "Total\nRevenue")]
    broken = Table(name="open\n# orders", kind="table", columns=columns)
    sql = 'SELECT o."Total Revenue" FROM "open # orders" o'
    found = correct(sql, SchemaNames(Schema("duckdb", [broken])))
    assert found.sql == 'SELECT o."Total\nRevenue" FROM "open\n# orders" o'


@pytest.mark.parametrize(
    ("sql", "expected", "said"),
    [
        (
            "select m.name, m.total_spent from museum m join visit v on v.museum_id = m.id",
            "select m.name, v.total_spent from museum m join visit v on v.museum_id = m.id",
            "Read `total_spent` from `visit`: `museum` has no such column.",
        ),
        (
            "select museum.name from museum m",
            "select m.name from museum m",
            "Read `name` from `m`, as `museum` is called here.",
        ),
        (
            (
                "with big as (select id from museum) select m.opened from big b join museum m on b.id = m.id"
                " where b.opened > 3"
            ),
            (
                "with big as (select id from museum) select m.opened from big b join museum m on b.id = m.id"
                " where m.opened > 3"
            ),
            "Read `opened` from `museum`: `b` has no such column.",
        ),
    ],
)
def test_a_column_is_read_from_the_one_source_that_has_it(sql: str, expected: str, said: str) -> None:
    assert corrected(sql) == (expected, [said])


@pytest.mark.parametrize(
    ("sql", "expected", "said"),
    [
        (
            "select total_spent from visit where age > 3 limit 2",
            (
                "select total_spent from visit JOIN visitor ON visit.visitor_id = visitor.id"
                " where visitor.age > 3 limit 2"
            ),
            "Joined `visitor` for the column `age`, which `visit` does not have.",
        ),
        (
            "select name, total_spent from museum order by name",
            (
                "select museum.name, visit.total_spent from museum JOIN visit ON museum.id = visit.museum_id"
                " order by name"
            ),
            (
                "Joined `visit` for the column `total_spent`, which `museum` does not have."
                " A row of `museum` is repeated for each of its rows in `visit`."
            ),
        ),
        (
            "select * from visit v where v.age > 3",
            "select v.* from visit v JOIN visitor ON v.visitor_id = visitor.id where visitor.age > 3",
            "Joined `visitor` for the column `age`, which `visit` does not have.",
        ),
        (
            "select visitor.age from museum visitor join visit t on t.museum_id = visitor.id",
            (
                "select visitor_2.age from museum visitor join visit t on t.museum_id = visitor.id"
                " JOIN visitor AS visitor_2 ON t.visitor_id = visitor_2.id"
            ),
            "Joined `visitor` for the column `age`, which no other table here has.",
        ),
        (
            "select total from visit",
            (
                "select receipt.total from visit"
                " JOIN receipt ON visit.museum_id = receipt.a AND visit.visitor_id = receipt.b"
            ),
            (
                "Joined `receipt` for the column `total`, which `visit` does not have."
                " A row of `visit` is repeated for each of its rows in `receipt`."
            ),
        ),
        (
            "select name from museum where id in (select museum_id from visit where age > 3)",
            (
                "select name from museum where id in (select museum_id from visit"
                " JOIN visitor ON visit.visitor_id = visitor.id where visitor.age > 3)"
            ),
            "Joined `visitor` for the column `age`, which `visit` does not have.",
        ),
    ],
)
def test_the_one_table_a_foreign_key_away_that_has_a_column_is_joined(
    sql: str, expected: str, said: str
) -> None:
    assert corrected(sql) == (expected, [said])


@pytest.mark.parametrize(
    "sql",
    [
        "select t2.name from museum t1 group by t2.name",  # a table is missing
        "select age from visitor t1 join museum t2 on t1.museum_id = t2.id",  # museum_id is nowhere
        "select coach from game",  # two keys lead to the table
        "select age from museum",  # two keys away
        "select count(*) from museum where total_spent > 3",  # would count visits
        "select age from visit, museum",  # a join behind a comma sees the last table alone
        "select nope from museum",
        "select m.id, v.id from museum m join visitor v on m.name = v.nick where id = 3",
        "select id from museum m full join visitor v on m.id = v.id",
    ],
)
def test_what_is_open_is_left_to_the_model(sql: str) -> None:
    assert corrected(sql) == (sql, [])


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            "select id from museum m join visitor v on m.id = v.id",
            "select m.id from museum m join visitor v on m.id = v.id",
        ),
        (
            "select age from visitor v left join museum m on m.id = v.id where id = 3",
            "select age from visitor v left join museum m on m.id = v.id where v.id = 3",
        ),
    ],
)
def test_a_column_that_a_join_makes_the_same_is_read_from_the_side_that_has_every_row(
    sql: str, expected: str
) -> None:
    assert corrected(sql)[0] == expected


@pytest.mark.parametrize(
    ("dialect", "sql", "added"),
    [
        ("postgres", "select name, opened, count(*) from museum group by name", ", opened"),
        ("duckdb", "select upper(name), count(*) from museum", " GROUP BY UPPER(museum.name)"),
        ("duckdb", "select name, count(*) from museum group by id", ", name"),
        ("mysql", "select name, max(opened) from museum where id > 3", " GROUP BY name"),
        ("sqlite", "select name, count(*) from museum", " GROUP BY name"),
        ("sqlite", "select name, min(id), max(id) from museum", " GROUP BY name"),
    ],
)
def test_a_column_selected_beside_an_aggregate_is_grouped(dialect: str, sql: str, added: str) -> None:
    found, [said] = corrected(sql, dialect)
    assert found == sql + added
    assert said.startswith("Grouped by ")
    ordered, _ = corrected(f"{sql} order by 1 limit 3", dialect)
    assert ordered == f"{sql}{added} order by 1 limit 3"


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("postgres", "select name, opened, count(*) from museum group by id"),
        ("postgres", "select upper(name), count(*) from museum group by 1"),
        ("postgres", "select name as n, count(*) from museum group by n"),
        ("postgres", "select count(*) filter (where name > 'a') from museum"),
        ("postgres", "select name, count(*) over () from museum"),
        (
            "mysql",
            "select m.name, count(*) from museum m join visit v on v.museum_id = m.id group by v.museum_id",
        ),
        ("mysql", "select NAME from museum"),
        ("mysql", "select concat(name, ' || ', opened) from museum"),
        ("sqlite", "select name, max(opened) from museum"),
        ("sqlite", "select name, opened, count(*) from museum group by name"),
        ("sqlite", "select name, max(id, 3) from museum"),
        ("sqlite", "select strftime('%Y', opened), name || 'x', iif(id > 3, 1, 2) from museum"),
        ("postgres", "select array[name], to_char(now(), 'YYYY'), extract(year from opened) from museum"),
        ("duckdb", "select date_trunc('month', opened), [name] from museum"),
    ],
)
def test_what_the_database_understands_is_not_touched(dialect: str, sql: str) -> None:
    assert corrected(sql, dialect) == (sql, [])


@pytest.mark.parametrize(
    ("dialect", "sql", "expected"),
    [
        (
            "sqlite",
            "select year(opened) from museum",
            "SELECT CAST(STRFTIME('%Y', opened) AS INTEGER) FROM museum",
        ),
        (
            "sqlite",
            "select extract(year from opened) from museum",
            "SELECT CAST(STRFTIME('%Y', opened) AS INTEGER) FROM museum",
        ),
        (
            "sqlite",
            "select date_format(opened, '%Y-%m') from museum",
            "SELECT STRFTIME('%Y-%m', opened) FROM museum",
        ),
        ("sqlite", "select to_char(opened, 'YYYY') from museum", "SELECT STRFTIME('%Y', opened) FROM museum"),
        ("sqlite", "select top 3 name from museum", "SELECT name FROM museum LIMIT 3"),
        ("sqlite", "select left(name, 2) from museum", "SELECT SUBSTRING(name, 1, 2) FROM museum"),
        ("postgres", "select `name` from `museum`", 'SELECT "name" FROM "museum"'),
        ("postgres", "select [name] from museum", 'SELECT "name" FROM museum'),
        (
            "postgres",
            "select strftime('%Y', opened) from museum",
            "SELECT TO_CHAR(CAST(opened AS TIMESTAMP), 'YYYY') FROM museum",
        ),
        ("mysql", 'select "name" from "museum"', "SELECT `name` FROM `museum`"),
        ("mysql", "select name || ' x' from museum", "SELECT CONCAT(name, ' x') FROM museum"),
        ("duckdb", "select top 3 name from museum", "SELECT name FROM museum LIMIT 3"),
    ],
)
def test_sql_of_another_database_is_translated(dialect: str, sql: str, expected: str) -> None:
    found, [said] = corrected(sql, dialect)
    assert found == expected
    assert said.startswith("Wrote ")


@pytest.mark.parametrize(
    "sql", ["select load_extension('x')", "drop table museum", "select pg_sleep(9)", "selec"]
)
def test_what_no_database_answers_stays_as_it_was_refused(sql: str) -> None:
    assert corrected(sql) == (sql, [])


@pytest.mark.parametrize("dialect", DIALECTS)
@given(seed=st.integers(min_value=0, max_value=2**32))
@settings(max_examples=150)
def test_a_corrected_statement_needs_no_further_correction(dialect: str, seed: int) -> None:
    sql = statement(Random(seed), dialect)
    once = correct(sql, INDEXES[dialect].names)
    assert (once.sql == sql) == (not once.corrections)
    assert not correct(once.sql, INDEXES[dialect].names).corrections


_COLUMNS = st.sampled_from(["m.id", "m.name", "m.opened", "v.total_spent", "v.visitor_id"])


@given(
    columns=st.lists(_COLUMNS, min_size=1, max_size=3, unique=True),
    sums=st.lists(_COLUMNS, max_size=2),
    dialect=st.sampled_from(DIALECTS),
)
def test_a_right_statement_is_never_changed(columns: list[str], sums: list[str], dialect: str) -> None:
    listed = ", ".join([*columns, *(f"max({each})" for each in sums)])
    sql = f"select {listed} from museum m join visit v on v.museum_id = m.id group by {', '.join(columns)}"
    assert corrected(sql, dialect) == (sql, [])


@pytest.mark.parametrize(
    ("sql", "expected", "said"),
    [
        (
            "SELECT v.name FROM museum AS m JOIN visit AS v ON v.museum_id = m.id WHERE v.opened > 3",
            "SELECT v.name FROM museum AS m JOIN visit AS v ON v.museum_id = m.id WHERE m.opened > 3",
            ["Read `opened` from `museum`: `visit` has no such column."],
        ),
        (
            "SELECT v.opened FROM museum AS m JOIN visit AS v ON v.museum_id = m.id",
            "SELECT m.opened FROM museum AS m",
            [
                "Read `opened` from `museum`: `visit` has no such column.",
                "Left out the join of `visit`, from which no column is read.",
            ],
        ),
        (
            (
                "SELECT m.id FROM museum AS m JOIN visit AS v ON v.museum_id = m.id "
                "JOIN visitor AS p ON p.id = v.visitor_id WHERE p.opened > 3"
            ),
            "SELECT m.id FROM museum AS m WHERE m.opened > 3",
            [
                "Read `opened` from `museum`: `visitor` has no such column.",
                "Left out the joins of `visitor` and `visit`, from which no column is read.",
            ],
        ),
        (
            (
                "SELECT v.opened, COUNT(*) FROM museum AS m JOIN visit AS v ON v.museum_id = m.id "
                "WHERE v.total_spent > 3 GROUP BY v.opened"
            ),
            (
                "SELECT m.opened, COUNT(*) FROM museum AS m JOIN visit AS v ON v.museum_id = m.id "
                "WHERE v.total_spent > 3 GROUP BY m.opened"
            ),
            ["Read `opened` from `museum`: `visit` has no such column."],
        ),
        (
            (
                "SELECT v.opened FROM museum AS m JOIN (SELECT museum_id FROM visit LIMIT 1) AS v "
                "ON v.museum_id = m.id"
            ),
            (
                "SELECT m.opened FROM museum AS m JOIN (SELECT museum_id FROM visit LIMIT 1) AS v "
                "ON v.museum_id = m.id"
            ),
            ["Read `opened` from `museum`: `v` has no such column."],
        ),
        (
            "SELECT m.nick FROM museum AS m JOIN visitor AS v ON v.id = m.id WHERE v.age > 3",
            "SELECT v.nick FROM visitor AS v WHERE v.age > 3",
            [
                "Read `nick` from `visitor`: `museum` has no such column.",
                "Left out the join of `museum`, from which no column is read.",
            ],
        ),
        (
            "SELECT m.nick FROM museum AS m LEFT JOIN visitor AS v ON v.id = m.id",
            "SELECT v.nick FROM museum AS m LEFT JOIN visitor AS v ON v.id = m.id",
            ["Read `nick` from `visitor`: `museum` has no such column."],
        ),
        (
            (
                "SELECT m.nick FROM museum AS m JOIN visitor AS v ON v.id = m.id "
                "JOIN receipt AS r ON r.a = m.id"
            ),
            (
                "SELECT v.nick FROM museum AS m JOIN visitor AS v ON v.id = m.id "
                "JOIN receipt AS r ON r.a = m.id"
            ),
            ["Read `nick` from `visitor`: `museum` has no such column."],
        ),
    ],
)
def test_a_join_goes_whose_only_columns_are_read_from_another_table(
    sql: str, expected: str, said: list[str]
) -> None:
    assert corrected(sql) == (expected, said)


@pytest.mark.parametrize(
    "kept",
    [
        "SELECT {}, COUNT(*) FROM museum AS m JOIN visit AS v ON v.museum_id = m.id GROUP BY {}",
        "SELECT COUNT({}) FROM museum AS m JOIN visit AS v ON v.museum_id = m.id",
        "SELECT DISTINCT {} FROM museum AS m JOIN visit AS v ON v.museum_id = m.id",
        "SELECT {} FROM museum AS m JOIN visit AS v ON v.museum_id = m.id LIMIT 5",
        "SELECT {}, RANK() OVER (ORDER BY m.id) FROM museum AS m JOIN visit AS v ON v.museum_id = m.id",
        (
            "SELECT name FROM museum WHERE opened IN "
            "(SELECT {} FROM museum AS m JOIN visit AS v ON v.museum_id = m.id)"
        ),
    ],
)
def test_a_join_stays_where_its_rows_count_though_no_column_is_read_from_it(kept: str) -> None:
    said = "Read `opened` from `museum`: `visit` has no such column."
    assert corrected(kept.replace("{}", "v.opened")) == (kept.replace("{}", "m.opened"), [said])


@pytest.mark.parametrize(
    "sql",
    [
        "select opened, total_spent from museum order by opened limit 3",
        "select opened, total_spent, row_number() over (order by opened) from museum",
    ],
)
def test_no_table_is_joined_whose_rows_would_take_the_places_of_others(sql: str) -> None:
    assert corrected(sql) == (sql, [])


def test_a_join_that_no_correction_touches_stays_though_no_column_is_read_from_it() -> None:
    sql = "SELECT m.name FROM museum AS m JOIN visit AS v ON v.museum_id = m.id"
    assert corrected(sql) == (sql, [])


SHOPS = Table(
    name="shop",
    kind="table",
    columns=[
        TableColumn(name="id", type="integer", database_type="INTEGER", primary_key=True),
        TableColumn(name="sales", type="integer", database_type="INTEGER"),
        TableColumn(name="area", type="number", database_type="REAL"),
        TableColumn(name="opened", type="integer", database_type="INTEGER"),
        TableColumn(name="visits", type="integer", database_type="BIGINT"),
    ],
)


SONGS = Table(
    name="song",
    kind="table",
    columns=[
        TableColumn(name="released", type="integer", database_type="INTEGER", minimum="1967", maximum="2024"),
        TableColumn(name="birth_year", type="integer", database_type="INTEGER"),
        TableColumn(name="plays", type="integer", database_type="INTEGER", minimum="3", maximum="2024"),
        TableColumn(name="day", type="date", database_type="TEXT"),
    ],
)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("YEAR(released)", "released"),
        ("YEAR(s.birth_year) + 1", "s.birth_year + 1"),
        ("EXTRACT(YEAR FROM released)", "released"),
        ("YEAR(day)", "CAST(STRFTIME('%Y', day) AS INTEGER)"),
        ("YEAR(plays)", "YEAR(plays)"),
        ("MONTH(released)", "MONTH(released)"),
    ],
)
def test_a_year_that_is_stored_as_a_number_is_read_as_it_stands(written: str, expected: str) -> None:
    found = correct(f"SELECT {written} FROM song AS s", SchemaNames(Schema("sqlite", [SONGS])))
    assert found.sql == f"SELECT {expected} FROM song AS s"


def test_a_year_that_is_read_as_it_stands_is_named() -> None:
    found = correct("SELECT YEAR(released) FROM song", SchemaNames(Schema("sqlite", [SONGS])))
    assert [each.said for each in found.corrections] == [
        "Wrote `YEAR` as SQLite does, which has no such function. `released` holds the year itself."
    ]


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
@pytest.mark.parametrize(
    ("written", "divided"),
    [
        ("COUNT(*) / (SELECT COUNT(*) FROM shop)", "1.0 * COUNT(*) / (SELECT COUNT(*) FROM shop)"),
        ("SUM(sales) / NULLIF(COUNT(*), 0)", "1.0 * SUM(sales) / NULLIF(COUNT(*), 0)"),
        (
            "SUM(CASE WHEN sales > 3 THEN 1 ELSE 0 END) * 100 / COUNT(*)",
            "1.0 * SUM(CASE WHEN sales > 3 THEN 1 ELSE 0 END) * 100 / COUNT(*)",
        ),
        ("MAX(sales) / MIN(opened)", "1.0 * MAX(sales) / MIN(opened)"),
        ("MAX(visits) / COUNT(*)", "1.0 * MAX(visits) / COUNT(*)"),
    ],
)
def test_a_quotient_of_whole_numbers_keeps_its_fraction(dialect: str, written: str, divided: str) -> None:
    found = correct(f"SELECT {written} FROM shop", SchemaNames(Schema(dialect, [SHOPS])))
    assert found.sql == f"SELECT {divided} FROM shop"
    assert [each.kind for each in found.corrections] == ["division"]


@pytest.mark.parametrize(
    ("dialect", "written"),
    [
        ("sqlite", "opened / 10"),
        ("sqlite", "SUM(area) / COUNT(*)"),
        ("sqlite", "CAST(SUM(sales) / COUNT(*) AS INTEGER)"),
        ("postgres", "SUM(sales) - SUM(sales) / COUNT(*) * COUNT(*)"),
        ("postgres", "SUM(sales) / COUNT(*) % 2"),
        ("sqlite", "CAST(COUNT(*) AS REAL) / COUNT(*)"),
        ("sqlite", "AVG(sales) / COUNT(*)"),
        ("postgres", "SUM(visits) / COUNT(*)"),
        ("postgres", "SUM(sales * visits) / MAX(sales)"),
        ("duckdb", "COUNT(*) / MAX(sales)"),
        ("mysql", "COUNT(*) / MAX(sales)"),
    ],
)
def test_other_divisions_stay(dialect: str, written: str) -> None:
    sql = f"SELECT {written} FROM shop"
    assert correct(sql, SchemaNames(Schema(dialect, [SHOPS]))).sql == sql


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("m.museum_id = v.museum_id", "m.id = v.museum_id"),
        ("v.id = m.id", "v.museum_id = m.id"),
        ("v.museum = m.name", "v.museum_id = m.id"),
    ],
)
def test_a_join_by_a_column_that_is_not_there_goes_along_the_foreign_key(written: str, expected: str) -> None:
    sql = "SELECT v.total_spent FROM museum AS m JOIN visit AS v ON "
    assert corrected(sql + written) == (
        sql + expected,
        ["Joined along the foreign key between `museum.id` and `visit.museum_id`."]
        if written.startswith("m")
        else ["Joined along the foreign key between `visit.museum_id` and `museum.id`."],
    )


def test_of_two_foreign_keys_between_tables_neither_is_taken() -> None:
    sql = "SELECT t.coach FROM game AS g JOIN team AS t ON g.team_id = t.id"
    assert corrected(sql) == (sql, [])
