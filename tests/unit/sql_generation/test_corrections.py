"""What a model certainly meant takes the place of what it wrote, and is said; everything else stays."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.language import Language
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
    return found.sql, [each.sentence.say("en") for each in found.corrections]


def test_names_with_line_breaks_may_be_written_as_prompts_show_them() -> None:
    columns = [TableColumn(name=name, type="text", database_type="TEXT") for name in ("id", "Total\nRevenue")]
    broken = Table(name="open\n# orders", kind="table", columns=columns)
    sql = 'SELECT o."Total Revenue" FROM "open # orders" o'
    found = correct(sql, SchemaNames(Schema("duckdb", [broken])))
    assert found.sql == 'SELECT o."Total\nRevenue" FROM "open\n# orders" o'


def test_a_table_that_has_an_alias_is_called_by_it() -> None:
    assert corrected("select museum.name from museum m") == (
        "select m.name from museum m",
        ["Read `name` from `m`, as `museum` is called here."],
    )


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
        "select total_spent from visit where age > 3 limit 2",  # a table one key away has it
        "select m.name, m.total_spent from museum m join visit v on v.museum_id = m.id",  # another one has it
        "select v.total_spent from museum m join visit v on m.museum_id = v.museum_id",  # along the key
        "select id from museum m join visitor v on m.id = v.id",  # the same in both
        "select museum.name from museum m join museum n on n.id = m.id",  # two aliases
        "select m.id, v.id from museum m join visitor v on m.name = v.nick where id = 3",
        "select id from museum m full join visitor v on m.id = v.id",
    ],
)
def test_what_is_open_is_left_to_the_model(sql: str) -> None:
    assert corrected(sql) == (sql, [])


@pytest.mark.parametrize(
    ("dialect", "sql", "added"),
    [
        ("postgres", "select name, opened, count(*) from museum group by name", ", opened"),
        ("duckdb", "select upper(name), count(*) from museum", " GROUP BY UPPER(museum.name)"),
        ("duckdb", "select name, count(*) from museum group by id", ", name"),
        ("mysql", "select name, max(opened) from museum where id > 3", " GROUP BY name"),
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
        ("sqlite", "select name, count(*) from museum"),
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
    # Of Snowflake, names in lower case without quotes are not those of these tables.
    dialect=st.sampled_from([each for each in DIALECTS if each != "snowflake"]),
)
def test_a_right_statement_is_never_changed(columns: list[str], sums: list[str], dialect: str) -> None:
    listed = ", ".join([*columns, *(f"max({each})" for each in sums)])
    sql = f"select {listed} from museum m join visit v on v.museum_id = m.id group by {', '.join(columns)}"
    assert corrected(sql, dialect) == (sql, [])


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


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("de", "`released` ist aus `s` gelesen, wie `song` hier heißt."),
        ("es", "`released` se ha leído de `s`, como se llama aquí `song`."),
        ("fr", "`released` est lu dans `s`, le nom de `song` ici."),
    ],
)
def test_a_correction_is_said_in_the_language_of_its_reader(language: Language, said: str) -> None:
    found = correct("SELECT song.released FROM song AS s", SchemaNames(Schema("sqlite", [SONGS])))
    assert [each.sentence.say(language) for each in found.corrections] == [said]


def test_a_year_that_is_read_as_it_stands_is_named() -> None:
    found = correct("SELECT YEAR(released) FROM song", SchemaNames(Schema("sqlite", [SONGS])))
    assert [each.sentence.say("en") for each in found.corrections] == [
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
