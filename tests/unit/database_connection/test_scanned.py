"""Schemas in memory: the least recently used one makes room."""

from app.modules.database_connection.scan.scanned import ScannedSchema, ScannedSchemas
from app.modules.database_connection.schema import Schema

KNOWN = ScannedSchema(Schema("sqlite", []))


def test_the_least_recently_used_schema_makes_room() -> None:
    databases = ScannedSchemas(limit=2)
    databases.remember("a", KNOWN)
    databases.remember("b", KNOWN)
    assert databases.get("a") is KNOWN
    databases.remember("c", KNOWN)
    assert [databases.get(each) for each in "abc"] == [KNOWN, None, KNOWN]


def test_a_schema_that_was_forgotten_is_gone_and_may_be_forgotten_again() -> None:
    databases = ScannedSchemas(limit=2)
    databases.remember("a", KNOWN)
    databases.forget("a")
    databases.forget("a")
    assert databases.get("a") is None
