"""Sessions, messages and memories as the chat routes say them."""

from collections.abc import Mapping

from app.modules.chat.schemas import ChatMessage, Conversation, MemoryBody
from app.modules.memory.model import Memory
from app.modules.session.model import Message, Session


def conversation(session: Session) -> Conversation:
    return Conversation.model_validate(
        {
            **vars(session),
            "session_id": session.id,
            "user_id": session.owner,
            "last_activity": session.updated_at,
        }
    )


def chat_message(message: Message, names: Mapping[str, str]) -> ChatMessage:
    """`names` are the chatMessageIds by run id; a run of another session's past is called by its id."""
    name = names.get(message.run_id, message.run_id)
    role = "user" if message.role == "human" else "assistant"
    return ChatMessage.model_validate(
        {
            "message_id": f"{name}_{role}",
            "role": role,
            "content": message.query if role == "user" else _answer(message),
            "timestamp": message.created_at,
            "status": message.status,
            "sql": message.sql,
        }
    )


def memory(kept: Memory) -> MemoryBody:
    return MemoryBody.model_validate({**vars(kept), "timestamp": kept.updated_at})


def _answer(message: Message) -> str:
    """In words; of an answer without any, why it has none."""
    said = message.analysis or message.clarification or message.explanation
    return said or (message.error.detail if message.error else "")
