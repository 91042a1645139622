"""The models that a service lists, and what it says of them."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Sequence
from typing import TypeVar

from app.core.llm.capabilities import NO_TRAITS, ListedModel, ModelTraits
from app.core.llm.errors import ModelRejected, ModelUnavailable
from app.core.llm.services import describe, list_models
from app.core.llm.settings import ModelSettings

logger = logging.getLogger(__name__)

T = TypeVar("T")

_PATIENCE_SECONDS = 5.0
"""The longest that a reply waits for what the service says of its model."""
_FRESH_SECONDS = 300.0
"""Time for which a list, or the lack of one, is not asked for again."""


class ModelCatalog:
    """What one service says of its models. Each is asked for once in a while, by however many callers."""

    def __init__(self, settings: ModelSettings) -> None:
        """`settings` are those of any model of the service."""
        self._settings = settings
        self._listing: asyncio.Task[Sequence[ListedModel]] | None = None
        self._listed_at = 0.0
        self._describing: dict[str, asyncio.Task[ModelTraits]] = {}

    async def listed(self) -> Sequence[ListedModel]:
        """Returns the models that the service lists. Raises `ModelUnavailable` or `ModelRejected`."""
        if self._listing is None or time.monotonic() - self._listed_at > _FRESH_SECONDS:
            self._listed_at = time.monotonic()
            self._describing.clear()
            self._listing = asyncio.create_task(
                self._list(), name=f"models of {self._settings.provider}: list"
            )
        return await asyncio.shield(self._listing)

    async def traits(self, model: str) -> ModelTraits:
        """Returns what the service says of a model; nothing if it does not answer in time.

        The lists of Azure OpenAI, Vertex AI and Bedrock say neither the window nor the support of tools.
        """
        if self._settings.provider not in ("openai", "ollama"):
            return NO_TRAITS
        try:
            entry = next((each for each in await self.listed() if _is_named(each.name, model)), None)
            if entry is None:
                return NO_TRAITS
            return await self._described(entry) if entry.is_of_ollama else entry.traits
        except (ModelUnavailable, ModelRejected) as error:
            logger.debug("the service says nothing of model %s: %s", model, error)
            return NO_TRAITS

    async def close(self) -> None:
        """End requests that are under way."""
        tasks = [task for task in (self._listing, *self._describing.values()) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _described(self, entry: ListedModel) -> ModelTraits:
        if entry.name not in self._describing:
            self._describing[entry.name] = asyncio.create_task(
                self._describe(entry.name), name=f"model {entry.name}: describe"
            )
        return await asyncio.shield(self._describing[entry.name])

    async def _list(self) -> Sequence[ListedModel]:
        return await _patiently(list_models(self._settings))

    async def _describe(self, model: str) -> ModelTraits:
        return await _patiently(describe(self._settings, model))


async def _patiently(asked: Awaitable[T]) -> T:
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            return await asked
    except TimeoutError:
        raise ModelUnavailable(
            f"The model's service did not list its models within {_PATIENCE_SECONDS:g} s."
        ) from None


def _is_named(name: str, model: str) -> bool:
    """Ollama lists `qwen3:latest` for what may be asked for as `qwen3`."""
    return name in (model, f"{model}:latest")
