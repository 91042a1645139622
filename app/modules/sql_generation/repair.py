"""Messages to a model for a repair: the statement, the error, and the tables concerned."""

import re
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path

from sqlglot.errors import SqlglotError

from app.core.llm.model import PromptMessage
from app.modules.database_connection.limits import STATEMENT_CHARACTERS
from app.modules.prompts.facts import facts_section
from app.modules.prompts.sections import sections
from app.modules.sql.parsing import sqlglot_errors_only
from app.modules.sql.statement import statement_of
from app.modules.sql_generation.checking.check import check
from app.modules.sql_generation.checking.names import nearest
from app.modules.sql_generation.context import tables_read
from app.modules.sql_generation.schema_index import SchemaIndex
from graph.answer import Repair
from graph.ports import Question

_INSTRUCTIONS = (Path(__file__).parent / "prompts" / "repair_sql.md").read_text(encoding="utf-8")
_NAME = re.compile(r"[^\W\d]\w*")
_MOST_TABLES = 12
_MOST_PLACES = 3
"""Tables that hold a column of the name that was not found; a name that more of them have tells nothing."""


def repair_messages(
    question: Question, repair: Repair, index: SchemaIndex, *, today: date
) -> list[PromptMessage]:
    """Fewer words than the first request: no conversation, no rows, and of the schema only what is concerned.

    The facts stay, for they say what the words of the question mean. A statement that names no table of the
    schema is shown with the whole context.
    """
    dialect = index.names.dialect
    system = _INSTRUCTIONS.replace("{dialect}", dialect).replace("{today}", today.isoformat())
    concerned = tables_concerned(repair, index)
    schema = sections([("Schema", "\n\n".join(index.cards[each] for each in concerned))])
    shown = schema or question.context["schema"]
    leads_on = not question.alone and question.previous_sql != repair.first.sql
    asked = sections(
        [
            ("Previous statement", (question.previous_sql or "") if leads_on else ""),
            ("Question", question.text),
            ("Statement", repair.first.sql),
            ("What is wrong", "\n".join(repair.reasons)),
        ]
    )
    return [
        PromptMessage("system", "\n\n".join(filter(None, [system, question.context["rules"]]))),
        PromptMessage("user", "\n\n".join(filter(None, [shown, facts_section(question.facts), asked]))),
    ]


def tables_concerned(repair: Repair, index: SchemaIndex) -> list[str]:
    """Those that the statement reads, those that have what it names wrongly, and those on the way between;
    at most twelve."""
    read = tables_read(repair.first.sql, index) or list(_named([repair.first.sql], index))
    wanted = list(dict.fromkeys([*read, *_meant(repair, read, index), *_named(repair.reasons, index)]))
    return [*wanted, *index.foreign_keys.between(wanted)][:_MOST_TABLES]


def is_same_statement(one: str, other: str, dialect: str) -> bool:
    """True if two statements differ at most in spaces, case, comments and a semicolon."""
    return _normalized(one, dialect) == _normalized(other, dialect)


def _meant(repair: Repair, read: list[str], index: SchemaIndex) -> Iterator[str]:
    """Returns tables that unknown names may mean."""
    names = index.names
    beside = index.foreign_keys.neighbours(read)
    for fault in check(repair.first.sql, names).faults:
        yield from _named(fault.nearest, index)
        if fault.kind == "unknown column":
            column = fault.name.rpartition(".")[2]
            yield from [table for table, _ in names.places_of(column)][:_MOST_PLACES]
            if not fault.nearest:
                yield from (each for each in beside if nearest(column, names.columns(names.folded(each))))


def _named(texts: Iterable[str], index: SchemaIndex) -> Iterator[str]:
    """Returns the tables whose names occur in texts as words."""
    words = {word.casefold() for text in texts for word in _NAME.findall(text)}
    return (name for name, table in index.tables.items() if table.in_database.name.casefold() in words)


def _normalized(sql: str, dialect: str) -> str:
    """One text for all ways to write a statement; of one that cannot be read, or is too long to be parsed,
    only its spaces are evened."""
    if len(sql) > STATEMENT_CHARACTERS:
        return " ".join(sql.rstrip("; \r\n\t").split())
    try:
        with sqlglot_errors_only():
            return statement_of(sql, dialect).folded.sql(dialect, comments=False)
    except (SqlglotError, RecursionError):
        return " ".join(sql.rstrip("; \r\n\t").split())
