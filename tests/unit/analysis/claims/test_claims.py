"""Single claims against small results, and texts that mean no good."""

from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from app.modules.analysis.claims.check import MAX_CLAIMS, check_claims
from app.modules.analysis.claims.plain import plain_text, sentences
from app.modules.analysis.claims.strike import contradicted, struck, with_closing_line
from graph.state import Claim, Column, Rows


def table(columns: dict[str, str], *rows: list[JsonValue]) -> Rows:
    named = [Column(name=name, type=kind) for name, kind in columns.items()]
    return Rows(columns=named, rows=list(rows), row_count=len(rows), truncated=False)


CATEGORIES = table(
    {"category": "text", "revenue": "number"},
    ["Clothing", 193834.08],
    ["Tents", 150000.5],
    ["Bikes", 90000],
    ["Shoes", 50000],
)
MONTHS = table(
    {"month": "text", "orders": "integer"},
    ["2025-01", 34],
    ["2025-02", 40],
    ["2025-03", 20],
    ["2025-04", 25],
    ["2025-05", 12],
    ["2025-06", 10],
)
SHARES = table({"region": "text", "rate": "number"}, ["North", 0.1234], ["South", 0.4])
TOTALS = table({"city": "text", "Total": "number"}, ["Bern", 0.99], ["Basel", 25.86], ["Chur", 3.5])
TOTAL_REVENUES = table({"city": "text", "total_revenue": "number"}, ["Bern", 50.5], ["Basel", 171.25])
LARGE = table({"city": "text", "population": "integer"}, ["Bern", 1_234_567], ["Basel", 171_017])


def statuses(text: str, rows: Rows, words: str) -> set[str]:
    """Of the claims that overlap these words."""
    start = text.index(words)
    end = start + len(words)
    found = [each for each in check_claims(text, rows) if each["span"][0] < end and each["span"][1] > start]
    return {each["status"] for each in found}


@pytest.mark.parametrize(
    ("text", "rows", "words"),
    [
        ("Tents made 150,000.50.", CATEGORIES, "150,000.50"),
        ("Tents made 150.000,50 €.", CATEGORIES, "150.000,50"),
        ("Tents made 150 000,5.", CATEGORIES, "150 000,5"),
        ("Tents made about $150k.", CATEGORIES, "$150k"),
        ("Tents made nearly 151,000.", CATEGORIES, "151,000"),
        ("Tents made more than 140,000.", CATEGORIES, "140,000"),
        ("Bern has 1.2 million people.", LARGE, "1.2 million"),
        ("Bern hat 1,23 Mio. Einwohner.", LARGE, "1,23 Mio"),
        ("The North's rate is 12 %.", SHARES, "12 %"),
        ("The North's rate is 12.3 percent.", SHARES, "12.3 percent"),
        ("Clothing has two fifths of the revenue.", CATEGORIES, "two fifths"),
        ("In March 2025 there were 20 orders.", MONTHS, "20"),
        ("Im März 2025 waren es 20 Bestellungen.", MONTHS, "20"),
        ("In 2025-03 there were 20 orders.", MONTHS, "20"),
        ("In Q1 2025 there were 94 orders.", MONTHS, "94"),
        ("Orders fell from 34 in January to 10 in June.", MONTHS, "fell"),
        ("Orders were halved between February and March.", MONTHS, "halved"),
        ("Orders fell by 71 % from January to June.", MONTHS, "71 %"),
        ("Clothing leads, followed by Tents.", CATEGORIES, "followed by"),
        ("Two of the four categories made more than 100,000.", CATEGORIES, "Two"),
        ("Total goes from 0.99 to 25.86.", TOTALS, "0.99"),
        ("Total is 30.35.", TOTALS, "30.35"),
        ("Total revenue lies between 50.50 and 171.25.", TOTAL_REVENUES, "50.50"),
    ],
)
def test_what_the_rows_bear_out_is_checked(text: str, rows: Rows, words: str) -> None:
    assert statuses(text, rows, words) == {"checked"}


@pytest.mark.parametrize(
    ("text", "rows", "words"),
    [
        ("Tents: 193,834", CATEGORIES, "193,834"),
        ("**Tents** has the highest revenue.", CATEGORIES, "highest"),
        ("Bikes leads, followed by Tents.", CATEGORIES, "leads"),
        ("Shoes outperformed Bikes.", CATEGORIES, "outperformed"),
        ("Orders rose from 34 in January to 10 in June.", MONTHS, "rose"),
        ("Orders grew from March to June.", MONTHS, "grew"),
        ("Die Bestellungen stiegen von Januar bis Juni.", MONTHS, "stiegen"),
        ("The lowest month was February 2025.", MONTHS, "lowest"),
        ("Bern has 12.3 million people.", LARGE, "12.3 million"),
    ],
)
def test_what_the_rows_deny_is_contradicted(text: str, rows: Rows, words: str) -> None:
    assert statuses(text, rows, words) == {"contradicted"}


@pytest.mark.parametrize(
    ("text", "rows", "words"),
    [
        ("**Kayaks** follow with 77,123.", CATEGORIES, "Kayaks"),
        ("Analysts expect 12,345,678 next year.", CATEGORIES, "12,345,678"),
        ("In 2019 orders were similar.", MONTHS, "2019"),
    ],
)
def test_what_the_rows_do_not_bear_on_is_not_found(text: str, rows: Rows, words: str) -> None:
    assert statuses(text, rows, words) == {"not_found"}


@pytest.mark.parametrize(
    "text",
    [
        "1. Clothing\n2. Tents\n3. Bikes",
        "The two leading categories are close.",
        "**Key takeaways:** see below.",
        "At 10:30 all was well.",
    ],
)
def test_what_claims_nothing_is_not_accused(text: str) -> None:
    assert [each for each in check_claims(text, CATEGORIES) if each["status"] != "checked"] == []


