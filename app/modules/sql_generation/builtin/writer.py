"""The built-in writer: simple questions to SQL without a model. Pure: no I/O, the same answer every time."""

import re
from dataclasses import dataclass
from datetime import date

from sqlglot import exp

from app.modules.database_connection.schema import Schema
from app.modules.sql_generation.builtin.accounting import account
from app.modules.sql_generation.builtin.compose import compose
from app.modules.sql_generation.builtin.explain import explain
from app.modules.sql_generation.builtin.follow_up import edit
from app.modules.sql_generation.builtin.intent import Planner
from app.modules.sql_generation.builtin.linking import Lexicon
from app.modules.sql_generation.builtin.network import Network
from app.modules.sql_generation.builtin.options import Choice, choices
from app.modules.sql_generation.builtin.plan import Beyond, Unclear
from app.modules.sql_generation.builtin.preferences import split
from app.modules.sql_generation.builtin.reading import read
from app.modules.sql_generation.builtin.roles import assign
from app.modules.sql_generation.builtin.small_talk import reply
from app.modules.sql_generation.builtin.words import Token, tokenise
from app.modules.sql_generation.linking.stored_texts import StoredTexts


@dataclass(frozen=True)
class Previous:
    """The last answered data question: its statement, by whomever it was written."""

    sql: str


@dataclass(frozen=True)
class Statement:
    """One SELECT in the schema's dialect, and a sentence saying how the question was understood."""

    sql: str
    explanation: str


@dataclass(frozen=True)
class Clarification:
    """A question back to the user, and what to choose from; nothing when there is no answer to speak of."""

    text: str
    options: tuple[Choice, ...] = ()


@dataclass(frozen=True)
class SmallTalk:
    """A reply that needs no data."""

    text: str


@dataclass(frozen=True)
class FromRows:
    """The rows already fetched answer the question."""


BuiltinAnswer = Statement | Clarification | SmallTalk | FromRows

_NO_TEXTS = StoredTexts({})
_ABOUT_ROWS = re.compile(
    r"(?:please |can you |could you )?(?:summari[sz]e|explain|interpret|describe)"
    r"(?: (?:that|this|it|these|them|the (?:results?|rows|answer|numbers?|data)))?(?: please)?"
    r"|what (?:does|do) (?:that|this|it|these|they) (?:mean|say|tell .*)"
    r"|which (?:of (?:these|them|those)|one).*|what (?:stands out|is (?:notable|interesting)).*"
)
_CONTINUING = re.compile(r"(?:and|only|just|now|what about|how about|instead|same|then)\b|.*\binstead$")
_REFERRING = re.compile(
    r"(?:and|what about|how about|instead|same)\b.*|(?:.* )?(?:it|them|those|these|instead)(?: .*)?"
    r"|(?:(?:what|which|who|is|are|was|were|show|list|find|give|tell|me|us|please|just|all|the|also) )*"
    r"(?:its|their|his|her) .*"
)


def write(
    question: str,
    schema: Schema,
    *,
    stored: StoredTexts = _NO_TEXTS,
    previous: Previous | None,
    today: date,
) -> BuiltinAnswer:
    """`stored` are the texts that a scan has found, beyond those of the schema's own columns of few values.

    Raises `Beyond`, whose reason is for the user, when the question is not understood well enough."""
    tokens = tokenise(question)
    text = " ".join(token.raw for token in tokens if token.raw != ",")
    if said := reply(text, schema):
        return SmallTalk(said)
    if _ABOUT_ROWS.fullmatch(text):
        return FromRows() if previous else Clarification("There is no answer to look at yet.")
    lexicon = Lexicon(schema, stored)
    try:
        return _statement(tokens, text, schema, lexicon, previous, today)
    except Unclear as unclear:

        def understand(asked: str) -> exp.Select:
            return _planned(tokenise(asked), schema, lexicon, today)[0]

        return Clarification(unclear.text, choices(question, unclear, understand))


def _statement(
    tokens: list[Token],
    text: str,
    schema: Schema,
    lexicon: Lexicon,
    previous: Previous | None,
    today: date,
) -> Statement:
    continuing = bool(_CONTINUING.match(text))
    roles = assign([said.item for said in read(split(tokens, lexicon)[0], lexicon, today)])
    if previous and (continuing or roles.is_fragment):
        select, explanation = edit(previous.sql, roles, Network(schema))
    elif _REFERRING.fullmatch(text):
        raise Beyond("The question refers to something before it that I cannot see.")
    else:
        select, explanation = _planned(tokens, schema, lexicon, today)
    return Statement(select.sql(dialect=schema.dialect, pretty=True), explanation)


def _planned(tokens: list[Token], schema: Schema, lexicon: Lexicon, today: date) -> tuple[exp.Select, str]:
    """The statement of a question that stands alone, and how it was understood."""
    asked, preferences = split(tokens, lexicon)
    network = Network(schema, preferences)
    said = read(asked, lexicon, today)
    planner = Planner(network, assign([one.item for one in said]))
    query = planner.plan()
    select = compose(query, network, planner.anchors)
    account(said, query, select, network)
    preferences.check(select)
    return select, explain(query)
