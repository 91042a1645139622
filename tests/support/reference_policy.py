"""A small program in the place of a model: it reads what tools return, and picks the next calls.

It knows no truth of a task: only the question, and the texts of the tools. What it finds shows that the tools
suffice within the limits, and is the floor that models are compared with.
"""

import json
import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import pairwise

from pydantic import JsonValue

from tests.support.fact_keys import fact_keys
from tests.support.model_script import Asked, Scripted

Call = tuple[str, dict[str, JsonValue]]
Answer = dict[str, JsonValue]
Plan = Generator[list[Call], list["Returned"], Answer]
"""Yields the calls of a step, is sent what they returned, and returns the arguments of `finish`."""

PLAN = "INVESTIGATE:\n1. Look at the totals\n2. Look at the parts\n3. Name what explains them"
DESCRIPTION = re.compile(r"store this description of the table (\w+), word for word: '([^']*)'")
_MARK = re.compile(r"^\[data \w+\]\n|\n\[/data \w+\]$")
_MONTHS = [date(2000, month, 1).strftime("%B") for month in range(1, 13)]


@dataclass(frozen=True)
class Returned:
    """What a call has returned, under the name of its result."""

    name: str
    text: str

    @property
    def columns(self) -> list[str]:
        return [str(name) for name in self._lines[0]] if self._lines else []

    @property
    def rows(self) -> list[dict[str, JsonValue]]:
        """The rows that were shown."""
        return [dict(zip(self.columns, row, strict=True)) for row in self._lines[1:]]

    @property
    def _lines(self) -> list[list[JsonValue]]:
        return [json.loads(line) for line in self.text.splitlines() if line.startswith("[")]


@dataclass
class ReferencePolicy:
    """Picks the reply to each request. Results that a later prompt cuts are remembered."""

    _seen: dict[tuple[str, str], str] = field(default_factory=dict)

    def __call__(self, asked: Asked) -> Scripted | None:
        system = asked.messages[0]["content"]
        if "You are the investigator" not in system:
            return Scripted(PLAN) if "SQL writer" in asked.text else None
        if not asked.tools:
            return Scripted("The limit was reached before the answer was found.")
        mark = re.search(r"\[(data \w+)\]", system)
        turn = mark[1] if mark else ""
        question = asked.messages[1]["content"]
        plan = _plan(question, system)
        returned: list[Returned] | None = None
        steps = self._steps(asked, turn)
        try:
            calls = next(plan)
            for returned in steps:
                calls = plan.send(returned)
        except StopIteration as end:
            answer: Answer = end.value
            return Scripted(calls=(("finish", json.dumps(answer)),))
        return Scripted(calls=tuple((name, json.dumps(given)) for name, given in calls))

    def _steps(self, asked: Asked, turn: str) -> list[list[Returned]]:
        """Returns what the calls of each step have returned. A finish that was sent back is no step."""
        steps: dict[str, list[Returned]] = {}
        for message in asked.messages:
            if message["role"] != "tool":
                continue
            _, step, position = message["tool_call_id"].split("_")
            text = _MARK.sub("", message["content"])
            key = (turn, message["tool_call_id"])
            if len(text) >= len(self._seen.get(key, "")):
                self._seen[key] = text
            steps.setdefault(step, []).append(Returned(f"r{step}.{position}", self._seen[key]))
        return list(steps.values())


def _plan(question: str, system: str) -> Plan:
    if "is not the same in both databases" in question:
        return differing(question)
    if "Document the schema" in question:
        return document(question, system)
    if "What is wrong with the data" in question:
        return defects(system)
    return moved(question, system)


# What the schema says


@dataclass(kw_only=True)
class SeenTable:
    """A table as `describe_tables` shows it: types of the columns, and the tables that they refer to."""

    name: str
    columns: dict[str, str] = field(default_factory=dict)
    references: dict[str, str] = field(default_factory=dict)

    def of_type(self, *types: str) -> list[str]:
        return [name for name, kind in self.columns.items() if kind in types and name not in self.references]


