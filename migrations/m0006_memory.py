"""Collections of facts, profiles, consents, a graph memory, items of clients, boards, links and what is
forgotten; sessions of examples.
"""

from app.core.storage.port import Collection, Field, Storage
from migrations.backfill import Progress

COLLECTIONS = [
    Collection(
        "facts",
        [
            Field("owner", "keyword"),
            Field("group", "keyword"),
            Field("readers", "keyword"),
            Field("scope", "keyword"),
            Field("connection_id", "keyword"),
            Field("text_key", "keyword"),
            Field("supersedes", "keyword"),
            Field("kind", "keyword"),
            Field("status", "keyword"),
            Field("source_message_id", "keyword"),
            Field("source_session_id", "keyword"),
            Field("used_at", "integer"),
            Field("updated_at", "integer"),
            Field("expires_at", "integer"),
            Field("text", "text"),
        ],
    ),
    Collection(
        "message_directives",
        [Field("owner", "keyword"), Field("session_id", "keyword"), Field("reported_in", "keyword")],
    ),
    Collection(
        "profiles",
        [Field("owner", "keyword"), Field("revision", "integer"), Field("sessions", "text")],
    ),
    Collection("session_profiles", [Field("owner", "keyword")]),
    Collection("vector_rewriting", [Field("due_at", "integer")]),
    Collection("forgotten", [Field("kind", "keyword"), Field("due_at", "integer")]),
    Collection("consents", [Field("owner", "keyword"), Field("connection_id", "keyword")]),
    Collection(
        "graph_outbox",
        [
            Field("owner", "keyword"),
            Field("group", "keyword"),
            Field("kind", "keyword"),
            Field("status", "keyword"),
            Field("subject_id", "keyword"),
            Field("session_id", "keyword"),
            Field("connection_id", "keyword"),
            Field("tries", "integer"),
            Field("not_before", "integer"),
            Field("added_at", "integer"),
            Field("sent_at", "integer"),
        ],
    ),
    Collection(
        "graph_groups",
        [
            Field("owner", "keyword"),
            Field("group", "keyword"),
            Field("session_id", "keyword"),
            Field("connection_id", "keyword"),
            Field("erase", "keyword"),
            Field("erase_at", "integer"),
            Field("ownership_sent_at", "integer"),
            Field("awaited_since", "integer"),
            Field("look_at", "integer"),
        ],
    ),
    Collection(
        "items",
        [
            Field("owner", "keyword"),
            Field("place", "keyword"),
            Field("prefixes", "keywords"),
            Field("pairs", "keywords"),
            Field("updated_at", "integer"),
            Field("text", "text"),
        ],
    ),
    Collection("item_namespaces", [Field("owner", "keyword")]),
    Collection(
        "links",
        [
            Field("owner", "keyword"),
            Field("session_id", "keyword"),
            Field("thing_id", "keyword"),
            Field("created_at", "integer"),
        ],
    ),
    Collection("boards", [Field("owner", "keyword"), Field("updated_at", "integer")]),
    Collection(
        "pins",
        [Field("owner", "keyword"), Field("board_id", "keyword"), Field("refreshing_since", "integer")],
    ),
    Collection(
        "pin_rows",
        [Field("owner", "keyword"), Field("pin_id", "keyword"), Field("message_id", "keyword")],
    ),
]

SESSION_FIELDS = [
    Field("created_at", "integer"),
    Field("metadata_keys", "keywords"),
    Field("transcript", "keyword"),
    Field("pinned_at", "integer"),
]
"""By which clients of protocols find sessions, and the page its pinned ones."""


async def migrate(storage: Storage, progress: Progress) -> None:
    """Create the collections; one that exists already is left as it is."""
    for number, collection in enumerate(COLLECTIONS, 1):
        await storage.create_collection(collection)
        await progress(number, len(COLLECTIONS))
    await storage.add_fields("examples", [Field("session_id", "keyword")])
    await storage.add_fields("sessions", SESSION_FIELDS)
