"""Schema linking: what of a big schema a question is shown."""

import pytest

from app.core.llm.tokens import approximate_tokens
from app.core.ranking import fused
from app.modules.database_connection.scan.scanned import ScannedSchema
from app.modules.database_connection.schema import ForeignKey, Schema, Table, TableColumn
from app.modules.sql_generation.foreign_keys import ForeignKeyGraph
from app.modules.sql_generation.linking.columns import Columns, words_of_names
from app.modules.sql_generation.linking.mentions import mentions
from app.modules.sql_generation.linking.stored_texts import StoredTexts
from app.modules.sql_generation.linking.words import text_key, words_of
from app.modules.sql_generation.schema_index import SchemaIndex
from app.modules.sql_generation.schema_linking import link

TEXTS = {
    "customer": {"country": ["Brazil", "Côte d'Ivoire", "USA"], "state": ["CA", "OR"]},
    "artist": {"name": ["AC/DC", "Ada Lovelace", "Heavy Metal Kings"]},
}

NO_COLUMNS = Columns({}, {}, frozenset())


def table(name: str, *columns: str, refers: tuple[str, ...] = (), description: str = "") -> Table:
    keys = [ForeignKey([f"{other}_id"], other, ["id"]) for other in refers]
    names = ["id", *columns, *(f"{other}_id" for other in refers)]
    described = [
        TableColumn(name=each, type="text", database_type="TEXT", primary_key=each == "id") for each in names
    ]
    return Table(name=name, kind="table", columns=described, foreign_keys=keys, description=description)


def thousand() -> list[Table]:
    """A shop within a thousand tables of something else."""
    shop = [
        table("customer", "country", "city"),
        table("orders", "placed_on", refers=("customer",)),
        table("order_line", "quantity", refers=("orders", "article")),
        table("article", "label", refers=("maker",)),
        table("maker", "brand"),
    ]
    return shop + [table(f"sensor_{number}", "reading", "unit", "taken_at") for number in range(995)]


SHOP = SchemaIndex(ScannedSchema(Schema("sqlite", thousand()), TEXTS))


def test_a_schema_that_fits_is_shown_whole() -> None:
    small = SchemaIndex(ScannedSchema(Schema("sqlite", thousand()[:5])))
    assert link(small, ["anything"], [], budget_tokens=2_000).tables == [
        "customer",
        "orders",
        "order_line",
        "article",
        "maker",
    ]


def test_of_a_thousand_tables_the_right_ones_fit_the_budget() -> None:
    linked = link(SHOP, ["How many articles did each customer order?"], [], budget_tokens=600)
    assert {"customer", "orders", "order_line", "article"} <= set(linked.tables)
    assert approximate_tokens(linked.cards) <= 640
    assert "more tables are not shown" in linked.cards


def test_tables_on_the_way_between_two_are_shown_too() -> None:
    linked = link(SHOP, ["customer country per maker brand"], [], budget_tokens=400)
    assert {"orders", "order_line", "article"} <= set(linked.tables)


def test_a_follow_up_is_linked_by_what_was_said_before_and_by_the_statement_at_hand() -> None:
    assert "customer" in link(SHOP, ["customers by city", "and for 2024?"], [], budget_tokens=200).tables
    assert "maker" in link(SHOP, ["and for 2024?"], ["maker"], budget_tokens=200).tables


def test_a_stored_text_brings_its_table() -> None:
    assert link(SHOP, ["sales in Brazil"], [], budget_tokens=100).tables[0] == "customer"


def test_one_table_is_shown_however_small_the_budget() -> None:
    assert len(link(SHOP, ["makers"], [], budget_tokens=1).tables) == 1


