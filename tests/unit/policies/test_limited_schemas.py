"""Schemas of people with policies: made once for all requests, while others go on."""

import asyncio

from app.modules.database_connection.limited_schemas import LimitedSchemas
from app.modules.database_connection.scan.scanned import ScannedSchema
from app.modules.database_connection.schema import Schema, Table, TableColumn
from app.modules.policies.model import Policies
from app.modules.policies.rights import Person

TABLES = 100


async def test_requests_at_once_share_a_schema_and_let_others_go_on() -> None:
    column = TableColumn(name="region", type="text", database_type="TEXT")
    names = [f"t{at}" for at in range(TABLES)]
    scanned = ScannedSchema(Schema("sqlite", [Table(name=n, kind="table", columns=[column]) for n in names]))
    own = {"name": "own", "tables": {name: {"rows": ["region = {{ user.region }}"]} for name in names}}
    policies = Policies.model_validate({"default": "allow", "policies": [own]}).model_dump_json()
    schemas = LimitedSchemas(10)

    def asked(region: str) -> asyncio.Task[ScannedSchema]:
        person = Person("a", {"region": region})
        return asyncio.create_task(schemas.get(scanned, policies, person, found_at=0, key="k"))

    one, same, other = asked("x"), asked("x"), asked("y")
    turns = 0
    while not one.done():
        await asyncio.sleep(0)
        turns += 1
    assert turns > TABLES
    assert await one is await same is await asked("x")
    assert await other is not await one
