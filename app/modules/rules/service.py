"""Rules of files and of the store: which a caller sees and may change, and which apply to a turn."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.core.auth.caller import Caller
from app.core.clock import now_ms
from app.core.storage.edits import current_edit
from app.core.storage.port import Storage
from app.modules.database_connection.errors import ConnectionNotFound
from app.modules.database_connection.model import Connection
from app.modules.database_connection.service import DatabaseConnections
from app.modules.rules.choosing import may_apply_to
from app.modules.rules.conflicts import KnownDatabase, warnings_of
from app.modules.rules.errors import RuleNamesUnknown, RuleOfAll, RuleOfFile, RuleUnknown
from app.modules.rules.files import RuleFiles
from app.modules.rules.model import ALL, FILES, Audience, Rule, RuleText, audience_of
from app.modules.rules.repository import RuleRepository, Toggle

audit = logging.getLogger("kai.audit")

_MOST_CONNECTIONS = 100
_MOST_TABLES = 10_000


@dataclass(frozen=True, kw_only=True)
class JudgedRule:
    """A rule with the warnings about it."""

    rule: Rule
    warnings: Sequence[str]


class Rules:
    """A rule with connections in its scope belongs to their owner. One without is for all connections: only
    administrators change it, and only they toggle rules of files.
    """

    def __init__(self, storage: Storage, connections: DatabaseConnections, files: RuleFiles) -> None:
        self._repository = RuleRepository(storage)
        self._connections = connections
        self._files = files

    async def seen_by(self, reader: str) -> list[Rule]:
        """Returns all rules of a user, which `of_connection` can choose from."""
        return await self._read([ALL, audience_of(reader)])

    async def of_connection(
        self, reader: str, connection: Connection, seen: Sequence[Rule] | None = None
    ) -> list[Rule]:
        """Returns the rules whose scope leaves room for a connection, for a user of it, in order.

        `seen`: what `seen_by` has just returned. A connection of another owner has further rules.
        """
        rules = seen
        if rules is None or connection.owner != reader:
            rules = await self._read([ALL, audience_of(reader), audience_of(connection.owner)])
        return [
            rule
            for rule in rules
            if may_apply_to(rule, connection.id, connection.name)
            and (rule.scope.connections or rule.audience in (ALL, FILES))
        ]

    async def check_names(self, reader: str, connection_id: str, names: Sequence[str]) -> None:
        """Raises `RuleNamesUnknown`, or `ConnectionNotFound`."""
        if not names:
            return
        connection = await self._connections.repository.get(reader, connection_id)
        known = {rule.name.casefold() for rule in await self.of_connection(reader, connection)}
        if unknown := [name for name in names if name.casefold() not in known]:
            raise RuleNamesUnknown(unknown)

    async def listed(self, reader: str, connection_id: str | None) -> list[JudgedRule]:
        """Returns the rules that a caller sees, in order of priority: of files, for all connections, and
        their own; or those that apply to a connection. None apply to one that they cannot read.
        """
        if connection_id is None:
            rules = await self._read([ALL, audience_of(reader)])
        else:
            try:
                connection = await self._connections.repository.get(reader, connection_id)
            except ConnectionNotFound:
                return []
            rules = await self.of_connection(reader, connection)
        return await self._judged(reader, rules)

    async def get(self, reader: str, name: str) -> JudgedRule:
        """Returns the rule that a caller sees under this name: their own, else that of all connections, else
        that of a file. Raises `RuleUnknown`.
        """
        rules = await self._read([ALL, audience_of(reader)])
        rule = _named(rules, name)
        return next(each for each in await self._judged(reader, rules) if each.rule.key == rule.key)

    async def add(self, caller: Caller, name: str, written: RuleText) -> JudgedRule:
        """Raises `RuleExists`, `RuleOfAll`, `TooManyRules`, and what `own` of a connection raises."""
        audience = await self._audience(caller, written)
        now = now_ms()
        rule = Rule(
            name=name,
            audience=audience,
            owner=caller.owner,
            text=written.text,
            apply=written.apply,
            active=written.active,
            priority=written.priority,
            scope=written.scope,
            chart=written.chart,
            chart_of=written.chart_of,
            created_at=now,
            updated_at=now,
        )
        await self._repository.add(rule)
        _audit(caller, rule, "added")
        return await self.get(caller.owner, name)

    async def change(
        self, caller: Caller, name: str, change: RuleText | None, *, active: bool | None
    ) -> JudgedRule:
        """Change what a rule says, or toggle it. `change` is the whole rule as it shall be.

        Raises `RuleUnknown`, `RuleOfAll`, `RuleOfFile`, `RuleExists`, and what `own` of a connection raises.
        """
        rule = await self.get_changeable(caller, name)
        if change is not None:
            if rule.path is not None:
                raise RuleOfFile(path=rule.path)
            audience = await self._audience(caller, change)
            moved = replace(
                rule,
                audience=audience,
                text=change.text,
                apply=change.apply,
                priority=change.priority,
                scope=change.scope,
                chart=change.chart,
                chart_of=change.chart_of,
                updated_at=max(now_ms(), (rule.updated_at or 0) + 1),
            )
            if audience == rule.audience:
                await self._repository.rewrite(moved)
            else:
                current_edit().check(rule.version)
                await self._repository.add(replace(moved, version=rule.version + 1))
                current_edit().wrote(rule.version + 1)
                await self._repository.delete(rule)
                rule = moved
            _audit(caller, moved, "changed")
        if active is not None:
            await self._repository.toggle(rule, active, caller.owner)
            _audit(caller, rule, "switched on" if active else "switched off")
        return await self.get(caller.owner, name)

    async def delete(self, caller: Caller, name: str) -> None:
        """Raises `RuleUnknown`, `RuleOfAll` or `RuleOfFile`."""
        rule = await self.get_changeable(caller, name)
        if rule.path is not None:
            raise RuleOfFile(path=rule.path)
        await self._repository.delete(rule)
        _audit(caller, rule, "deleted")

    async def get_changeable(self, caller: Caller, name: str) -> Rule:
        """Returns a rule that the caller may change. Raises `RuleUnknown` or `RuleOfAll`."""
        rule = _named(await self._read([ALL, audience_of(caller.owner)]), name)
        if rule.audience in (ALL, FILES) and not caller.may("admin"):
            raise RuleOfAll
        return rule

    async def _audience(self, caller: Caller, written: RuleText) -> Audience:
        for connection_id in written.scope.connections:
            await self._connections.repository.own(caller.owner, connection_id)
        if written.scope.connections:
            return audience_of(caller.owner)
        if not caller.may("admin"):
            raise RuleOfAll
        return ALL

    async def _read(self, audiences: Sequence[Audience]) -> list[Rule]:
        """Returns all rules of these audiences and of files, in order, as toggled."""
        # Together they are one request to a remote store.
        stored, toggles, files = await asyncio.gather(
            self._repository.stored(audiences),
            self._repository.toggles([*audiences, FILES]),
            self._in_files(),
        )
        toggled = [_toggled(rule, toggles.get(rule.key)) for rule in (*stored, *files)]
        return sorted(toggled, key=lambda rule: rule.order)

    async def _in_files(self) -> Sequence[Rule]:
        return await asyncio.to_thread(self._files.read) if self._files.has_folder else ()

    async def _judged(self, reader: str, rules: Sequence[Rule]) -> list[JudgedRule]:
        databases = await self._databases(reader, rules)
        found: Mapping[tuple[str, str], list[str]] = await asyncio.to_thread(warnings_of, rules, databases)
        return [JudgedRule(rule=rule, warnings=found[rule.key]) for rule in rules]

    async def _databases(self, reader: str, rules: Sequence[Rule]) -> list[KnownDatabase] | None:
        """Returns the databases of a reader. Returns None if there are too many to look at."""
        connections = await self._connections.repository.oldest(reader, _MOST_CONNECTIONS + 1)
        if len(connections) > _MOST_CONNECTIONS:
            return None
        needs_tables = any(rule.scope.table_patterns for rule in rules)
        return [
            KnownDatabase(
                id=each.id, name=each.name, tables=await self._tables(each) if needs_tables else None
            )
            for each in connections
        ]

    async def _tables(self, connection: Connection) -> list[str] | None:
        if connection.scanned_at is None:
            return None
        if connection.policies is not None:
            return None  # not everyone may know of all tables
        tables, _ = await self._connections.repository.tables(connection, _MOST_TABLES, None)
        return [table.name for table in tables]


def _toggled(rule: Rule, toggle: Toggle | None) -> Rule:
    if toggle is None:
        return rule
    return replace(rule, active=toggle.active, version=rule.version + toggle.version)


def _named(rules: Sequence[Rule], name: str) -> Rule:
    """Returns the caller's own rule of this name, else that of all, else that of a file."""
    found = [rule for rule in rules if rule.name.casefold() == name.casefold()]
    if not found:
        raise RuleUnknown
    places = {ALL: 1, FILES: 2}
    return min(found, key=lambda rule: (places.get(rule.audience, 0), rule.order))


def _audit(caller: Caller, rule: Rule, action: str) -> None:
    """One line for each change, without the rule's text."""
    audit.info(
        "rule",
        extra={
            "owner": caller.owner,
            "rule": rule.path or rule.name,
            "audience": rule.audience,
            "action": action,
        },
    )
