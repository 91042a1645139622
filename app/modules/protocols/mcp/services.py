"""What KAI's MCP server works with. Imports nothing of the SDK: it is imported with the first request."""

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass, field

from app.core.auth.caller import Caller
from app.core.rates import Rates
from app.modules.analysis.chart.pictures import ChartPictures
from app.modules.context_store.service import ContextStore
from app.modules.database_connection.service import DatabaseConnections
from app.modules.memory.profile import Profiles
from app.modules.memory.service import ConversationMemories
from app.modules.session.confirmations import Confirmations
from app.modules.session.service import SessionService

_NAME = "kai-"


@dataclass(frozen=True, kw_only=True)
class McpServices:
    """`has_agent_mode`: False where there are no investigations. `local` acts where there is no HTTP request:
    over stdio. `origins`: pages of other sites that may call. `is_stopping`: calls that are cut off now are
    cut off by this process, and their runs go on elsewhere or after its start. `state_key` seals what clients
    keep between two requests.
    """

    sessions: SessionService
    confirmations: Confirmations
    has_agent_mode: bool
    connections: DatabaseConnections
    context_store: ContextStore
    memories: ConversationMemories
    profiles: Profiles
    rates: Rates
    pictures: ChartPictures
    instance_id: str
    local: Caller | None
    origins: frozenset[str]
    is_stopping: Callable[[], bool]
    state_key: bytes = field(repr=False)


def instance_id_of(key: bytes) -> str:
    """Returns the id of an installation: all processes of one share its encryption key, and no others."""
    return hashlib.sha256(b"kai instance " + key).hexdigest()[:16]


def state_key_of(key: bytes) -> bytes:
    """Returns the `state_key` of an installation: that of all its processes, and of no others."""
    return hmac.digest(key, b"kai mcp request state", "sha256")


def server_name(instance_id: str) -> str:
    """Returns the name that KAI's MCP server has on the wire. KAI connects to no server of its own name."""
    return _NAME + instance_id
