"""Bringing a store up to date."""

import ast
import asyncio
import pkgutil
import time
from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path
from uuid import UUID

import pytest

import migrations
from app.core.clock import now_ms
from app.core.pairs import pair_key
from app.core.storage.port import (
    Collection,
    Contains,
    Document,
    Equals,
    Field,
    Query,
    Storage,
    StorageUnavailable,
)
from migrations.backfill import Progress, backfill
from migrations.m0001_initial import COLLECTIONS
from migrations.runner import RETIRED, STEPS, MigrationStep, StoreTooNew, StoreUnknown, migrate, missing_steps
from tests.support.stores import Open


@pytest.fixture
async def storage(reopen: Open) -> AsyncIterator[Storage]:
    async with reopen() as opened:
        yield opened


async def make_notes(storage: Storage, _: Progress) -> None:
    await storage.create_collection(Collection("notes", [Field("owner", "keyword")]))


async def add_note(storage: Storage, _: Progress) -> None:
    await storage.put("notes", [{"id": WELCOME}])


async def fail(_: Storage, __: Progress) -> None:
    raise StorageUnavailable


WELCOME = str(UUID(int=7))
NOTES = (MigrationStep(1, "notes", make_notes), MigrationStep(2, "welcome", add_note))


def test_every_numbered_module_is_a_step_in_order() -> None:
    modules = sorted(
        each.name for each in pkgutil.iter_modules(migrations.__path__) if each.name.startswith("m")
    )
    assert modules == [f"m{step.number:04}_{step.name}" for step in STEPS if _has_module(step)]
    numbers = [step.number for step in STEPS]
    assert numbers == sorted(set(numbers))


def test_a_number_is_never_used_twice() -> None:
    """The numbers up to 7 were, once; `RETIRED` holds whose they were."""
    assert [step.number for step in STEPS if step.number in range(8, max(RETIRED)[0] + 1)] == []
    assert len({step.name for step in STEPS} | {name for _, name in RETIRED}) == len(STEPS) + len(RETIRED)


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_a_step_is_never_rewritten(step: MigrationStep) -> None:
    """Its code, that is; a new step gets a line below."""
    code = ast.parse(_module(step).read_text()) if _has_module(step) else _in_runner(step)
    assert _digest(code) == WRITTEN[step.number]


def _has_module(step: MigrationStep) -> bool:
    return _module(step).exists()


def _module(step: MigrationStep) -> Path:
    return Path(migrations.__file__).parent / f"m{step.number:04}_{step.name}.py"


def _in_runner(step: MigrationStep) -> ast.Module:
    """The expression of a step that has no module, and the function that it names."""
    runner = ast.parse((Path(migrations.__file__).parent / "runner.py").read_text())
    (found,) = [
        node
        for node in ast.walk(runner)
        if isinstance(node, ast.Call)
        and [each.value for each in node.args[:2] if isinstance(each, ast.Constant)]
        == [step.number, step.name]
    ]
    applied = found.args[2]
    functions = [
        node
        for node in runner.body
        if isinstance(node, ast.AsyncFunctionDef)
        and isinstance(applied, ast.Name)
        and node.name == applied.id
    ]
    return ast.Module([*functions, ast.Expr(found)], [])


