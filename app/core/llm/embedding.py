"""Embedding model, whichever service runs it."""

import asyncio
from collections.abc import Sequence

from pydantic import FiniteFloat, TypeAdapter, ValidationError

from app.core.llm.calls import Call, ModelCalls
from app.core.llm.errors import ModelUnavailable, ended_early
from app.core.llm.services import connect_embedding
from app.core.llm.settings import ModelSettings
from app.core.redaction.text import redacted

MOST_TEXTS = 64
"""Texts in one request. Services allow more, but not of long texts."""

_VECTORS = TypeAdapter(list[list[FiniteFloat]])


class EmbeddingModel:
    """An embedding model. Created within a running event loop, closed by `close`."""

    def __init__(self, settings: ModelSettings, calls: ModelCalls) -> None:
        self.name = settings.model
        self._calls = calls
        self._provider = settings.provider
        self._total_seconds = settings.total_timeout_seconds
        self._connecting = asyncio.create_task(
            connect_embedding(settings), name=f"model {settings.model}: import its client"
        )

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Returns one vector per text, in order, all of one length. Takes 1 to `MOST_TEXTS` texts.

        Raises `ModelUnavailable` or `ModelRejected`. Cancelling the caller closes the request.
        """
        with self._calls.of(self.name, "embeddings", self._provider) as call:
            try:
                async with asyncio.timeout(self._total_seconds):
                    return await self._embed(texts, call)
            except TimeoutError as error:
                took = f"{self._total_seconds:g} s"
                raise ModelUnavailable(f"The model {self.name} did not finish within {took}.") from error

    async def close(self) -> None:
        await (await self._connecting).close()

    async def _embed(self, texts: Sequence[str], call: Call) -> list[list[float]]:
        connection = await asyncio.shield(self._connecting)
        vectors, tokens = await connection.embed([redacted(text) for text in texts])
        if tokens is not None:
            call.used(tokens, 0)
        try:
            found = _VECTORS.validate_python(vectors)
        except ValidationError:
            raise ended_early(self.name) from None
        if len(found) != len(texts) or len({len(vector) for vector in found}) != 1 or not found[0]:
            raise ended_early(self.name)
        return found
