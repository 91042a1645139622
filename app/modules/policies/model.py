"""Policies of a connection: which rows and columns of which tables which people may see."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, model_validator

from app.http.routes import Body, storable

Scalar: TypeAlias = str | int | float | bool
Attribute: TypeAlias = Scalar | Sequence[Scalar]
"""Value of an attribute of a person."""

Kind = Literal["text", "integer", "number", "boolean", "date", "datetime", "time", "binary", "json"]
"""Kind of the values of a column."""
Mask = Literal["clear", "year", "last4", "hash", "fixed", "null", "hidden"]

_MOST_POLICIES = 200
_MOST_TABLES = 1_000
_MOST_CONDITIONS = 50
_MOST_ENTRIES = 5_000
_MOST_CHARACTERS = 20_000

Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), AfterValidator(storable)
]
ConditionText = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000), AfterValidator(storable)
]


class TablePolicy(Body):
    """What a policy says of one table."""

    rows: (
        Annotated[list[ConditionText], Field(min_length=1, max_length=_MOST_CONDITIONS)]
        | Literal["all"]
        | None
    ) = None
    """Conditions that a row has to meet, all of them, in the database's SQL; `{{ user.region }}` is an
    attribute of the person. `all` opens every row. Null says nothing of rows."""
    columns: Annotated[dict[Name, Mask], Field(max_length=_MOST_TABLES, default_factory=dict)]
    """Columns that are shown otherwise than they are: `hidden`, `null`, `fixed` (`***`), `hash` (the same for
    equal values), `last4` (the last four characters) or `year` (the first of January)."""
    hidden: bool = False
    """The table is unknown."""


class AccessPolicy(Body):
    """What some people may see. People are those who fit `roles`, `groups` and `when`, as far as these are
    given; without them, everyone.
    """

    name: Annotated[str, StringConstraints(pattern=r"^\w[\w ,.()/-]{0,99}$")]
    """Name in letters, digits, spaces and `,.()/-`, as answers and the audit log give it."""
    roles: Annotated[list[Name], Field(max_length=_MOST_TABLES, default_factory=list)]
    """The person has one of these in their attribute `roles`."""
    groups: Annotated[list[Name], Field(max_length=_MOST_TABLES, default_factory=list)]
    """The person has one of these in their attribute `groups`."""
    when: Annotated[dict[Name, Scalar], Field(max_length=_MOST_CONDITIONS, default_factory=dict)]
    """Attributes that the person has with these values."""
    always: bool = False
    """Its rows narrow what other policies open. Otherwise they add to it."""
    tables: Annotated[dict[Name, TablePolicy], Field(max_length=_MOST_TABLES, default_factory=dict)]
    """Tables, as the list of tables names them."""
    hidden_schemas: Annotated[list[Name], Field(max_length=_MOST_TABLES, default_factory=list)]
    """Schemas whose tables are unknown."""


class Policies(Body):
    """All policies of a connection."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "default": "allow",
                    "policies": [
                        {
                            "name": "own region",
                            "tables": {
                                "orders": {"rows": ["region = {{ user.region }}"]},
                                "employees": {"columns": {"salary": "hidden"}},
                            },
                        }
                    ],
                }
            ]
        }
    )

    default: Literal["allow", "deny"]
    """What holds for tables that no policy of the person names: all of them, or none."""
    policies: Annotated[list[AccessPolicy], Field(max_length=_MOST_POLICIES, default_factory=list)]
    """The policies."""
    trusted_views: Annotated[list[Name], Field(max_length=_MOST_TABLES, default_factory=list)]
    """Views that are rules themselves: the policies of the tables that they read do not hold in them."""

    @model_validator(mode="after")
    def _has_unique_names(self) -> "Policies":
        seen: set[str] = set()
        for policy in self.policies:
            if policy.name in seen:
                raise ValueError(f"two policies have the name {policy.name!r}: give each its own")
            seen.add(policy.name)
        return self

    @model_validator(mode="after")
    def _is_bounded(self) -> "Policies":
        tables = [table for policy in self.policies for table in policy.tables.values()]
        entries = len(tables) + sum(len(table.columns) for table in tables)
        characters = sum(len(text) for table in tables for text in table.rows or () if table.rows != "all")
        if entries > _MOST_ENTRIES or characters > _MOST_CHARACTERS:
            raise ValueError(
                f"policies name at most {_MOST_ENTRIES:,} tables and columns, and their conditions have at "
                f"most {_MOST_CHARACTERS:,} characters together: leave the rest to views of the database"
            )
        return self


@lru_cache(maxsize=256)
def read_policies(text: str) -> Policies:
    """Returns stored policies. The same text gives the same object."""
    return Policies.model_validate_json(text)
