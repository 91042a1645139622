"""The real client against a real service of embeddings."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry

from app.core.llm.calls import ModelCalls
from app.core.llm.embedding import EmbeddingModel
from app.core.llm.errors import ModelRejected, ModelUnavailable
from tests.integration.test_language_models import KEY, PATIENT
from tests.support.scripted_model import Scripted, ScriptedModel, scripted_model
from tests.support.trigrams import vector_of


@pytest.fixture
async def service() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as model:
        yield model


@asynccontextmanager
async def embedding_by(service: ScriptedModel, total_timeout_seconds: float) -> AsyncIterator[EmbeddingModel]:
    settings = replace(PATIENT, model="trigrams-16", base_url=service.base_url, max_retries=1)
    made = EmbeddingModel(
        replace(settings, total_timeout_seconds=total_timeout_seconds), ModelCalls(CollectorRegistry())
    )
    yield made
    await made.close()


@pytest.fixture
async def model(service: ScriptedModel) -> AsyncIterator[EmbeddingModel]:
    async with embedding_by(service, PATIENT.total_timeout_seconds) as made:
        yield made


async def test_each_text_gets_its_vector(model: EmbeddingModel) -> None:
    assert await model.embed(["a cat", "dogs"]) == [vector_of("a cat", 16), vector_of("dogs", 16)]


@pytest.mark.parametrize(
    ("answer", "kind", "text"),
    [
        (Scripted(status=401), ModelRejected, "KAI_LLM__API_KEY"),
        (Scripted(status=404), ModelRejected, "does not know the model trigrams-16"),
        (Scripted(status=503), ModelUnavailable, "busy or broken"),
        (Scripted('{"data": []}'), ModelUnavailable, "cannot be read"),
        (Scripted('{"data": [{"index": 0, "embedding": []}]}'), ModelUnavailable, "cannot be read"),
        (Scripted('{"data": [{"index": 0, "embedding": "x"}]}'), ModelUnavailable, "cannot be read"),
        (Scripted('{"data": [{"index": 0, "embedding": [NaN]}]}'), ModelUnavailable, "cannot be read"),
        (Scripted("[1]"), ModelUnavailable, "cannot be read"),
    ],
)
async def test_errors_are_reported_without_the_key(
    service: ScriptedModel, model: EmbeddingModel, answer: Scripted, kind: type[Exception], text: str
) -> None:
    service.embedding = answer
    with pytest.raises(kind, match=re.escape(text)) as failure:
        await model.embed(["a cat"])
    assert KEY not in str(failure.value)


async def test_a_slow_service_is_given_up(service: ScriptedModel) -> None:
    service.embedding = Scripted(delay_seconds=30)
    async with embedding_by(service, 0.5) as model:
        with pytest.raises(ModelUnavailable, match=r"did not finish within 0\.5 s"):
            await model.embed(["a cat"])
