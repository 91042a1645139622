"""Facts of each database engine that reading its SQL needs: `engines`, a file a dialect."""

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

_FILES = Path(__file__).parent / "engines"


class EngineData(BaseModel):
    """Facts of one engine. Names of schemas, functions and sessions are in lower case."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    """Name of the database for users."""
    default_schema: str = ""
    """Schema of tables that are known without one. Empty if there is no fixed one."""
    schemas_are_databases: bool = False
    """What other engines name a schema is a database of the server."""
    system_schemas: frozenset[str] = frozenset()
    """Schemas of the system besides information_schema."""
    session_names: frozenset[str] = frozenset()
    """Names that are functions of the session without quotes, and columns to sqlglot."""
    sequence_names: frozenset[str] = frozenset()
    """Names that move a sequence where they stand behind its name, and are columns to sqlglot."""
    table_functions: frozenset[str] = frozenset()
    """The only functions that may stand in place of a table, by sqlglot's names."""
    view_definitions: str
    """Query of schema, name and definition of each view."""


@cache
def engine_data(dialect: str) -> EngineData:
    """Returns the facts of a dialect that is in `DIALECTS`."""
    text = (_FILES / f"{dialect}.toml").read_text(encoding="utf-8")
    return EngineData.model_validate(tomllib.loads(text))


DIALECTS: Sequence[str] = sorted(path.stem for path in _FILES.glob("*.toml"))
"""sqlglot's names of the dialects of all engines."""
DATABASE_NAMES = {dialect: engine_data(dialect).name for dialect in DIALECTS}
"""Names of the databases, by dialect, for users."""
SYSTEM_SCHEMAS = frozenset({"information_schema"}).union(
    *(engine_data(dialect).system_schemas for dialect in DIALECTS)
)
"""Schemas that no engine's users keep tables in."""
