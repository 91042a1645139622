"""Looks up what an answer shows beside its text: code, links and actions.

The model gives names. Ids come from the session's own databases and the turn's own results only; what does
not exist is left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.modules.tools.context import NoSuchDatabase, SessionDatabases
from app.modules.tools.results import FindResult, TurnResults
from app.modules.tools.toolsets.control import GivenAction, GivenCode, GivenLink
from graph.errors import DatabaseUnavailable, StatementFailed
from graph.state import Action, Code, Link

_SQL = "sql"


@dataclass(frozen=True)
class NamedThings:
    """The things that one turn may name."""

    databases: SessionDatabases
    results: TurnResults
    find: FindResult

    async def code(self, given: Sequence[GivenCode]) -> list[Code]:
        """Returns the code, with SQL checked as if it were to run."""
        return [
            Code(language=each.language, content=each.content, checked=await self._is_checked(each))
            for each in given
        ]

    async def links(self, given: Sequence[GivenLink]) -> list[Link]:
        """Returns the links to what exists."""
        found = [(each, await self._id_of(each)) for each in given]
        return [
            Link(label=each.label, resource_type=each.resource_type, resource_id=resource_id)
            for each, resource_id in found
            if resource_id is not None
        ]

    async def actions(self, given: Sequence[GivenAction], question: str) -> list[Action]:
        """Returns the actions on what exists. `question` is that of the turn."""
        found = [(each, await self._payload(each, question)) for each in given]
        return [
            Action(label=each.label, action=each.action, payload=payload)
            for each, payload in found
            if payload is not None
        ]

    async def _is_checked(self, given: GivenCode) -> bool:
        if given.language != _SQL:
            return False
        try:
            await self.databases.named(given.database).check(given.content)
        except (NoSuchDatabase, DatabaseUnavailable, StatementFailed):
            return False
        return True

    async def _id_of(self, given: GivenLink) -> str | None:
        match given.resource_type:
            case "result":
                return await self._result_id(given.name)
            case "table":
                found = await self._table(given.name, given.database)
                return None if found is None else "/".join(found)
            case "database":
                return self._connection_id(given.name)

    async def _payload(self, given: GivenAction, question: str) -> dict[str, str] | None:
        match given.action:
            case "open_result":
                result_id = await self._result_id(given.target)
                return None if result_id is None else {"result_id": result_id}
            case "open_table":
                found = await self._table(given.target, given.database)
                return None if found is None else {"db_connection_id": found[0], "table": found[1]}
            case "ask":
                words = given.target.strip()
                return {"question": words} if words else None
            case "rerun":
                return {"question": question}

    async def _result_id(self, name: str) -> str | None:
        call_id = self.results.id_of(name)
        return None if call_id is None or await self.find(call_id) is None else call_id

    async def _table(self, name: str, label: str | None) -> tuple[str, str] | None:
        """Returns the id of the connection and the name of the table, as the database spells it."""
        try:
            database = self.databases.named(label)
            table = await database.table(name)
        except (NoSuchDatabase, DatabaseUnavailable):
            return None
        return None if table is None else (database.connection.id, table.name)

    def _connection_id(self, label: str) -> str | None:
        try:
            return self.databases.named(label).connection.id
        except NoSuchDatabase:
            return None
