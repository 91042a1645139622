"""Imports facts: those of an export, and items of Markdown lists."""

import re
from collections.abc import Iterator, Mapping
from typing import get_args

from pydantic import ConfigDict, JsonValue, ValidationError

from app.core.auth.caller import Caller, ScopeMissing
from app.core.clock import now_ms
from app.core.errors import Problem
from app.http.routes import Body
from app.modules.database_connection.errors import ConnectionNotFound
from app.modules.memory.fact_schemas import FactImport, ImportedFacts, Names, NotImported, Sentence
from app.modules.memory.facts import Facts
from app.modules.memory.model import FactKind, FactSource, FactStatus, NewFact
from app.modules.memory.scopes import Scope

_KINDS: dict[str, FactKind] = {kind: kind for kind in get_args(FactKind)}
_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*\s*$")
_ITEM = re.compile(r"\s{0,3}(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?(.*\S)\s*$")
_NAMED = re.compile(r"\W*([A-Za-z][A-Za-z _]*?)\W*:\W*\s(.+)$")
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")


class _Exported(Body):
    """What is read of a fact in an export."""

    model_config = ConfigDict(extra="ignore")

    text: Sentence
    kind: FactKind
    scope: Scope
    status: FactStatus = "active"
    about: Names = ()
    db_connection_id: str | None = None
    source: Mapping[str, JsonValue] = {}


async def import_facts(facts: Facts, caller: Caller, wanted: FactImport) -> ImportedFacts:
    """Keep the facts one by one, and list those that are refused.

    Raises `ConnectionNotFound` for the connection of the import itself.
    """
    if wanted.db_connection_id is not None:
        await facts.access.check_readable(caller.owner, wanted.db_connection_id)
    kept = 0
    known = 0
    left_out = 0
    refused: list[NotImported] = []
    for number, read in enumerate([*wanted.facts, *_items(wanted)], 1):
        try:
            fact = _Exported.model_validate(read)
            if fact.status in ("superseded", "forgotten"):
                left_out += 1
                continue
            if fact.scope == "shared" and not caller.may("manage"):
                raise ScopeMissing(caller, "manage")
            is_new = await _keep(facts, caller.owner, fact, wanted=wanted)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "fact"
            refused.append(NotImported(number=number, reason=f"{where}: {first['msg']}"))
        except Problem as problem:
            refused.append(NotImported(number=number, reason=problem.detail))
        else:
            kept += is_new
            known += not is_new
    return ImportedFacts(kept=kept, known=known, left_out=left_out, refused=refused)


async def _keep(facts: Facts, owner: str, fact: _Exported, *, wanted: FactImport) -> bool:
    """Returns False if the fact was known. Raises `Problem`."""
    session_id = fact.source.get("session_id")
    message_id = fact.source.get("message_id")
    new = NewFact(
        owner=owner,
        scope=fact.scope,
        kind=fact.kind,
        text=fact.text,
        source=FactSource(
            "promotion",
            now_ms(),
            message_id=message_id if isinstance(message_id, str) else None,
            session_id=session_id if isinstance(session_id, str) else None,
            tainted=fact.source.get("tainted") is True,
        ),
        about=tuple(fact.about),
        connection_id=fact.db_connection_id or (None if fact.scope == "user" else wanted.db_connection_id),
        status="waiting" if fact.status == "waiting" else "active",
    )
    try:
        kept = await facts.keep(new, confirmed=wanted.confirm)
    except ConnectionNotFound:
        if wanted.db_connection_id in (None, fact.db_connection_id):
            raise
        elsewhere = fact.model_copy(update={"db_connection_id": wanted.db_connection_id})
        return await _keep(facts, owner, elsewhere, wanted=wanted)
    return kept.is_new


def _items(wanted: FactImport) -> Iterator[dict[str, JsonValue]]:
    """Yields the items of the lists in Markdown, outside of code blocks."""
    kind = wanted.kind
    is_code = False
    for line in wanted.markdown.splitlines():
        is_code ^= _FENCE.match(line) is not None
        if is_code:
            continue
        if (heading := _HEADING.match(line)) is not None:
            kind = _kind(heading[1]) or wanted.kind
        elif (item := _ITEM.match(line)) is not None:
            named = _NAMED.match(item[1])
            own = None if named is None else _kind(named[1])
            text = item[1] if named is None or own is None else named[2]
            yield {
                "text": text,
                "kind": own or kind,
                "scope": wanted.scope,
                "db_connection_id": wanted.db_connection_id,
            }


def _kind(text: str) -> FactKind | None:
    """Returns the kind of this name, or None."""
    name = re.sub(r"\W+", "_", text.strip().lower()).strip("_")
    singular = {"lessons_learned": "lesson_learned", "terms": "terminology"}.get(name, name.removesuffix("s"))
    return _KINDS.get(name) or _KINDS.get(singular)
