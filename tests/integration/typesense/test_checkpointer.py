"""What LangGraph's conformance suite does not test: ids that look alike, lost responses, long histories."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from uuid import UUID

import ormsgpack
import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import Checkpoint, CheckpointMetadata, empty_checkpoint
from langgraph.checkpoint.serde.base import CipherProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import INTERRUPT, RESUME

from app.core.storage.typesense_server import TypesenseServer
from tests.support.typesense import Wire, client_of
from typesense_checkpoint import TypesenseCheckpointer, records

LOOK_ALIKES = [
    *("alice", "Alice", "ALICE", "alicé", "al-ice", "al.ice", "al_ice", "al`ice", "alice ", "a/l/ice"),
    *("x` || kind:=write || thread:=`x", "", "*", "日本", "a" * 200, "a" * 199 + "b", "../alice"),
]


def config(thread_id: str, namespace: str = "", checkpoint_id: object = None) -> RunnableConfig:
    configurable = {"thread_id": thread_id, "checkpoint_ns": namespace}
    return {"configurable": {**configurable, **({"checkpoint_id": checkpoint_id} if checkpoint_id else {})}}


def checkpoint(**values: object) -> Checkpoint:
    made = empty_checkpoint()
    made["channel_values"] = dict(values)
    made["channel_versions"] = dict.fromkeys(values, "1")
    return made


async def put(
    saver: TypesenseCheckpointer,
    where: RunnableConfig,
    metadata: Mapping[str, object] | None = None,
    **values: object,
) -> RunnableConfig:
    made = checkpoint(**values)
    kept: CheckpointMetadata = {"source": "loop", "step": 0, **(metadata or {})}  # type: ignore[typeddict-item]
    return await saver.aput(where, made, kept, made["channel_versions"])


async def writes(saver: TypesenseCheckpointer, where: RunnableConfig) -> Sequence[tuple[str, str, object]]:
    found = await saver.aget_tuple(where)
    assert found is not None
    return found.pending_writes or []


# Identity of threads


async def test_threads_that_look_alike_are_different(saver: TypesenseCheckpointer) -> None:
    for number, thread_id in enumerate(LOOK_ALIKES):
        await put(saver, config(thread_id), mine=number)
    for number, thread_id in enumerate(LOOK_ALIKES):
        found = await saver.aget_tuple(config(thread_id))
        assert found is not None
        assert found.checkpoint["channel_values"] == {"mine": number}
        assert len([each async for each in saver.alist(config(thread_id))]) == 1


@pytest.mark.parametrize("thread_id", [7, UUID("019ab1c2-0000-7000-8000-000000000000")])
async def test_a_thread_id_that_is_not_text_is_its_text(
    saver: TypesenseCheckpointer, thread_id: object
) -> None:
    where: RunnableConfig = {"configurable": {"thread_id": thread_id}}
    await put(saver, where, mine=1)
    assert await saver.aget_tuple(where) == await saver.aget_tuple(config(str(thread_id)))
    assert len([each async for each in saver.alist(where)]) == 1


async def test_deleting_a_thread_leaves_those_that_look_like_it(saver: TypesenseCheckpointer) -> None:
    for thread_id in LOOK_ALIKES:
        where = await put(saver, config(thread_id), big="x" * 500)
        await saver.aput_writes(where, [("a", 1)], "task")
    for number, thread_id in enumerate(LOOK_ALIKES):
        await saver.adelete_thread(thread_id)
        left = {each.config["configurable"]["thread_id"] async for each in saver.alist(None)}
        assert left == set(LOOK_ALIKES[number + 1 :])


async def test_a_checkpoint_of_another_thread_or_namespace_is_not_found(saver: TypesenseCheckpointer) -> None:
    mine = await put(saver, config("bob"), secret="s")
    checkpoint_id = mine["configurable"]["checkpoint_id"]
    assert await saver.aget_tuple(config("mallory", checkpoint_id=checkpoint_id)) is None
    assert await saver.aget_tuple(config("bob", "child:1", checkpoint_id)) is None
    assert await saver.aget_tuple(config("bob", checkpoint_id="no id")) is None


async def test_the_root_is_not_answered_with_a_childs_checkpoint(saver: TypesenseCheckpointer) -> None:
    await put(saver, config("t"), who="root")
    await put(saver, config("t", "child:1"), who="child")
    found = await saver.aget_tuple({"configurable": {"thread_id": "t"}})
    assert found is not None
    assert found.checkpoint["channel_values"] == {"who": "root"}


async def test_an_id_that_is_no_uuid_is_refused(saver: TypesenseCheckpointer) -> None:
    made = checkpoint()
    with pytest.raises(ValueError, match="UUID"):
        await saver.aput(config("t"), {**made, "id": made["id"].upper()}, {}, {})


# Order


async def test_equal_timestamps_keep_the_order_of_the_ids(saver: TypesenseCheckpointer) -> None:
    ids = []
    for _ in range(8):
        made = checkpoint()
        made["ts"] = "2026-01-01T00:00:00+00:00"
        ids.append(made["id"])
        await saver.aput(config("t"), made, {}, {})
    listed = [each.checkpoint["id"] async for each in saver.alist(config("t"))]
    assert listed == ids[::-1]
    before = [
        each.checkpoint["id"] async for each in saver.alist(config("t"), before=config("t", "", ids[5]))
    ]
    assert before == ids[4::-1]


async def test_a_filter_and_a_limit_together_find_matches_far_back(saver: TypesenseCheckpointer) -> None:
    for step in range(130):
        await put(saver, config("t"), {"step": step, "odd": step % 2 == 1, "by": {"name": "a"}})
    rare = saver.alist(config("t"), filter={"step": 3}, limit=3)
    assert [each.metadata["step"] async for each in rare] == [3]
    nested = saver.alist(config("t"), filter={"by": {"name": "a"}, "odd": True}, limit=60)
    assert [each.metadata["step"] async for each in nested] == list(range(129, 10, -2))
    assert [each async for each in saver.alist(config("t"), filter={"by": {"name": "b"}})] == []


async def test_copied_threads_are_listed_whole_where_pages_meet(saver: TypesenseCheckpointer) -> None:
    for step in range(40):
        await put(saver, config("t0"), {"step": step})
    for number in range(1, 4):
        await saver.acopy_thread("t0", f"t{number}")
    listed = [each.config["configurable"]["thread_id"] async for each in saver.alist(None)]
    assert len(listed) == 160
    assert {thread: listed.count(thread) for thread in set(listed)} == {f"t{n}": 40 for n in range(4)}


# Writes


async def test_an_answer_to_an_interrupt_stands_beside_the_tasks_own_writes(
    saver: TypesenseCheckpointer,
) -> None:
    where = await put(saver, config("t"))
    await saver.aput_writes(where, [("channel", "kept")], "task")
    for answer in (["yes"], ["yes", "no"]):
        await saver.aput_writes(where, [(RESUME, answer)], "task")
    await saver.aput_writes(where, [("channel", "said again"), (INTERRUPT, "?")], "task")
    assert await writes(saver, where) == [
        ("task", RESUME, ["yes", "no"]),
        ("task", INTERRUPT, "?"),
        ("task", "channel", "kept"),
    ]


async def test_writes_that_are_saved_again_stay_and_only_new_positions_are_added(
    saver: TypesenseCheckpointer,
) -> None:
    where = await put(saver, config("t"))
    await saver.aput_writes(where, [("a", 1)], "task")
    for again in ([("a", "other"), ("b", 2)], [("a", "third"), ("b", "third"), ("c", 3)]):
        await saver.aput_writes(where, again, "task")
    expected = [("task", "a", 1), ("task", "b", 2), ("task", "c", 3)]
    assert await writes(saver, where) == expected
    await saver.acopy_thread("t", "copy")
    copied = config("copy", checkpoint_id=where["configurable"]["checkpoint_id"])
    assert await writes(saver, copied) == expected


async def test_the_writes_of_a_task_are_one_document(saver: TypesenseCheckpointer, wire: Wire) -> None:
    where = await put(saver, config("t"))
    wire.requests.clear()
    await saver.aput_writes(where, [(f"c{number}", number) for number in range(20)], "task")
    (request,) = wire.requests
    assert len(request.content.splitlines()) == 1


async def test_six_hundred_writes_come_back_in_the_order_they_are_applied(
    saver: TypesenseCheckpointer,
) -> None:
    where = await put(saver, config("t"))
    for path, task in (("~1", "z"), ("~2", "a")):
        await saver.aput_writes(where, [("c", f"{path} {n}") for n in range(300)], task, path)
    found = [value for _, _, value in await writes(saver, where)]
    assert found == [f"{path} {n}" for path in ("~1", "~2") for n in range(300)]


async def test_writes_that_arrive_before_their_checkpoint_are_not_lost(saver: TypesenseCheckpointer) -> None:
    made = checkpoint()
    where = config("t", checkpoint_id=made["id"])
    await saver.aput_writes(where, [("c", 1)], "task")
    assert await saver.aget_tuple(where) is None
    await saver.aput(config("t"), made, {}, {})
    assert await writes(saver, where) == [("task", "c", 1)]


# Lost responses


async def test_every_request_may_be_repeated(saver: TypesenseCheckpointer, wire: Wire) -> None:
    wire.loses_answers = True
    first = await put(saver, config("t"), {"run_id": "r"}, big="x" * 1_000)
    await saver.aput_writes(first, [("c", 1), (RESUME, ["a"])], "task")
    second = await put(saver, first, {"run_id": "s"}, big="y" * 1_000)
    await saver.acopy_thread("t", "copy")
    found = await saver.aget_tuple(config("copy"))
    assert found is not None
    assert found.checkpoint["channel_values"] == {"big": "y" * 1_000}
    assert found.parent_config == config("copy", checkpoint_id=first["configurable"]["checkpoint_id"])
    assert await writes(saver, first) == [("task", RESUME, ["a"]), ("task", "c", 1)]
    await saver.adelete_for_runs(["s"])
    for where in (second, config("copy", checkpoint_id=second["configurable"]["checkpoint_id"])):
        assert await saver.aget_tuple(where) is None
    assert await saver.aget_tuple(config("t")) == await saver.aget_tuple(first)
    wire.loses_answers = False


# Cost


async def test_a_superstep_is_one_request_and_the_latest_state_two(
    saver: TypesenseCheckpointer, wire: Wire
) -> None:
    wire.requests.clear()
    where = await put(saver, config("t"), big="x" * 500, other=["y"] * 100)
    assert len(wire.requests) == 1
    wire.requests.clear()
    await asyncio.gather(
        saver.aput_writes(where, [("a", 1), ("b", 2)], "task"), put(saver, where, more="y" * 500)
    )
    assert len(wire.requests) == 1
    wire.requests.clear()
    await saver.aget_tuple(config("t"))
    assert len(wire.requests) == 2


async def test_what_many_threads_write_at_once_goes_together_and_each_hears_of_its_own(
    saver: TypesenseCheckpointer, wire: Wire
) -> None:
    wire.requests.clear()
    await asyncio.gather(*(put(saver, config(f"t{number}"), mine=number) for number in range(40)))
    assert len(wire.requests) == 1
    for number in range(40):
        found = await saver.aget_tuple(config(f"t{number}"))
        assert found is not None
        assert found.checkpoint["channel_values"] == {"mine": number}


async def test_a_cancelled_write_takes_no_other_with_it(saver: TypesenseCheckpointer) -> None:
    where = await put(saver, config("t"))
    cancelled = asyncio.create_task(saver.aput_writes(where, [("a", 1)], "one"))
    other = asyncio.create_task(saver.aput_writes(where, [("b", 2)], "two"))
    await asyncio.sleep(0)
    cancelled.cancel()
    await other
    assert {channel for _, channel, _ in await writes(saver, where)} == {"a", "b"}


async def test_a_checkpoint_that_is_put_again_is_replaced(saver: TypesenseCheckpointer) -> None:
    made = checkpoint(note="first", big="x" * 500)
    await saver.aput(config("t"), made, {"step": 1}, made["channel_versions"])
    made["channel_values"] = {"note": "second", "big": "y" * 500}
    await saver.aput(config("t"), made, {"step": 2}, made["channel_versions"])
    found = [each async for each in saver.alist(config("t"))]
    assert [each.checkpoint["channel_values"] for each in found] == [made["channel_values"]]
    assert [each.metadata["step"] for each in found] == [2]


async def test_a_value_is_written_once_a_version(saver: TypesenseCheckpointer, wire: Wire) -> None:
    made = checkpoint(big=[str(n) for n in range(10_000)])
    where = await saver.aput(config("t"), made, {}, made["channel_versions"])
    wire.requests.clear()
    later = {**made, "id": checkpoint()["id"], "channel_versions": {"big": "1", "step": "2"}}
    later["channel_values"] = {**made["channel_values"], "step": 1}
    await saver.aput(where, later, {}, {"step": "2"})  # type: ignore[arg-type]
    assert wire.bytes_sent < 2_000
    found = await saver.aget_tuple(config("t"))
    assert found is not None
    assert found.checkpoint["channel_values"] == later["channel_values"]


# Tampering and secrets


async def test_a_tampered_checkpoint_runs_no_code(
    saver: TypesenseCheckpointer, typesense_server: TypesenseServer, capsys: pytest.CaptureFixture[str]
) -> None:
    await put(saver, config("t"), harmless=1)
    harmful = ormsgpack.Ext(0, ormsgpack.packb(["builtins", "print", "owned"]))
    JsonPlusSerializer(allowed_msgpack_modules=True).loads_typed(("msgpack", ormsgpack.packb(harmful)))
    assert "owned" in capsys.readouterr().out  # LangGraph's own default would run it
    async with client_of(typesense_server) as client:
        documents = client.collections[saver._collection.name].documents
        exported = json.loads(await documents.export())
        packed = ormsgpack.unpackb(records._packed(exported)[1])
        tampered = {**checkpoint(), "channel_values": {"harmless": harmful}}
        packed["checkpoint"] = ["msgpack", ormsgpack.packb(tampered)]
        exported["data"] = records._pack(packed)
        await documents.upsert(exported)
    await saver.aget_tuple(config("t"))
    assert "owned" not in capsys.readouterr().out


class Reversed(CipherProtocol):
    """Not a real cipher, but it leaves no text readable."""

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        return "reversed", bytes(255 - byte for byte in plaintext)

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        assert ciphername == "reversed"
        return bytes(255 - byte for byte in ciphertext)


async def test_an_encrypting_serializer_leaves_nothing_of_values_or_metadata_in_clear(
    typesense_server: TypesenseServer,
) -> None:
    async with client_of(typesense_server) as client:
        serde = EncryptedSerializer(Reversed(), JsonPlusSerializer(allowed_msgpack_modules=None))
        saver = TypesenseCheckpointer(client, collection="encrypted", serde=serde)
        await saver.setup()
        large = "secret-big " * 50
        where = await put(saver, config("t"), {"user": "secret-meta"}, small="secret-small", big=large)
        await saver.aput_writes(where, [("c", "secret-write")], "task")
        exported = (await client.collections["encrypted"].documents.export()).splitlines()
        assert len(exported) == 3
        for line in exported:
            assert b"secret" not in records._packed(json.loads(line))[1]
        found = await saver.aget_tuple(config("t"))
        assert found is not None
        assert found.checkpoint["channel_values"] == {"small": "secret-small", "big": "secret-big " * 50}
        assert [each async for each in saver.alist(None, filter={"user": "secret-meta"})] == [found]
