"""Tools that run statements, and read, compare and draw their results."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from app.modules.analysis.chart import choose_chart
from app.modules.analysis.chart.choice import NO_SERIES, ChartChoice, ChosenValue
from app.modules.analysis.chart.plan import NotDrawable, Spec
from app.modules.analysis.figures import figures
from app.modules.database_connection.joining.plan import DIALECT as JOINED_DIALECT
from app.modules.database_connection.joins import JoinedResult
from app.modules.database_connection.results import ResultSet, type_of_values
from app.modules.prompts.rows import rows_as_lines, without_secrets
from app.modules.records.model import Row
from app.modules.records.steps import KeptResult
from app.modules.sql_generation.result_warnings.model import ResultWarning
from app.modules.tools.context import ToolContext, ToolDatabase
from app.modules.tools.results import NamedResult, rows_of
from app.modules.tools.tool import Arguments, ToolFailed, ToolResult, tool
from app.modules.tools.toolsets.comparing import Comparison, compare
from app.modules.tools.toolsets.databases import DatabaseLabel
from graph.ports import Question
from graph.state import Column, Rows

RUN_SQL = "run_sql"
_MOST_ROWS_READ = 50
_FEW_CELLS = 500
_MOST_COLUMNS_MEASURED = 20
_NUMBERS = ("integer", "number")

ResultName = Annotated[str, Field(min_length=1, max_length=40)]
ColumnName = Annotated[str, Field(min_length=1, max_length=300)]


class RunSql(Arguments):
    """A statement to run."""

    sql: Annotated[str, Field(min_length=1, max_length=32_768)]
    """One read-only SELECT in the dialect of the database. Over several databases: in DuckDB's SQL, with each
    table named by its database, as in other.orders."""
    purpose: Annotated[str, Field(max_length=300)] = ""
    """What the statement is to show, in one sentence for the user."""
    database: DatabaseLabel = None
    """Name of the database. Left out: the session's main one."""


class ReadRows(Arguments):
    """Rows of a result to read."""

    result: ResultName
    """Name of the result, such as r2.1."""
    start: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """Number of the first row, from 0."""
    count: Annotated[int, Field(ge=1, le=_MOST_ROWS_READ)] = 20
    """Number of rows."""


class CompareResults(Arguments):
    """Two results to compare, also of two databases."""

    left: ResultName
    """Name of the first result."""
    right: ResultName
    """Name of the second result."""
    keys: Annotated[list[ColumnName], Field(min_length=1, max_length=5)]
    """Columns that identify a row in both results."""
    values: Annotated[list[ColumnName], Field(min_length=1, max_length=5)]
    """Columns of both results whose values are compared."""


class ShowChart(Arguments):
    """A chart of a result."""

    result: ResultName
    """Name of the result, such as r2.1."""
    mark: Literal["bar", "line", "point", "arc"]
    """Kind of the chart."""
    x: ColumnName
    """Column of the horizontal axis, or of the slices of an arc."""
    y: ColumnName
    """Column of numbers."""
    colour: ColumnName | None = None
    """Column by which the values are split into series."""


async def run_sql(given: RunSql, context: ToolContext) -> ToolResult:
    if joined := await context.databases.run_joined(
        given.sql, given.database, context.progress, is_approved=context.is_approved
    ):
        return await _keep_joined(given.sql, joined, context)
    database = context.databases.named(given.database)
    corrected = await database.schema_context.corrected(given.sql)
    fetched = await database.run(corrected.sql, is_approved=context.is_approved)
    corrections = [each.sentence.say("en") for each in corrected.corrections]
    kept = await keep_rows(context, database, fetched, sql=corrected.sql, corrections=corrections)
    rows = rows_of(kept, fetched.rows)
    notes = [f"Corrected: {each}" for each in corrections]
    asked = Question(text=given.purpose or database.run_of.question)
    warnings = await database.schema_context.find_warnings(asked, corrected.sql, rows)
    notes += [f"Worth checking: {_about(given, each)}" for each in warnings]
    text = await _described(context.result_name, rows)
    return ToolResult(text="\n".join([text, *notes]), result=kept)


