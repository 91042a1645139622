"""A reader's words about a chart, as a model reads them where the form's words do not suffice."""

import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

from pydantic import JsonValue

from app.core.llm.errors import ReplyTooDeep
from app.core.llm.model import LanguageModel, ModelRejected, ModelUnavailable, PromptMessage
from app.core.llm.reply_schema import ReplySchema
from app.modules.analysis.chart.choice import (
    ChartChoice,
    ChosenMark,
    ChosenUnit,
    NumberFormat,
    Sort,
)
from app.modules.analysis.chart.specification import mapping
from app.modules.analysis.chart.stored import read_choice
from app.modules.analysis.chart.words import ReadWords, set_fields
from app.modules.analysis.computed.option import OptionKind
from app.modules.analysis.figures.aggregates import Aggregate
from app.modules.analysis.words import plain_label
from app.modules.prompts.sections import sections
from graph.state import Column

logger = logging.getLogger(__name__)

_INSTRUCTIONS = (Path(__file__).parent / "prompts" / "chart_words.md").read_text(encoding="utf-8")
_MOST_COLUMNS = 60
_LONGEST_NAME = 80
_LONGEST_QUOTE = 200
_SHOWN = ("mark", "across", "values", "series", "time", "sort", "limit", "marks")


def _one_of(values: Sequence[str]) -> JsonValue:
    return {"type": ["string", "null"], "enum": [*values, None]}


def _object(**properties: JsonValue) -> JsonValue:
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


_NUMBER: JsonValue = {"type": ["integer", "null"]}
_TRUTH: JsonValue = {"type": ["boolean", "null"]}
_TEXT: JsonValue = {"type": ["string", "null"]}
_QUOTES: JsonValue = {"type": "array", "items": {"type": "string"}}

_SCHEMA = ReplySchema(
    "change_chart",
    "Changes how a chart is drawn.",
    {
        "mark": _one_of(get_args(ChosenMark)),
        "across": _NUMBER,
        "values": {
            "type": ["array", "null"],
            "items": _object(column={"type": "integer"}, how=_one_of(get_args(Aggregate))),
        },
        "series": _NUMBER,
        "time": _one_of(get_args(ChosenUnit)),
        "sort": _one_of(get_args(Sort)),
        "limit": _NUMBER,
        "share": _TRUTH,
        "facet": _TRUTH,
        "labels": _TRUTH,
        "color": _TEXT,
        "format": _one_of(get_args(NumberFormat)),
        "unit": _TEXT,
        "title": _TEXT,
        "computed": {
            "anyOf": [{"type": "null"}, _object(kind=_one_of(get_args(OptionKind)), window=_NUMBER)]
        },
        "specification": _TEXT,
        "take_back": _QUOTES,
        "not_understood": _QUOTES,
    },
)


class ChartWordsModel:
    """Reads words about charts by a model, which reads no rows."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    async def read(
        self,
        words: str,
        columns: Sequence[Column],
        *,
        present: ChartChoice | None,
        shown: Mapping[str, JsonValue],
    ) -> ReadWords | None:
        """The choice that the words make of the present one. `shown` is the note of the chart as it is.

        The model reads the names and types of the columns and the present choice. Returns None if it fails.
        """
        prompt = _messages(words, columns, present=present, shown=shown)
        try:
            reply = await self._model.reply_by_schema(lambda _: prompt, _SCHEMA, lambda _: None)
            found = next(iter(_SCHEMA.read_objects(reply.text)), None)
        except (ModelUnavailable, ModelRejected, ReplyTooDeep) as error:
            logger.warning("words about a chart were not read by the model: %s", error)
            return None
        return None if found is None else _choice_of(found, present, columns=len(columns))


def _messages(
    words: str,
    columns: Sequence[Column],
    *,
    present: ChartChoice | None,
    shown: Mapping[str, JsonValue],
) -> list[PromptMessage]:
    listed = [
        f"{at} = {plain_label(each['name'], _LONGEST_NAME)} ({each['type']})"
        for at, each in enumerate(columns[:_MOST_COLUMNS])
    ]
    chart = {name: shown[name] for name in _SHOWN if name in shown}
    chosen = {} if present is None else present.model_dump(mode="json")
    parts = {
        "Columns": "\n".join(listed),
        "Chart": json.dumps(chart, ensure_ascii=False),
        "Chosen so far": json.dumps(chosen, ensure_ascii=False),
        "Wish": words,
    }
    return [PromptMessage("system", _INSTRUCTIONS), PromptMessage("user", sections(parts.items()))]


def _choice_of(reply: Mapping[str, JsonValue], present: ChartChoice | None, *, columns: int) -> ReadWords:
    """The choice with what is valid of a reply, and what the reply or KAI did not understand."""
    unknown = [plain_label(each, _LONGEST_QUOTE) for each in _texts(reply.get("not_understood"))]
    fields: dict[str, JsonValue] = {
        name: None for name in _texts(reply.get("take_back")) if name in ChartChoice.model_fields
    }
    for name in ChartChoice.model_fields:
        value = reply.get(name)
        if value is None:
            continue
        if name == "specification":
            value = _specification(value)
        choice = read_choice({name: value})
        if choice is None or not _has_columns(choice, columns):
            unknown.append(name)
        else:
            fields |= mapping(choice.model_dump(mode="json"))
    return ReadWords(set_fields(present, fields), unknown)


def _specification(value: JsonValue) -> JsonValue:
    try:
        return dict(mapping(json.loads(value))) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return None


def _has_columns(choice: ChartChoice, columns: int) -> bool:
    used = [choice.across, choice.series, *(each.column for each in choice.values or ())]
    return all(at is None or at < columns for at in used)


def _texts(value: JsonValue) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
