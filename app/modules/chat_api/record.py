"""Sessions, messages and memories as the chat routes say them."""

from collections.abc import Mapping, Sequence

from app.modules.chat_api.schemas import (
    ChatMessage,
    Conversation,
    ConversationWithMessages,
    FoundConversation,
    MemoryBody,
    UserProfile,
)
from app.modules.memory.model import ConversationMemory, FoundMemory
from app.modules.memory.profile import ATTRIBUTES, Profile, texts_of
from app.modules.records.model import Message, Session
from app.modules.records.plain import plain_content, plain_id, plain_role
from graph.answer import Statements


def conversation(session: Session) -> Conversation:
    return Conversation.model_validate(_conversation(session))


def conversation_with(
    session: Session, messages: Sequence[ChatMessage], next_cursor: str | None
) -> ConversationWithMessages:
    return ConversationWithMessages.model_validate(
        {**_conversation(session), "messages": messages, "next_cursor": next_cursor}
    )


def chat_message(message: Message, names: Mapping[str, str]) -> ChatMessage:
    """`names` are the chatMessageIds by run id; a run of another session's past is called by its id."""
    return ChatMessage.model_validate(
        {
            "message_id": plain_id(message, names.get(message.run_id, message.run_id)),
            "role": plain_role(message),
            "content": plain_content(message),
            "timestamp": message.created_at,
            "status": message.status,
            "sql": message.sql,
            **message.model_dump(include=set(Statements.model_fields)),
        }
    )


def memory(kept: ConversationMemory) -> MemoryBody:
    return MemoryBody.model_validate({**vars(kept), "timestamp": kept.updated_at})


def user_profile(profile: Profile) -> UserProfile:
    return UserProfile.model_validate({name: texts_of(profile, name) for name in ATTRIBUTES})


def found_conversation(found: FoundMemory) -> FoundConversation:
    kept = found.memory
    return FoundConversation.model_validate(
        {**vars(kept), "timestamp": kept.updated_at, "relevance": found.relevance}
    )


def _conversation(session: Session) -> dict[str, object]:
    named = {
        "session_id": session.id,
        "user_id": session.owner,
        "last_activity": session.updated_at,
    }
    return {**vars(session), **named}
