"""LangChain's data on models."""

from langchain_core.language_models import BaseChatModel

from app.core.llm.capabilities import NO_TRAITS, ModelTraits


def traits_of(chat: BaseChatModel) -> ModelTraits:
    """Returns what LangChain knows of a client's model."""
    profile = chat.profile
    if not profile:
        return NO_TRAITS
    return ModelTraits(
        context_window=profile.get("max_input_tokens"), takes_tools=profile.get("tool_calling")
    )
