"""Stored rules, and the toggles of all rules, stored or in files."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from app.core.clock import now_ms
from app.core.ids import id_of
from app.core.keyed_ids import is_repeat
from app.core.storage.documents import Documents
from app.core.storage.port import AnyOf, Document, Equals, Query, Storage
from app.modules.rules.errors import RuleExists, RuleUnknown, TooManyRules
from app.modules.rules.model import Audience, Rule, audience_of

MOST_RULES = 200
"""Stored rules of an audience."""
_ROOT = str(UUID(int=16))
_PAGE = 1_000


@dataclass(frozen=True, kw_only=True)
class Toggle:
    """The state to which a person has switched a rule."""

    id: str
    audience: Audience
    name: str
    active: bool
    changed_by: str
    changed_at: int
    version: int = 0
    """Number of edits, for a rule in a file."""

    @property
    def key(self) -> tuple[Audience, str]:
        """That of its rule."""
        return self.audience, self.name


class RuleRepository:
    """Rules by audience and name. Access is checked by the service, not here."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._rules = Documents(storage, "rules", Rule, write=_document)
        self._toggles = Documents(storage, "rule_states", Toggle)

    async def stored(self, audiences: Sequence[Audience]) -> list[Rule]:
        """Returns the rules of these audiences."""
        return await self._rules.first(_of_audiences(audiences))

    async def toggles(self, audiences: Sequence[Audience]) -> dict[tuple[Audience, str], Toggle]:
        """Returns what people have switched on or off, by the key of the rule."""
        return {each.key: each for each in await self._toggles.first(_of_audiences(audiences))}

    async def add(self, rule: Rule) -> None:
        """Raises `RuleExists` or `TooManyRules`."""
        if await self._rules.count(Equals("audience", rule.audience)) >= MOST_RULES:
            raise TooManyRules(most=MOST_RULES)
        if not await self._rules.add(rule) and not (is_repeat() and await self._is_stored(rule)):
            raise RuleExists(name=rule.name)

    async def _is_stored(self, rule: Rule) -> bool:
        """True if an interrupted try has stored this rule."""
        stored = await self._rules.get(_id(rule))
        if stored is None:
            return False
        return stored == replace(rule, created_at=stored.created_at, updated_at=stored.updated_at)

    async def rewrite(self, rule: Rule) -> None:
        """Store a rule that was read. Raises `RuleUnknown` if it was deleted meanwhile."""
        if not await self._rules.rewrite(rule):
            raise RuleUnknown

    async def delete(self, rule: Rule) -> None:
        await self._rules.delete(Equals("id", _id(rule)))
        await self._storage.delete("rule_states", [Equals("id", _state_id(rule))])

    async def delete_all(self, owner: str) -> None:
        """Delete the rules that an owner has written, with their toggles."""
        while written := await self._rules.first(Query([Equals("owner", owner)])):
            for each in written:
                await self.delete(each)
        await self._storage.delete("rule_states", [Equals("audience", audience_of(owner))])

    async def toggle(self, rule: Rule, active: bool, by: str) -> None:
        """Switch a rule on or off for a person: an edit of a stored rule, or of the toggle of one in a file.

        Raises `RuleUnknown` if a stored rule was deleted meanwhile.
        """
        audience, name = rule.key
        toggle = Toggle(
            id=_state_id(rule),
            audience=audience,
            name=name,
            active=active,
            changed_by=by,
            changed_at=now_ms(),
        )
        if rule.path is None:
            if await self._rules.edit(_id(rule), {}) is None:
                raise RuleUnknown
            await self._toggles.put(toggle)
        else:
            await self._toggles.add(replace(toggle, version=rule.version))
            await self._toggles.rewrite(toggle)


def _of_audiences(audiences: Sequence[Audience]) -> Query:
    return Query([AnyOf("audience", sorted(set(audiences)))], limit=_PAGE)


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
        "chart": rule.chart,
        "chart_of": list(rule.chart_of),
        "created_at": rule.created_at,
        "updated_at": rule.updated_at,
        "version": rule.version,
    }


def _id(rule: Rule) -> str:
    """Names are unique within an audience, whatever their case."""
    return id_of(_ROOT, f"rule {rule.audience} {rule.name.casefold()}")


def _state_id(rule: Rule) -> str:
    audience, name = rule.key
    return id_of(_ROOT, f"state {audience} {name}")
