"""Fields are described by their docstrings, in the JSON schema."""

from dataclasses import dataclass
from typing import Annotated

import pytest
from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from graph.described import Described, described


class Parent(Described):
    kept: int
    """Described by the parent."""
    changed: int
    """Changed by the child."""


class Child(Parent):
    changed: int
    """Described by the child."""
    bare: int
    aliased: int = Field(alias="other")
    """Described under its alias."""
    written: Annotated[int, Field(description="Described by hand.")]
    """Not this."""


def descriptions(schema: dict[str, dict[str, dict[str, str]]]) -> dict[str, str | None]:
    return {name: each.get("description") for name, each in schema["properties"].items()}


def test_a_field_is_described_by_the_docstring_of_the_class_that_declares_it_last() -> None:
    assert descriptions(Child.model_json_schema()) == {
        "kept": "Described by the parent.",
        "changed": "Described by the child.",
        "bare": None,
        "other": "Described under its alias.",
        "written": "Described by hand.",
    }


def test_a_class_within_a_function_is_described_too() -> None:
    class Local(Described):
        inner: int
        """Described
        over two lines.
        """

    assert descriptions(Local.model_json_schema()) == {"inner": "Described\nover two lines."}


def test_a_class_without_a_source_has_no_descriptions() -> None:
    made: dict[str, type[Described]] = {}
    program = 'class Made(Described):\n    field: int\n    """Lost."""\n'
    exec(program, {"Described": Described, "__name__": "made_up"}, made)  # noqa: S102
    assert descriptions(made["Made"].model_json_schema()) == {"field": None}


@described
@dataclass
class Record:
    held: int
    """Described in a dataclass."""


@described
class Mapped(TypedDict):
    held: int
    """Described in a TypedDict."""


@pytest.mark.parametrize(
    ("kind", "text"), [(Record, "Described in a dataclass."), (Mapped, "Described in a TypedDict.")]
)
def test_other_types_are_described_by_their_decorator(kind: type, text: str) -> None:
    assert descriptions(TypeAdapter(kind).json_schema()) == {"held": text}