@pytest.mark.parametrize(
    ("said", "table_name", "text"),
    [
        ("customers in brazil", "customer", "Brazil"),
        ("sold to cote d\u2019ivoire", "customer", "Côte d'Ivoire"),
        ("customers in Brasil", "customer", "Brazil"),
        ("albums of ac/dc?", "artist", "AC/DC"),
        ("what has Lovelace sung", "artist", "Ada Lovelace"),
        ("songs of Heavvy Metl Kings", "artist", "Heavy Metal Kings"),
        ("heavy metal king", "artist", "Heavy Metal Kings"),
        ("how many in CA", "customer", "CA"),
        ("in the usa", "customer", "USA"),
    ],
)
def test_words_are_matched_to_stored_texts(said: str, table_name: str, text: str) -> None:
    found = mentions([said], StoredTexts(TEXTS), NO_COLUMNS)
    assert (table_name, text) in {(place.table, place.text) for each in found for place in each.places}


@pytest.mark.parametrize("said", ["one or two", "can I see ca", "how many orders are there in 2024", ""])
def test_common_words_mean_no_stored_text(said: str) -> None:
    assert mentions([said], StoredTexts(TEXTS), NO_COLUMNS) == []


PRODUCTS = [
    Table(
        name="product",
        kind="table",
        columns=[
            TableColumn(name="package_option", type="text", database_type="TEXT"),
            TableColumn(name="homepage", type="text", database_type="TEXT"),
        ],
    ),
    Table(
        name="sale",
        kind="table",
        columns=[
            TableColumn(name="city", type="text", database_type="TEXT"),
            TableColumn(name="status", type="text", database_type="TEXT"),
        ],
    ),
]
STORED = {
    "product": {"package_option": ["Option", "Basic"], "homepage": ["www.lovelace.org"]},
    "sale": {"city": ["Sale", "Steve", "Revelations", "Return of the Cat", "Comedy"], "status": ["Paid"]},
}


def said_in(text: str) -> set[str]:
    found = mentions(
        [text],
        StoredTexts(STORED),
        Columns({table.name: table for table in PRODUCTS}, STORED, words_of_names(PRODUCTS)),
    )
    return {place.text for each in found for place in each.places}


@pytest.mark.parametrize(
    "question",
    [
        "which option do products have",
        "the sales of each city",
        "who serves whom",
        "evaluations that come first",
        "Return the city of each product",
        "what does Lovelace sell",
    ],
)
def test_words_that_ask_or_name_columns_mean_no_stored_text(question: str) -> None:
    assert said_in(question) == set()


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("paid sales", "Paid"),
        ("sales in the city Sale", "Sale"),
        ("where is revelatoins", "Revelations"),
        ("all with Option", "Option"),
        ("who has www.lovelace.org", "www.lovelace.org"),
        ("whose homepage is of Lovelace", "www.lovelace.org"),
    ],
)
def test_words_that_mean_a_stored_text_are_still_found(question: str, text: str) -> None:
    assert text in said_in(question)


def test_what_was_said_earlier_is_matched_too() -> None:
    found = mentions(["customers in Brazil", "and by city?"], StoredTexts(TEXTS), NO_COLUMNS)
    assert [each.said for each in found] == ["Brazil"]


def test_a_long_question_over_many_texts_has_a_bounded_answer() -> None:
    many = StoredTexts({"t": {"c": [f"thing number {number}" for number in range(2_000)]}})
    assert len(mentions([" ".join(f"thing number {n} thinc" for n in range(300))], many, NO_COLUMNS)) <= 12


def test_fusion_puts_first_what_several_rankings_favour() -> None:
    assert fused([["a", "b", "c"], ["c", "b"], []])[0] in {"b", "c"}
    assert fused([["a"], ["b"]]) == ["a", "b"]


def test_the_way_between_far_tables_is_found_and_cycles_do_no_harm() -> None:
    graph = ForeignKeyGraph(
        [table("a", refers=("b",)), table("b", refers=("c", "a")), table("c"), table("d")]
    )
    assert (graph.between(["a", "c"]), graph.between(["a", "d"])) == (["b"], [])
    assert graph.neighbours(["c"]) == ["b"]


def test_words_are_brought_to_one_form() -> None:
    assert words_of("InvoiceLines_2024 über Städte") == ["invoice", "line", "2024", "uber", "stadte"]
    assert text_key("  AC/DC! ") == "ac dc"
