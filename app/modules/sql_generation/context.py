"""Context of a question for a model: business entries, schema, and stored texts."""

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.modules.prompts.sections import ALL_ALLOWED, ContextFilter
from app.modules.sql.statement import statement_of
from app.modules.sql_generation.business import Business, glossary, house_rules, precedents
from app.modules.sql_generation.linking.cards import named_samples, quoted
from app.modules.sql_generation.linking.mentions import StoredTextMention
from app.modules.sql_generation.linking.words import words_of
from app.modules.sql_generation.schema_index import SchemaIndex
from app.modules.sql_generation.schema_linking import Linked, link
from graph.ports import Question
from graph.state import MAX_USED_TABLES, Context, UsedContext


def conversation_of(question: Question) -> list[str]:
    """Returns the questions of the conversation, oldest first."""
    earlier = [each["query"] for each in question.exchanges]
    unfinished = [question.unfinished["question"]] if question.unfinished else []
    return [question.summary or "", *earlier, *unfinished, question.text]


def linked_for(
    question: Question, index: SchemaIndex, *, budget_tokens: int, near: Sequence[str] = ()
) -> Linked:
    """Returns the tables that the context of a question shows."""
    at_hand = tables_read(question.previous_sql or "", index)
    return link(index, conversation_of(question), at_hand, budget_tokens=budget_tokens, near=near)


def context_for(
    question: Question,
    index: SchemaIndex,
    business: Business,
    *,
    budget_tokens: int,
    near: Sequence[str] = (),
    linked: Linked | None = None,
    allowed: ContextFilter = ALL_ALLOWED,
) -> Context:
    """Returns the context that a model gets with the question.

    `budget_tokens` limits the schema; the other parts have small limits of their own. The parts that depend
    least on the question come first, so that a provider's prompt cache can hold them: a schema that fits,
    then the house rules. `near` are the tables that an embedding model found, nearest first.
    `linked` are the tables of `linked_for` with the same arguments, if they are at hand.
    """
    conversation = conversation_of(question)
    asked = frozenset(words_of(question.text))
    if linked is None:
        linked = linked_for(question, index, budget_tokens=budget_tokens, near=near)
    shown = [index.tables[name] for name in linked.tables]
    rules = house_rules(business, linked.tables)
    terms = glossary(business, conversation)
    examples = precedents(business, conversation, index.fault)
    knows = allowed.allows("knowledge")
    schema = allowed.sections(
        [
            ("schema", "Schema", linked.cards),
            ("knowledge", "House rules", rules.shown),
        ]
    )
    samples = named_samples(shown, index.stored.texts, asked)
    mentions = [_meant(each) for each in linked.mentions]
    return Context(
        schema="\n\n".join(filter(None, [schema, allowed.withheld])),
        details=allowed.sections(
            [
                ("knowledge", "Glossary", terms.shown),
                ("values", "How columns that the question names are written", "\n".join(samples)),
                ("values", "Stored values that may be meant", "\n".join(mentions)),
            ]
        ),
        precedents=examples.shown if knows else [],
        page="",
        rules="",
        rules_left_out=[],
        used=UsedContext(
            tables=list(linked.tables[:MAX_USED_TABLES]) if allowed.allows("schema") else [],
            terms=terms.ids if knows else [],
            instructions=rules.ids if knows else [],
            examples=examples.ids if knows else [],
        ),
    )


def tables_read(sql: str, index: SchemaIndex) -> list[str]:
    """Returns the tables of the schema that a statement reads. Empty for a statement that cannot be
    parsed.
    """
    if not sql:
        return []
    names = index.names
    try:
        statement = statement_of(sql, names.dialect).folded
    except (SqlglotError, RecursionError):
        return []
    read = {names.table_names.find(each) for each in statement.find_all(exp.Table)}
    return [name for name in names.table_names if name in read]


def _meant(mention: StoredTextMention) -> str:
    places = ", ".join(f"{each.table}.{each.column} = {quoted([each.text])}" for each in mention.places)
    return f"{mention.said!r}: {'' if mention.exact else 'perhaps '}{places}"
