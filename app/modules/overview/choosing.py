"""Chooses what an overview asks: figures over time and groupings, the most telling first.

Its questions are words that the built-in writer understands. That one writes the statements, so that asking
the question again gives the same figures.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from app.core.words import plural
from app.modules.analysis.figures.names import is_additive, is_calendar_or_key, is_level, is_money
from app.modules.analysis.words import title
from app.modules.database_connection.schema import Schema, Table, TableColumn
from app.modules.overview.model import PageLanguage
from app.modules.sql.statement import statement_of

_GROUPS = range(3, 31)
"""Numbers of groups that are worth comparing."""
_MOST_MEASURES = 6
_MOST_GROUPINGS = 6


@dataclass(frozen=True)
class OverviewMeasure:
    """The rows of a table, or a column of it to add up."""

    table: Table
    column: TableColumn | None = None

    @property
    def kind(self) -> Literal["count", "sum"]:
        return "count" if self.column is None else "sum"

    @property
    def name(self) -> str:
        return plural(self._table_words) if self.column is None else title(self.column.name)

    @property
    def _table_words(self) -> str:
        return title(" ".join(self.table.short_name.parts))

    def asked(self, by: TableColumn | None, language: PageLanguage = "en") -> str:
        """Returns the question for the measure by a column, or by month."""
        table = self._table_words
        if language == "de":
            said = (
                f"Summe von „{self.name}“ in „{table}“" if self.column else f"Anzahl der Zeilen von „{table}“"
            )
            return f"{said} {'pro Monat' if by is None else f'je „{title(by.name)}“'}"
        total = "Sum of" if "total" in self.name.split() else "Total"
        said = f"{total} {self.name} of {plural(table)}" if self.column else f"Number of {self.name}"
        return f"{said} per {'month' if by is None else title(by.name)}"

    def is_that_of(self, sql: str, schema: Schema) -> bool:
        """True if a statement of the built-in writer computes this measure, of all rows."""
        tree = statement_of(sql, schema.dialect).tree
        computed = [*tree.find_all(exp.AggFunc)]
        tables = {node.alias_or_name: schema.names.find(node) for node in tree.find_all(exp.Table)}
        name = None if self.column is None else (self.table.name, self.column.name)
        if tree.find(exp.Where, exp.Limit, exp.Distinct) or not computed:
            return False
        return all(
            isinstance(each, exp.Count) and isinstance(each.this, exp.Star)
            if name is None
            else isinstance(each, exp.Sum)
            and isinstance(each.this, exp.Column)
            and (tables.get(each.this.table), each.this.name) == name
            for each in computed
        )


def measures(schema: Schema, uses: Mapping[str, int]) -> list[OverviewMeasure]:
    """Returns what may be followed over time: an amount and rows first, then those of other tables.

    Amounts of money come before other amounts; of each, those of tables in use, and then of large ones.
    """
    tables = sorted(
        (each for each in schema.tables if each.kind == "table" and each.row_count != 0),
        key=lambda table: (-uses.get(table.name, 0), -(table.row_count or 0), table.name),
    )
    dated = {table.name for table in tables if _has_date(table)}
    sums = [
        OverviewMeasure(table, column)
        for table in tables
        if table.name in dated or any(key.referred_table in dated for key in table.foreign_keys)
        for column in table.columns
        if _is_amount(table, column)
    ]
    sums.sort(key=lambda each: not is_money(each.name))
    counts = [OverviewMeasure(table) for table in tables if table.name in dated]
    first = [*sums[:1], *counts[:1]]
    others = [*sums[1:], *counts[1:]]
    others.sort(key=lambda each: any(each.table is other.table for other in first))
    return [*first, *others][:_MOST_MEASURES]


def groupings(schema: Schema, measure: OverviewMeasure) -> list[TableColumn]:
    """Returns columns of few values by which a measure is worth comparing, those of the most values first."""
    referred = {key.referred_table for key in measure.table.foreign_keys} - {measure.table.name}
    near = [measure.table, *(table for table in schema.tables if table.name in referred)]
    found = [column for table in near for column in table.columns if _is_group(table, column)]
    return sorted(found, key=lambda column: -len(column.values))[:_MOST_GROUPINGS]


def _is_amount(table: Table, column: TableColumn) -> bool:
    name = column.name
    is_key = column.primary_key or name in table.foreign_key_columns or is_calendar_or_key(name)
    is_number = column.type in ("number", "integer") and not table.is_secret(name)
    return is_number and not is_key and is_additive(name) and not is_level(name)


def _has_date(table: Table) -> bool:
    dates = [column.name for column in table.columns if column.type in ("date", "datetime")]
    return any(not table.is_secret(name) for name in dates)


def _is_group(table: Table, column: TableColumn) -> bool:
    is_shared = 2 * len(column.values) <= (table.row_count or 0)
    return len(column.values) in _GROUPS and is_shared and not table.is_secret(column.name)
