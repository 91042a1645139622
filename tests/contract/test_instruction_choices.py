"""Every store keeps what was measured for a model."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from app.core.storage.port import Storage
from app.modules.sql_generation.instruction_choice import (
    InstructionChoice,
    InstructionChoices,
    MeasuredForm,
    host_of,
)
from migrations.runner import migrate
from tests.support.stores import ADAPTERS

CHOICE = InstructionChoice(
    model="llama-1b",
    host="127.0.0.1:8080",
    instruction="short",
    short=MeasuredForm(right=19, asked=36, calls=1.0, tokens=401.5),
    long=MeasuredForm(right=14, asked=36, calls=1.25, tokens=2_916.0),
    p_value=0.125,
    question_set="set.jsonl",
    measured_at=1_700_000_000_000,
)


@pytest.fixture(params=sorted(ADAPTERS))
async def choices(request: pytest.FixtureRequest) -> AsyncIterator[InstructionChoices]:
    storage: Storage
    async with ADAPTERS[request.param](request)() as storage:
        await migrate(storage)
        yield InstructionChoices(storage)


async def test_a_choice_comes_back_for_its_model_and_service_alone(choices: InstructionChoices) -> None:
    await choices.record(CHOICE)
    assert await choices.find("llama-1b", "127.0.0.1:8080") == CHOICE
    assert await choices.find("llama-1b", "example.com") is None
    assert await choices.find("llama-3b", "127.0.0.1:8080") is None


async def test_a_later_measurement_replaces_the_earlier_one(choices: InstructionChoices) -> None:
    await choices.record(CHOICE)
    later = replace(CHOICE, instruction="long", measured_at=CHOICE.measured_at + 1)
    await choices.record(later)
    assert await choices.find(CHOICE.model, CHOICE.host) == later


@pytest.mark.parametrize(
    ("base_url", "host"),
    [
        (None, "api.openai.com"),
        ("https://User:pw@Models.example.com/v1", "models.example.com"),
        ("http://127.0.0.1:8080/v1", "127.0.0.1:8080"),
    ],
)
def test_a_service_is_known_by_its_host_without_credentials(base_url: str | None, host: str) -> None:
    assert host_of(base_url, "openai") == host


def test_a_service_without_an_address_is_known_by_its_provider() -> None:
    assert host_of(None, "bedrock") == "bedrock"