def _digest(tree: ast.Module) -> str:
    """Of the code without its texts for readers."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [each for each in node.body if not _is_text(each)]
    return sha256(ast.unparse(tree).encode()).hexdigest()[:16]


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


WRITTEN = {
    1: "cd92015fa9dfe93d",
    2: "5aaf1ad1c564259b",
    3: "2a80f202a854b9c8",
    4: "34b4a9f8354449d0",
    5: "8cdd6f808b262b1e",
    6: "2319792b2c2d20b0",
    7: "39bc37f758343bdd",
    9: "d0631cee19f14449",
    10: "084272697e2adece",
    11: "a429e600d2d516f5",
    12: "aed298d68275517c",
    13: "d801f56523733b28",
    14: "9632f14fc7d2de33",
    15: "e64c8cd65c60e407",
    16: "2414932a9082e501",
    17: "4e0b61da9bc8c790",
    18: "8ef4db944e0ee2dc",
    19: "a101f5ca0074e2e3",
}
"""Digests of the steps by their numbers."""


async def test_a_store_whose_steps_have_other_names_is_refused_by_name_with_the_cure_and_left_alone(
    storage: Storage,
) -> None:
    await migrate(storage, [NOTES[0], MigrationStep(2, "usage", add_note)])
    before = (await storage.query("migrations", Query())).items
    with pytest.raises(StoreUnknown, match=r"step 2 by the name 'usage'.*Nothing was changed.*KAI_DATA_DIR"):
        await migrate(storage, [*NOTES, MigrationStep(3, "more", fail)])
    assert (await storage.query("migrations", Query())).items == before


async def test_a_store_that_is_too_old_to_migrate_is_refused_and_left_alone(storage: Storage) -> None:
    await migrate(storage, NOTES[:1])
    (record,) = (await storage.query("migrations", Query())).items
    await storage.put("migrations", [{**record, "name": "initial"}])
    with pytest.raises(StoreUnknown, match=r"too old for this one.*KAI_DATA_DIR"):
        await migrate(storage)
    assert set(storage.collections()) == {"migrations", "leases", "notes"}


async def test_a_step_is_applied_beside_a_retired_one_of_its_number(storage: Storage) -> None:
    await migrate(storage, [NOTES[0], MigrationStep(2, "knowledge", make_notes)])
    assert await migrate(storage, NOTES) == [2]
    assert await migrate(storage, NOTES) == []


async def test_a_new_store_gets_all_collections(storage: Storage) -> None:
    assert await migrate(storage) == [step.number for step in STEPS]
    for collection in COLLECTIONS:
        for field in collection.fields:
            if field.kind == "integer":
                assert (await storage.query(collection.name, Query(order_by=field.name))).items == []
        assert await storage.count(collection.name, []) == 0


async def test_a_step_is_recorded_with_its_name_and_time(storage: Storage) -> None:
    before = time.time_ns() // 1_000_000
    await migrate(storage, NOTES)
    first, second = (await storage.query("migrations", Query(order_by="number"))).items
    assert [first["number"], first["name"], second["number"], second["name"]] == [1, "notes", 2, "welcome"]
    assert isinstance(first["applied_at"], int)
    assert before <= first["applied_at"] <= time.time_ns() // 1_000_000


async def test_a_store_that_is_up_to_date_is_left_alone(storage: Storage) -> None:
    await migrate(storage, NOTES)
    records = (await storage.query("migrations", Query())).items
    assert await migrate(storage, NOTES) == []
    assert (await storage.query("migrations", Query())).items == records


async def test_only_missing_steps_are_applied_and_in_order(storage: Storage) -> None:
    await migrate(storage, NOTES[:1])
    assert await migrate(storage, NOTES) == [2]
    assert await storage.get("notes", WELCOME) == {"id": WELCOME}


async def test_a_step_that_failed_is_applied_next_time(storage: Storage) -> None:
    with pytest.raises(StorageUnavailable):
        await migrate(storage, [NOTES[0], MigrationStep(2, "welcome", fail)])
    assert await migrate(storage, NOTES) == [2]


async def test_a_store_newer_than_the_program_is_refused_with_the_cure_and_left_alone(
    storage: Storage,
) -> None:
    await migrate(storage, NOTES)
    with pytest.raises(StoreTooNew, match="Upgrade KAI"):
        await migrate(storage, NOTES[:1])
    assert len((await storage.query("migrations", Query())).items) == 2


async def test_of_starters_at_once_one_applies_the_steps_and_the_others_wait(reopen: Open) -> None:
    applied: list[str] = []

    async def slow(storage: Storage, progress: Progress) -> None:
        applied.append("begun")
        for done in range(5):
            await progress(done, 5)
            await asyncio.sleep(0.02)
        applied.append("ended")

    steps = [NOTES[0], MigrationStep(2, "slow", slow)]
    async with reopen() as one, reopen() as other, reopen() as third:
        outcomes = await asyncio.gather(*(migrate(each, steps) for each in (one, other, third)))
        assert sorted(outcomes) == [[], [], [1, 2]]
        assert applied == ["begun", "ended"]
        assert await third.count("migrations", []) == 2


async def test_a_starter_that_died_is_waited_for_until_its_lease_runs_out(storage: Storage) -> None:
    await migrate(storage, NOTES[:1])
    lease = str(UUID(int=1))
    soon = now_ms() + 300
    assert await storage.patch("leases", lease, {"holder": "a dead one", "until": soon})
    assert await migrate(storage, NOTES) == [2]
    assert now_ms() >= soon


async def test_every_document_is_backfilled_once_with_progress(storage: Storage) -> None:
    async def number_notes(storage: Storage, progress: Progress) -> None:
        await storage.add_fields("notes", [Field("number", "integer")])
        await backfill(
            storage, "notes", lambda note: {**note, "number": len(str(note["owner"]))}, progress=progress
        )

    reported: list[tuple[int, int]] = []

    async def tell(done: int, total: int) -> None:
        reported.append((done, total))

    await migrate(storage, NOTES[:1])
    notes: list[Document] = [{"id": str(UUID(int=n)), "owner": "o" * (n % 7)} for n in range(1_201)]
    await storage.put("notes", notes)
    await migrate(storage, [NOTES[0], MigrationStep(2, "number", number_notes)], lambda _: tell)
    assert reported == [(500, 1_201), (1_000, 1_201), (1_201, 1_201)]
    assert await storage.count("notes", [Equals("number", 3)]) == len(notes[3::7])


async def test_sessions_and_runs_of_before_are_found_by_their_metadata(storage: Storage) -> None:
    await migrate(storage, [step for step in STEPS if step.number < 19])
    old: list[Document] = [
        {"id": str(UUID(int=1)), "metadata": {"order": 17, "paid": True, "deep": {"a": 1}}},
        {"id": str(UUID(int=2)), "metadata": {}},
        {"id": str(UUID(int=3)), "metadata": {"order": 17}, "metadata_keys": ["one run"]},
        {"id": str(UUID(int=4))},
    ]
    for collection in ("sessions", "runs"):
        await storage.put(collection, old)
    assert await migrate(storage) == [19]
    for collection in ("sessions", "runs"):
        for name, value in (("order", 17), ("paid", True)):
            found = await storage.query(
                collection, Query([Contains("metadata_keys", pair_key(name, value))], limit=9)
            )
            assert [each["id"] for each in found.items] == [old[0]["id"]], (collection, name)
        assert [await storage.get(collection, str(each["id"])) for each in old[1:]] == old[1:]


async def test_steps_that_are_missing_are_named_without_being_applied(storage: Storage) -> None:
    await migrate(storage, NOTES[:1])
    assert [step.name for step in await missing_steps(storage, NOTES)] == ["welcome"]
    assert await storage.count("notes", []) == 0
