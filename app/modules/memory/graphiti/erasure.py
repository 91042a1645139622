"""Erases groups from Graphiti, and believes nothing that it has not looked at."""

import logging

from app.core.storage.port import Document, Equals
from app.modules.memory.graphiti.client import GraphitiClient, GraphitiFailed
from app.modules.memory.graphiti.groups import GraphGroup, GraphGroups
from app.modules.memory.graphiti.outbox import Outbox
from app.modules.memory.scopes import GroupId

logger = logging.getLogger(__name__)

_AGAIN_MS = 60_000
_PATIENCE_MS = 600_000
"""So long an erasure waits for what the service has in its queue."""
_DAILY_MS = 86_400_000
_LOOKED_AT = 3
"""Episodes whose texts are searched for after they were deleted."""
_MAX_QUERY = 400
_ANYTHING = "memory"
NOT_AWAITED: Document = {"awaited_since": None, "look_at": None}


class Erasure:
    """What `GraphForgetting` has noted."""

    def __init__(self, client: GraphitiClient, outbox: Outbox, groups: GraphGroups) -> None:
        self._client = client
        self._outbox = outbox
        self._groups = groups

    async def work(self, now: int) -> None:
        """Erase the groups that are due."""
        for group in await self._groups.to_erase(now):
            await self._erase(group, now)

    async def _erase(self, group: GraphGroup, now: int) -> None:
        try:
            is_processed = await self._is_processed(group)
            is_empty = await self._delete(group.group)
        except GraphitiFailed as error:
            logger.warning("a group cannot be erased from Graphiti now: %s", error)
            await self._groups.change(group, {"erase_at": now + _AGAIN_MS})
            return
        wanted_at = now if group.erase_wanted_at is None else group.erase_wanted_at
        if is_empty and is_processed:
            await self._confirm(group)
        elif is_empty and now - wanted_at < _PATIENCE_MS:
            await self._groups.change(group, {"erase_at": now + _AGAIN_MS})
        else:
            await self._doubt(group, now)

    async def _is_processed(self, group: GraphGroup) -> bool:
        """Returns False if the service may still have messages of the group in its queue."""
        latest = group.latest_sent_at
        if latest is None or group.awaited_since is None or await self._outbox.latest_seen() > latest:
            return True
        return group.latest_name in {each.name for each in await self._client.episodes(group.group)}

    async def _delete(self, group: GroupId) -> bool:
        """Returns False if something is left."""
        before = await self._client.episodes(group)
        await self._client.delete_group(group)
        for episode in await self._client.episodes(group):
            await self._client.delete_episode(episode.uuid)
        if await self._client.episodes(group):
            return False
        for text in [each.content for each in before][-_LOOKED_AT:] or [_ANYTHING]:
            if await self._client.search([group], text[:_MAX_QUERY] or _ANYTHING, max_facts=1):
                return False
        return True

    async def _confirm(self, group: GraphGroup) -> None:
        changes: Document = {
            **NOT_AWAITED,
            "erase": None,
            "erase_at": None,
            "erase_wanted_at": None,
            "ownership_sent_at": None,
        }
        if await self._groups.change(group, changes, [Equals("erase_at", group.erase_at)]) is None:
            return  # it is wanted again meanwhile
        logger.info("a group was erased from Graphiti, and nothing of it is left")
        await self._outbox.send_again(group.group)
        if not await self._outbox.count([Equals("group", group.group)]):
            await self._groups.delete(group, [Equals("erase", None)])

    async def _doubt(self, group: GraphGroup, now: int) -> None:
        """After a day, what the service had in its queue is processed or lost."""
        logger.warning(
            "the erasure of a group from Graphiti is not confirmed: the service answers, and still shows "
            "what was deleted or has not processed what was sent. KAI tries daily, and recalls nothing of "
            "the group. To erase it by hand, delete the data of %s in Graphiti's database.",
            group.group,
        )
        changes: Document = {**NOT_AWAITED, "erase": "not_confirmed", "erase_at": now + _DAILY_MS}
        await self._groups.change(group, changes)
