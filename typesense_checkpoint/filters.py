"""Filters and sort orders of checkpoint searches, in Typesense's syntax, and the configs they come from.

A filter contains numbers and hashes only, never a text of a caller.
"""

from collections.abc import Mapping

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import get_checkpoint_id

from typesense_checkpoint.records import ThreadNamespace, hash_run, hash_thread, metadata_tag, split_id

NEWEST_FIRST = "id_high:desc,id_low:desc"
LATEST_FIRST = f"fence:desc,{NEWEST_FIRST}"


def location_of(config: RunnableConfig) -> ThreadNamespace:
    """Returns the thread and namespace of a config. Raises `KeyError` when it has no `thread_id`."""
    configurable = config["configurable"]
    return ThreadNamespace(str(configurable["thread_id"]), str(configurable.get("checkpoint_ns", "")))


def config_of(location: ThreadNamespace, checkpoint_id: str) -> RunnableConfig:
    """Returns the config that identifies a checkpoint."""
    return {
        "configurable": {
            "thread_id": location.thread_id,
            "checkpoint_ns": location.namespace,
            "checkpoint_id": checkpoint_id,
        }
    }


def is_in_scope(location: ThreadNamespace, config: RunnableConfig | None) -> bool:
    """True if a config includes the location. Without a `checkpoint_ns` it includes all of its thread's."""
    if config is None:
        return True
    wanted = location_of(config)
    has_namespace = "checkpoint_ns" in config["configurable"]
    return location == wanted if has_namespace else location.thread_id == wanted.thread_id


def checkpoints_in_scope(config: RunnableConfig | None, metadata: Mapping[str, object]) -> str:
    """Returns the filter for the checkpoints that a config and metadata entries select.

    Metadata entries that are lists or objects are not in the filter: compare them after the search. Raises
    `ValueError` when the config's checkpoint id is not a UUID.
    """
    conditions = ["kind:=checkpoint"]
    if config is not None:
        location = location_of(config)
        if "checkpoint_ns" in config["configurable"]:
            conditions.append(f"namespace:={location.key}")
        else:
            conditions.append(f"thread:={hash_thread(location.thread_id)}")
        if (checkpoint_id := get_checkpoint_id(config)) is not None:
            conditions.append(has_id(checkpoint_id))
    for name, value in metadata.items():
        if name == "run_id" and isinstance(value, str):
            conditions.append(f"run:={hash_run(value)}")
        elif (tag := metadata_tag(name, value)) is not None:
            conditions.append(f"tags:={tag}")
    return " && ".join(conditions)


def has_id(checkpoint_id: str) -> str:
    """Returns the filter for checkpoints of this id in any thread. Raises `ValueError` for another id."""
    high, low = split_id(checkpoint_id)
    return f"id_high:={high} && id_low:={low}"


def is_older_than(checkpoint_id: str) -> str:
    """Returns the filter for checkpoints with a smaller id. Raises `ValueError` unless it is a UUID."""
    high, low = split_id(checkpoint_id)
    return f"(id_high:<{high} || (id_high:={high} && id_low:<{low}))"
