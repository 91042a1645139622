"""What Graphiti is to forget, noted in KAI's store. `erasure` does it."""

from collections.abc import Sequence

from app.core.storage.port import AnyOf, Condition, Equals, Storage
from app.modules.memory.graphiti.groups import GraphGroups
from app.modules.memory.graphiti.outbox import Outbox


class GraphForgetting:
    """Notes what Graphiti is to forget. It sends nothing, so it also works where the graph memory is off: the
    worker erases once it is on again.

    Entries are deleted before anything else. A group that held one of them is erased as a whole, because what
    the service has derived from a message does not go with it. What else the group held is sent again.
    """

    def __init__(self, storage: Storage) -> None:
        self._outbox = Outbox(storage)
        self._groups = GraphGroups(storage)

    async def forget_facts(self, owner: str, fact_ids: Sequence[str], now: int) -> None:
        if fact_ids:
            await self._forget([Equals("owner", owner), AnyOf("subject_id", fact_ids)], now)

    async def forget_sessions(self, session_ids: Sequence[str], now: int) -> None:
        """Forget the turns of sessions, and the facts of their scope."""
        if session_ids:
            await self._forget([AnyOf("session_id", session_ids)], now)

    async def forget_connection(self, connection_id: str, now: int) -> None:
        """Forget all owners' groups of a database."""
        await self._forget([Equals("connection_id", connection_id)], now, whole_groups=True)

    async def forget_owner(self, owner: str, now: int) -> None:
        await self._forget([Equals("owner", owner)], now, whole_groups=True)

    async def withdraw(self, owner: str, connection_id: str, now: int, *, erase: bool) -> int:
        """Send nothing more of an owner's database. Returns the number of groups that hold some of it."""
        where = [Equals("owner", owner), Equals("connection_id", connection_id)]
        if erase:
            await self._forget(where, now, whole_groups=True)
        else:
            await self.drop_waiting(owner, connection_id)
        return await self._groups.count(where)

    async def drop_waiting(self, owner: str, connection_id: str) -> None:
        """Delete the entries that are not sent yet."""
        await self._outbox.delete(
            [
                Equals("owner", owner),
                Equals("connection_id", connection_id),
                AnyOf("status", ["pending", "parked"]),
            ]
        )

    async def unconfirmed(self, owner: str) -> int:
        """Number of the owner's groups whose erasure is not confirmed yet."""
        return await self._groups.count([Equals("owner", owner), AnyOf("erase", ["wanted", "not_confirmed"])])

    async def _forget(self, where: Sequence[Condition], now: int, *, whole_groups: bool = False) -> None:
        """Forget the entries that meet the conditions; with `whole_groups` also groups without entries."""
        groups = dict.fromkeys(await self._outbox.groups_of(where))
        if whole_groups:
            async for each in self._groups.all(where):
                groups[each.group] = None
        for name in groups:  # before the entries go, so that a repeated call finds the groups
            group = await self._groups.find(name)
            if group is not None:
                await self._groups.want_erased(group, now)
        await self._outbox.delete(where)
