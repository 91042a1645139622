"""The tables of a schema and the foreign keys between them: join paths, keys and name columns."""

from collections.abc import Collection, Iterable

from app.modules.database_connection.schema import Schema, Table, TableColumn
from app.modules.sql_generation.builtin.plan import (
    NO_PREFERENCES,
    Beyond,
    Entity,
    PlanColumn,
    Preferences,
    Reading,
    Unclear,
)
from app.modules.sql_generation.builtin.question.readings import spoken
from app.modules.sql_generation.builtin.question.words import words_of
from app.modules.sql_generation.foreign_keys import ForeignKeyGraph, Path

_NAMES = (("name",), ("full", "name"), ("company", "name"), ("title",), ("label",), ("description",))
_UNLISTED = ("binary", "json")
_NAMED_UNLISTED = 12

_PERSONAL = frozenset({"email", "phone", "gender", "sex", "surname", "salary", "job"})
PEOPLE = frozenset(
    "customer client employee staff person people student teacher user member author patient".split()  # noqa: SIM905
)


class SchemaNetwork:
    """Read-only lookups over one schema."""

    def __init__(self, schema: Schema, preferences: Preferences = NO_PREFERENCES) -> None:
        self.schema = schema
        self.preferences = preferences
        self._tables = {table.name: table for table in schema.tables}
        self._foreign_keys = ForeignKeyGraph.inferring(schema.tables)

    def table(self, name: str) -> Table:
        return self._tables[name]

    def fields(self, table: str) -> list[PlanColumn]:
        return [PlanColumn(table, column.name, column.type) for column in self._tables[table].columns]

    def listed(self, table: str) -> list[PlanColumn]:
        """Returns the columns that a list of whole rows shows. Raises `Beyond` if it shows none."""
        shown = [field for field in self.fields(table) if field.type not in _UNLISTED]
        if not shown:
            raise Beyond(
                f"Every column of {table} holds arrays, JSON or binary values, which a list of whole rows "
                "does not show. Name the columns that you want to see."
            )
        return shown

    def unlisted(self, table: str) -> str:
        """Returns a sentence that names the columns that a list of whole rows leaves out; empty if none."""
        named = [
            f"{field.column} ({self.column(field).database_type or field.type})"
            for field in self.fields(table)
            if field.type in _UNLISTED
        ]
        if not named:
            return ""
        more = f" and {len(named) - _NAMED_UNLISTED} more" if len(named) > _NAMED_UNLISTED else ""
        return (
            " Left out, as a list of whole rows shows no arrays, JSON or binary values: "
            f"{', '.join(named[:_NAMED_UNLISTED])}{more}. Name a column to see it."
        )

    def column(self, field: PlanColumn) -> TableColumn:
        return next(column for column in self._tables[field.table].columns if column.name == field.column)

    def is_key(self, field: PlanColumn) -> bool:
        """True if the field is a primary or foreign key, which is not a number to compute with."""
        declared = self._tables[field.table].foreign_key_columns
        foreign = declared | self._foreign_keys.key_columns(field.table)
        last = words_of(field.column)[-1:]
        return self.column(field).primary_key or field.column in foreign or last == ("id",)

    def referred(self, field: PlanColumn) -> set[str]:
        """Returns the tables that a foreign key column refers to."""
        keys = self._tables[field.table].foreign_keys
        return {key.referred_table for key in keys if field.column in key.columns}

    def key(self, table: str) -> tuple[PlanColumn, ...]:
        return tuple(field for field in self.fields(table) if self.column(field).primary_key)

    def entity(self, table: str) -> Entity:
        return Entity(table, self.key(table), self.name_fields(table) or self.key(table))

    def name_fields(self, table: str) -> tuple[PlanColumn, ...]:
        """Returns the name columns of a table: a name or title, or first and last name; may be empty."""
        by_words = {words_of(field.column): field for field in self.fields(table)}
        first = by_words.get(("first", "name"))
        last = by_words.get(("last", "name"))
        if first and last:
            return (first, last)
        own = words_of(table)
        for words in (*_NAMES, (*own, "name"), (*own[-1:], "name"), own):
            if (field := by_words.get(words)) and field.type == "text":
                return (field,)
        named = [field for words, field in by_words.items() if words[-1:] == ("name",)]
        return (named[0],) if len(named) == 1 else ()

    def referring(self, table: str) -> list[str]:
        """Returns the tables whose rows refer to rows of this one, sorted by name."""
        hops = self._foreign_keys.hops(table)
        return sorted({hop.right for hop in hops if hop.fans_out and hop.right != table})

    def is_of_people(self, table: str) -> bool:
        """True if the rows seem to be people: a guess from the names of the table and its columns."""
        columns = {word for field in self.fields(table) for word in words_of(field.column)}
        return not _PERSONAL.isdisjoint(columns) or not PEOPLE.isdisjoint(words_of(table))

    def distance(self, start: str, end: str) -> int | None:
        """Returns the number of joins between two tables, or None if there is no path.

        One-to-many joins count double.
        """
        paths = self._foreign_keys.shortest(start, end)
        return min((_weight(path) for path in paths), default=None)

    def fans_out(self, start: str, end: str, through: Collection[str] = ()) -> bool:
        return any(hop.fans_out for hop in self.path(start, end, through))

    def belongs(self, start: str, end: str) -> bool:
        """True if each row of `start` has at most one row of `end`, also if both are the same table."""
        return any(not any(hop.fans_out for hop in path) for path in self._foreign_keys.shortest(start, end))

    def path(self, start: str, end: str, through: Collection[str] = ()) -> Path:
        """Returns the shortest path, preferring tables in `through`.

        Raises `Beyond` if there is none, and `Unclear` if several are equally good.
        """
        paths = self._foreign_keys.shortest(start, end)
        if not paths:
            raise Beyond(f"I see no foreign keys that connect {start} with {end}.")
        ranked = sorted(paths, key=lambda path: self._rank(path, through))
        best = [path for path in ranked if self._rank(path, through) == self._rank(ranked[0], through)]
        if len(best) > 1:
            readings = self._ways(best)
            named = " or ".join(reading.label for reading in readings)
            raise Unclear(
                f"{start} and {end} are connected in several ways: {named}. Which do you mean?", readings
            )
        return best[0]

    def _rank(self, path: Path, through: Collection[str]) -> tuple[int, int, int]:
        """Returns a sort key: preferred tables and keys first, then mentioned tables, then short paths."""
        keys = {(field.table, field.column) for field in self.preferences.fields}
        preferred = sum(hop.right in self.preferences.tables or hop.key_column in keys for hop in path)
        return -preferred, -sum(hop.right in through for hop in path), _weight(path)

    def _ways(self, paths: Iterable[Path]) -> list[Reading]:
        """Returns a reading for each path, named by the tables that only it visits, or else by its key."""
        tables = [[hop.right for hop in path] for path in paths]
        shared = set.intersection(*map(set, tables))
        readings = []
        for path, along in zip(paths, tables, strict=True):
            own = [table for table in along if table not in shared]
            table, column = path[0].key_column
            mark: PlanColumn | str = own[0] if own else self._field(table, column)
            way = " and ".join(map(spoken, own)) or spoken(column)
            readings.append(Reading(label=f"through {way}", mark=mark, added=f", through {way}"))
        return sorted(readings, key=lambda reading: reading.label)

    def _field(self, table: str, column: str) -> PlanColumn:
        return next(field for field in self.fields(table) if field.column == column)


def _weight(path: Path) -> int:
    return sum(2 if hop.fans_out else 1 for hop in path)
