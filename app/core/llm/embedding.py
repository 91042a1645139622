"""Embedding model behind an OpenAI-compatible endpoint."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import FiniteFloat, TypeAdapter

from app.core.llm.calls import Call, ModelCalls
from app.core.llm.client import make_embedding_client
from app.core.llm.errors import ModelUnavailable, translated
from app.core.llm.settings import ModelSettings

if TYPE_CHECKING:
    from openai.types import CreateEmbeddingResponse

MOST_TEXTS = 64
"""Texts in one request. Services allow more, but not of long texts."""

_VECTORS = TypeAdapter(list[list[FiniteFloat]])


class EmbeddingModel:
    """An embedding model. Created within a running event loop, closed by `close`."""

    def __init__(self, settings: ModelSettings, calls: ModelCalls) -> None:
        self.name = settings.model
        self._calls = calls
        self._total_seconds = settings.total_timeout_seconds
        self._client = asyncio.create_task(
            asyncio.to_thread(make_embedding_client, settings),
            name=f"model {settings.model}: import its client",
        )

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Returns one vector per text, in order, all of one length. Takes 1 to `MOST_TEXTS` texts.

        Raises `ModelUnavailable` or `ModelRejected`. Cancelling the caller closes the request.
        """
        with self._calls.of(self.name, "embeddings") as call:
            try:
                async with asyncio.timeout(self._total_seconds):
                    return await self._embed(texts, call)
            except TimeoutError as error:
                took = f"{self._total_seconds:g} s"
                raise ModelUnavailable(f"The model {self.name} did not finish within {took}.") from error

    async def close(self) -> None:
        await (await self._client).close()

    async def _embed(self, texts: Sequence[str], call: Call) -> list[list[float]]:
        client = await asyncio.shield(self._client)
        import openai  # noqa: PLC0415 - loaded with the client by now

        try:
            answer = await client.embeddings.create(
                model=self.name, input=list(texts), encoding_format="float"
            )
            if answer.usage is not None:  # not every service counts
                call.used(answer.usage.total_tokens, 0)
            return _vectors(answer, len(texts))
        except (openai.OpenAIError, OSError, AttributeError, LookupError, TypeError, ValueError) as error:
            # The library raises any of these for a malformed answer.
            raise translated(error, self.name) from None


def _vectors(answer: "CreateEmbeddingResponse", count: int) -> list[list[float]]:
    """Returns the vectors in order. Raises `ValueError` unless there is one per text, all of one length."""
    in_order = sorted(answer.data, key=lambda each: each.index)
    vectors = _VECTORS.validate_python([each.embedding for each in in_order])
    lengths = {len(vector) for vector in vectors}
    if len(vectors) != count or len(lengths) != 1 or 0 in lengths:
        raise ValueError("not a vector a text")
    return vectors
