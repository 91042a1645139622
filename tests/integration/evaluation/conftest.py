"""A small shop to be asked about, a scripted model, and question sets made of it."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from pydantic import JsonValue

from app.evaluation.question_set import QuestionSelection
from app.evaluation.results import QuestionOutcome, System, read_results
from app.evaluation.run import Evaluation, evaluate
from tests.support.scripted_model import ScriptedModel, scripted_model
from tests.support.shop import make_shop

Line = Mapping[str, JsonValue]


class Shop:
    """Evaluations of one folder, with the settings of the test alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = make_shop(folder / "shop.db")
        self.output = folder / "results.jsonl"

    def write(self, *lines: Line) -> Path:
        """A question set; questions without an id or a gold get one."""
        common = {"question": "?", "gold_sql": "select count(*) from customers"}
        path = self.folder / "set.jsonl"
        path.write_text(
            "".join(f"{json.dumps({'id': str(at), **common, **line})}\n" for at, line in enumerate(lines))
        )
        return path

    async def evaluate(
        self,
        *lines: Line,
        database: str | None = None,
        fresh: bool = False,
        jobs: int | None = None,
        system: System = "kai",
    ) -> list[QuestionOutcome]:
        questions = self.write(*lines)
        wanted = Evaluation(
            questions=questions,
            database=database or str(self.database),
            output=self.output,
            selection=QuestionSelection(),
            mode="exact",
            jobs=jobs,
            fresh=fresh,
            system=system,
        )
        await evaluate(wanted)
        return list(read_results(self.output).outcomes.values())


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    for name in os.environ:
        if name.startswith(("KAI_", "OPENAI_")):
            monkeypatch.delenv(name)
    return Shop(tmp_path)


@pytest.fixture
def model(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedModel]:
    """The model that the shop's questions are put to."""
    with scripted_model() as scripted:
        monkeypatch.setenv("KAI_LLM__BASE_URL", scripted.base_url)
        monkeypatch.setenv("KAI_LLM__MODEL", "scripted")
        monkeypatch.setenv("KAI_TUNING__LLM__MAX_RETRIES", "0")
        yield scripted
