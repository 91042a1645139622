"""An analysis of which a model chooses the statements, and KAI writes them."""

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator
from datetime import date

import pytest
from prometheus_client import CollectorRegistry

from app.core.llm.calls import ModelCalls
from app.core.llm.model import LanguageModel
from app.modules.analysis import analyst
from app.modules.analysis.analyst import FiguresAnalyst, ModelAnalyst
from app.modules.analysis.figures import DataSpan
from graph.events import Failure, SessionEvent, TextChunk
from graph.ports import Analysed, Question
from graph.state import Column, Rows
from tests.support.model_script import Scripted
from tests.support.model_settings import SCRIPTED
from tests.support.scripted_model import ScriptedModel, scripted_model

SQL = "SELECT category, SUM(amount) AS revenue FROM sales GROUP BY category ORDER BY revenue DESC"
ROWS = Rows(
    columns=[Column(name="category", type="text"), Column(name="revenue", type="number")],
    rows=[["Clothing", 193834.08], ["Tents", 150000.5], ["Shoes", 50000.25]],
    row_count=3,
    truncated=False,
)
HIGHEST = "**Clothing** has the highest revenue: 193,834.08, 49.2% of the total of 393,834.83."
SECOND = "Tents is second by revenue with 150,000.50."


class NoBackground:
    async def span(self, sql: str) -> DataSpan | None:
        return None

    async def keys(self, sql: str) -> frozenset[str]:
        return frozenset()


@pytest.fixture
async def server() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as model:
        yield model


@pytest.fixture
async def model(server: ScriptedModel) -> AsyncIterator[LanguageModel]:
    settings = dataclasses.replace(SCRIPTED, base_url=server.base_url)
    model = LanguageModel(settings, ModelCalls(CollectorRegistry()))
    yield model
    await model.close()


async def analysed(
    model: LanguageModel, said: list[SessionEvent] | None = None, *, asked: str = "Revenue by category"
) -> Analysed:
    figures = FiguresAnalyst("sqlite", NoBackground(), date(2026, 7, 1))
    events: list[SessionEvent] = [] if said is None else said
    question = Question(text=asked)
    return await ModelAnalyst(model, figures).analyse(question, SQL, ROWS, emit=events.append)


def choice(*facts: str, reading: str = "") -> str:
    return json.dumps({"facts": facts, "reading": reading})


async def test_the_chosen_statements_are_the_text(server: ScriptedModel, model: LanguageModel) -> None:
    server.say(choice("f2", "f1", reading="A look at the season may help."))
    read = await analysed(model)
    assert read.analysis.text == f"{SECOND} {HIGHEST}\n\n*Reading:* A look at the season may help."
    assert read.analysis.headline == "Tents is second by revenue with 150,000.50"
    assert read.analysis.left_out == []
    assert len(server.requests) == 1
    assert read.tokens_used > 100


@pytest.mark.parametrize(
    ("asked", "statement", "reading"),
    [
        (
            "Umsatz nach Kategorie",
            "Tents liegt bei Revenue auf Platz zwei: 150.000,50.",
            "*Einordnung:* Die Saison hilft.",
        ),
        (
            "Ingresos por categoría",
            "Tents tiene el segundo valor más alto de revenue: 150.000,50.",
            "*Lectura:* Die Saison hilft.",
        ),
        (
            "Revenus par catégorie",
            "Tents a la deuxième plus haute valeur de revenue\xa0: 150\u202f000,50.",
            "*Lecture\xa0:* Die Saison hilft.",
        ),
    ],
    ids=["German", "Spanish", "French"],
)
async def test_statements_are_in_the_language_of_the_question(
    server: ScriptedModel, model: LanguageModel, *, asked: str, statement: str, reading: str
) -> None:
    server.say(choice("f2", reading="Die Saison hilft."))
    analysis = (await analysed(model, asked=asked)).analysis
    assert analysis.text == f"{statement}\n\n{reading}"
    (reference,) = analysis.references
    assert analysis.text[slice(*reference["span"])] == statement


async def test_every_span_is_that_of_its_statement_and_has_its_cells(
    server: ScriptedModel, model: LanguageModel
) -> None:
    server.say(choice("f2", "f1"))
    read = await analysed(model)
    spanned = [read.analysis.text[slice(*each["span"])] for each in read.analysis.references]
    assert spanned == [SECOND, HIGHEST]
    second = read.analysis.references[0]
    assert (second["value"], second["cells"]) == ("150000.5", [{"row": 1, "column": "revenue"}])


