"""The text of an analysis, and the spans of its references."""

from decimal import Decimal

import pytest

from app.modules.analysis.facts import Fact, FactSheet
from app.modules.analysis.facts.composing import compose, written
from app.modules.analysis.facts.fact import MOST_CELLS
from app.modules.analysis.facts.wording import Wording

FIRST = Fact(
    key="highest_staff",
    kind="highest",
    statement="**Museum 🏛** has the highest staff: 62.",
    headline="Museum 🏛 has the highest staff: 62",
    how="highest staff of 8 rows",
    value=Decimal("62.00"),
    cells=[(0, "staff")],
    cell_count=1,
)
SECOND = Fact(
    key="total_staff",
    kind="total",
    statement="The total of staff is 250.",
    headline="The total of staff is 250",
    how="sum of staff over 80 rows",
    value=Decimal("2.5E+2"),
    cells=[(row, "staff") for row in range(80)],
    cell_count=80,
)
SHEET = FactSheet(
    facts=[FIRST, SECOND], lead=[FIRST, SECOND], notice="Only a part 🏛 is at hand.", language="en"
)


def test_each_reference_spans_its_statement_in_code_points() -> None:
    made = compose(SHEET, [FIRST, SECOND], reading="A look at the season may help.", wording=Wording("en"))
    assert made.text == (
        "Only a part 🏛 is at hand. **Museum 🏛** has the highest staff: 62. The total of staff is 250."
        "\n\n*Reading:* A look at the season may help."
    )
    assert [made.text[slice(*each["span"])] for each in made.references] == [
        FIRST.statement,
        SECOND.statement,
    ]
    assert made.headline == FIRST.headline


def test_values_are_exact_and_cells_are_bounded_and_counted() -> None:
    made = compose(SHEET, [SECOND], reading=None, wording=Wording("en"))
    (reference,) = made.references
    assert reference["value"] == "250"
    assert (len(reference["cells"]), reference["cell_count"]) == (MOST_CELLS, 80)
    assert made.headline == SECOND.headline


def test_without_a_statement_the_text_is_the_notice() -> None:
    assert compose(SHEET, [], reading=None, wording=Wording("en")).text == SHEET.notice


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Decimal("193834.08"), "193834.08"),
        (Decimal("1E+3"), "1000"),
        (Decimal("0.10"), "0.1"),
        (Decimal(-100), "-100"),
        (Decimal("0.0"), "0"),
        ("2026-10-05", "2026-10-05"),
        (None, None),
    ],
)
def test_values_are_written_without_exponent_or_rounding(
    value: Decimal | str | None, text: str | None
) -> None:
    assert written(value) == text
