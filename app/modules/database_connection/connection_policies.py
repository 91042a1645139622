"""Policies of a connection, as its owner writes and tries them."""

import asyncio
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from app.core.auth.api_keys import ApiKeys
from app.modules.database_connection.errors import PoliciesRefused, as_problems
from app.modules.database_connection.guard.check import check, written
from app.modules.database_connection.limited_schemas import catalog_of, limit_schema
from app.modules.database_connection.model import Connection
from app.modules.database_connection.scan.scanned import ScannedSchema
from app.modules.database_connection.schema import Schema, Table
from app.modules.database_connection.service import DatabaseConnections
from app.modules.policies.barriers import BARRIERS
from app.modules.policies.checking import (
    PolicyFault,
    RelationKey,
    find_faults,
    find_uneven_keys,
    find_unknown_attributes,
)
from app.modules.policies.conditions import UnreadableCondition, attributes_in, bound_condition
from app.modules.policies.limiting import Limited
from app.modules.policies.model import Policies, read_policies
from app.modules.policies.rights import Person
from app.modules.sql.engine_data import DATABASE_NAMES
from graph.errors import StatementRefused

logger = logging.getLogger(__name__)

_SHOWN_KEY = "<key>"
_MOST_SHOWN = 5


@dataclass(frozen=True)
class ConnectionPolicies:
    """Every method names the owner of a connection, who alone may read and change its policies."""

    connections: DatabaseConnections
    keys: ApiKeys
    claims: Collection[str] = ()
    """Attributes that claims of tokens give."""

    async def read(self, owner: str, connection_id: str) -> Connection:
        return await self.connections.repository.own(owner, connection_id)

    async def change(self, owner: str, connection_id: str, policies: Policies | None) -> Connection:
        """Put policies in the place of those that hold, from the next statement on. None ends them.

        Raises `PoliciesRefused` for policies with errors, and `DatabaseDown` if a first scan fails.
        """
        connection = await self.read(owner, connection_id)
        tables: Sequence[Table] = ()
        if policies is not None:
            scanned = await self._scanned(owner, connection_id)
            tables = scanned.schema.tables
            found = await asyncio.to_thread(_faults, policies, scanned.schema)
            errors = [each for each in found if each.kind == "error"]
            if errors:
                shown = " ".join(f"{each.place}: {each.detail}" for each in errors[:_MOST_SHOWN])
                more = f" There are {len(errors) - _MOST_SHOWN} more." if len(errors) > _MOST_SHOWN else ""
                raise PoliciesRefused(shown + more)
        text = None if policies is None else policies.model_dump_json()
        return await self.connections.edit_policies(connection, text, tables)

    async def check(self, owner: str, connection_id: str, policies: Policies) -> list[PolicyFault]:
        """Returns the faults of policies on the tables as scanned last. Raises what `_scanned` raises."""
        scanned = await self._scanned(owner, connection_id)
        found = await asyncio.to_thread(_faults, policies, scanned.schema)
        given = [name for key in await self.keys.usable() for name in key.attributes]
        return [*found, *find_unknown_attributes(policies, {"owner", *self.claims, *given})]

    async def log_errors(self, connection: Connection) -> None:
        """Log the errors that the policies of a connection have by now: what they name may be gone."""
        if connection.policies is None:
            return
        known = (await self.connections.whole_schema(connection)).schema
        for each in await asyncio.to_thread(_faults, read_policies(connection.policies), known):
            if each.kind == "error":
                logger.warning("connection %s: %s: %s", connection.id, each.place, each.detail)

    async def test(
        self, owner: str, connection_id: str, person: Person, *, sql: str, policies: Policies | None
    ) -> Limited:
        """Returns a statement as it would run for a person, by these policies or by those that hold.

        Raises `StatementNotRun` for one that would be refused, and `PoliciesRefused` without policies.
        """
        connection = await self.read(owner, connection_id)
        text = connection.policies if policies is None else policies.model_dump_json()
        if text is None:
            raise PoliciesRefused("The database has no policies: every statement runs as it is written.")
        scanned = await self._scanned(owner, connection_id)
        with as_problems():
            return await self.connections.examine(
                sql, _limited, sql, scanned, text, person=person, found_at=connection.policies_found_at
            )

    async def _scanned(self, owner: str, connection_id: str) -> ScannedSchema:
        """Returns all tables with all columns. Raises `PoliciesRefused` for a kind of database that takes no
        policies, and `DatabaseDown`.
        """
        connection = await self.read(owner, connection_id)
        if connection.dialect not in BARRIERS:
            engine = DATABASE_NAMES.get(connection.dialect, connection.dialect)
            raise PoliciesRefused(
                f"KAI has no proof that policies hold on {engine}. Limit people there by the database."
            )
        with as_problems():
            return await self.connections.whole_schema(connection)


def _limited(sql: str, scanned: ScannedSchema, policies: str, *, person: Person, found_at: int) -> Limited:
    schema = limit_schema(scanned, policies, person, found_at=found_at, key=_SHOWN_KEY).schema
    check(sql, schema)
    if schema.limiter is None:
        raise StatementRefused("The statement could not be limited.", "policy")
    return schema.limiter.limit(written(sql, schema.dialect).tree.copy())


def _faults(policies: Policies, schema: Schema) -> list[PolicyFault]:
    found = find_faults(policies, catalog_of(schema))
    if any(each.kind == "error" for each in found):
        return found
    keys = [
        RelationKey((table.name, own), (key.referred_table, other))
        for table in schema.tables
        for key in table.foreign_keys
        for own, other in zip(key.columns, key.referred_columns, strict=False)
    ]
    return [*found, *_refused_conditions(policies, schema), *find_uneven_keys(policies, keys)]


def _refused_conditions(policies: Policies, schema: Schema) -> Sequence[PolicyFault]:
    """Returns the conditions that the guard would let no statement have."""
    found: list[PolicyFault] = []
    plain = replace(schema, limiter=None)
    for policy in policies.policies:
        for shown, says in policy.tables.items():
            for at, text in enumerate(says.rows if isinstance(says.rows, list) else ()):
                try:
                    known = dict.fromkeys(attributes_in(text), "")
                    condition = bound_condition(text, known, schema.dialect)
                    source = plain.names.short(shown).node()
                    probe = exp.select(exp.Literal.number(1)).from_(source).where(condition)
                    check(probe.sql(dialect=schema.dialect), plain)
                except (UnreadableCondition, StatementRefused) as error:
                    place = f"policy {policy.name!r}, table {shown!r}, rows[{at}]"
                    found.append(PolicyFault("error", place, str(error)))
    return found