async def _keep_joined(sql: str, joined: JoinedResult, context: ToolContext) -> ToolResult:
    rows = joined.result.as_rows()
    kept = KeptResult(
        sql=sql,
        database="",
        dialect=JOINED_DIALECT,
        columns=rows["columns"],
        row_count=rows["row_count"],
        truncated=rows["truncated"],
        cut_by=joined.result.cut_by,
        corrections=[*joined.notes],
    )
    await context.results.keep(context.call_id, kept, joined.result.rows)
    described = await _described(context.result_name, rows)
    return ToolResult(text="\n".join([described, *joined.notes]), result=kept)


def _about(given: RunSql, warning: ResultWarning) -> str:
    """Returns a warning. What contradicts the purpose of a call need not contradict the question."""
    if not (given.purpose and warning.is_doubt):
        return warning.text
    return warning.text.replace("The question ", "The purpose ").replace("the question ", "the purpose ")


async def keep_rows(
    context: ToolContext,
    database: ToolDatabase,
    fetched: ResultSet,
    *,
    sql: str,
    corrections: Sequence[str] = (),
) -> KeptResult:
    """Store the rows of a call. Returns their header."""
    rows = fetched.as_rows()
    kept = KeptResult(
        sql=sql,
        database=database.label,
        dialect=database.dialect,
        columns=rows["columns"],
        row_count=rows["row_count"],
        truncated=fetched.truncated,
        cut_by=fetched.cut_by,
    )
    if corrections:
        kept["corrections"] = list(corrections)
    await context.results.keep(context.call_id, kept, fetched.rows)
    return kept


async def keep_table(
    context: ToolContext,
    said: str,
    names: Sequence[str],
    *,
    rows: list[Row],
    database: ToolDatabase | None = None,
) -> ToolResult:
    """Store rows that a tool has made, so that findings and other tools can refer to them.

    Returns the result of the call: what is `said`, and the first rows.
    """
    kept = KeptResult(
        sql="",
        database="" if database is None else database.label,
        dialect="" if database is None else database.dialect,
        columns=[
            Column(name=name, type=type_of_values(row[at] for row in rows)) for at, name in enumerate(names)
        ],
        row_count=len(rows),
        truncated=False,
        cut_by=None,
    )
    await context.results.keep(context.call_id, kept, rows)
    shown = await _described(context.result_name, rows_of(kept, rows))
    return ToolResult(text=f"{said}\n{shown}", result=kept)


async def _described(name: str, rows: Rows) -> str:
    """Returns what `describe_rows` does, computed in a thread if that takes long."""
    if len(rows["rows"]) * len(rows["columns"]) <= _FEW_CELLS:
        return describe_rows(name, rows)
    return await asyncio.to_thread(describe_rows, name, rows)


def describe_rows(name: str, rows: Rows) -> str:
    """Returns the first rows of a result for a model, and what its columns hold."""
    shown = without_secrets(rows)
    measured = [
        line
        for at in range(min(len(rows["columns"]), _MOST_COLUMNS_MEASURED))
        if (line := _statistics(shown, at)) is not None
    ]
    return "\n".join([f"Result {name}:", rows_as_lines(rows), *(["Columns:", *measured] if measured else [])])


def _statistics(rows: Rows, at: int) -> str | None:
    """Returns a line on a column of more than one row."""
    values = [row[at] for row in rows["rows"]]
    if len(values) < 2:
        return None
    column = rows["columns"][at]
    known = [value for value in values if value is not None]
    empty = f", {len(values) - len(known):,} null" if len(known) < len(values) else ""
    numbers = [value for value in known if isinstance(value, int | float) and not isinstance(value, bool)]
    if column["type"] in _NUMBERS and numbers:
        total = sum(numbers)
        spread = (
            f"from {min(numbers):g} to {max(numbers):g}, sum {total:.15g}, mean {total / len(numbers):.6g}"
        )
        return f"- {column['name']}: {spread}{empty}"
    return f"- {column['name']}: {len(set(map(repr, known))):,} distinct values{empty}"


