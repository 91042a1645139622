"""Models whose fields are described by their docstrings, read when a JSON schema is asked for.

Pydantic reads them when a class is created, which took a fifth of KAI's start.
"""

import ast
import inspect
import linecache
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import TypeVar, get_type_hints

from pydantic import BaseModel, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

T = TypeVar("T")

Docstrings = dict[str, str]
"""Docstrings of a class by the names of its attributes."""


class Described(BaseModel):
    """A model whose JSON schema describes each field by its docstring, unless `Field` describes it."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> JsonSchemaValue:
        names = {name: name for name, field in cls.model_fields.items() if field.description is None}
        for name, field in cls.model_fields.items():
            if name in names:
                aliases = (field.alias, field.serialization_alias, field.validation_alias)
                names |= {alias: name for alias in aliases if isinstance(alias, str)}
        return _described_schema(cls, names, handler(core_schema), handler=handler)


def described(cls: type[T]) -> type[T]:
    """Decorates a TypedDict or dataclass whose JSON schema describes each field by its docstring.

    Fields that a TypedDict may lack are not required, also where defaults are.
    """

    def get_schema(core_schema: CoreSchema, handler: GetJsonSchemaHandler, /) -> JsonSchemaValue:
        names = {name: name for name in get_type_hints(cls)}
        schema = _described_schema(cls, names, handler(core_schema), handler=handler)
        if optional := getattr(cls, "__optional_keys__", None):
            found = handler.resolve_ref_schema(schema)
            found["required"] = [name for name in found["required"] if name not in optional]
        return schema

    setattr(cls, "__get_pydantic_json_schema__", staticmethod(get_schema))  # noqa: B010 - no such attribute yet
    return cls


def _described_schema(
    cls: type, names: Mapping[str, str], schema: JsonSchemaValue, *, handler: GetJsonSchemaHandler
) -> JsonSchemaValue:
    """Adds the descriptions; `names` has the fields by their names in the schema."""
    properties = handler.resolve_ref_schema(schema).get("properties", {})
    for name, field in names.items():
        text = _docstring(cls, field) if name in properties else None
        if text is not None:
            properties[name]["description"] = text
    return schema


def _docstring(cls: type, name: str) -> str | None:
    """Returns the docstring of a field in the class that has declared it last."""
    for each in cls.__mro__:
        if name in inspect.get_annotations(each):
            module = sys.modules.get(each.__module__)
            path = None if module is None else module.__file__
            return None if path is None else _docstrings(path).get(each.__qualname__, {}).get(name)
    return None


@cache
def _docstrings(path: str) -> dict[str, Docstrings]:
    """Returns the docstrings of the attributes of a file's classes. Empty if its source is not there."""
    return dict(_of_classes(ast.parse("".join(linecache.getlines(path))), ""))


def _of_classes(parent: ast.AST, prefix: str) -> Iterator[tuple[str, Docstrings]]:
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, ast.ClassDef):
            yield f"{prefix}{node.name}", dict(_of_attributes(node.body))
            yield from _of_classes(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _of_classes(node, f"{prefix}{node.name}.<locals>.")
        else:
            yield from _of_classes(node, prefix)


def _of_attributes(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for attribute, after in pairwise(body):
        if (
            isinstance(attribute, ast.AnnAssign)
            and isinstance(attribute.target, ast.Name)
            and isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
            and isinstance(after.value.value, str)
        ):
            yield attribute.target.id, inspect.cleandoc(after.value.value)
