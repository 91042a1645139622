"""`kai generate-sql`: SQL for a question, as text, as the statement alone, or as JSON."""

import sys
from typing import Literal

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from app.bootstrap import open_services_for_once
from app.commands.databases import register
from app.core.auth.caller import LOCAL_OWNER
from app.core.settings import read_settings
from app.modules.generating.schemas import GeneratedSqlBody
from app.terminal.console import say
from app.terminal.transcript import rows_table
from graph.errors import TurnError

OutputFormat = Literal["text", "sql", "json"]


async def generate_sql(question: str, database: str, *, runs: bool, output: OutputFormat) -> int:
    """Returns the exit code: 0 for a valid statement, 1 for any other outcome."""
    async with open_services_for_once(read_settings()) as services:
        connection, warnings = await register(services, database, "generating")
        for warning in warnings:
            _note(warning)
        try:
            generated = await services.generation.generate(LOCAL_OWNER, connection.id, question, runs=runs)
        except TurnError as error:
            _note(error.detail)
            return 1
    body = GeneratedSqlBody.model_validate(generated)
    match output:
        case "json":
            say(body.model_dump_json(indent=2))
        case "sql":
            _show_statement(body)
        case "text":
            _show_all(body)
    return 0 if body.valid else 1


def _show_statement(body: GeneratedSqlBody) -> None:
    """The statement alone on standard output; what is said about it goes to standard error."""
    for line in [*body.warnings, *([] if body.sql else [body.explanation])]:
        _note(line)
    if body.sql is not None and body.valid:
        say(body.sql)


def _show_all(body: GeneratedSqlBody) -> None:
    console = Console(highlight=False)
    if body.sql is None:
        console.print(Text(body.explanation))
        for number, option in enumerate(body.options, 1):
            console.print(Text(f"{number}. {option['label']}: {option['question']}", style="cyan"))
        return
    if body.explanation:
        console.print(Text(f"Understood as: {body.explanation}", style="italic"))
    console.print(Syntax(body.sql, "sql", word_wrap=True, background_color="default"))
    for correction in body.corrections:
        console.print(Text(f"Corrected: {correction}", style="dim"))
    for warning in body.warnings:
        console.print(Text(f"{'Worth checking' if body.valid else 'Not valid'}: {warning}", style="yellow"))
    if body.rows is not None:
        console.print(rows_table(body.rows))


def _note(text: str) -> None:
    sys.stderr.write(f"kai: {text}\n")
