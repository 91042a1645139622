"""A model's analysis, checked against the rows: sent back once, then without what they contradict."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from datetime import date

import pytest
from prometheus_client import CollectorRegistry

from app.core.llm.calls import ModelCalls
from app.core.llm.model import LanguageModel
from app.modules.analysis import analyst
from app.modules.analysis.analyst import FiguresAnalyst, ModelAnalyst
from app.modules.analysis.figures import Span
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
RIGHT = "**Clothing** leads with 193,834.08. Tents has 150,000.50."
WRONG = "**Clothing** leads with 193,834.08. Tents has 193,834.08."


class NoBackground:
    async def span(self, sql: str) -> Span | None:
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


async def analysed(model: LanguageModel, said: list[SessionEvent] | None = None) -> Analysed:
    figures = FiguresAnalyst("sqlite", NoBackground(), date(2026, 7, 1))
    events: list[SessionEvent] = [] if said is None else said
    question = Question(text="Revenue by category")
    return await ModelAnalyst(model, figures).analyse(question, SQL, ROWS, emit=events.append)


def statuses(read: Analysed) -> set[str]:
    return {claim["status"] for claim in read.analysis.claims}


async def test_a_true_analysis_is_asked_for_once(server: ScriptedModel, model: LanguageModel) -> None:
    server.say(RIGHT)
    read = await analysed(model)
    assert read.analysis.text == RIGHT
    assert statuses(read) == {"checked"}
    assert len(server.requests) == 1


async def test_what_the_rows_contradict_is_put_right_by_the_model(
    server: ScriptedModel, model: LanguageModel
) -> None:
    server.say(WRONG, RIGHT)
    said: list[SessionEvent] = []
    read = await analysed(model, said)
    assert read.analysis.text == RIGHT
    assert "revenue of Tents is 150,000.50" in server.requests[-1].text
    assert "".join(event.content for event in said if isinstance(event, TextChunk)) == WRONG


async def test_the_pieces_of_an_analysis_are_its_text(server: ScriptedModel, model: LanguageModel) -> None:
    """Clients that have shown the pieces do not show the text again."""
    text = RIGHT.replace(" Tents", "\n\nTents")
    server.say(f"\n {text} \n\n")
    said: list[SessionEvent] = []
    read = await analysed(model, said)
    pieces = [event.content for event in said if isinstance(event, TextChunk)]
    assert len(pieces) > 2
    assert "".join(pieces) == read.analysis.text == text


async def test_the_tokens_of_both_calls_count(server: ScriptedModel, model: LanguageModel) -> None:
    server.say(RIGHT)
    once = (await analysed(model)).tokens_used
    server.say(WRONG, RIGHT)
    assert (await analysed(model)).tokens_used > once


async def test_what_the_model_leaves_wrong_is_taken_out_and_named(
    server: ScriptedModel, model: LanguageModel
) -> None:
    server.say(WRONG, WRONG)
    read = await analysed(model)
    body, _, closing = read.analysis.text.partition("\n\n")
    assert body == "**Clothing** leads with 193,834.08."
    assert "the rows say otherwise" in closing
    assert "revenue of Tents is 150,000.50" in closing
    assert len(server.requests) == 2
    (left_out,) = [claim for claim in read.analysis.claims if claim["status"] == "contradicted"]
    start, end = left_out["span"]
    assert read.analysis.text[start:end] == left_out["text"] == "193,834.08"
    assert start > len(body)


async def test_without_the_second_call_it_is_taken_out_all_the_same(
    server: ScriptedModel, model: LanguageModel
) -> None:
    server.say(WRONG, Scripted("", status=500))
    read = await analysed(model)
    assert read.analysis.text.startswith("**Clothing** leads with 193,834.08.\n\n")


async def test_a_text_of_which_nothing_is_left_becomes_the_figures(
    server: ScriptedModel, model: LanguageModel
) -> None:
    server.say("Tents has 193,834.08.", "Tents has 193,834.08.")
    read = await analysed(model)
    assert read.analysis.text.startswith("**Clothing** has the highest revenue")


async def test_every_span_is_that_of_its_words(server: ScriptedModel, model: LanguageModel) -> None:
    server.say("🎉 **Clothing** leads with *193,834.08*, Tents has 150,000.50.")
    read = await analysed(model)
    assert read.analysis.claims
    for claim in read.analysis.claims:
        start, end = claim["span"]
        assert read.analysis.text[start:end] == claim["text"]


FAILURES = {
    "unavailable": (Scripted(status=500), "busy or broken (500)"),
    "rejected": (Scripted(status=401), "KAI_LLM__API_KEY"),
    "cut": (Scripted("**Tents** lead with", ending="cut"), ""),
}


@pytest.mark.parametrize("failure", FAILURES)
async def test_a_model_that_fails_leaves_the_figures_and_the_text_says_what_is_missing(
    server: ScriptedModel, model: LanguageModel, failure: str
) -> None:
    reply, why = FAILURES[failure]
    server.rule("", reply)
    said: list[SessionEvent] = []
    read = await analysed(model, said)
    _says_what_is_missing(read, said, why)
    pieces = "".join(event.content for event in said if isinstance(event, TextChunk))
    assert pieces == (read.analysis.text if failure != "cut" else "**Tents** lead with")


async def test_a_model_that_is_too_slow_leaves_the_figures(
    server: ScriptedModel, model: LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analyst, "MODEL_SECONDS", 1)
    server.say(Scripted(RIGHT, hold_after=2))
    said: list[SessionEvent] = []
    async with asyncio.timeout(60):
        read = await analysed(model, said)
    _says_what_is_missing(read, said, "The model did not finish within 1 s.")


async def test_a_correction_that_is_too_slow_leaves_what_the_rows_do_not_contradict(
    server: ScriptedModel, model: LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analyst, "MODEL_SECONDS", 5)
    server.say(WRONG, Scripted(RIGHT, hold_after=0))
    async with asyncio.timeout(60):
        read = await analysed(model)
    assert read.analysis.text.startswith("**Clothing** leads with 193,834.08.\n\n")


async def test_a_chart_that_cannot_be_made_leaves_the_text(
    server: ScriptedModel,
    model: LanguageModel,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(analyst, "choose_chart", fail)
    server.say(RIGHT)
    read = await analysed(model)
    assert (read.analysis.text, read.analysis.chart) == (RIGHT, None)
    assert read.analysis.suggestions
    assert "no chart could be made" in caplog.text


def _says_what_is_missing(read: Analysed, said: list[SessionEvent], why: str) -> None:
    text, _, closing = read.analysis.text.partition("\n\n**The model's reading is missing:** ")
    assert "Clothing" in text
    assert "193,834.08" in text
    assert why in closing
    assert closing.endswith("The analysis comes from the figures alone.")
    assert read.analysis.chart is not None
    assert statuses(read) == {"checked"}
    assert read.results_summary
    (notice,) = [event for event in said if isinstance(event, Failure)]
    assert why in notice.detail