def tables_in(text: str) -> dict[str, SeenTable]:
    """Reads the cards of tables."""
    tables: dict[str, SeenTable] = {}
    table = SeenTable(name="")
    for line in text.splitlines():
        if opened := re.match(r"CREATE TABLE (\w+) \(", line):
            table = tables[opened[1]] = SeenTable(name=opened[1])
        elif column := re.match(r"  (\w+) (\w+)( primary key)?(?: references (\w+)\(\w+\))?,", line):
            table.columns[column[1]] = "key" if column[3] else column[2]
            if column[4]:
                table.references[column[1]] = column[4]
    return tables


def sql(statement: str, purpose: str, database: str | None = None) -> Call:
    given: dict[str, JsonValue] = {"sql": statement, "purpose": purpose}
    return "run_sql", given if database is None else {**given, "database": database}


def value_of(result: "Returned", measure: str, reading: str = "", **labels: JsonValue) -> JsonValue:
    """Returns a finding: the value of a measure in the row of the labels, or all values of a single row."""
    if not labels:
        return {"result": result.name, "fact": fact_keys(result.text)[0], "reading": reading or None}
    where = [f"{column}={json.dumps(str(label), ensure_ascii=False)}" for column, label in labels.items()]
    call = f"value({', '.join([json.dumps(measure), *where])})"
    return {"result": result.name, "fact": call, "reading": reading or None}


def number(value: JsonValue) -> float:
    return float(value) if isinstance(value, int | float | str) else 0.0


def month_of(text: str) -> tuple[str, str]:
    """Returns the first days of a month such as `May 2025`, and of the next one."""
    name, year = text.split()
    at = _MONTHS.index(name)
    following = f"{int(year) + at // 11}-{(at + 1) % 12 + 1:02d}-01"
    return f"{year}-{at + 1:02d}-01", following


# Why did a measure move?


def moved(question: str, system: str) -> Plan:
    """Totals, then each dimension's part in the change: the largest one is the cause, unless rows are
    repeated or days are missing.
    """
    asked = re.search(
        r"(\w+) \(the sum of (\w+)\.(\w+)\) (fell|rose) from (\w+ \d{4}) to (\w+ \d{4})", question
    )
    assert asked is not None, question
    _, name, amount, _, before, after = asked.groups()
    fell = asked[4] == "fell"
    (described,) = yield [("describe_tables", {"names": [name]})]
    table = tables_in(described.text)[name]
    day = table.of_type("date", "datetime")[0]
    key, *labels = table.of_type("text")
    others = [each for each in table.of_type("integer", "number") if each != amount]
    (units, price) = others[:2]
    (first, middle), (_, last) = month_of(before), month_of(after)
    is_after = f"{day} >= '{middle}'"
    span = f"{day} >= '{first}' AND {day} < '{last}'"
    totals = (
        f"SELECT CASE WHEN {is_after} THEN 'after' ELSE 'before' END AS period, sum({amount}) AS total, "
        f"count(*) AS n, count(*) - count(DISTINCT {key}) AS repeated, "
        f"count(DISTINCT {day}) AS days FROM {name} WHERE {span} GROUP BY 1 ORDER BY 1 DESC"
    )
    dimensions = [*table.references, *labels]
    parts = [
        sql(
            _part(table, each, amount=amount, units=units, price=price, after=is_after, span=span, fell=fell),
            f"Part of {each} in the change",
        )
        for each in dimensions
    ]
    seen = yield [sql(totals, "Totals of both months"), *parts]
    all_before, all_after = seen[0].rows
    ends = [
        value_of(seen[0], "total", period=all_before["period"]),
        value_of(seen[0], "total", period=all_after["period"]),
    ]

    def end(cause: JsonValue, result: Returned) -> Answer:
        return {
            "answer": "The rest stays open.",
            "findings": [*ends, cause],
            "main_result": result.name,
        }

    repeated = number(all_after["repeated"])
    if not fell and repeated > 0.03 * number(all_after["n"]):
        return end(value_of(seen[0], "repeated", period=all_after["period"]), seen[0])
    if fell and number(all_after["days"]) < 28:
        source = f"FROM {name} WHERE {is_after} AND {span}"
        by_day = f"SELECT {day} AS day, count(*) AS n {source} GROUP BY 1 ORDER BY 1"
        (daily,) = yield [sql(by_day, "Rows of each day")]
        days = [str(row["day"])[:10] for row in daily.rows]
        pauses = [int(b[8:]) - int(a[8:]) for a, b in pairwise(days)]
        if max(pauses) > 2:
            gaps: JsonValue = {
                "result": daily.name,
                "fact": "note_gaps",
                "reading": "Rows are missing there.",
            }
            return end(gaps, daily)
    sign = -1 if fell else 1
    candidates = [
        (sign * number(row["change"]), row, result)
        for result in seen[1:]
        if len(result.rows) > 1
        for row in result.rows
    ]
    _, row, result = max(candidates, key=lambda each: each[0])
    cheaper = number(row["price_after"]) / (number(row["price_before"]) or 1)
    as_many = 0.5 < number(row["units_after"]) / (number(row["units_before"]) or 1) < 1.5
    if as_many and not 0.85 < cheaper < 1.15:
        return end(value_of(result, "price_after", member=row["member"]), result)
    return end(value_of(result, "change", member=row["member"]), result)


