"""Greetings, thanks and "what can you do", answered with what data there is and what could be asked of it."""

import re

from app.modules.database_connection.schema import Schema, Table
from app.modules.sql_generation.builtin.network import Network
from app.modules.sql_generation.builtin.words import words_of

_NAMED_TABLES = 12
_GREETING = re.compile(
    r"(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|greetings)(?: (?:there|kai|all|everyone))?"
    r"(?: how are you)?"
)
_THANKS = re.compile(
    r"(?:(?:ok|okay|great|cool|nice|perfect|no) )?(?:thanks|thank you|thx|cheers)"
    r"(?: (?:a lot|so much|very much|kai))?"
    r"|(?:ok|okay|great|cool|nice|perfect|bye|goodbye)"
)
_HELP = re.compile(
    r"help(?: me)?|who are you|what are you|what (?:can|could) (?:you do|i ask)(?: .*)?"
    r"|how (?:does this|do you) work"
    r"|what (?:data|tables|information)(?: .*)?(?:have|there|available|exist|know|contain)"
    r"|(?:show|list|describe)(?: me)?(?: (?:the|all|your))* (?:tables|schema|database|data)"
)


def reply(text: str, schema: Schema) -> str | None:
    """The reply to small talk; None when `text` (lower case, without punctuation) is something else."""
    if not text:
        return f"Ask a question about the data. {_offer(schema)}"
    if _GREETING.fullmatch(text):
        return f"Hello! {_offer(schema)}"
    if _HELP.fullmatch(text):
        return f"I turn simple questions into SQL. {_offer(schema)}"
    return "You are welcome." if _THANKS.fullmatch(text) else None


def _offer(schema: Schema) -> str:
    names = [table.name for table in schema.tables]
    if not names:
        return "This database has no tables yet."
    more = f" and {len(names) - _NAMED_TABLES} more" if len(names) > _NAMED_TABLES else ""
    examples = "\n".join(f"- {example}" for example in example_questions(schema))
    return f"There is data in {', '.join(names[:_NAMED_TABLES])}{more}. You could ask:\n{examples}"


def example_questions(schema: Schema) -> list[str]:
    """Up to three questions that the writer understands, drawn from the largest tables."""
    network = Network(schema)
    entities = [table for table in schema.tables if network.name_fields(table.name)]
    ranked = sorted(entities or schema.tables, key=lambda table: -(table.row_count or 0))
    examples = [f"How many {_spoken(table)} are there?" for table in ranked[:1]]
    examples += [example for table in ranked if (example := _by_value(network, table))][:1]
    examples += [f"Show all {_spoken(table)}" for table in ranked[1:2]]
    return examples


def _by_value(network: Network, table: Table) -> str | None:
    for field in network.fields(table.name):
        values = len(network.column(field).values)
        if field not in network.name_fields(table.name) and 1 < values <= (table.row_count or 0) / 2:
            return f"How many {_spoken(table)} per {' '.join(words_of(field.column))}?"
    return None


def _spoken(table: Table) -> str:
    return " ".join((*words_of(table.name)[:-1], _plural(words_of(table.name)[-1])))


def _plural(word: str) -> str:
    if word.endswith("y"):
        return word.removesuffix("y") + "ies"
    return word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")
