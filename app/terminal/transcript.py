"""The events of a run in a terminal."""

import re
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.markdown import Markdown
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from app.modules.analysis.chart.pictures import notes_of
from app.modules.database_connection.results import cut_sentence
from app.terminal.console import make_inert
from app.terminal.text_chart import text_chart
from graph import SessionEvent
from graph.events import (
    AnalysisChunk,
    ChartChunk,
    ClarificationChunk,
    Confirmation,
    ConfirmationDecided,
    Done,
    Failure,
    HeadlineChunk,
    LeftOutChunk,
    ResultsChunk,
    SqlChunk,
    Status,
    SuggestionsChunk,
)
from graph.state import Rows

_SHOWN_ROWS = 40
_NUMBERS = ("integer", "number")
_READING = re.compile(r"\*[^*\n]+:\*")
"""What begins the paragraph of a model's own sentence, in any language."""


class Transcript:
    """Shows events as they come; the step under way turns below them. Terminal codes in data are inert."""

    def __init__(self, console: Console | None = None) -> None:
        """`console` is standard output by default."""
        self.exit_code = 1
        """0 once the question is answered; 1 also if the answer is a question back."""
        self.waiting: list[Confirmation] = []
        """The calls that wait for an approval, if the run has ended with them."""
        self._is_asked_back = False
        self._console = console or Console(highlight=False)
        self._step = self._console.status("Starting")

    def __enter__(self) -> Self:
        self._step.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._step.stop()

    def show(self, said: SessionEvent) -> None:
        match said:
            case Status():
                self._step.update(said.message)
                self._console.print(Text(f"· {said.message}", style="dim"))
            case SqlChunk():
                if said.explanation:
                    self._console.print(Text(f"Understood as: {said.explanation}", style="italic"))
                # To load the lexer of SQL takes longer than to print, and without colours it changes nothing.
                lexer = "text" if self._console.color_system is None else "sql"
                self._console.print(Syntax(said.content, lexer, word_wrap=True, background_color="default"))
                for correction in said.corrections:
                    self._console.print(Text(f"Corrected: {correction}", style="dim"))
            case ResultsChunk(tool_call_id=None):
                self._console.print(rows_table(said.content))
            case ChartChunk():
                if drawn := text_chart(said.content):
                    self._console.print(Text(drawn, style="cyan", no_wrap=True, overflow="crop"))
                    self._console.print(Text(notes_of(said.content), style="dim"))
            case HeadlineChunk():
                self._console.print(Markdown(said.content, style="bold", hyperlinks=False))
            case AnalysisChunk():
                for paragraph in said.content.split("\n\n"):
                    style = "dim" if _READING.match(paragraph) else "none"
                    self._console.print(Markdown(paragraph, style=style, hyperlinks=False))
            case LeftOutChunk():
                for reason in said.content:
                    self._console.print(Text(f"Left out: {reason}", style="dim"))
            case ClarificationChunk():
                self._is_asked_back = True
                self._console.print(Markdown(said.content, hyperlinks=False))
                for number, option in enumerate(said.options, 1):
                    line = f"{number}. {option['label']}: {option['question']}"
                    self._console.print(Text(line, style="cyan"))
            case SuggestionsChunk():
                for suggestion in said.content:
                    self._console.print(Text(f"→ {suggestion}", style="cyan"))
            case Failure():
                self._console.print(Text(f"{said.title}: {said.detail}", style="red"))
            case Confirmation():
                self.waiting.append(said)
                self._console.print(Text(f"Waits for approval: {_inert(said.description)}", style="yellow"))
                self._console.print(Text(f"  goes to: {_inert(said.destination)}", style="yellow"))
                for name, value in said.arguments.items():
                    self._console.print(Text(f"  {name}: {_inert(value)}", style="yellow"))
                for warning in said.warnings:
                    self._console.print(Text(f"  Warning: {_inert(warning)}", style="red"))
            case ConfirmationDecided():
                self.waiting = [each for each in self.waiting if each.confirmation_id != said.confirmation_id]
                self._console.print(Text(f"The call is {said.decision}.", style="yellow"))
            case Done():
                self.exit_code = 0 if said.status == "complete" and not self._is_asked_back else 1
                read = "" if said.bytes_read is None else f", {said.bytes_read:,} bytes read"
                self._console.print(
                    Text(f"{said.elapsed_ms / 1000:.1f} s, {said.tokens_used} tokens{read}", style="dim")
                )
            case _:
                pass


def rows_table(rows: Rows) -> Table:
    """Returns the first rows as a table. Terminal codes in data are inert."""
    shown = rows["rows"][:_SHOWN_ROWS]
    of = f"{len(shown)} of {rows['row_count']:,} rows. {cut_sentence(rows)}".strip()
    table = Table(caption=of, caption_justify="left")
    for column in rows["columns"]:
        table.add_column(Text(column["name"]), justify="right" if column["type"] in _NUMBERS else "left")
    for row in shown:
        table.add_row(*(Text("null", style="dim") if cell is None else Text(_inert(cell)) for cell in row))
    return table


def _inert(cell: object) -> str:
    if isinstance(cell, float):
        return f"{cell:.15g}"
    return make_inert(str(cell))
