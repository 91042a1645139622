"""Opens the language models that the settings name."""

import logging
from contextlib import AsyncExitStack

from app.bootstrap.store import open_records, sqlite_file
from app.core.llm.calls import ModelCalls
from app.core.llm.capabilities import InstructionForm, InstructionSetting, instruction_for
from app.core.llm.embedding import EmbeddingModel
from app.core.llm.model import LanguageModel, ModelSettings
from app.core.settings import LlmSettings, Settings
from app.core.storage.port import Storage, StorageUnavailable
from app.modules.run.ports import Models
from app.modules.sql_generation.instruction_choice import InstructionChoices, host_of

_CONTEXT_TOKENS: dict[InstructionForm, int] = {"short": 700, "long": 6_000}
"""Tokens of schema in a prompt: a small model loses its way in a long one."""

logger = logging.getLogger(__name__)


async def open_models(
    settings: LlmSettings, calls: ModelCalls, storage: Storage, *, opened: AsyncExitStack
) -> Models:
    """One client for each model. Tasks of the same model share a client."""
    instruction = await instruction_of(settings, storage)
    made: dict[str, LanguageModel] = {}

    def model(name: str | None) -> LanguageModel:
        name = name or settings.model or ""
        if name not in made:
            made[name] = LanguageModel(_model_settings(settings, name), calls)
            opened.push_async_callback(made[name].close)
        return made[name]

    return Models(
        sql=model(settings.sql_model),
        instruction=instruction,
        agent=model(settings.agent_model or settings.sql_model),
        analysis=model(settings.analysis_model),
        summary=model(settings.summary_model),
        candidates=settings.candidates,
        context_tokens=settings.context_tokens or _CONTEXT_TOKENS[instruction],
    )


def open_embedding(settings: LlmSettings, calls: ModelCalls, opened: AsyncExitStack) -> EmbeddingModel | None:
    """Returns None if no embedding model is configured."""
    if settings.embedding_model is None or not settings.configured:
        return None
    model = EmbeddingModel(_model_settings(settings, settings.embedding_model), calls)
    opened.push_async_callback(model.close)
    return model


async def measured_instruction(settings: Settings) -> InstructionSetting:
    """The form that is set, else the measured one in the store. Returns `auto` without either.

    Reads the store without locking or migrating it, since another process may be serving from it.
    """
    llm = settings.llm
    may_have_records = settings.store == "typesense" or sqlite_file(settings).exists()
    if llm.instruction != "auto" or not llm.configured or not may_have_records:
        return llm.instruction
    try:
        async with open_records(settings) as storage:
            if "model_choices" not in storage.collections():
                return "auto"
            measured = await InstructionChoices(storage).find(llm.writer, host_of(llm.base_url))
            return "auto" if measured is None else measured.instruction
    except (StorageUnavailable, OSError) as error:
        logger.warning("the measured instructions of model %s cannot be read: %s", llm.writer, error)
        return "auto"


async def instruction_of(settings: LlmSettings, storage: Storage) -> InstructionForm:
    """The form of the instructions for the SQL model."""
    measured = await InstructionChoices(storage).find(settings.writer, host_of(settings.base_url))
    return instruction_for(
        settings.writer, settings.instruction, None if measured is None else measured.instruction
    )


def _model_settings(settings: LlmSettings, name: str) -> ModelSettings:
    return ModelSettings(
        model=name,
        base_url=settings.base_url,
        api_key=settings.api_key,
        connect_timeout_seconds=settings.connect_timeout_seconds,
        first_token_timeout_seconds=settings.first_token_timeout_seconds,
        token_timeout_seconds=settings.token_timeout_seconds,
        total_timeout_seconds=settings.total_timeout_seconds,
        max_reply_characters=settings.reply_chars,
        max_retries=settings.max_retries,
        max_output_tokens=settings.max_output_tokens,
        temperature=settings.temperature,
        reply_format=settings.reply_format,
    )