def test_a_number_of_the_question_is_no_claim() -> None:
    assert check_claims("Here are the top 7.", CATEGORIES, question="Top 7 categories") == []


def test_a_checked_number_says_where_it_comes_from() -> None:
    (claim,) = [each for each in check_claims("Bikes: 90,000", CATEGORIES) if each["text"] == "90,000"]
    assert claim["from"] == {"column": "revenue", "row": 2, "how": "revenue of Bikes"}


def test_a_sum_of_averages_is_no_truth() -> None:
    rows = table({"category": "text", "average_price": "number"}, ["Tents", 10.5], ["Bikes", 21.5])
    text = "The average price is 32 in total."
    assert statuses(text, rows, "32") <= {"not_found", "contradicted"}


def test_without_rows_there_are_no_claims() -> None:
    assert check_claims("12 of 13", table({"n": "integer"})) == []


def test_contradicted_sentences_and_items_go_and_the_rest_stays() -> None:
    text = "Clothing leads.\n\n- **Tents**: 193,834\n- Bikes: 90,000\n\n**Shoes lead. Bikes has 90,000.**"
    left = struck(text, contradicted(check_claims(text, CATEGORIES)))
    assert left == "Clothing leads.\n\n- Bikes: 90,000\n\nBikes has 90,000."


def test_the_closing_line_names_what_was_left_out() -> None:
    wrong = contradicted(check_claims("Tents: 193,834", CATEGORIES))
    text, named = with_closing_line("Body.", wrong)
    assert text.startswith("Body.\n\n**Left out")
    assert [text[slice(*claim["span"])] for claim in named] == ["193,834"]


def test_a_label_cannot_write_markdown_into_the_closing_line() -> None:
    rows = table({"name": "text", "n": "integer"}, ["<b>[x](http://x)</b>", 5], ["b", 7])
    text, _ = with_closing_line("", contradicted(check_claims("b: 5", rows)))
    assert "<b>" not in text
    assert "](" not in text


def test_spans_count_code_points_of_the_markdown() -> None:
    text = "🎉 **Clothing** made *193,834.08*\\!"
    for claim in check_claims(text, CATEGORIES):
        assert text[slice(*claim["span"])] == claim["text"]


def test_plain_text_knows_its_way_back() -> None:
    markdown = "* **a** \\* b _c_\n* d"
    plain = plain_text(markdown)
    for at, character in enumerate(plain.text):
        start, end = plain.original(at, at + 1)
        assert markdown[start:end] in (character, "*")


def test_abbreviations_do_not_end_a_sentence() -> None:
    text = "It is approx. 5. On 3. März there were 4.5 of them. Then none."
    assert len(sentences(text)) == 3


HOSTILE = [
    "*" * 30_000,
    "1" * 30_000,
    "1," * 15_000,
    " " * 30_000,
    "1 000 " * 5_000,
    "the first of " * 2_500,
    "nahm a b c " * 2_700,
    " - - $" * 5_000,
    "May 1 " * 5_000,
    "[[((**" * 5_000,
    "from 1 to " * 3_000,
    "12 % of " * 3_000,
    "Clothing and " * 2_500,
    "rose in 2025 " * 2_300,
]


@pytest.mark.timeout(60)  # a second or less; far more where a pattern backtracks
@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_takes_long(text: str) -> None:
    claims = check_claims(text, MONTHS)
    assert len(claims) <= MAX_CLAIMS


CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=True, allow_infinity=True),
    st.text(max_size=12),
    st.dates(date(1990, 1, 1), date(2030, 1, 1)).map(str),
    st.sampled_from(["2025-01", "Tents", "12.50", "1,234", "Q1", "N/A", ""]),
)
WORDS = st.sampled_from(
    [
        *(
            "Tents",
            "2025",
            "March",
            "highest",
            "fell",
            "rose",
            "from",
            "to",
            "12 %",
            "1,234.5",
            "twice",
            "**Tents**",
        ),
        *(
            "of",
            "a third",
            "top three",
            "followed by",
            "(",
            ")",
            "-",
            ".",
            "\n- ",
            "average",
            "total",
            "all",
            "and",
        ),
        *(
            "2025-01",
            "half",
            "more than",
            "ranks",
            "second",
            "per",
            "between",
            "1.2M",
            "Q1 2025",
            "than",
            "x",
        ),
    ]
)


@settings(max_examples=200)
@given(
    st.lists(st.sampled_from(["text", "integer", "number", "date", "boolean"]), min_size=1, max_size=4),
    st.data(),
)
def test_nothing_raises(kinds: list[str], data: st.DataObject) -> None:
    names = ["month", "category", "total revenue", "rate %"]
    rows = data.draw(st.lists(st.lists(CELLS, min_size=len(kinds), max_size=len(kinds)), max_size=8))
    columns = dict(zip(names, kinds, strict=False))
    text = " ".join(data.draw(st.lists(st.one_of(WORDS, st.text(max_size=6)), max_size=30)))
    claims: list[Claim] = check_claims(text, table(columns, *rows))
    for claim in claims:
        assert text[slice(*claim["span"])] == claim["text"]
    with_closing_line(struck(text, contradicted(claims)), contradicted(claims))


def test_a_day_a_row_is_read_as_days() -> None:
    days = [date(2025, 1, 1) + timedelta(days=at) for at in range(60)]
    cells: list[list[JsonValue]] = [[str(day), 5 + at % 7] for at, day in enumerate(days)]
    rows = table({"day": "date", "orders": "integer"}, *cells)
    assert statuses("On 3 January 2025 there were 7 orders.", rows, "7") == {"checked"}
    assert statuses("January 2025 had 242 orders.", rows, "242") == {"checked"}
