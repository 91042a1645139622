"""Foreign keys as a graph; where a schema declares none, keys are inferred for joins and for nothing else."""

from datetime import date

import pytest

from app.modules.database_connection.scan.scanned import ScannedSchema
from app.modules.database_connection.schema import ColumnType, ForeignKey, Schema, Table, TableColumn
from app.modules.sql_generation.builtin import WrittenSql, write
from app.modules.sql_generation.foreign_keys import ForeignKeyGraph, inferred_keys
from app.modules.sql_generation.schema_index import SchemaIndex


def table(name: str, columns: str, *keys: ForeignKey, kind: ColumnType = "integer") -> Table:
    """A star marks the columns of the primary key."""
    made = [
        TableColumn(
            name=each.rstrip("*"),
            type="text" if "name" in each else kind,
            database_type="",
            primary_key=each.endswith("*"),
        )
        for each in columns.split()
    ]
    return Table(name=name, kind="table", columns=made, foreign_keys=keys)


AUTHOR = table("author", "aid* name")
WRITES = table("writes", "aid* pid*")
PUBLICATION = table("publication", "pid* year")
SCHEMA = Schema("sqlite", [AUTHOR, WRITES, PUBLICATION])


def test_without_declared_keys_equal_names_join() -> None:
    graph = ForeignKeyGraph.inferring(SCHEMA.tables)
    assert graph.between(["author", "publication"]) == ["writes"]
    assert all(hop.inferred for hop in graph.hops("writes"))
    assert [hop.fans_out for hop in graph.hops("author")] == [True]


def test_a_declared_key_leaves_nothing_to_infer() -> None:
    declared = table("review", "rid* pid", ForeignKey(["pid"], "publication", ["pid"]))
    tables = [*SCHEMA.tables, declared]
    assert inferred_keys(tables) == {}
    assert ForeignKeyGraph.inferring(tables).neighbours(["author"]) == []


@pytest.mark.parametrize(
    "tables",
    [
        [table("a", "id*"), table("b", "id x")],
        [table("a", "aid*"), table("b", "aid* x"), table("c", "aid")],
        [table("a", "aid*"), table("b", "aid", kind="text")],
        [table("a", "aid* bid*"), table("b", "aid")],
    ],
    ids=["generic name", "two tables with the key", "another type", "half of a key"],
)
def test_what_may_mean_something_else_is_not_inferred(tables: list[Table]) -> None:
    assert inferred_keys(tables).get(tables[-1].name, []) == []


def test_the_builtin_writer_joins_by_inferred_keys() -> None:
    written = write("number of writes per author", SCHEMA, previous=None, today=date(2025, 1, 1))
    assert isinstance(written, WrittenSql)
    assert 'JOIN "author"' in written.sql


def test_an_inferred_key_is_on_no_card() -> None:
    assert "references" not in SchemaIndex(ScannedSchema(SCHEMA)).cards["writes"]
