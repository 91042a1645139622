"""Facts on every store: kept once, superseded, bounded, expired, forgotten, and apart for each owner."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Literal

import pytest
from prometheus_client import CollectorRegistry

from app.core.clock import now_ms
from app.core.ids import id_of, new_id
from app.core.llm.calls import ModelCalls
from app.core.llm.embedding import EmbeddingModel
from app.core.storage.listing import ListRequest
from app.core.storage.port import Storage
from app.modules.database_connection.errors import ConnectionNotFound, NotTheOwner
from app.modules.database_connection.model import Connection
from app.modules.database_connection.service import DatabaseConnections
from app.modules.memory.errors import FactChanged, FactPlaceUnclear, FactsFull, FactsOff, FactUnknown
from app.modules.memory.fact_reading import FactFilter
from app.modules.memory.facts import MAX_FACTS, Facts
from app.modules.memory.model import TASK_UPDATE_MS, FactKind, Kept, NewFact, StoredFact
from app.modules.memory.scopes import Scope
from tests.integration.test_language_models import PATIENT
from tests.support.facts import connection_of, connections_over, facts_over, source
from tests.support.scripted_model import Scripted, ScriptedModel, scripted_model
from tests.support.trigrams import vector_of

DAY_MS = 86_400_000


@pytest.fixture
def storage(storage_of_each_kind: Storage) -> Storage:
    return storage_of_each_kind


@pytest.fixture
async def connections(storage: Storage) -> AsyncIterator[DatabaseConnections]:
    opened = connections_over(storage)
    yield opened
    await opened.close()


@pytest.fixture
def sessions() -> dict[tuple[str, str], str]:
    """Connections of sessions, by owner and session."""
    return {}


@pytest.fixture
def facts(storage: Storage, connections: DatabaseConnections, sessions: dict[tuple[str, str], str]) -> Facts:
    async def find(owner: str, session_id: str) -> str | None:
        return sessions.get((owner, session_id))

    return facts_over(storage, connections, find_session=find)


@pytest.fixture
async def shop(connections: DatabaseConnections) -> Connection:
    made = connection_of("ann", shared=True)
    await connections.repository.save(made)
    return made


async def keep(
    facts: Facts,
    text: str,
    owner: str = "ann",
    *,
    scope: Scope = "user",
    kind: FactKind = "preference",
    connection: Connection | None = None,
    status: Literal["active", "waiting"] = "active",
) -> StoredFact:
    connection_id = None if connection is None else connection.id
    new = NewFact(
        owner=owner,
        scope=scope,
        kind=kind,
        text=text,
        source=source(),
        connection_id=connection_id,
        status=status,
    )
    return (await facts.keep(new)).fact


async def texts(facts: Facts, reader: str = "ann", wanted: FactFilter | None = None) -> list[str]:
    found = await facts.first(reader, wanted or FactFilter(), 100)
    return [fact.text for fact in found]


async def age(facts: Facts, fact: StoredFact, days: int, uses: int = 0) -> None:
    """Make a fact older, as if it had been made and used that many days ago."""
    moment = now_ms() - days * DAY_MS
    await facts.repository.edit(fact, {"created_at": moment, "used_at": moment, "uses": uses})


async def test_the_same_text_in_another_case_and_with_other_blanks_is_the_same_fact(facts: Facts) -> None:
    first = await keep(facts, "Months as 2026-03")
    assert await keep(facts, "  months  AS\n2026-03 ") == first
    assert await texts(facts) == ["Months as 2026-03"]
    assert (await keep(facts, "Months as 2026-04")).id != first.id


async def test_the_same_text_at_the_same_moment_is_kept_once(facts: Facts) -> None:
    kept = await asyncio.gather(*(keep(facts, "Months as 2026-03") for _ in range(5)))
    assert await texts(facts) == ["Months as 2026-03"]
    assert all(each.text == "Months as 2026-03" for each in kept)


async def test_a_fact_that_is_delivered_again_is_kept_once_even_after_it_was_superseded(facts: Facts) -> None:
    message = new_id()
    new = NewFact(
        owner="ann",
        scope="user",
        kind="preference",
        text="Months as 2026-03",
        source=source("directive", message_id=message),
        fact_id=id_of(message, "0"),
    )
    first = await facts.keep(new)
    changed = await facts.supersede("ann", first.fact.id, "Months as March", source=source())
    again = await facts.keep(new)
    assert (again.fact.id, again.is_new) == (first.fact.id, False)
    assert await texts(facts) == ["Months as March"]
    assert changed.fact.source.message_id == message


async def test_another_wording_supersedes_and_can_be_undone(facts: Facts) -> None:
    first = await keep(facts, "Weeks begin on Sunday")
    second = (await facts.supersede("ann", first.id, "Weeks begin on Monday", source=source())).fact
    assert (second.supersedes, await texts(facts)) == (first.id, ["Weeks begin on Monday"])
    assert await texts(facts, wanted=FactFilter(status="superseded")) == ["Weeks begin on Sunday"]
    with pytest.raises(FactChanged):
        await facts.supersede("ann", first.id, "Weeks begin on Friday", source=source())
    await facts.activate("ann", first.id)
    assert await texts(facts) == ["Weeks begin on Sunday"]
    with pytest.raises(FactUnknown):
        await facts.get("ann", second.id)


async def test_a_fact_whose_successor_was_superseded_cannot_be_undone(facts: Facts) -> None:
    first = await keep(facts, "One")
    second = (await facts.supersede("ann", first.id, "Two", source=source())).fact
    await facts.supersede("ann", second.id, "Three", source=source())
    with pytest.raises(FactChanged):
        await facts.activate("ann", first.id)


async def test_a_fact_goes_with_all_that_it_has_superseded(facts: Facts, storage: Storage) -> None:
    first = await keep(facts, "One")
    second = (await facts.supersede("ann", first.id, "Two", source=source())).fact
    await facts.forget("ann", second.id)
    assert await storage.count("facts", []) == 0
    with pytest.raises(FactUnknown):
        await facts.forget("ann", second.id)


async def test_a_fact_that_waits_is_accepted(facts: Facts, shop: Connection) -> None:
    waiting = await keep(facts, "Returns are refunds", scope="workspace", connection=shop, status="waiting")
    assert waiting.status == "waiting"
    assert (await facts.activate("ann", waiting.id)).status == "active"
    other = await keep(facts, "Gifts are free", scope="workspace", connection=shop, status="waiting")
    assert await keep(facts, "gifts are FREE", scope="workspace", connection=shop) == await facts.get(
        "ann", other.id
    )
    assert (await facts.get("ann", other.id)).status == "active"


async def test_a_fact_is_promoted_to_another_scope(
    facts: Facts, shop: Connection, sessions: dict[tuple[str, str], str]
) -> None:
    session = new_id()
    sessions["ann", session] = shop.id
    new = NewFact(
        owner="ann",
        scope="session",
        kind="decision",
        text="Net of returns",
        source=source(session_id=session),
    )
    kept = (await facts.keep(new)).fact
    wide = (await facts.promote("ann", kept.id, "workspace", source=source())).fact
    assert (wide.scope, wide.connection_id, wide.supersedes) == ("workspace", shop.id, kept.id)
    assert (await facts.get("ann", kept.id)).status == "superseded"
    everyones = (await facts.promote("ann", wide.id, "shared", source=source())).fact
    assert await texts(facts, "bob") == ["Net of returns"]
    await facts.activate("ann", wide.id)
    assert await texts(facts, "bob") == []
    assert everyones.id not in {fact.id for fact in await facts.first("ann", FactFilter(), 9)}


@pytest.mark.parametrize("other", ["Ann", "ánn", "an-n", "ann ", "a.nn", "ann\u200b", "ANN"])
async def test_owners_whose_names_are_alike_never_meet(facts: Facts, shop: Connection, other: str) -> None:
    mine = await keep(facts, "Mine", scope="workspace", connection=shop)
    theirs = await keep(facts, "Mine", other, scope="workspace", connection=shop)
    assert mine.id != theirs.id
    await keep(facts, "Of a person", other)
    assert await texts(facts) == ["Mine"]
    for refused in (facts.get(other, mine.id), facts.forget(other, mine.id), facts.activate(other, mine.id)):
        with pytest.raises(FactUnknown):
            await refused
    with pytest.raises(FactUnknown):
        await facts.supersede(other, mine.id, "Theirs", source=source())
    group = facts.workspace_group("ann", shop.id)
    assert await facts.by_words([group], ["mine"], limit=10) == [mine.id]
    assert await facts.active([group], [mine.id, theirs.id]) == [await facts.get("ann", mine.id)]
    await facts.forget_all(other)
    assert await texts(facts) == ["Mine"]


async def test_a_document_under_a_false_owner_or_group_is_not_read(facts: Facts, storage: Storage) -> None:
    fact = await keep(facts, "Mine")
    for changes in ({"owner": "bob"}, {"owner": "ann", "group": facts.user_group("bob").id}):
        await storage.patch("facts", fact.id, changes)
        assert await texts(facts) == []
        with pytest.raises(FactUnknown):
            await facts.get("ann", fact.id)


async def test_shared_facts_are_read_by_all_who_may_ask_and_written_by_the_owner(
    facts: Facts, shop: Connection, connections: DatabaseConnections
) -> None:
    fact = await keep(facts, "Revenue is net", scope="shared", connection=shop)
    assert await texts(facts, "bob") == ["Revenue is net"]
    assert await texts(facts, "bob", FactFilter(connection_id=shop.id, scope="shared")) == ["Revenue is net"]
    assert (await facts.get("bob", fact.id)).text == "Revenue is net"
    with pytest.raises(NotTheOwner):
        await keep(facts, "Revenue is gross", "bob", scope="shared", connection=shop)
    for refused in (facts.forget("bob", fact.id), facts.activate("bob", fact.id)):
        with pytest.raises(NotTheOwner):
            await refused
    await connections.repository.edit(shop, {"shared": False})
    assert await texts(facts, "bob") == []
    with pytest.raises(FactUnknown):
        await facts.get("bob", fact.id)


async def test_facts_of_a_connection_go_with_it(
    facts: Facts, storage: Storage, shop: Connection, connections: DatabaseConnections
) -> None:
    await keep(facts, "Revenue is net", scope="shared", connection=shop)
    await keep(facts, "Revenue is net", "bob", scope="workspace", connection=shop)
    await keep(facts, "Of a person")
    await facts.forget_connection(shop.id)
    assert await texts(facts) == ["Of a person"]
    assert await storage.count("facts", []) == 1
    await connections.repository.delete(shop)
    with pytest.raises(ConnectionNotFound):
        await keep(facts, "Revenue is net", scope="workspace", connection=shop)


async def test_facts_of_a_session_go_with_it(
    facts: Facts, storage: Storage, shop: Connection, sessions: dict[tuple[str, str], str]
) -> None:
    session = new_id()
    sessions["ann", session] = shop.id
    new = NewFact(
        owner="ann", scope="session", kind="decision", text="Net", source=source(session_id=session)
    )
    assert (await facts.keep(new)).fact.connection_id == shop.id
    await keep(facts, "Of a person")
    await facts.forget_sessions([session])
    assert await texts(facts) == ["Of a person"]
    del sessions["ann", session]
    with pytest.raises(FactPlaceUnclear):
        await facts.keep(new)
    assert await storage.count("facts", []) == 1


async def test_a_fact_needs_a_place(facts: Facts) -> None:
    with pytest.raises(FactPlaceUnclear, match="needs the id of a database connection"):
        await keep(facts, "Somewhere", scope="workspace")
    with pytest.raises(FactPlaceUnclear, match="needs the session's id"):
        await keep(facts, "Somewhere", scope="session")


async def test_task_updates_expire_after_four_weeks(facts: Facts, storage: Storage) -> None:
    fact = await keep(facts, "The audit is half done", kind="task_update")
    assert fact.expires_at == fact.created_at + TASK_UPDATE_MS
    assert await texts(facts) == ["The audit is half done"]
    gone = now_ms() - TASK_UPDATE_MS - 1  # it has expired when its time is past
    await facts.repository.edit(fact, {"created_at": gone, "expires_at": gone + TASK_UPDATE_MS})
    assert await texts(facts) == []
    assert await facts.by_words([facts.user_group("ann")], ["audit"], limit=5) == []
    with pytest.raises(FactUnknown):
        await facts.get("ann", fact.id)
    again = await keep(facts, "The audit is half done", kind="task_update")
    assert again.id != fact.id
    await keep(facts, "Months as 2026-03")
    assert await facts.delete_old(now_ms() - TASK_UPDATE_MS) == 1
    assert await storage.count("facts", []) == 2


async def test_a_full_scope_refuses_while_all_its_facts_are_young(
    facts: Facts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MAX_FACTS, "user", 3)
    kept = [await keep(facts, f"Number {number}") for number in range(3)]
    await age(facts, kept[0], 89)
    with pytest.raises(FactsFull, match="Forget some"):
        await keep(facts, "Number 4")
    assert await keep(facts, "Number 2") == kept[2]
    await keep(facts, "Number 4", "bob")


async def test_the_least_used_of_the_longest_unused_goes_first(
    facts: Facts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MAX_FACTS, "user", 4)
    kept = [await keep(facts, f"Number {number}") for number in range(4)]
    for fact, days, uses in zip(kept, (200, 120, 150, 10), (9, 1, 1, 0), strict=True):
        await age(facts, fact, days, uses)
    await keep(facts, "Number 4")
    assert sorted(await texts(facts)) == ["Number 0", "Number 1", "Number 3", "Number 4"]
    await facts.supersede("ann", kept[3].id, "Number 5", source=source())
    assert sorted(await texts(facts)) == ["Number 0", "Number 1", "Number 4", "Number 5"]


async def test_what_was_superseded_is_bounded_too(
    facts: Facts, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MAX_FACTS, "user", 3)
    fact = await keep(facts, "Number 0")
    for number in range(1, 8):
        fact = (await facts.supersede("ann", fact.id, f"Number {number}", source=source())).fact
    assert await texts(facts) == ["Number 7"]
    assert await storage.count("facts", []) == 4


async def test_a_use_is_counted(facts: Facts) -> None:
    fact = await keep(facts, "Months as 2026-03")
    await age(facts, fact, 100)
    now = now_ms()
    for times in ([now - 2], [now - 2], [now - 2, now - 1, now]):
        await facts.note_uses(fact.id, times)
    used = await facts.get("ann", fact.id)
    assert used.uses == 3
    assert used.used_at == now
    await facts.forget("ann", fact.id)
    await facts.note_uses(fact.id, [now + 1])
    assert await texts(facts) == []


async def test_facts_are_listed_by_filters_words_and_pages(facts: Facts, shop: Connection) -> None:
    await keep(facts, "Churn means no order for 90 days", kind="terminology")
    await keep(facts, "Months as 2026-03")
    await keep(facts, "Orders without returns", scope="workspace", connection=shop)
    assert await texts(facts, wanted=FactFilter(kind="terminology")) == ["Churn means no order for 90 days"]
    assert await texts(facts, wanted=FactFilter(scope="workspace")) == ["Orders without returns"]
    assert await texts(facts, wanted=FactFilter(connection_id=shop.id)) == ["Orders without returns"]
    assert set(await texts(facts, wanted=FactFilter(words="order"))) == {
        "Churn means no order for 90 days",
        "Orders without returns",
    }
    for words in (None, "o"):
        seen: list[str] = []
        cursor: str | None = None
        while True:
            found = await facts.page("ann", FactFilter(words=words), ListRequest(limit=1, cursor=cursor))
            page, cursor = found.items, found.next_cursor
            seen += [fact.text for fact in page]
            if cursor is None:
                break
        assert len(seen) == len(set(seen)) == (3 if words is None else 2)


async def test_where_facts_are_off_they_can_be_read_and_forgotten(
    facts: Facts, storage: Storage, connections: DatabaseConnections
) -> None:
    fact = await keep(facts, "Months as 2026-03")
    off = facts_over(storage, connections, enabled=False)
    for attempt in (keep(off, "Another"), off.supersede("ann", fact.id, "Other", source=source())):
        with pytest.raises(FactsOff):
            await attempt
    assert await texts(off) == ["Months as 2026-03"]
    await off.forget("ann", fact.id)
    assert await texts(off) == []


async def test_nothing_is_new_where_a_fact_is_said_again(facts: Facts) -> None:
    fact = await keep(facts, "Weeks begin on Sunday")
    same: Kept = await facts.supersede("ann", fact.id, "WEEKS begin on Sunday", source=source())
    assert (same.fact.id, same.is_new) == (fact.id, False)


@pytest.fixture
async def service() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as model:
        yield model


@pytest.fixture
async def meant(
    storage: Storage,
    connections: DatabaseConnections,
    service: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Facts]:
    """Facts with vectors, however slow the machine is."""
    monkeypatch.setattr("app.modules.memory.facts._EMBEDDING_SECONDS", 300.0)
    settings = replace(PATIENT, model="trigrams-64", base_url=service.base_url, max_retries=0)
    embedding = EmbeddingModel(settings, ModelCalls(CollectorRegistry()))
    yield facts_over(storage, connections, embedding=embedding)
    await embedding.close()


async def near(facts: Facts, text: str, owner: str = "ann") -> list[str]:
    new = NewFact(owner=owner, scope="user", kind="terminology", text=text, source=source())
    return [fact.text for fact in (await facts.keep(new)).near]


async def test_almost_the_same_is_shown_and_never_merged(meant: Facts) -> None:
    first = "Churn means that a customer did order nothing for 90 days"
    assert await near(meant, first) == []
    assert await near(meant, f"{first}.!") == [first]
    assert await near(meant, first.replace("90", "60")) == []
    assert await near(meant, first.replace("did order", "did not order")) == []
    assert await near(meant, f"{first}!", owner="bob") == []
    assert len(await texts(meant)) == 4


async def test_without_an_embedding_model_facts_of_almost_the_same_words_are_shown_and_never_merged(
    facts: Facts,
) -> None:
    first = "Churn means that a customer did order nothing for 90 days"
    assert await near(facts, first) == []
    assert await near(facts, "churn: a customer did order nothing for 90 days!") == [first]
    assert await near(facts, first.replace("90", "60")) == []
    assert await near(facts, first.replace("did order", "did not order")) == []
    assert await near(facts, "A customer is active who did order within the last 90 days") == []
    assert await near(facts, f"{first}!", owner="bob") == []
    assert len(await texts(facts)) == 5


async def test_while_the_embedding_model_fails_words_find_what_is_almost_the_same(
    meant: Facts, service: ScriptedModel
) -> None:
    first = "Churn means that a customer did order nothing for 90 days"
    await keep(meant, first)
    service.embedding = Scripted(status=503)
    assert await near(meant, f"{first}!") == [first]
    assert len(await texts(meant)) == 2


async def test_a_fact_is_found_by_meaning_until_it_is_forgotten(meant: Facts, storage: Storage) -> None:
    fact = await keep(meant, "Procurement is looked into on Fridays")
    await keep(meant, "Procurement is looked into on Fridays", "bob")
    group = meant.user_group("ann")
    vector = vector_of("procure", 64)
    assert await meant.by_meaning([group], "trigrams-64", vector, limit=5) == [fact.id]
    assert await meant.by_meaning([group], "another", vector, limit=5) == []
    await meant.forget("ann", fact.id)
    assert await meant.by_meaning([group], "trigrams-64", vector, limit=5) == []
    (vectors,) = [name for name in storage.collections() if name.startswith("fact_vectors")]
    assert await storage.count(vectors, []) == await storage.count("facts", []) == 1


async def test_while_the_embedding_model_is_unavailable_facts_have_words(
    meant: Facts, service: ScriptedModel
) -> None:
    service.embedding = Scripted(status=503)
    fact = await keep(meant, "Months as 2026-03")
    assert fact.vector_size == 0
    assert await meant.by_words([meant.user_group("ann")], ["months"], limit=5) == [fact.id]
    await meant.forget("ann", fact.id)
