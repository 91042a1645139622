"""What speaks against a result although its statement ran."""

import pytest
from pydantic import JsonValue

from app.modules.database_connection.scan.scanned import ScannedSchema
from app.modules.database_connection.schema import ForeignKey, Schema, Table, TableColumn
from app.modules.sql_generation.result_warnings.empty_joins import join_probes
from app.modules.sql_generation.result_warnings.model import ResultWarning
from app.modules.sql_generation.result_warnings.warnings import find_warnings
from app.modules.sql_generation.schema_index import SchemaIndex
from graph.state import Column as ResultColumn
from graph.state import Rows


def key(name: str) -> TableColumn:
    return TableColumn(name=name, type="integer", database_type="INTEGER", primary_key=True)


def plain(name: str) -> TableColumn:
    return TableColumn(name=name, type="text", database_type="TEXT")


CUSTOMERS = Table(name="Customers", kind="table", columns=[key("id"), plain("Country"), plain("note")])
INVOICES = Table(
    name="invoices",
    kind="table",
    columns=[key("id"), plain("customer_id"), plain("total")],
    foreign_keys=[ForeignKey(["customer_id"], "Customers", ["id"])],
)
INDEX = SchemaIndex(
    ScannedSchema(Schema("sqlite", [CUSTOMERS, INVOICES]), {"Customers": {"Country": ["Brazil", "Norway"]}})
)


def rows(*found: list[JsonValue]) -> Rows:
    columns = [
        ResultColumn(name=f"c{number}", type="text") for number in range(len(found[0]) if found else 1)
    ]
    return Rows(columns=columns, rows=[*found], row_count=len(found), truncated=False)


def texts(sql: str, found: Rows, asked: str = "") -> list[str]:
    return [each.text for each in find_warnings(sql, found, INDEX, asked=asked)]


@pytest.mark.parametrize(
    "sql",
    [
        "select * from customers where country = 'Brasil'",
        "select * from customers c where 'Brasil' = c.country",
        "select count(*) from (select 1 from customers where country in ('Brasil')) x",
    ],
)
def test_a_filter_for_what_is_not_stored_is_reported_with_the_nearest_value(sql: str) -> None:
    (text,) = texts(sql, rows())
    assert text.startswith("No Customers.Country was “Brasil”")
    assert text.endswith("The nearest stored there: “Brazil”.")


@pytest.mark.parametrize("found", [[[0]], [[None]], []])
def test_the_sum_or_count_of_nothing_is_as_suspicious_as_no_rows(found: list[list[JsonValue]]) -> None:
    sql = "select count(*) from customers where country = 'Brasil'"
    assert "“Brazil”" in texts(sql, rows(*found))[0]


@pytest.mark.parametrize(
    "sql",
    [
        "select * from customers where country = 'Norway'",
        "select * from customers where note = 'Brasil'",
        "select * from customers where country <> 'Brasil'",
        "select * from customers where country like 'Bras%'",
        "selec",
    ],
)
def test_no_rows_alone_raise_no_warning(sql: str) -> None:
    assert find_warnings(sql, rows(), INDEX) == []


def test_a_misspelled_text_in_a_list_is_reported_even_when_rows_came() -> None:
    sql = "select * from customers where country in ('Norway', 'Brasil')"
    assert "“Brasil”" in texts(sql, rows(["Norway"]))[0]
    assert find_warnings(sql.replace("Brasil", "Qatar"), rows(["Norway"]), INDEX) == []


def test_a_column_without_any_value_is_reported() -> None:
    assert texts("select 1, 2", rows([1, None], [2, None])) == ["Every value of “c1” is null."]


@pytest.mark.parametrize("taken", ["sum(c.note)", "avg(c.note)", "count(c.id)"])
def test_an_aggregate_over_repeated_rows_is_reported(taken: str) -> None:
    sql = f"select {taken} from customers c join invoices i on i.customer_id = c.id"
    (text,) = texts(sql, rows([3]))
    assert text.startswith("Customers is joined to invoices")


