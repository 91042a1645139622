"""Cards of tables: what a prompt says of the data that is stored, and what it keeps to itself."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.modules.database_connection.schema import ForeignKey, Table, TableColumn
from app.modules.sql_generation.linking.cards import CardDetail, brief_card, card
from app.modules.sql_generation.linking.contents import contents_of

ADA = "ada@example.org"
CUSTOMER = Table(
    name="customer",
    kind="table",
    columns=[
        TableColumn(
            name="id", type="integer", database_type="INTEGER", primary_key=True, minimum="1", maximum="90"
        ),
        TableColumn(name="first_name", type="text", database_type="TEXT", values=["Ada", "Bo"]),
        TableColumn(name="email", type="text", database_type="TEXT", values=[ADA]),
        TableColumn(
            name="birth_date",
            type="date",
            database_type="TEXT",
            minimum="1947-09-19",
            maximum="1990-01-02",
            format="YYYY-MM-DD",
        ),
        TableColumn(
            name="tier",
            type="text",
            database_type="TEXT",
            values=["gold", "silver"],
            description="What they pay",
        ),
        TableColumn(
            name="city", type="text", database_type="TEXT", values=[f"City {number}" for number in range(13)]
        ),
        TableColumn(
            name="since",
            type="datetime",
            database_type="TEXT",
            minimum="2024-01-01 00:00:00",
            maximum="2024-05-01 00:00:00",
        ),
        TableColumn(name="spent", type="number", database_type="REAL", minimum="0.5", maximum="812"),
        TableColumn(name="agent", type="integer", database_type="INTEGER"),
    ],
    foreign_keys=[ForeignKey(["agent"], "staff", ["id"])],
    row_count=90,
    description="Who buys",
)


def text(name: str, *values: str) -> TableColumn:
    return TableColumn(name=name, type="text", database_type="TEXT", values=values)


def shown(column: TableColumn, row_count: int | None = 1_000, table: str = "things") -> str:
    return card(Table(name=table, kind="table", columns=[column], row_count=row_count)).splitlines()[1]


def test_a_card_names_columns_types_keys_and_few_values() -> None:
    assert card(CUSTOMER).splitlines() == [
        "CREATE TABLE customer ( -- Who buys",
        "  id integer primary key,",
        "  first_name text,",
        "  email text,",
        "  birth_date date, -- written YYYY-MM-DD",
        "  tier text, -- 'gold', 'silver'; What they pay",
        "  city text,",
        "  since datetime, -- from 2024-01-01 to 2024-05-01",
        "  spent number,",
        "  agent integer references staff(id),",
        ");",
    ]


def test_a_name_that_needs_quotes_has_them_and_a_key_of_several_columns_is_a_line() -> None:
    columns = [TableColumn(name="Order Id", type="integer", database_type="INTEGER", primary_key=True)]
    columns.append(TableColumn(name="line", type="integer", database_type="INTEGER", primary_key=True))
    assert card(Table(name="order details", kind="view", columns=columns)).splitlines() == [
        'CREATE VIEW "order details" (',
        '  "Order Id" integer,',
        "  line integer,",
        '  primary key ("Order Id", line)',
        ");",
    ]


def test_values_and_ranges_are_left_out_on_request() -> None:
    bare = card(CUSTOMER, CardDetail(values=False, ranges=False))
    assert "'gold'" not in bare
    assert "2024" not in bare
    assert "written YYYY-MM-DD" in bare


def test_values_that_hardly_repeat_are_left_out() -> None:
    assert shown(text("label", "a", "b", "c"), row_count=4) == "  label text,"
    assert shown(text("label", "a", "b", "c"), row_count=5) == "  label text, -- 'a', 'b', 'c'"


@pytest.mark.parametrize("name", ["id", "Assessment_Identifier", "session_key"])
def test_identifiers_have_no_values(name: str) -> None:
    assert shown(text(name, "1", "2")) == f"  {name} text,"


@pytest.mark.parametrize(
    "name",
    [
        "Email",
        "HomePhone",
        "phone_number",
        "Line_1_Address",
        "street_name",
        "Strasse",
        "homepage",
        "notes",
        "Beschreibung",
        "BirthDate",
        "date_of_birth",
        "password_hash",
    ],
)
def test_a_name_reveals_private_columns(name: str) -> None:
    assert contents_of(Table(name="t", kind="table", columns=[]), text(name), ["x"]) == "private"


@pytest.mark.parametrize(
    "stored",
    [
        [ADA, "bo@example.org", "unknown"],
        ["+1 (403) 262-3443", "030 2639 2150", "+420 2 4172 5555"],
        ["1111 6 Ave SW", "Theodor-Heuss-Straße 34", "12, Rue de la Paix"],
        ["https://example.org/a", "www.example.org"],
        ["9b5ad71b2ce5302211f9c61530b329a4", "123e4567-e89b-12d3-a456-426614174000"],
        ["The parcel came late and the box was open when I got it."],
    ],
)
def test_the_form_of_its_texts_reveals_a_private_column(stored: list[str]) -> None:
    assert contents_of(Table(name="t", kind="table", columns=[]), text("a"), stored) == "private"


@pytest.mark.parametrize(
    ("table", "column"),
    [("t", "LastName"), ("t", "customer_name"), ("teacher", "name"), ("t", "nickname"), ("t", "author")],
)
def test_names_of_people_are_known_by_their_column(table: str, column: str) -> None:
    assert (
        contents_of(Table(name=table, kind="table", columns=[]), text(column), ["Ada Lovelace"]) == "person"
    )


@pytest.mark.parametrize(
    ("column", "stored"),
    [
        ("address_type", ["billing", "shipping"]),
        ("phone_model", ["Apple", "Nokia"]),
        ("name", ["Jazz", "Heavy Metal"]),
        ("country", ["France", "United States"]),
        ("year", ["2014", "2015"]),
        ("placed_on", ["2024-01-05", "2024-01-06"]),
        ("code", ["AB-1234", "AB-1235"]),
        ("title", ["Attention is all you need", "Data Mining Techniques"]),
        ("email_verified", ["yes", "no"]),
    ],
)
def test_what_people_filter_by_is_a_category(column: str, stored: list[str]) -> None:
    assert contents_of(Table(name="t", kind="table", columns=[]), text(column), stored) == "category"


@given(st.lists(st.emails(), min_size=1, max_size=12, unique=True), st.sampled_from(["a", "contact", "x_2"]))
def test_no_card_shows_an_e_mail_address(addresses: list[str], name: str) -> None:
    assert "@" not in shown(text(name, *addresses))


@given(st.text(max_size=40), st.lists(st.text(min_size=1, max_size=20), max_size=5))
def test_a_column_is_one_line_whatever_is_stored(name: str, values: list[str]) -> None:
    column = replace(text("c", *values), description=name)
    assert len(card(Table(name="t", kind="table", columns=[column])).split("\n")) == 3


def test_a_brief_card_has_the_keys_and_what_was_asked_for() -> None:
    assert brief_card(CUSTOMER, {"tier"}).splitlines() == [
        "CREATE TABLE customer ( -- Who buys",
        "  id integer primary key,",
        "  tier text, -- 'gold', 'silver'; What they pay",
        "  agent integer references staff(id),",
        "  -- 6 more columns",
        ");",
    ]