def _part(
    table: SeenTable,
    dimension: str,
    *,
    amount: str,
    units: str,
    price: str,
    after: str,
    span: str,
    fell: bool,
) -> str:
    """The members of a dimension, those first that explain most."""
    source = f"FROM {table.name} f"
    member = f"f.{dimension}"
    if dimension in table.references:
        source += f" JOIN {table.references[dimension]} d ON d.id = f.{dimension}"
        member = "d.name"
    late = f"CASE WHEN f.{after} THEN"
    early = f"CASE WHEN NOT (f.{after}) THEN"
    return (
        f"SELECT {member} AS member, sum({late} {amount} ELSE -{amount} END) AS change, "
        f"sum({early} {units} END) AS units_before, sum({late} {units} END) AS units_after, "
        f"avg({early} {price} END) AS price_before, avg({late} {price} END) AS price_after {source} "
        f"WHERE f.{span.replace('AND ', 'AND f.')} GROUP BY 1 ORDER BY 2 {'ASC' if fell else 'DESC'} LIMIT 6"
    )


# The same measure in two databases


def differing(question: str) -> Plan:
    """Totals, parts and rows of both databases, compared."""
    asked = re.search(
        r"Revenue of (\w+ \d{4}) \(the sum of (\w+) of (\w+) in (\w+), and of (\w+) in (\w+), by (\w+)\)",
        question,
    )
    assert asked is not None, question
    month, amount, left_table, left, right_table, right, day = asked.groups()
    first, last = month_of(month)
    described = yield [
        ("describe_tables", {"names": [left_table], "database": left}),
        ("describe_tables", {"names": [right_table], "database": right}),
    ]
    table = tables_in(described[0].text)[left_table]
    key, *labels = table.of_type("text")
    labels = labels[:2]
    during = f"{day} >= '{first}' AND {day} < '{last}'"
    calls: list[Call] = []
    for database, name in ((left, left_table), (right, right_table)):
        calls.append(
            sql(
                f"SELECT sum({amount}) AS revenue, count(*) - count(DISTINCT {key}) AS repeated "
                f"FROM {name} WHERE {during}",
                "Totals",
                database,
            )
        )
        calls += [
            sql(
                f"SELECT {label}, count(*) AS n, sum({amount}) AS revenue FROM {name} "
                f"WHERE {during} GROUP BY 1 ORDER BY 1",
                f"By {label}",
                database,
            )
            for label in labels
        ]
        calls.append(
            sql(
                f"SELECT {key}, min({day}) AS at, min({amount}) AS value FROM {name} GROUP BY 1 "
                f"HAVING min({day}) >= '{first}' AND min({day}) < '{last}'",
                "Rows of the month",
                database,
            )
        )
    seen = yield calls
    half = len(seen) // 2
    ours, theirs = seen[:half], seen[half:]
    totals = (ours[0].rows[0], theirs[0].rows[0])
    ends = [value_of(result, "revenue") for result in (ours[0], theirs[0])]

    def end(cause: JsonValue, result: Returned) -> Answer:
        return {
            "answer": "The rest stays open.",
            "findings": [*ends, cause],
            "main_result": result.name,
        }

    for row, result in zip(totals, (ours[0], theirs[0]), strict=True):
        if number(row["repeated"]) > 0:
            return end(value_of(result, "repeated"), result)
    compared = yield [
        _compared(ours[-1], theirs[-1], keys=[key], values=["at", "value"]),
        *(
            _compared(ours[at], theirs[at], keys=[label], values=["n", "revenue"])
            for at, label in enumerate(labels, 1)
        ),
    ]
    rows = compared[0]
    if re.search(r"^at is ([\d.]+) hours (earlier|later) on the right", rows.text, re.MULTILINE):
        reading = "The times are of another time zone."
        return end(value_of(rows, "at difference", reading, **{key: rows.rows[0][key]}), rows)
    unequal = [
        (label, result, [row for row in result.rows if row["comparison"] != "equal"])
        for label, result in zip(labels, compared[1:], strict=True)
    ]
    label, result, parts = min(unequal, key=lambda each: len(each[2]))
    (part, *_) = parts
    factor = re.search(r"^value on the right is (\S+) times the left one", rows.text, re.MULTILINE)
    here = {label: part[label]}
    if number(part["n difference"]) != 0:
        return end(value_of(result, "n difference", "Rows are missing.", **here), result)
    if factor is not None and float(factor[1]) == 0:
        return end(value_of(result, "revenue difference", "Amounts are empty.", **here), result)
    return end(value_of(result, "revenue right", "The amounts are in another currency.", **here), result)


