"""Replies to greetings, thanks and "what can you do", which name the available data."""

import re

from app.modules.database_connection.schema import Schema
from app.modules.sql_generation.builtin.question.readings import plural

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
    """Returns the reply to small talk, or None. `text` is in lower case without punctuation."""
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
    return (
        f"There is data in {', '.join(names[:_NAMED_TABLES])}{more}. How many {plural(names[0])} are there?"
    )
