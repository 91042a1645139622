"""Conditions of policies: parsed, with attributes of the person bound as literals."""

import re
from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp
from sqlglot.errors import ParseError

from app.modules.policies.model import Attribute, Scalar
from app.modules.sql.parsing import parsed_one

_ATTRIBUTE = re.compile(r"\{\{\s*user\.(\w+)\s*\}\}")
_LIST = re.compile(r"(?i)\bIN\s+(\{\{\s*user\.\w+\s*\}\})")
_MARK = "__kai_attribute_"


class UnreadableCondition(ValueError):
    """A condition cannot be read; its text says why, for the writer of the policy."""


def attributes_in(condition: str) -> Sequence[str]:
    """Returns the names of the attributes that a condition names."""
    return _ATTRIBUTE.findall(condition)


def bound_condition(text: str, known: Mapping[str, Attribute], dialect: str) -> exp.Expr:
    """Returns a condition in parentheses, with the values of its attributes in it.

    A single value stands for a list of one after IN. Raises `UnreadableCondition`, also for an attribute
    that is missing or a list in place of a single value.
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
        _bind(mark, known)
    return holder


def _given(node: exp.Expr) -> Iterator[str]:
    return (name for name, value in node.args.items() if value)


def _bind(mark: exp.Column, known: Mapping[str, Attribute]) -> None:
    name = mark.name.removeprefix(_MARK)
    value = known.get(name)
    if value is None:
        raise UnreadableCondition(f"the person has no attribute {name}")
    parent = mark.parent
    if isinstance(parent, exp.In) and mark.arg_key == "expressions":
        _bind_list(parent, mark, [value] if isinstance(value, str | int | float | bool) else value)
    elif isinstance(value, str | int | float | bool):
        mark.replace(_literal(value))
    else:
        raise UnreadableCondition(f"the attribute {name} is a list: compare it with IN")


def _bind_list(place: exp.In, mark: exp.Column, values: Sequence[Scalar]) -> None:
    others = [each for each in place.expressions if each is not mark]
    if values or others:
        place.set("expressions", [*others, *map(_literal, values)])
    else:
        place.replace(exp.false())  # NOT makes it true


def _literal(value: Scalar) -> exp.Expr:
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
