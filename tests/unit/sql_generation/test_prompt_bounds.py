"""No part of a prompt grows with names, descriptions, values or rows beyond its limit."""

from datetime import date

from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.llm.tokens import approximate_tokens
from app.modules.analysis.facts.sheet import fact_sheet
from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.facts.wording import Wording
from app.modules.analysis.figures import figures
from app.modules.analysis.prompt import messages as analysis_messages
from app.modules.database_connection.scan.scanned import ScannedSchema
from app.modules.database_connection.schema import Schema, Table, TableColumn
from app.modules.prompts.rows import MAX_TOKENS, rows_as_lines
from app.modules.sql_generation.business import Business
from app.modules.sql_generation.context import context_for
from app.modules.sql_generation.prompt import write_sql_messages
from app.modules.sql_generation.schema_index import SchemaIndex
from graph.ports import Question
from graph.state import Column, Rows

BUDGET = 4_000
DAY = date(2026, 1, 1)
WORDS = st.sampled_from(["n", "name ", "ümlaut", "x" * 30, "価格", "a_b", "1 2"])
NAMES = st.builds(
    lambda word, times, at: f"{word * times}{at}"[:1_000], WORDS, st.integers(1, 400), st.integers()
)


@st.composite
def tables(draw: st.DrawFn) -> list[Table]:
    described = draw(WORDS) * draw(st.integers(0, 3_000))
    return [
        Table(
            name=f"{draw(NAMES)}{at}",
            kind="table",
            description=described,
            columns=[
                TableColumn(
                    name=f"{draw(NAMES)}{column}",
                    type="text",
                    database_type="TEXT",
                    description=described,
                    primary_key=draw(st.booleans()),
                )
                for column in range(draw(st.sampled_from([1, 3, 60])))
            ],
        )
        for at in range(draw(st.integers(1, 3)))
    ]


@given(tables())
@settings(max_examples=60, deadline=None)
def test_the_prompt_for_a_statement_keeps_to_its_budget(some: list[Table]) -> None:
    asked = Question(text="How many are there per name?")
    index = SchemaIndex(ScannedSchema(Schema("sqlite", some), {}))
    context = context_for(asked, index, Business(), budget_tokens=BUDGET)
    least = approximate_tokens(context["schema"].partition("(")[0])
    assert approximate_tokens(context["schema"]) <= BUDGET + least + 300
    bare = write_sql_messages(asked, "sqlite", DAY, instruction="long")
    asked = Question(text=asked.text, context=context)
    whole = write_sql_messages(asked, "sqlite", DAY, instruction="long")
    instructions = sum(approximate_tokens(each.content) for each in bare)
    assert sum(approximate_tokens(each.content) for each in whole) <= instructions + BUDGET + least + 1_500


def result(names: list[str]) -> Rows:
    return Rows(
        columns=[Column(name=name, type="number") for name in names],
        rows=[[at + column for column in range(len(names))] for at in range(60)],
        row_count=60,
        truncated=False,
    )


@given(st.lists(NAMES, min_size=1, max_size=500, unique=True))
@settings(max_examples=40, deadline=None)
def test_the_names_of_a_result_keep_to_a_limit(names: list[str]) -> None:
    lines = rows_as_lines(result(names))
    assert approximate_tokens(lines) <= 2 * MAX_TOKENS + 400


def test_five_hundred_columns_with_names_of_a_thousand_characters_make_a_small_prompt() -> None:
    rows = result([f"{at:03}".ljust(1_000, "n") for at in range(500)])
    found = figures("What is there?", "SELECT * FROM t", "sqlite", rows=rows)
    sheet = fact_sheet(FactTable(question="What is there?", rows=rows, found=found, wording=Wording("en")))
    prompt = "".join(each.content for each in analysis_messages("What is there?", rows, sheet))
    assert len(prompt) < 20_000
    assert "000n" in prompt
