"""Resources and prompts of KAI's MCP server."""

from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from pydantic import BaseModel, Field

from app.core.errors import NotFound
from app.modules.protocols.mcp.answers import DatabaseInfo, DatabaseList, TableDescription
from app.modules.protocols.mcp.tools import McpTools

_JSON = "application/json"
_MESSAGES = 50


class SchemaResource(BaseModel):
    """A database and its tables."""

    database: DatabaseInfo
    tables: list[TableDescription]
    more_tables: bool


class ConversationMessage(BaseModel):
    """A question, or an answer with its statement."""

    role: str
    text: str
    sql: str | None


class SessionResource(BaseModel):
    """A session with its latest messages, oldest first."""

    session_id: str
    title: str | None
    database_id: str | None
    messages: list[ConversationMessage]


class McpResources:
    """What a client may attach to a conversation without calling a tool."""

    def __init__(self, tools: McpTools) -> None:
        self._tools = tools

    def register(self, server: MCPServer) -> None:
        """Add the resources and prompts to a server."""
        server.resource("kai://databases", title="Databases", mime_type=_JSON)(self.databases)
        server.resource(
            "kai://databases/{database_id}/schema", title="Schema of a database", mime_type=_JSON
        )(self.schema)
        server.resource("kai://sessions/{session_id}", title="Conversation with KAI", mime_type=_JSON)(
            self.conversation
        )
        server.prompt(title="Explore a database")(explore_database)
        server.prompt(title="Explain an answer")(explain_answer)

    async def databases(self) -> str:
        """Databases that you may ask about."""
        try:
            with self._tools.calling("read") as caller:
                found = await self._tools.databases(caller)
        except ToolError as error:
            raise _refusal(error) from error
        return DatabaseList(databases=[DatabaseInfo.of(each) for each in found]).model_dump_json()

    async def schema(self, database_id: str) -> str:
        """Tables of a database with their columns and keys, at most 100."""
        try:
            with self._tools.calling("read") as caller:
                connection, tables, more = await self._tools.schema(caller, database_id)
        except ToolError as error:
            raise _refusal(error) from error
        described = [TableDescription.of(table) for table in tables]
        database = DatabaseInfo.of(connection)
        return SchemaResource(database=database, tables=described, more_tables=more).model_dump_json()

    async def conversation(self, session_id: str) -> str:
        """Latest 50 messages of a session."""
        try:
            with self._tools.calling("read") as caller:
                session, messages = await self._tools.conversation(caller, session_id, _MESSAGES)
        except ToolError as error:
            raise _refusal(error) from error
        said = [
            ConversationMessage(
                role=message.role,
                text=message.query
                if message.role == "human"
                else message.analysis or message.clarification or "",
                sql=message.sql,
            )
            for message in messages
        ]
        found = SessionResource(
            session_id=session.id, title=session.title, database_id=session.db_connection_id, messages=said
        )
        return found.model_dump_json()


def _refusal(error: ToolError) -> ResourceError:
    """The error of a tool as that of a resource, which has a code of its own for what is not there."""
    kind = ResourceNotFoundError if isinstance(error.__cause__, NotFound) else ResourceError
    return kind(str(error))


def explore_database(database: Annotated[str, Field(description="Name or id of the database.")]) -> str:
    """A first look at a database."""
    return (
        f"Describe the database {database!r} with describe_database, then look at its most important tables "
        "with describe_tables. Say what it holds, and propose three questions that it can answer."
    )


def explain_answer(session_id: Annotated[str, Field(description="Session of the answer.")]) -> str:
    """How an answer of KAI came about."""
    return (
        f"Read the resource kai://sessions/{session_id}. Explain its latest answer: what its statement "
        "reads, joins, filters and counts, and which assumptions it makes. Name what a reader should check."
    )
