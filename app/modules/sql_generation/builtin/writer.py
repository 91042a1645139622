"""The built-in writer: SQL for simple questions without a model. Deterministic, without I/O."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from sqlglot import exp

from app.core.language import language_of
from app.modules.database_connection.schema import Schema
from app.modules.sql_generation.builtin.nearest import Nearby, nearest
from app.modules.sql_generation.builtin.plan import Beyond, Earliest, QueryPlan, Unclear
from app.modules.sql_generation.builtin.planning.follow_up import (
    PlannedStatement,
    change,
    extreme,
    extreme_of_shown,
    is_narrowed,
    names_rows,
    ranks_again,
    recompute,
    restate,
)
from app.modules.sql_generation.builtin.planning.intent import Planner
from app.modules.sql_generation.builtin.planning.resolving import recognise_periods
from app.modules.sql_generation.builtin.question.definitions import read_definitions
from app.modules.sql_generation.builtin.question.lexicon import Lexicon
from app.modules.sql_generation.builtin.question.misspelling import correction
from app.modules.sql_generation.builtin.question.options import Choice, choices
from app.modules.sql_generation.builtin.question.pointing import (
    is_adding,
    opens_as_follow_up,
    pointing,
    repeats_question,
    without,
)
from app.modules.sql_generation.builtin.question.preferences import require, split
from app.modules.sql_generation.builtin.question.reading import UnknownWord, read
from app.modules.sql_generation.builtin.question.rephrase import rephrase
from app.modules.sql_generation.builtin.question.roles import assign
from app.modules.sql_generation.builtin.question.small_talk import reply
from app.modules.sql_generation.builtin.question.words import Token, tokenise, tokenise_question
from app.modules.sql_generation.builtin.statement.accounting import account
from app.modules.sql_generation.builtin.statement.compose import compose
from app.modules.sql_generation.builtin.statement.explain import explain, explain_unlisted
from app.modules.sql_generation.builtin.statement.network import SchemaNetwork
from app.modules.sql_generation.linking.stored_texts import StoredTexts


@dataclass(frozen=True)
class Previous:
    """The previous turn of the conversation.

    `plan` is that of its statement; None unless this writer wrote it and the turn was answered. `columns` are
    the column names of its rows.
    """

    plan: QueryPlan | None = None
    columns: Sequence[str] = ()


@dataclass(frozen=True)
class WrittenSql:
    """One SELECT in the schema's dialect, and a sentence saying how the question was understood. `plan` is
    what a follow-up changes; None if none can.
    """

    sql: str
    explanation: str
    plan: QueryPlan | None


@dataclass(frozen=True)
class Clarification:
    """A question back to the user, and the options to choose from; may be none."""

    text: str
    options: tuple[Choice, ...] = ()


@dataclass(frozen=True)
class SmallTalk:
    """A reply that needs no data."""

    text: str


@dataclass(frozen=True)
class FromRows:
    """The rows that were already fetched answer the question."""


BuiltinAnswer = WrittenSql | Clarification | SmallTalk | FromRows

_MOST_CORRECTED = 3
_FISCAL = re.compile(r"fiscal|fy(?:\d\d|\d{4})?")
_NO_TEXTS = StoredTexts({})
_NO_TERMS: Mapping[str, str] = {}
_ABOUT_ROWS = re.compile(
    r"(?:please |can you |could you )?(?:summari[sz]e|explain|interpret|describe)"
    r"(?: (?:that|this|it|these|them|the (?:results?|rows|answer|numbers?|data)))?(?: please)?"
    r"|what (?:does|do) (?:that|this|it|these|they) (?:mean|say|tell .*)"
    r"|what (?:stands out|is (?:notable|interesting)).*"
)
_EITHER = "I cannot tell whether this is about all rows or about those of the answer before. Say of which."


def write(
    question: str,
    schema: Schema,
    *,
    stored: StoredTexts = _NO_TEXTS,
    terms: Mapping[str, str] = _NO_TERMS,
    previous: Previous | None,
    today: date,
) -> BuiltinAnswer:
    """Answer a question. `stored` are the scanned texts, in addition to the values in the schema; `terms` the
    glossary's names and their SQL.

    Raises `Beyond`, with a reason for the user, when the question is not understood well enough.
    """
    text = " ".join(token.raw for token in tokenise(question) if token.raw != ",")
    if said := reply(text, schema):
        return SmallTalk(said)
    if _ABOUT_ROWS.fullmatch(text):
        at_hand = previous is not None and previous.columns
        return FromRows() if at_hand else Clarification("There is no answer to look at yet.")
    lexicon = Lexicon(schema, stored, read_definitions(terms, schema))
    question = rephrase(question, lexicon)
    tokens = tokenise_question(question)
    _refuse_fiscal(tokens, lexicon)
    corrected: dict[str, str] = {}
    while True:
        try:
            answer = _answer(tokens, schema, lexicon, previous=previous, today=today)
            return _corrected(answer, corrected)
        except UnknownWord as unknown:
            said = correction(unknown.token, lexicon)
            if said is None or len(corrected) == _MOST_CORRECTED or language_of(question) != "en":
                raise
            corrected[unknown.token.text] = said
            question = re.sub(rf"\b{re.escape(unknown.token.text)}\b", said, question)
            tokens = tokenise_question(question)
        except Unclear as unclear:

            def understand(asked: str) -> exp.Select:
                return _planned(tokenise_question(asked), schema, lexicon, today=today).select

            return Clarification(unclear.text, choices(question, unclear, understand))


def nearest_questions(
    question: str, schema: Schema, *, stored: StoredTexts = _NO_TEXTS, today: date
) -> Iterator[Nearby]:
    """Yields questions that this writer answers, those nearest to `question` first."""
    lexicon = Lexicon(schema, stored)

    def understand(asked: str) -> str | None:
        try:
            planned = _planned(tokenise_question(asked), schema, lexicon, today=today)
        except (Beyond, Unclear):
            return None
        return _text(planned.select, schema)

    return nearest(question, schema, lexicon, today=today, understand=understand)


def _refuse_fiscal(tokens: Sequence[Token], lexicon: Lexicon) -> None:
    """Raises `Beyond` for a fiscal year or quarter, unless a column is named so."""
    for at, token in enumerate(tokens):
        after = tokens[at + 1].word if at + 1 < len(tokens) else ""
        is_fiscal = _FISCAL.fullmatch(token.raw) or (
            token.raw == "financial" and after in ("year", "quarter")
        )
        if is_fiscal and not lexicon.find(tokens[at:])[0]:
            raise Beyond("I do not know when your fiscal year begins; name the months instead.")


def _corrected(answer: WrittenSql | FromRows, corrected: Mapping[str, str]) -> WrittenSql | FromRows:
    """Adds to the explanation which words were read as others."""
    if isinstance(answer, FromRows) or not corrected:
        return answer
    said = " and ".join(f"“{word}” as “{meant}”" for word, meant in corrected.items())
    return replace(answer, explanation=f"{answer.explanation} KAI read {said}.")


def _answer(
    tokens: list[Token], schema: Schema, lexicon: Lexicon, *, previous: Previous | None, today: date
) -> WrittenSql | FromRows:
    points = pointing(tokens, lexicon)
    opening = opens_as_follow_up(tokens)
    rest = without(tokens, points)
    plan = previous.plan if previous else None
    restated = restate(rest, plan, today) if plan else rest
    shifted, rest = restated != rest, restated
    asked = extreme(rest) if points else None
    if previous is None or plan is None:
        if previous and asked and asked.column(previous.columns) is not None:
            return FromRows()
        if points or opening:
            raise Beyond(f"This refers to something before the question. {_why_unseen(previous)}")
    if previous is None:
        return _statement(_planned(tokens, schema, lexicon, today=today), schema)
    if plan is not None and (found := recompute(plan, rest, _network(plan, schema))):
        return _statement(found, schema)
    if plan is not None and asked and (found := extreme_of_shown(plan, asked, _network(plan, schema))):
        return _statement(found, schema)
    roles = assign(read(split(rest, lexicon)[0], lexicon, today))
    incomplete = shifted or roles.is_fragment or (roles.counts and not (roles.counted or roles.free))
    if not (points or opening or incomplete):
        narrowed = plan is None or is_narrowed(plan)
        repeats = plan is not None and plan.is_list and is_narrowed(plan) and ranks_again(roles, plan.base)
        if (narrowed and not names_rows(roles)) or repeats:
            raise Beyond(_EITHER)
        return _statement(_planned(tokens, schema, lexicon, today=today), schema)
    if plan is None:
        raise Beyond(f"This is not a complete question. {_why_unseen(previous)}")
    network = _network(plan, schema)
    about_rows = bool(points) and not repeats_question(tokens)
    return _statement(change(plan, roles, network, points=about_rows, adds=is_adding(tokens)), schema)


def _network(plan: QueryPlan, schema: Schema) -> SchemaNetwork:
    return SchemaNetwork(schema, plan.preferences)


def _why_unseen(previous: Previous | None) -> str:
    if previous is None:
        return "Nothing was asked before. Ask the whole question."
    if previous.columns:
        return "I cannot build on the answer before. Ask the whole question."
    return "The question before was not answered. Ask the whole question."


def _statement(found: PlannedStatement, schema: Schema) -> WrittenSql:
    return WrittenSql(_text(found.select, schema), found.explanation, found.plan)


def _text(select: exp.Select, schema: Schema) -> str:
    """Returns the text of a statement. Names its tables as the database does."""
    schema.names.put_written(select)
    return select.sql(dialect=schema.dialect, pretty=True)


def _planned(tokens: list[Token], schema: Schema, lexicon: Lexicon, *, today: date) -> PlannedStatement:
    """Returns the statement of a question that is no follow-up."""
    asked, preferences = split(tokens, lexicon)
    network = SchemaNetwork(schema, preferences)
    items = recognise_periods(read(asked, lexicon, today), network)
    planner = Planner(network, assign(items))
    query = replace(planner.plan(), through=planner.anchors, preferences=preferences)
    select = compose(query, network)
    account(items, query, select, network=network)
    require(preferences, select)
    explanation = explain(query) + explain_unlisted(query, network)
    can_change = not (
        query.change or query.within or any(isinstance(one, Earliest) for one in query.conditions)
    )
    return PlannedStatement(select, explanation, query if can_change else None)
