"""Near texts that differ in numbers or negation are never taken for the same."""

import pytest

from app.modules.memory.likeness import differs_in_sense
from tests.support.cases import assert_each

OTHER = [
    ("Revenue of 2023", "Revenue of 2024"),
    ("Churn means no order for 90 days", "Churn means no order for 60 days"),
    ("Round to two digits", "Round to three digits"),
    ("The margin is 1.5 percent", "The margin is 15 percent"),
    ("Returns are counted", "Returns are not counted"),
    ("Returns were counted", "Returns weren't counted"),
    ("Orders with returns", "Orders without returns"),
    ("Always show tests", "Never show tests"),
    ("Everything is net", "Nothing is net"),
    ("Umsatz von 2023", "Umsatz von 2024"),
    ("Auf zwei Stellen runden", "Auf drei Stellen runden"),
    ("Retouren zählen", "Retouren zählen nicht"),
    ("Retouren sind ein Umsatz", "Retouren sind kein Umsatz"),
    ("Keine Testkunden zeigen", "Testkunden zeigen"),
    ("Mit Steuern rechnen", "Ohne Steuern rechnen"),
    ("Chiffre d'affaires de 2023", "Chiffre d'affaires de 2024"),
    ("Arrondir à deux chiffres", "Arrondir à trois chiffres"),
    ("Les retours comptent", "Les retours ne comptent pas"),
    ("Il y a des clients de test", "Il n'y a aucun client de test"),
    ("Avec les taxes", "Sans les taxes"),
    ("Los pedidos cuentan", "Los pedidos no cuentan"),
    ("Con impuestos", "Sin impuestos"),
    ("٩٠ days", "60 days"),
]
SAME = [
    ("Churn means no order for 90 days", "Churn is when no order came for 90 days"),
    ("Returns are not counted", "Do not count returns"),
    ("Retouren zählen nicht", "Wir zählen Retouren nicht"),
    ("Les retours ne comptent pas", "On ne compte pas les retours"),
    ("Weeks begin on Sunday", "Weeks begin on Monday"),
    ("90 days", "٩٠ days"),
    ("two digits", "zwei digits"),
]


def test_other_numbers_and_negations_make_another_sense() -> None:
    def check(one: str, other: str) -> None:
        assert differs_in_sense(one, other)

    assert_each(OTHER, check)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_numbers_and_negations_do_not(one: str, other: str) -> None:
    assert not differs_in_sense(one, other)
