"""Context of a question for a model: business entries, schema, and stored texts."""

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.modules.prompt_sections import sections
from app.modules.sql.statement import statement_of
from app.modules.sql_generation.business import Business, glossary, house_rules, precedents
from app.modules.sql_generation.linking.cards import named_samples, quoted
from app.modules.sql_generation.linking.mentions import StoredTextMention
from app.modules.sql_generation.linking.words import words_of
from app.modules.sql_generation.schema_index import SchemaIndex
from app.modules.sql_generation.schema_linking import link
from graph.ports import Question
from graph.state import Context


def conversation_of(question: Question) -> list[str]:
    """Returns the questions of the conversation, oldest first."""
    return [question.summary or "", *(each["query"] for each in question.exchanges), question.text]


def context_for(
    question: Question,
    index: SchemaIndex,
    business: Business,
    *,
    budget_tokens: int,
    near: Sequence[str] = (),
) -> Context:
    """Returns the context that a model gets with the question.

    `budget_tokens` limits the schema; the other parts have small limits of their own. The parts that depend
    least on the question come first, so that a provider's prompt cache can hold them: a schema that fits,
    then the house rules. `near` are the tables that an embedding model found, nearest first.
    """
    conversation = conversation_of(question)
    asked = frozenset(words_of(question.text))
    at_hand = tables_read(question.previous_sql or "", index)
    linked = link(index, conversation, at_hand, budget_tokens=budget_tokens, near=near)
    shown = [index.tables[name] for name in linked.tables]
    return Context(
        schema=sections([("Schema", linked.cards), ("House rules", house_rules(business, linked.tables))]),
        details=sections(
            [
                ("Glossary", glossary(business, conversation)),
                (
                    "How columns that the question names are written",
                    "\n".join(named_samples(shown, index.stored.texts, asked)),
                ),
                ("Stored values that may be meant", "\n".join(map(_meant, linked.mentions))),
            ]
        ),
        precedents=precedents(business, conversation),
    )


def tables_read(sql: str, index: SchemaIndex) -> list[str]:
    """Returns the tables of the schema that a statement reads. Empty for a statement that cannot be
    parsed.
    """
    names = index.names
    try:
        statement = statement_of(sql, names.dialect).folded
    except (SqlglotError, RecursionError):
        return []
    read = {each.name for each in statement.find_all(exp.Table)}
    return [name for folded, name in names.tables.items() if folded in read]


def _meant(mention: StoredTextMention) -> str:
    places = ", ".join(f"{each.table}.{each.column} = {quoted([each.text])}" for each in mention.places)
    return f"{mention.said!r}: {'' if mention.exact else 'perhaps '}{places}"
