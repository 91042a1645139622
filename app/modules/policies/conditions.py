"""Conditions of policies: parsed, with attributes of the person bound as literals."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from sqlglot import exp
from sqlglot.errors import ParseError

from app.modules.policies.model import Attribute, Kind, Scalar
from app.modules.sql.parsing import parsed_one

_ATTRIBUTE = re.compile(r"\{\{\s*user\.(\w+)\s*\}\}")
_LIST = re.compile(r"(?i)\bIN\s+(\{\{\s*user\.\w+\s*\}\})")
_NUMBER = re.compile(r"-?\d+(\.\d+)?", re.ASCII)
_MARK = "__kai_attribute_"


class UnreadableCondition(ValueError):
    """A condition cannot be read; its text says why, for the writer of the policy."""


def attributes_in(condition: str) -> Sequence[str]:
    """Returns the names of the attributes that a condition names."""
    return _ATTRIBUTE.findall(condition)


def bound_condition(
    text: str,
    known: Mapping[str, Attribute],
    dialect: str,
    *,
    kind_of: Callable[[exp.Column], Kind | None] = lambda _: None,
) -> exp.Expr:
    """Returns a condition in parentheses, with the values of its attributes in it.

    A single value stands for a list of one after IN. `kind_of` returns the kind of a column in it, None if it
    is not known: a value is compared as one of its column's kind. Raises `UnreadableCondition`, also for an
    attribute that is missing, a list in place of a single value, or a value of another kind.
    """
    marked, count = _ATTRIBUTE.subn(lambda found: _MARK + found[1], _LIST.sub(r"IN (\1)", text))
    if "{{" in marked or _MARK in text:
        raise UnreadableCondition("an attribute is written as {{ user.name }}")
    try:
        # In parentheses, so that the text is one expression and ends where it ends.
        query = parsed_one(f"SELECT ({marked}\n)", dialect)
    except (ParseError, RecursionError):
        raise UnreadableCondition("it is no condition of the database's SQL") from None
    holder = query.expressions[0] if isinstance(query, exp.Select) and len(query.expressions) == 1 else None
    if not isinstance(holder, exp.Paren) or set(_given(query)) != {"expressions"}:
        raise UnreadableCondition("it is no single condition")
    marks = [each for each in holder.find_all(exp.Column) if each.name.startswith(_MARK)]
    if len(marks) != count:
        raise UnreadableCondition(
            "write {{ user.name }} without quotes around it: its value is a literal already"
        )
    for mark in marks:
        column = _column_beside(mark)
        _bind(mark, known, None if column is None else kind_of(column))
    return holder


def _given(node: exp.Expr) -> Iterator[str]:
    return (name for name, value in node.args.items() if value)


def _column_beside(mark: exp.Column) -> exp.Column | None:
    """Returns the column that an attribute is compared with. None if it is no column."""
    compared = (
        [] if mark.parent is None else [each for each in mark.parent.iter_expressions() if each is not mark]
    )
    return compared[0] if compared and isinstance(compared[0], exp.Column) else None


def _bind(mark: exp.Column, known: Mapping[str, Attribute], kind: Kind | None) -> None:
    name = mark.name.removeprefix(_MARK)
    value = known.get(name)
    if value is None:
        raise UnreadableCondition(f"the person has no attribute {name}")
    parent = mark.parent
    if isinstance(parent, exp.In) and mark.arg_key == "expressions":
        values = [value] if isinstance(value, str | int | float | bool) else value
        _bind_list(parent, mark, [_literal(each, kind) for each in values])
    elif isinstance(value, str | int | float | bool):
        mark.replace(_literal(value, kind))
    else:
        raise UnreadableCondition(f"the attribute {name} is a list: compare it with IN")


def _bind_list(place: exp.In, mark: exp.Column, values: Sequence[exp.Expr]) -> None:
    others = [each for each in place.expressions if each is not mark]
    if values or others:
        place.set("expressions", [*others, *values])
    else:
        place.replace(exp.false())  # NOT makes it true


def _literal(value: Scalar, kind: Kind | None) -> exp.Expr:
    """MySQL compares `'7x'` with a number as 7, and 0 with any text that is no number as equal."""
    if kind == "text" and isinstance(value, bool):
        raise UnreadableCondition("a value is true or false, and its column a text")
    if kind == "text" and not isinstance(value, str):
        value = str(value)
    if kind == "boolean" and isinstance(value, str):
        value = {"true": True, "false": False}.get(value.lower(), value)
    is_number = isinstance(value, str) and _NUMBER.fullmatch(value)
    if kind in ("integer", "number", "boolean") and isinstance(value, str) and not is_number:
        raise UnreadableCondition(f"a value does not fit its column of the kind {kind}")
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, str):
        if "\0" in value:
            raise UnreadableCondition("a value holds a NUL character")
        return exp.Literal.string(value)
    if value != value or value in (float("inf"), float("-inf")):
        raise UnreadableCondition("a value is no number")
    number = exp.Literal.number(abs(value))
    return exp.Neg(this=number) if value < 0 else number