def _compared(left: Returned, right: Returned, *, keys: Sequence[str], values: Sequence[str]) -> Call:
    given: dict[str, JsonValue] = {
        "left": left.name,
        "right": right.name,
        "keys": [*keys],
        "values": [*values],
    }
    return "compare_results", given


# Document a schema


def document(question: str, system: str) -> Plan:
    """Cards and sizes of all tables, written down."""
    names = list(tables_in(system))
    (described,) = yield [("describe_tables", {"names": [*names]})]
    counts = " UNION ALL ".join(f"SELECT '{name}' AS name, count(*) AS size FROM {name}" for name in names)
    (counted,) = yield [sql(counts, "Sizes of the tables")]
    if wanted := DESCRIPTION.search(question):
        yield [("describe_table_as", {"table": wanted[1], "text": wanted[2]})]
    tables = tables_in(described.text)
    lines: list[str] = ["# The schema"]
    findings: list[JsonValue] = []
    for name in names:
        table = tables[name]
        lines += ["", f"## {name}", "", "| column | type |", "|---|---|"]
        lines += [f"| {column} | {kind} |" for column, kind in table.columns.items()]
        lines += [f"- `{name}.{column} = {other}.id`" for column, other in table.references.items()]
        findings.append(value_of(counted, "size", name=name))
    return {"answer": "\n".join(lines), "findings": findings}


# What is wrong with the data?


def defects(system: str) -> Plan:
    """`check_data` for each table; nulls that a status explains and dates that lie ahead by name are none."""
    names = list(tables_in(system))
    checks: list[Call] = [("check_data", {"table": name}) for name in names]
    (described, *checked) = yield [("describe_tables", {"names": [*names]}), *checks]
    tables = tables_in(described.text)
    found = [(name, result, row) for name, result in zip(names, checked, strict=True) for row in result.rows]
    open_dates = [
        (name, str(row["column"]))
        for name, _, row in found
        if row["check"] == "nulls"
        and tables[name].columns.get(str(row["column"])) in ("date", "datetime")
        and "status" in tables[name].columns
    ]
    explained: set[tuple[str, str]] = set()
    if open_dates:
        by_status = yield [
            sql(
                f"SELECT status, count(*) AS n, count({column}) AS filled FROM {name} GROUP BY 1 ORDER BY 1",
                f"Which status explains the nulls of {column}",
            )
            for name, column in open_dates
        ]
        explained = {
            pair
            for pair, result in zip(open_dates, by_status, strict=True)
            if all(row["filled"] in (0, row["n"]) for row in result.rows)
        }
    findings: list[JsonValue] = []
    for name, result, row in found:
        column = str(row["column"])
        ahead = row["check"] == "future dates" and re.search("until|due|valid|expir|deadline", column)
        whole_row = row["check"] == "duplicates" and "," in column
        if (name, column) in explained or ahead or whole_row:
            continue
        findings.append(value_of(result, "count", check=row["check"], column=column))
    return {"answer": "The rest stays open.", "findings": findings}