@pytest.mark.parametrize(
    "sql",
    [
        "select sum(i.total) from customers c join invoices i on i.customer_id = c.id",
        "select count(distinct c.id) from customers c join invoices i on i.customer_id = c.id",
        "select count(*) from customers c join invoices i on i.customer_id = c.id",
        "select i.id, sum(c.note) from customers c join invoices i on i.customer_id = c.id group by i.id",
        "select sum(note) from customers where id in (select customer_id from invoices)",
    ],
)
def test_an_aggregate_over_rows_that_stand_once_is_not(sql: str) -> None:
    assert find_warnings(sql, rows([3]), INDEX) == []


def sized(name: str, count: int, *columns: TableColumn, refers: dict[str, str] | None = None) -> Table:
    keys = [ForeignKey([column], other, ["id"]) for column, other in (refers or {}).items()]
    return Table(name=name, kind="table", columns=[*columns], foreign_keys=keys, row_count=count)


SHOPS = SchemaIndex(
    ScannedSchema(
        Schema(
            "sqlite",
            [
                sized("films", 4, key("id"), plain("title"), plain("year")),
                sized("actors", 9, key("id"), plain("film_id"), plain("name"), refers={"film_id": "films"}),
                sized("prizes", 9, key("id"), plain("film_id"), plain("year"), refers={"film_id": "films"}),
                sized("settings", 1, key("id"), plain("rate")),
                sized("drafts", 0, key("id"), plain("film_id"), refers={"film_id": "films"}),
            ],
        ),
        {},
    )
)
TITLES: list[list[JsonValue]] = [[f"film {number % 4}"] for number in range(64)]
FOUR_OF_64 = rows(*TITLES)


def found_in(sql: str, found: Rows, asked: str = "") -> list[ResultWarning]:
    return find_warnings(sql, found, SHOPS, asked=asked)


@pytest.mark.parametrize(
    "sql",
    [
        "select f.title from films f, actors a",
        "select f.title from films f join actors a",
        "select count(*) from films f cross join actors a where f.year = 2020",
    ],
)
def test_tables_that_nothing_joins_are_reported(sql: str) -> None:
    (warning,) = found_in(sql, rows(["x"], ["y"]))
    assert warning.text.startswith("Nothing joins films to actors")
    assert warning.worth_repair


@pytest.mark.parametrize(
    "sql",
    [
        "select f.title from films f join actors a on a.film_id = f.id",
        "select f.title from films f, actors a where a.film_id = f.id or a.name = f.title",
        "select f.title, s.rate from films f, settings s",
        "select f.title, g.title from films f, films g where f.id = 1 and g.id = 2",
        "select f.title, t.n from films f, (select count(*) as n from actors) t",
        "select count(distinct f.id), count(distinct a.id) from films f, actors a",
        "select f.title from films f where exists (select 1 from actors a where a.film_id = f.id)",
    ],
)
def test_tables_that_are_joined_or_give_one_row_are_not(sql: str) -> None:
    assert found_in(sql, rows(["x"], ["y"])) == []


@pytest.mark.parametrize(
    "sql",
    [
        "select f.title from films f join prizes p on p.year = f.year",
        "select f.title from films f join actors a on a.film_id = f.id join prizes p on p.film_id = f.id",
    ],
)
def test_a_list_whose_joins_turn_4_rows_into_64_is_reported(sql: str) -> None:
    (warning,) = found_in(sql, FOUR_OF_64)
    assert "only 4 of 64 rows differ" in warning.text
    assert warning.worth_repair


@pytest.mark.parametrize(
    "sql",
    [
        "select f.title from films f join actors a on a.film_id = f.id",
        "select distinct f.title from films f join prizes p on p.year = f.year",
        "select f.title from films f join prizes p on p.year = f.year group by f.title, p.id",
        "select f.title from films f join films g on f.year = g.year and f.id < g.id",
    ],
)
def test_a_list_of_one_table_s_rows_may_repeat_another_s(sql: str) -> None:
    assert found_in(sql, FOUR_OF_64) == []


