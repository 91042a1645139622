"""Deletion of everything that KAI holds of an owner."""

from collections.abc import Sequence
from functools import partial

from app.core.auth.caller import Caller
from app.core.kept_responses import KeptResponses
from app.core.storage.documents import read_pages
from app.core.storage.listing import ListRequest
from app.modules.boards.repository import BoardRepository
from app.modules.comments.repository import CommentRepository
from app.modules.context_store.service import ContextStore
from app.modules.database_connection.lookup import all_connections
from app.modules.database_connection.service import DatabaseConnections
from app.modules.items.service import ClientItems
from app.modules.memory.erasure import MemoryForgetting, NotConfirmed
from app.modules.overview.repository import OverviewRepository
from app.modules.records.errors import SessionUnknown
from app.modules.records.model import hidden_owner
from app.modules.rules.repository import RuleRepository
from app.modules.run.errors import StillStopping
from app.modules.schedules.repository import ScheduleRepository
from app.modules.session.service import SessionService
from app.modules.sharing.repository import LinkRepository
from app.modules.webhooks.repository import WebhookRepository

_PAGE = 100


class OwnerForgetting:
    """Methods can be repeated. Each returns what is not confirmed yet."""

    def __init__(
        self,
        memory: MemoryForgetting,
        sessions: SessionService,
        connections: DatabaseConnections,
        *,
        context: ContextStore,
        rules: RuleRepository,
        items: ClientItems,
        boards: BoardRepository,
        links: LinkRepository,
        schedules: ScheduleRepository,
        comments: CommentRepository,
        overviews: OverviewRepository,
        kept_responses: KeptResponses,
        webhooks: WebhookRepository,
    ) -> None:
        self.memory = memory
        self._sessions = sessions
        self._connections = connections
        self._context = context
        self._rules = rules
        self._items = items
        self._boards = boards
        self._links = links
        self._schedules = schedules
        self._comments = comments
        self._overviews = overviews
        self._kept_responses = kept_responses
        self._webhooks = webhooks

    async def forget_everything(self, caller: Caller) -> list[NotConfirmed]:
        """Delete sessions, boards, schedules, webhooks, comments, overviews, memory, items, knowledge, rules
        and connections of the caller.

        Connections, knowledge and rules are left to callers with the scope `manage`.
        """
        left = await self.memory.forget_owner(caller.owner)
        for owner in (caller.owner, hidden_owner(caller.owner)):
            left += await self._forget_sessions(owner)
        await self._boards.delete_all(caller.owner)
        await self._links.delete_all(caller.owner)
        await self._schedules.delete_all(caller.owner)
        await self._webhooks.delete_all(caller.owner)
        await self._comments.delete_all(caller.owner)
        await self._overviews.delete_all(caller.owner)
        await self._kept_responses.delete_all(caller.owner)
        await self._items.forget_owner(caller.owner)
        left += await self._forget_managed(caller)
        # A job that was under way may have remembered something meanwhile.
        await self.memory.forget_owner(caller.owner)
        return left

    async def _forget_sessions(self, owner: str) -> list[NotConfirmed]:
        left: list[NotConfirmed] = []
        expiring = [each.id async for each in self._sessions.repository.expiring(owner)]
        for session_id in [*await self._session_ids(owner), *expiring]:
            try:
                await self._sessions.delete(owner, session_id)
            except SessionUnknown:
                continue  # another request has deleted it
            except StillStopping as error:
                left.append(NotConfirmed(f"session {session_id}", error.detail))
        return left

    async def _forget_managed(self, caller: Caller) -> list[NotConfirmed]:
        if not caller.may("manage"):
            why = "Your credential lacks the scope manage. Send the request with one that has it."
            return [NotConfirmed("databases, examples, glossary, instructions and rules", why)]
        await self._context.forget_owner(caller.owner)
        await self._rules.delete_all(caller.owner)
        for connection_id in await self._connection_ids(caller.owner):
            await self._connections.delete(caller.owner, connection_id)
        return []

    async def _session_ids(self, owner: str) -> Sequence[str]:
        found = read_pages(partial(self._sessions.repository.page, owner, []), ListRequest(limit=_PAGE))
        return [session.id async for session in found]

    async def _connection_ids(self, owner: str) -> Sequence[str]:
        found = all_connections(self._connections, owner)
        return [each.id async for each in found if each.owner == owner]
