"""Databases as models."""

from app.modules.database_connection.model import Connection
from app.modules.protocols.openai.models import model_named, models_of


def connection(number: int, name: str) -> Connection:
    return Connection(
        id=f"01970000-0000-7000-8000-00000000000{number}",
        owner="ann",
        name=name,
        description="",
        dialect="sqlite",
        masked_url="",
        encrypted_url="",
        created_at=number,
    )


SHOP, OTHER = connection(1, "Web Shop (2024)"), connection(2, "web shop 2024")


def test_a_model_is_named_by_the_words_of_the_database() -> None:
    assert models_of([SHOP]) == {"kai/web-shop-2024": SHOP}
    assert list(models_of([connection(1, "Größe / 東京")])) == ["kai/größe-東京"]
    assert list(models_of([connection(3, "!")])) == ["kai/01970000-0000-7000-8000-000000000003"]


def test_of_two_databases_of_one_name_the_younger_has_a_part_of_its_id() -> None:
    assert models_of([SHOP, OTHER]) == {"kai/web-shop-2024": SHOP, "kai/web-shop-2024-000002": OTHER}


def test_a_name_with_a_part_of_the_id_stays_good() -> None:
    assert model_named([OTHER], "kai/web-shop-2024-000002") == OTHER
    assert model_named([OTHER], "kai/web-shop-2024") == OTHER


def test_an_id_is_a_name_too() -> None:
    assert model_named([SHOP, OTHER], OTHER.id) == OTHER
    assert model_named([SHOP, OTHER], "gpt-5") is None