def test_joins_that_could_multiply_but_do_not_are_not_reported() -> None:
    sql = "select f.title from films f join prizes p on p.year = f.year"
    assert found_in(sql, rows(["a"], ["b"], ["c"], ["d"])) == []


def test_a_list_that_its_own_limit_cut_is_reported_when_no_number_was_asked_for() -> None:
    sql, cut = "select title from films limit 3", rows(["a"], ["b"], ["c"])
    (warning,) = found_in(sql, cut, "Which films are there?")
    assert warning.text.startswith("The statement returns at most 3 rows")
    assert not warning.worth_repair


@pytest.mark.parametrize(
    ("sql", "asked"),
    [
        ("select title from films limit 3", "Show three films"),
        ("select title from films limit 3", "Show 3 films"),
        ("select title from films limit 3", ""),
        ("select title from films limit 9", "Which films are there?"),
        ("select title from films", "Which films are there?"),
        ("select * from (select title from films limit 3)", "Which films are there?"),
    ],
)
def test_a_limit_that_was_asked_for_or_cut_nothing_is_not(sql: str, asked: str) -> None:
    assert found_in(sql, rows(["a"], ["b"], ["c"]), asked) == []


def test_one_row_is_no_cut_list() -> None:
    assert found_in("select title from films limit 1", rows(["a"]), "Which film is the newest?") == []


def test_an_empty_table_explains_an_empty_result() -> None:
    sql = "select count(*) from films f join drafts d on d.film_id = f.id"
    assert [each.text for each in found_in(sql, rows([0]))] == [
        "drafts held no rows when the database was last scanned."
    ]
    assert join_probes(sql, SHOPS) == []


@pytest.mark.parametrize(
    ("sql", "probe"),
    [
        (
            "select count(*) from films f join actors a on a.name = f.title where f.year = 3",
            "SELECT 1 FROM actors AS a JOIN films AS f ON a.name = f.title LIMIT 1",
        ),
        (
            "select * from films f, prizes p where p.film_id = f.id and p.year = f.year",
            "SELECT 1 FROM films AS f JOIN prizes AS p ON p.film_id = f.id AND p.year = f.year LIMIT 1",
        ),
    ],
)
def test_a_join_is_probed_without_the_statement_s_filters(sql: str, probe: str) -> None:
    assert [each.sql for each in join_probes(sql, SHOPS)] == [probe]


@pytest.mark.parametrize(
    "sql",
    [
        "select * from films f left join actors a on a.name = f.title",
        "select * from films where year = 3",
        "select * from films f, settings s where f.year > s.rate",
        "selec",
    ],
)
def test_outer_joins_and_single_tables_are_not_probed(sql: str) -> None:
    assert join_probes(sql, SHOPS) == []


@pytest.mark.parametrize(
    ("sql", "warned"),
    [
        ("select note as c0, id as c1 from customers where note is null", False),
        ("select note as c0, id as c1 from customers where country = 'Norway' and (note is null)", False),
        ("select note as c0, id as c1 from customers where note is null or country = 'Norway'", True),
        ("select note as c0, id as c1 from customers where note is not null", True),
        ("select note as c0, id as c1 from customers where country is null", True),
    ],
)
def test_a_column_that_the_statement_asks_to_be_null_is_no_surprise(sql: str, *, warned: bool) -> None:
    assert ("Every value of “c0” is null." in texts(sql, rows([None, 1], [None, 2]))) == warned


def test_a_column_asked_to_be_null_is_no_surprise_among_all_columns() -> None:
    found = Rows(
        columns=[ResultColumn(name="Note", type="text")], rows=[[None]], row_count=1, truncated=False
    )
    assert texts("select * from customers where note is null", found) == []
