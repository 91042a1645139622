"""Tables that a statement reads and that the schema does not have."""

from collections.abc import Iterator

from sqlglot import exp

from app.modules.sql_generation.checking.findings import Correction, Fault, respelled
from app.modules.sql_generation.checking.names import SchemaNames, nearest, same_but_for_case
from app.modules.sql_generation.checking.resolution import base_tables


def check_tables(statement: exp.Expr, schema: SchemaNames) -> Iterator[Fault | Correction]:
    """Yields the unknown tables of a statement with folded names.

    Tables that are qualified with a schema's name are left to the guard.
    """
    real = list(schema.tables.values())
    for table in base_tables(statement):
        if table.db or table.name in schema.tables:
            continue
        place = table.this
        start = place.meta.get("start")
        meant = same_but_for_case(table.name, real)
        if meant is not None and isinstance(start, int):
            yield respelled(place, schema.written(meant))
        else:
            near = [schema.written(each) for each in nearest(table.name, real)]
            yield Fault("unknown table", table.name, start if isinstance(start, int) else None, near)
