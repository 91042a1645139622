"""Facts for tests: a service over any store, and sentences to remember."""

from cryptography.fernet import Fernet

from app.core.clock import now_ms
from app.core.ids import new_id
from app.core.llm.embedding import EmbeddingModel
from app.core.secrets import SecretBox
from app.core.storage.port import Storage
from app.modules.database_connection.limits import ConnectionLimits
from app.modules.database_connection.model import Connection
from app.modules.database_connection.service import DatabaseConnections
from app.modules.memory.fact_access import SessionConnection
from app.modules.memory.fact_guard import FactGuard, Objection
from app.modules.memory.facts import Facts, FindMessage, SourceMessage
from app.modules.memory.model import FactOrigin, FactSource
from app.modules.memory.scopes import Groups
from tests.support.records import no_records


def connections_over(storage: Storage) -> DatabaseConnections:
    return DatabaseConnections(
        storage, SecretBox(Fernet.generate_key()), ConnectionLimits(), records=no_records()
    )


def connection_of(owner: str, *, shared: bool = False) -> Connection:
    """A connection that is never opened."""
    return Connection(
        id=new_id(),
        owner=owner,
        name="Shop",
        description="",
        dialect="sqlite",
        masked_url="sqlite:///shop.db",
        encrypted_url="",
        created_at=1,
        shared=shared,
    )


def source(
    origin: FactOrigin = "promotion", *, session_id: str | None = None, message_id: str | None = None
) -> FactSource:
    return FactSource(origin, now_ms(), message_id=message_id, session_id=session_id)


class NoGuard:
    """Objects to nothing."""

    def check(self, text: str) -> Objection | None:
        return None


async def no_session(owner: str, session_id: str) -> str | None:
    return None


async def no_message(owner: str, message_id: str) -> SourceMessage | None:
    return None


def facts_over(
    storage: Storage,
    connections: DatabaseConnections | None = None,
    *,
    groups: Groups | None = None,
    find_session: SessionConnection = no_session,
    find_message: FindMessage = no_message,
    guard: FactGuard | None = None,
    embedding: EmbeddingModel | None = None,
    enabled: bool = True,
) -> Facts:
    """Facts that know no session and no message, and object to nothing, unless a test says so."""
    return Facts(
        storage,
        groups or Groups(b"key"),
        connections or connections_over(storage),
        find_session=find_session,
        find_message=find_message,
        guard=guard or NoGuard(),
        embedding=embedding,
        enabled=enabled,
    )
