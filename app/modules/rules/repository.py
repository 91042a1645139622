"""Stored rules, and the toggles of all rules, stored or in files."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from pydantic import JsonValue, TypeAdapter

from app.core.clock import now_ms
from app.core.ids import id_of
from app.core.storage.port import AnyOf, Document, DocumentExists, Equals, Storage
from app.modules.rules.errors import RuleExists, RuleUnknown, TooManyRules
from app.modules.rules.model import Audience, Rule, audience_of

MOST_RULES = 200
"""Stored rules of an audience."""
_ROOT = str(UUID(int=16))
_PAGE = 1_000
_STORED = TypeAdapter(Rule)


class RuleRepository:
    """Rules by audience and name. Access is checked by the service, not here."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def stored(self, audiences: Sequence[Audience]) -> list[Rule]:
        """Returns the rules of these audiences."""
        found = await self._all("rules", audiences)
        return [_STORED.validate_python(each) for each in found]

    async def toggles(self, audiences: Sequence[Audience]) -> dict[tuple[Audience, str], bool]:
        """Returns what people have switched on or off, by the key of the rule."""
        found = await self._all("rule_states", audiences)
        return {(str(each["audience"]), str(each["name"])): each["active"] is True for each in found}

    async def add(self, rule: Rule) -> None:
        """Raises `RuleExists` or `TooManyRules`."""
        if await self._storage.count("rules", [Equals("audience", rule.audience)]) >= MOST_RULES:
            raise TooManyRules(MOST_RULES)
        try:
            await self._storage.create("rules", _document(rule))
        except DocumentExists:
            raise RuleExists(rule.name) from None

    async def change(self, rule: Rule) -> None:
        """Store a rule that was read. Raises `RuleUnknown` if it was deleted meanwhile."""
        document = _document(rule)
        changes: Mapping[str, JsonValue] = {name: document[name] for name in document if name != "id"}
        if await self._storage.patch("rules", _id(rule), changes) is None:
            raise RuleUnknown

    async def delete(self, rule: Rule) -> None:
        await self._storage.delete("rules", [Equals("id", _id(rule))])
        await self._storage.delete("rule_states", [Equals("id", _state_id(rule))])

    async def delete_all(self, owner: str) -> None:
        """Delete the rules that an owner has written, with their toggles."""
        while written := (await self._storage.query("rules", [Equals("owner", owner)])).items:
            for each in written:
                await self.delete(_STORED.validate_python(each))
        await self._storage.delete("rule_states", [Equals("audience", audience_of(owner))])

    async def toggle(self, rule: Rule, active: bool, by: str) -> None:
        audience, name = rule.key
        state: Document = {
            "id": _state_id(rule),
            "audience": audience,
            "name": name,
            "active": active,
            "changed_by": by,
            "changed_at": now_ms(),
        }
        await self._storage.put("rule_states", [state])

    async def _all(self, collection: str, audiences: Sequence[Audience]) -> list[Document]:
        page = await self._storage.query(collection, [AnyOf("audience", sorted(set(audiences)))], limit=_PAGE)
        return list(page.items)


def _document(rule: Rule) -> Document:
    scope: Document = {
        "connections": list(rule.scope.connections),
        "chat_modes": list(rule.scope.chat_modes),
        "table_patterns": list(rule.scope.table_patterns),
    }
    return {
        "id": _id(rule),
        "audience": rule.audience,
        "owner": rule.owner,
        "name": rule.name,
        "text": rule.text,
        "apply": rule.apply,
        "active": rule.active,
        "priority": rule.priority,
        "scope": scope,
        "created_at": rule.created_at,
        "updated_at": rule.updated_at,
    }


def _id(rule: Rule) -> str:
    """Names are unique within an audience, whatever their case."""
    return id_of(_ROOT, f"rule {rule.audience} {rule.name.casefold()}")


def _state_id(rule: Rule) -> str:
    audience, name = rule.key
    return id_of(_ROOT, f"state {audience} {name}")
