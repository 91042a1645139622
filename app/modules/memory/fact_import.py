"""Imports facts: those of an export, and items of Markdown lists."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from typing import get_args

from pydantic import ConfigDict, JsonValue, ValidationError

from app.core.auth.caller import Caller, ScopeMissing
from app.core.clock import now_ms
from app.core.errors import Problem
from app.http.routes import Body
from app.modules.database_connection.errors import ConnectionNotFound
from app.modules.memory.errors import TooManyFacts
from app.modules.memory.fact_schemas import (
    MAX_IMPORTED,
    FactImport,
    ImportedFacts,
    Names,
    NotImported,
    Sentence,
)
from app.modules.memory.facts import MOST_AT_ONCE, Facts
from app.modules.memory.model import FactKind, FactSource, FactStatus, Kept, NewFact
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
    """Keep the facts, and list those that are refused.

    Raises `ConnectionNotFound` for the connection of the import itself, and `TooManyFacts`.
    """
    if wanted.db_connection_id is not None:
        await facts.access.check_readable(caller.owner, wanted.db_connection_id)
    read = list(islice(chain(wanted.facts, _items(wanted)), MAX_IMPORTED + 1))
    if len(read) > MAX_IMPORTED:
        raise TooManyFacts(limit=MAX_IMPORTED)
    kept = 0
    known = 0
    left_out = 0
    refused: list[NotImported] = []
    for start in range(0, len(read), MOST_AT_ONCE):
        new: dict[int, NewFact] = {}
        for number, each in enumerate(read[start : start + MOST_AT_ONCE], start + 1):
            try:
                fact = _new_fact(each, caller, wanted)
            except ValidationError as error:
                first = error.errors()[0]
                where = ".".join(map(str, first["loc"])) or "fact"
                refused.append(NotImported(number=number, reason=f"{where}: {first['msg']}"))
            except ScopeMissing as problem:
                refused.append(NotImported(number=number, reason=problem.detail))
            else:
                left_out += fact is None
                if fact is not None:
                    new[number] = fact
        for number, outcome in (await _keep(facts, new, wanted)).items():
            if isinstance(outcome, Problem):
                refused.append(NotImported(number=number, reason=outcome.detail))
            else:
                kept += outcome.is_new
                known += not outcome.is_new
    refused.sort(key=lambda each: each.number)
    return ImportedFacts(kept=kept, known=known, left_out=left_out, refused=refused)


async def _keep(facts: Facts, new: Mapping[int, NewFact], wanted: FactImport) -> Mapping[int, Kept | Problem]:
    """Facts about a connection that is unknown here are kept as facts about that of the import."""
    kept = await facts.keep_all(list(new.values()), confirmed=wanted.confirm)
    outcomes = dict(zip(new, kept, strict=True))
    elsewhere = {
        number: replace(new[number], connection_id=wanted.db_connection_id)
        for number, outcome in outcomes.items()
        if isinstance(outcome, ConnectionNotFound) and wanted.db_connection_id is not None
    }
    if elsewhere:
        kept = await facts.keep_all(list(elsewhere.values()), confirmed=wanted.confirm)
        outcomes.update(zip(elsewhere, kept, strict=True))
    return outcomes


def _new_fact(read: Mapping[str, JsonValue], caller: Caller, wanted: FactImport) -> NewFact | None:
    """Returns None for a fact that holds no longer. Raises `ValidationError` or `ScopeMissing`."""
    fact = _Exported.model_validate(read)
    if fact.status in ("superseded", "forgotten"):
        return None
    if fact.scope == "shared" and not caller.may("manage"):
        raise ScopeMissing(caller, "manage")
    session_id = fact.source.get("session_id")
    message_id = fact.source.get("message_id")
    return NewFact(
        owner=caller.owner,
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
