"""Statements of the shop made by chance: queries within queries, whose names shadow each other."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from hypothesis import strategies as st

Kind = Literal["number", "text", "date"]
Columns = Mapping[str, Kind]

TABLES: Mapping[str, Columns] = {
    "customers": {"id": "number", "name": "text", "country": "text", "email": "text", "signed_up": "date"},
    "orders": {"id": "number", "customer_id": "number", "status": "text", "total": "number"},
    "visits": {"id": "number", "day": "date", "country": "text", "pages": "number", "phone": "text"},
    "categories": {"id": "number", "parent_id": "number", "name": "text"},
    "norwegians": {"id": "number", "name": "text"},
    "norwegian_orders": {"id": "number", "name": "text", "total": "number"},
    "mails": {"id": "number", "email": "text"},
}
_LITERALS: Mapping[Kind, Sequence[str]] = {
    "number": ("0", "1", "2", "3", "5.25", "10"),
    "text": ("'Norway'", "'Japan'", "'Bob'", "'paid'", "'***'", "''"),
    "date": ("'2023-01-01'", "'2023-03-09'", "'2024-01-01'"),
}
_VALUES: Mapping[str, Sequence[str]] = {
    "customers.country": ("'Norway'", "'Japan'"),
    "customers.name": ("'Ann'", "'Bob'"),
    "orders.status": ("'paid'", "'update pending'"),
    "orders.id": ("1", "2", "3"),
    "visits.country": ("'Norway'", "'Japan'", "'Peru'"),
}
"""Values that conditions fail for."""
_NAMES = (*TABLES, "a", "b", "_p", "c1")
_SETS = ("UNION", "UNION ALL", "EXCEPT", "INTERSECT")
_JOINS = ("JOIN", "LEFT JOIN", "CROSS JOIN", "NATURAL JOIN", "USING", ",")
_DEEPEST = 3


@dataclass(frozen=True)
class _Source:
    """What stands after FROM or JOIN: its SQL, and the name and the columns that conditions call it by."""

    sql: str
    name: str
    columns: Columns


class _Grammar:
    """Writes one statement by the choices that `draw` makes."""

    def __init__(self, draw: Callable[[st.SearchStrategy[int]], int]) -> None:
        self._draw = draw

    def statement(self) -> str:
        return self._failing() if self._below(3) == 0 else self._query(TABLES, 0)[0]

    def _below(self, count: int) -> int:
        return self._draw(st.integers(0, count - 1))

    def _one_of(self, values: Sequence[str]) -> str:
        return values[self._below(len(values))]

    def _query(self, known: Mapping[str, Columns], depth: int) -> tuple[str, Columns]:
        """Returns a query and its columns. `known`: tables and common table expressions by name."""
        before = ""
        if depth < _DEEPEST and self._below(4) == 0:
            name = self._one_of(_NAMES)
            inner, columns = self._query(known, depth + 1)
            before, known = f"WITH {name} AS ({inner}) ", {**known, name: columns}
        if depth < _DEEPEST and self._below(6) == 0:
            left, right = (self._single(known, depth + 1) for _ in range(2))
            return f"{before}{left} {self._one_of(_SETS)} {right}", {"v": "number"}
        select, columns = self._select(known, depth)
        return before + select, columns

    def _single(self, known: Mapping[str, Columns], depth: int) -> str:
        """Returns a query of one column of numbers, `v`."""
        sources = self._sources(known, depth)
        return f"SELECT {self._value('number', sources)} AS v FROM {self._from(sources)}" + self._where(
            known, sources, depth
        )

    def _select(self, known: Mapping[str, Columns], depth: int) -> tuple[str, Columns]:
        sources = self._sources(known, depth)
        from_ = self._from(sources)
        where = self._where(known, sources, depth)
        first = sources[0]
        form = self._below(7)
        if form == 0:
            return f"SELECT {first.name}.* FROM {from_}{where}", first.columns
        if form == 1 and len(sources) == 1:
            return f"SELECT * FROM {from_}{where}", first.columns
        if form == 2:
            return f"SELECT count(*) AS n FROM {from_}{where}", {"n": "number"}
        if form == 3:
            key, number = self._value("text", sources), self._value("number", sources)
            having = " HAVING count(*) > 1" if self._below(3) == 0 else ""
            summed = self._one_of(("sum", "min", "max", "count"))
            return (
                f"SELECT {key} AS k, {summed}({number}) AS n FROM {from_}{where} GROUP BY {key}{having}",
                {"k": "text", "n": "number"},
            )
        if form == 4:
            number = self._value("number", sources)
            ranked = self._one_of(("rank()", f"sum({number})", "count(*)"))
            return f"SELECT {ranked} OVER (ORDER BY {number}) AS n FROM {from_}{where}", {"n": "number"}
        if form == 5 and depth < _DEEPEST:
            inner = self._count(known, sources, depth)
            return f"SELECT {inner} AS n, {first.name}.id AS id FROM {from_}{where}", {
                "n": "number",
                "id": "number",
            }
        number, text = self._value("number", sources), self._value("text", sources)
        distinct = "DISTINCT " if self._below(4) == 0 else ""
        end = " ORDER BY 1, 2 LIMIT 2" if self._below(4) == 0 else ""
        return f"SELECT {distinct}{number} AS x, {text} AS y FROM {from_}{where}{end}", {
            "x": "number",
            "y": "text",
        }

    def _sources(self, known: Mapping[str, Columns], depth: int) -> Sequence[_Source]:
        first = self._source(known, depth)
        if self._below(3):
            return [first]
        second = self._source(known, depth)
        return [first] if second.name == first.name else [first, second]

    def _source(self, known: Mapping[str, Columns], depth: int) -> _Source:
        if depth < _DEEPEST and self._below(4) == 0:
            inner, columns = self._query(known, depth + 1)
            alias = self._one_of(_NAMES)
            return _Source(f"({inner}) AS {alias}", alias, columns)
        name = self._one_of([*known])
        schema = "main." if name in TABLES and self._below(6) == 0 else ""
        columns = TABLES[name] if schema else known[name]
        if self._below(2):
            alias = self._one_of(_NAMES)
            return _Source(f"{schema}{name} AS {alias}", alias, columns)
        return _Source(schema + name, name, columns)

    def _from(self, sources: Sequence[_Source]) -> str:
        if len(sources) == 1:
            return sources[0].sql
        left, right = sources
        join = self._one_of(_JOINS)
        both = [name for name in left.columns if name in right.columns]
        if join == "USING" and both:
            return f"{left.sql} JOIN {right.sql} USING ({both[0]})"
        if join in {"JOIN", "LEFT JOIN"}:
            numbers = [self._value("number", [each]) for each in sources]
            return f"{left.sql} {join} {right.sql} ON {numbers[0]} = {numbers[1]}"
        return f"{left.sql} CROSS JOIN {right.sql}" if join != "," else f"{left.sql}, {right.sql}"

    def _value(self, kind: Kind, sources: Sequence[_Source]) -> str:
        columns = [
            f"{each.name}.{name}"
            for each in sources
            for name, its_kind in each.columns.items()
            if its_kind == kind
        ]
        if not columns or self._below(8) == 0:
            return self._one_of(_LITERALS[kind])
        value = self._one_of(columns)
        changed = {
            "number": (f"{value} + 1", f"coalesce({value}, 0)", f"abs({value})"),
            "text": (f"upper({value})", f"coalesce({value}, '-')", f"substr({value}, 1, 2)"),
            "date": (value, value, value),
        }[kind]
        return self._one_of((value, value, value, *changed))

    def _where(self, known: Mapping[str, Columns], sources: Sequence[_Source], depth: int) -> str:
        return f" WHERE {self._condition(known, sources, depth)}" if self._below(2) else ""

    def _condition(self, known: Mapping[str, Columns], sources: Sequence[_Source], depth: int) -> str:
        number, text = self._value("number", sources), self._value("text", sources)
        simple = (
            f"{number} {self._one_of(('=', '<', '>=', '<>'))} {self._value('number', sources)}",
            f"{text} {self._one_of(('=', '<', '<>'))} {self._value('text', sources)}",
            f"{text} IS NULL",
            f"{number} BETWEEN 1 AND 2",
            f"{text} LIKE '%o%'",
            f"{text} IN ('Norway', 'Japan')",
            f"CAST(CASE WHEN {text} IN ('Japan', 'Bob') THEN 'x' ELSE '1' END AS INTEGER) = 1",
            f"json_extract(CASE WHEN {text} IN ('Japan', 'Bob') THEN 'x' ELSE '1' END, '$') IS NULL",
        )
        form = self._below(len(simple) + (5 if depth < _DEEPEST else 2))
        if form < len(simple):
            return simple[form]
        if form < len(simple) + 2:
            left, right = (self._condition(known, sources, depth + 1) for _ in range(2))
            return f"({left} {self._one_of(('AND', 'OR'))} {right})" if depth < _DEEPEST else simple[0]
        negated = self._one_of(("", "NOT "))
        if form == len(simple) + 2:
            return f"{number} {negated}IN ({self._single(known, depth + 1)})"
        if form == len(simple) + 3:
            return f"{negated}EXISTS ({self._query(known, depth + 1)[0]})"
        return f"{self._count(known, sources, depth)} > 1"

    def _failing(self) -> str:
        """Returns a statement with a condition that fails for a value which some people may not see."""
        column = self._one_of([*_VALUES])
        table, _, name = column.partition(".")
        some = f"CASE t.{name} WHEN {self._one_of(_VALUES[column])} THEN {{}} ELSE {{}} END"
        condition = self._one_of(
            (
                "'x' LIKE " + some.format("'x!'", "'%'") + " ESCAPE '!'",
                "abs(" + some.format("-9223372036854775808", "1") + ") > 0",
                "json_array_length(" + some.format("'['", "'[]'") + ") = 0",
                "CAST(" + some.format("'x'", "'1'") + " AS INTEGER) = 1",
            )
        )
        return self._one_of(
            (
                f"SELECT t.id FROM {table} AS t WHERE {condition}",
                f"SELECT s.id FROM (SELECT t.id, {condition} AS ok FROM {table} AS t) AS s WHERE s.ok",
                f"SELECT t.id FROM {table} AS t JOIN {table} AS u ON t.id = u.id AND {condition}",
                f"SELECT count(*) AS n FROM {table} AS t WHERE t.id > 0 AND NOT ({condition})",
            )
        )

    def _count(self, known: Mapping[str, Columns], sources: Sequence[_Source], depth: int) -> str:
        """Returns how many rows of another source belong to a row of this one."""
        inner = self._source(known, depth + 1)
        outer, own = self._value("number", sources), self._value("number", [inner])
        return f"(SELECT count(*) FROM {inner.sql} WHERE {own} <= {outer})"


@st.composite
def statements(draw: Callable[[st.SearchStrategy[int]], int]) -> str:
    """Makes statements that SQLite and DuckDB read alike."""
    return _Grammar(draw).statement()
