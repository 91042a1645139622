"""Opens the language models that the settings name."""

import logging
from contextlib import AsyncExitStack

from app.bootstrap.store import open_records, sqlite_file
from app.core.llm.calls import ModelCalls
from app.core.llm.capabilities import InstructionForm, InstructionSetting, analysis_form_for, instruction_for
from app.core.llm.catalog import ModelCatalog
from app.core.llm.embedding import EmbeddingModel
from app.core.llm.model import LanguageModel, ModelSettings
from app.core.llm.overview import ModelOverview, ModelTask
from app.core.llm.providers.local_embedding import LOCAL_MODEL
from app.core.llm.services import check_extra, check_local_embedding
from app.core.settings import DEFAULT_MODEL, AnalysisSettings, LlmSettings, Settings
from app.core.storage.port import Storage, StorageUnavailable
from app.modules.run.ports import Models
from app.modules.sql_generation.instruction_choice import InstructionChoices, host_of

_CONTEXT_TOKENS: dict[InstructionForm, int] = {"short": 700, "long": 6_000}
"""Tokens of schema in a prompt: a small model loses its way in a long one."""

logger = logging.getLogger(__name__)


def open_overview(settings: LlmSettings, calls: ModelCalls, opened: AsyncExitStack) -> ModelOverview | None:
    """One client for each model: tasks of the same model share it. Nothing is imported or requested yet.

    Returns None if no model is configured. Raises `CannotRun` if the provider needs an extra.
    """
    if not settings.configured:
        return None
    check_extra(settings.provider)
    catalog = ModelCatalog(_model_settings(settings, settings.writer))
    opened.push_async_callback(catalog.close)
    made: dict[str, LanguageModel] = {}

    def model(name: str | None) -> LanguageModel:
        name = name or settings.model or DEFAULT_MODEL
        if name not in made:
            made[name] = LanguageModel(_model_settings(settings, name), calls, catalog)
            opened.push_async_callback(made[name].close)
        return made[name]

    tasks: dict[ModelTask, LanguageModel] = {
        "sql": model(settings.sql_model),
        "agent": model(settings.agent_model or settings.sql_model),
        "analysis": model(settings.analysis_model),
        "summary": model(settings.summary_model),
    }
    return ModelOverview(settings.provider, catalog, tasks, embedding=settings.embedding_model)


async def open_models(
    overview: ModelOverview, settings: LlmSettings, storage: Storage, *, analysis: AnalysisSettings
) -> Models:
    """The models of tasks, with the settings of the SQL model and the form of analyses."""
    instruction = await instruction_of(settings, storage)
    return Models(
        sql=overview.tasks["sql"],
        instruction=instruction,
        agent=overview.tasks["agent"],
        analysis=overview.tasks["analysis"],
        analysis_form=analysis_form_for(settings.analyst, analysis.form),
        summary=overview.tasks["summary"],
        candidates=settings.candidates,
        context_tokens=settings.context_tokens or _CONTEXT_TOKENS[instruction],
    )


def open_embedding(settings: LlmSettings, calls: ModelCalls, opened: AsyncExitStack) -> EmbeddingModel | None:
    """Returns None if no embedding model is configured. The local one needs no service.

    Raises `CannotRun` if it needs an extra.
    """
    if settings.embedding_model == LOCAL_MODEL:
        check_local_embedding()
    elif settings.embedding_model is None or not settings.configured:
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
            measured = await InstructionChoices(storage).find(llm.writer, host_of(llm.base_url, llm.provider))
            return "auto" if measured is None else measured.instruction
    except (StorageUnavailable, OSError) as error:
        logger.warning("the measured instructions of model %s cannot be read: %s", llm.writer, error)
        return "auto"


async def instruction_of(settings: LlmSettings, storage: Storage) -> InstructionForm:
    """The form of the instructions for the SQL model."""
    measured = await InstructionChoices(storage).find(
        settings.writer, host_of(settings.base_url, settings.provider)
    )
    return instruction_for(
        settings.writer, settings.instruction, None if measured is None else measured.instruction
    )


def _model_settings(settings: LlmSettings, name: str) -> ModelSettings:
    return ModelSettings(
        model=name,
        provider=settings.provider,
        base_url=settings.base_url,
        api_key=settings.api_key,
        api_version=settings.api_version,
        project=settings.project,
        region=settings.region,
        tools=settings.tools,
        context_window=settings.context_window,
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
