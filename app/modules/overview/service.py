"""Overviews as their readers see them: read from the store at once, and marked for a worker to compute."""

from dataclasses import dataclass, replace

from pydantic import JsonValue

from app.core.auth.caller import current_attributes, current_database_claim
from app.core.clock import now_ms
from app.modules.database_connection.model import Connection
from app.modules.database_connection.service import DatabaseConnections
from app.modules.overview.model import KeptOverview, Missing, Overview, PageLanguage
from app.modules.overview.repository import OverviewRepository, overview_id

_READ_AGAIN_MS = 3_600_000
"""So long a reading is not noted again."""


@dataclass(frozen=True, kw_only=True)
class ShownOverview:
    """An overview, or why there is none; `computed_at` in epoch milliseconds."""

    overview: Overview | None = None
    missing: Missing | None = None
    computed_at: int | None = None


class Overviews:
    """What is computed for one reader is shown to no other: each has an overview of their own."""

    def __init__(
        self, repository: OverviewRepository, connections: DatabaseConnections, *, enabled: bool
    ) -> None:
        self.repository = repository
        self._connections = connections
        self._enabled = enabled

    async def read(self, owner: str, connection_id: str, language: PageLanguage) -> ShownOverview:
        """Runs nothing in the database. Raises `ConnectionNotFound`, `DatabaseRoleMissing` or
        `PersonUnknown`.
        """
        connection = await self._connections.repository.get(owner, connection_id)
        if not self._enabled:
            return ShownOverview(missing="off")
        claim = current_database_claim()
        role = None if connection.roles is None else connection.roles.role_of(owner, claim)
        if connection.scanned_at is None:
            return ShownOverview(missing="not_scanned")
        kept = await self.repository.find(owner, connection_id)
        rights = self._connections.rights_on(connection)
        if kept is None or (kept.claim, kept.role, kept.rights) != (claim, role, rights):
            attributes = None if rights is None else current_attributes()
            kept = replace(
                _new(owner, connection_id), claim=claim, role=role, attributes=attributes, rights=rights
            )
            await self.repository.put(kept)
        elif now_ms() - kept.read_at > _READ_AGAIN_MS:
            changes: dict[str, JsonValue] = {"read_at": now_ms()}
            if kept.due_at is None:
                changes["due_at"] = now_ms()
            kept = await self.repository.change(kept, changes) or kept
        overview = None if kept.by_language is None else kept.by_language[language]
        missing = None if overview is not None else kept.missing
        return ShownOverview(overview=overview, missing=missing, computed_at=kept.computed_at)

    async def renew(self, connection: Connection) -> None:
        """Drop what was computed of a connection whose tables, columns, roles or policies have changed, and
        have it computed again. The owner's is computed in any case, but where people see different rows.
        """
        if not self._enabled:
            return
        found = await self.repository.of_connection(connection.id)
        for each in found:
            changes: dict[str, JsonValue] = {"due_at": now_ms(), "missing": "waiting", "by_language": None}
            await self.repository.change(each, changes)
        if not connection.is_per_person and all(each.owner != connection.owner for each in found):
            await self.repository.put(_new(connection.owner, connection.id))


def _new(owner: str, connection_id: str) -> KeptOverview:
    now = now_ms()
    return KeptOverview(
        id=overview_id(owner, connection_id),
        owner=owner,
        db_connection_id=connection_id,
        claim=None,
        role=None,
        read_at=now,
        due_at=now,
    )