async def test_nothing_is_emitted_before_the_choice_has_ended(
    server: ScriptedModel, model: LanguageModel
) -> None:
    server.say(Scripted(choice("f1", "f2"), hold_after=1))
    said: list[SessionEvent] = []
    asked = asyncio.create_task(analysed(model, said))
    await server.until(lambda: server.on_hold == 1)
    assert said == []
    server.release()
    read = await asked
    assert [event.content for event in said if isinstance(event, TextChunk)] == [read.analysis.text]


async def test_the_model_reads_numbered_statements_and_no_rows(
    server: ScriptedModel, model: LanguageModel
) -> None:
    server.say(choice("f1"))
    await analysed(model)
    (asked,) = server.requests
    assert f"f1 = {HIGHEST.replace('**', '')}" in asked.text
    assert "category (text): Clothing, Tents, Shoes" in asked.text
    assert '["Clothing"' not in asked.text


async def test_a_fact_that_the_sheet_lacks_is_called_for(server: ScriptedModel, model: LanguageModel) -> None:
    server.say(choice('gap(revenue, category="Tents", category="Shoes")'))
    read = await analysed(model)
    assert read.analysis.text.startswith("Tents is 100,000.25 ahead of Shoes in revenue")


async def test_prose_with_figures_is_never_shown(server: ScriptedModel, model: LanguageModel) -> None:
    server.say("**Tents** leads with 193,834.08, and revenue fell by 12 %.")
    read = await analysed(model)
    assert read.analysis.text.startswith(HIGHEST)
    assert "12 %" not in read.analysis.text
    assert read.analysis.left_out == ["These statements are KAI's own choice."]


async def test_what_is_left_out_is_said_with_its_reason(server: ScriptedModel, model: LanguageModel) -> None:
    server.say(choice("f1", "total(profit)", reading="Revenue rose by a third."))
    read = await analysed(model)
    assert read.analysis.text == HIGHEST
    assert [each.partition(":")[0] for each in read.analysis.left_out] == [
        "A statement that the model named is left out",
        "A sentence of the model is left out",
    ]


async def test_an_object_is_asked_for_by_its_schema_where_the_model_takes_one(server: ScriptedModel) -> None:
    settings = dataclasses.replace(SCRIPTED, base_url=server.base_url, reply_format="json_schema")
    model = LanguageModel(settings, ModelCalls(CollectorRegistry()))
    server.say(choice("f2"))
    read = await analysed(model)
    await model.close()
    assert read.analysis.text == SECOND
    assert "choose_statements" in json.dumps(server.requests[0].body["response_format"])


FAILURES = {
    "unavailable": (Scripted(status=500), "busy or broken (500)"),
    "rejected": (Scripted(status=401), "KAI_LLM__API_KEY"),
    "cut": (Scripted('{"facts": ["f2"', ending="cut"), ""),
}


@pytest.mark.parametrize("failure", FAILURES)
async def test_a_model_that_fails_leaves_the_order_of_the_sheet_and_the_text_says_what_is_missing(
    server: ScriptedModel, model: LanguageModel, failure: str
) -> None:
    reply, why = FAILURES[failure]
    server.rule("", reply)
    said: list[SessionEvent] = []
    read = await analysed(model, said)
    _says_what_is_missing(read, said, why)


async def test_a_model_that_is_too_slow_leaves_the_order_of_the_sheet(
    server: ScriptedModel, model: LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analyst, "MODEL_SECONDS", 1)
    server.say(Scripted(choice("f1"), hold_after=0))
    said: list[SessionEvent] = []
    async with asyncio.timeout(60):
        read = await analysed(model, said)
    _says_what_is_missing(read, said, "The model did not finish within 1 s.")


async def test_a_chart_that_cannot_be_made_leaves_the_text(
    server: ScriptedModel,
    model: LanguageModel,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(analyst, "proposed_chart", fail)
    server.say(choice("f1"))
    read = await analysed(model)
    assert (read.analysis.text, read.analysis.chart) == (HIGHEST, None)
    assert read.analysis.suggestions
    assert "no chart could be made" in caplog.text


def _says_what_is_missing(read: Analysed, said: list[SessionEvent], why: str) -> None:
    text, _, closing = read.analysis.text.partition("\n\n**The model's choice is missing:** ")
    assert text.startswith(HIGHEST)
    assert why in closing
    assert closing.endswith("These statements are KAI's own choice.")
    assert read.analysis.chart is not None
    assert [read.analysis.text[slice(*each["span"])] for each in read.analysis.references]
    assert read.results_summary
    assert "".join(event.content for event in said if isinstance(event, TextChunk)) == read.analysis.text
    (notice,) = [event for event in said if isinstance(event, Failure)]
    assert why in notice.detail
