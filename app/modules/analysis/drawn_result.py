"""The pictures of a stored result: the proposed one, and those that a reader has chosen."""

from dataclasses import dataclass
from datetime import date
from functools import cached_property

from pydantic import JsonValue

from app.modules.analysis.chart import choose_chart
from app.modules.analysis.chart.choice import ChartChoice
from app.modules.analysis.chart.plan import NotDrawable, Spec
from app.modules.analysis.chart_rules import ChartRule, apply_rule, proposed_chart
from app.modules.analysis.figures import DataSpan, Figures, figures
from app.modules.analysis.whole_names import choice_with_whole_names, merge_names, spec_of_result
from app.modules.prompts.rows import without_secrets
from graph.state import Rows


@dataclass(frozen=True)
class ChosenChart:
    """A reader's choice as a picture, or why the rows do not allow it. Both are None without a choice."""

    choice: ChartChoice | None
    chart: Spec | None = None
    refusal: str | None = None

    def as_fields(self) -> dict[str, JsonValue]:
        """The fields of a message or a pin, as they are stored."""
        choice = None if self.choice is None else self.choice.model_dump(mode="json")
        own: dict[str, JsonValue] = {
            "chart_choice": choice,
            "chosen_chart": self.chart,
            "chart_refusal": self.refusal,
        }
        return {**own, "computed_chart": None}  # of earlier documents, whose other fields it stands for


@dataclass(frozen=True, kw_only=True)
class DrawnResult:
    """A result with what is known of it. `dialect` is sqlglot's name; `today` is the day of the rows.

    `rule` is the one that the proposed picture follows.
    `keys` are the names, in lower case, of columns that identify or refer to rows. `span` are the days that
    the data covers, None if unknown.
    """

    question: str
    sql: str
    dialect: str
    rows: Rows
    today: date
    rule: ChartRule | None = None
    keys: frozenset[str] = frozenset()
    span: DataSpan | None = None

    @cached_property
    def _readable(self) -> Rows:
        return without_secrets(self.rows)

    @cached_property
    def _named(self) -> Rows:
        return merge_names(self._readable)

    @cached_property
    def _found(self) -> Figures:
        return figures(
            self.question,
            self.sql,
            self.dialect,
            rows=self._named,
            span=self.span,
            keys=self.keys,
            today=self.today,
        )

    def proposed(self) -> Spec | None:
        """The picture that an answer with these rows has. None where a table says as much."""
        spec = proposed_chart(self.question, self._named, self._found, rule=self.rule)
        return spec_of_result(spec, self.rows["columns"])

    def chosen(self, choice: ChartChoice | None) -> ChosenChart:
        """The picture of a choice among the result's columns, or the refusal."""
        if choice is None:
            return ChosenChart(None)
        columns = self.rows["columns"]
        try:
            if choice.specification is not None:
                spec = choose_chart(self.question, self._readable, self._found, choice=choice)
                return ChosenChart(choice, spec)
            named = choice_with_whole_names(choice, columns)
            named = apply_rule(named, self.rule, self._named["columns"])
            spec = choose_chart(self.question, self._named, self._found, choice=named)
        except NotDrawable as refused:
            return ChosenChart(choice, refusal=str(refused))
        return ChosenChart(choice, spec_of_result(spec, columns))
