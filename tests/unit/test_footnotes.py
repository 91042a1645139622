"""References of an analysis as footnotes."""

from app.modules.session.footnotes import footnotes, marked, source_notes
from graph.state import Reference
from tests.fakes import THREE

TEXT = "The total of **n** is 3. Ada\\_1 has the highest n, 3."
REFERENCES: list[Reference] = [
    {**THREE, "span": [0, 24], "how": "sum of n over 2 rows"},
    {**THREE, "span": [25, len(TEXT)], "how": "highest n", "value": None},
]


def test_each_statement_ends_with_the_number_of_its_footnote() -> None:
    assert marked(TEXT, REFERENCES) == (
        "The total of **n** is 3.\u202f¹ Ada\\_1 has the highest n, 3.\u202f²"
    )
    assert footnotes(REFERENCES) == ["¹ sum of n over 2 rows: 3", "² highest n"]


def test_two_references_of_a_statement_stand_in_their_order() -> None:
    assert marked("Three.", [THREE, THREE]) == "Three.\u202f¹\u202f²"


def test_a_note_has_the_statement_without_its_markup() -> None:
    assert source_notes(TEXT, REFERENCES) == [
        "The total of n is 3. (sum of n over 2 rows: 3)",
        "Ada_1 has the highest n, 3. (highest n)",
    ]