async def read_rows(given: ReadRows, context: ToolContext) -> ToolResult:
    found = await context.results.read(given.result)
    part = found.rows["rows"][given.start : given.start + given.count]
    shown = Rows(**{**found.rows, "rows": part})
    last = given.start + len(part)
    return ToolResult(text=f"Rows {given.start} to {last - 1} of {given.result}:\n{rows_as_lines(shown)}")


async def compare_results(given: CompareResults, context: ToolContext) -> ToolResult:
    left = await context.results.read(given.left)
    right = await context.results.read(given.right)
    for side in (left, right):
        for name in [*given.keys, *given.values]:
            column_of(side, name)
    comparison = await asyncio.to_thread(
        compare,
        left.rows,
        right.rows,
        [_pair(left, right, name) for name in given.keys],
        values=[_pair(left, right, name) for name in given.values],
    )
    kept = KeptResult(
        sql="",
        database="",
        dialect="",
        columns=comparison.columns,
        row_count=len(comparison.rows),
        truncated=False,
        cut_by=None,
    )
    await context.results.keep(context.call_id, kept, comparison.rows)
    text = (
        f"{_summary(comparison, given)}\n{describe_rows(context.result_name, rows_of(kept, comparison.rows))}"
    )
    cut = [name for name, side in ((given.left, left), (given.right, right)) if side.kept["truncated"]]
    note = f"\nA limit cut {' and '.join(cut)}: rows that are missing there may exist." if cut else ""
    return ToolResult(text=text + note, result=kept)


def _summary(found: Comparison, given: CompareResults) -> str:
    counts = (
        f"{found.equal:,} rows are equal, {found.differing:,} differ, {found.only_left:,} are only in "
        f"{given.left}, {found.only_right:,} only in {given.right}."
    )
    totals = [
        f"Sum of {name}: {left:.15g} in {given.left}, {right:.15g} in {given.right}, "
        f"difference {right - left:.15g}."
        for name, left, right in found.totals
    ]
    return "\n".join([counts, *totals, *found.patterns])


def _pair(left: NamedResult, right: NamedResult, name: str) -> tuple[str, int, int]:
    return name, column_of(left, name), column_of(right, name)


def column_of(result: NamedResult, name: str) -> int:
    """Returns the position of a column. Raises `ToolFailed`."""
    names = [column["name"] for column in result.kept["columns"]]
    folded = [each.casefold() for each in names]
    if name.casefold() not in folded:
        raise ToolFailed(f"The result has no column {name!r}. Its columns are: {', '.join(names)}.")
    return folded.index(name.casefold())


async def show_chart(given: ShowChart, context: ToolContext) -> ToolResult:
    found = await context.results.read(given.result)
    choice = ChartChoice(
        mark=given.mark,
        across=column_of(found, given.x),
        values=[ChosenValue(column=column_of(found, given.y))],
        series=NO_SERIES if given.colour is None else column_of(found, given.colour),
    )
    try:
        chart = await asyncio.to_thread(_draw, found, choice)
    except NotDrawable as refused:
        raise ToolFailed(str(refused)) from refused
    return ToolResult(text="The chart is shown with the answer.", chart=chart)


def _draw(found: NamedResult, choice: ChartChoice) -> Spec | None:
    known = figures("", found.kept["sql"], found.kept["dialect"], rows=found.rows)
    return choose_chart("", found.rows, known, choice=choice)


QUERIES = (
    tool(
        RUN_SQL,
        toolset="queries",
        category="read",
        description="Run one read-only SELECT. Returns the first rows, what each column holds, and the name "
        "of the result, under which all rows are kept.",
        arguments=RunSql,
        run=run_sql,
        describe=lambda given: "Run the statement.",
    ),
    tool(
        "read_rows",
        toolset="queries",
        category="read",
        description="Read further rows of a result.",
        arguments=ReadRows,
        run=read_rows,
    ),
    tool(
        "compare_results",
        toolset="queries",
        category="read",
        description="Compare two results row by row, also of two databases: equal, different, only in one; "
        "differences of times are in hours.",
        arguments=CompareResults,
        run=compare_results,
    ),
    tool(
        "show_chart",
        toolset="queries",
        category="read",
        description="Show a chart of a result with the answer. The last one counts.",
        arguments=ShowChart,
        run=show_chart,
    ),
)
