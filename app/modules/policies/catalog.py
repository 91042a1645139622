"""Tables and views of a database as policies know them: all of them, with all columns."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.schema import MappingSchema

from app.modules.policies.model import Kind
from app.modules.sql.table_names import TableName, TableNames


@dataclass(frozen=True, kw_only=True)
class RelationColumn:
    name: str
    kind: Kind
    database_type: str
    is_key: bool


@dataclass(frozen=True, kw_only=True)
class DatabaseRelation:
    """A table or a view. `definition` is that of a view, empty if it could not be read."""

    shown: str
    name: TableName
    columns: Sequence[RelationColumn]
    is_view: bool
    definition: str
    hides: Sequence[str] = ()
    """Columns that the owner of the connection hides from everyone."""
    is_new: bool = False
    """It was found, or found with these columns, after the policies were written."""

    @cached_property
    def by_name(self) -> Mapping[str, RelationColumn]:
        return {column.name: column for column in self.columns}

    @cached_property
    def kinds(self) -> Mapping[str, Kind]:
        """The kinds of the columns, by their names in lower case."""
        return {column.name.casefold(): column.kind for column in self.columns}

    @property
    def key(self) -> Sequence[str]:
        return [column.name for column in self.columns if column.is_key]


class RelationCatalog:
    """Relations by the names that they are shown as. `database`: the database's own name, if it has one."""

    def __init__(self, dialect: str, relations: Sequence[DatabaseRelation], database: str) -> None:
        self.dialect = dialect
        self.by_shown = {each.shown: each for each in relations}
        self.names = TableNames(dialect, {each.shown: each.name for each in relations}, database)
        self._folds = Dialect.get_or_raise(dialect)
        self._folded: dict[tuple[str, bool], str] = {}

    def fold(self, identifier: exp.Expr) -> str:
        """Returns a name as the database compares it."""
        key = (identifier.name, bool(identifier.args.get("quoted")))
        if key not in self._folded:  # copying and folding each time would be most of the cost of a rewrite
            named = exp.to_identifier(key[0], quoted=key[1])
            self._folded[key] = str(self._folds.normalize_identifier(named).name)
        return self._folded[key]

    def fold_name(self, name: str) -> str:
        """Returns a real name in the form that equals that of the same name."""
        return self.fold(exp.to_identifier(name, quoted=True))

    def find(self, table: exp.Table, schema: str) -> DatabaseRelation | None:
        """Returns what a name means. Of several without a schema, the one of `schema`."""
        found = self.names.meanings(table)
        if len(found) > 1:
            found = [each for each in found if self.names.schema_of(each) == schema]
        return self.by_shown[found[0]] if len(found) == 1 else None

    def schema_of(self, relation: DatabaseRelation) -> str:
        return self.names.schema_of(relation.shown)

    def kind_of(self, relation: DatabaseRelation, column: exp.Column) -> Kind | None:
        """Returns the kind of a column in a condition of a relation, which may be of a table in a query of
        the condition. None if it is of neither.
        """
        name = column.name.casefold()
        query = column.parent_select
        while query is not None:
            for table in query.find_all(exp.Table):
                is_named = column.table.casefold() in {"", table.alias_or_name.casefold()}
                if is_named and table.parent_select is query:
                    found = self.find(table, self.schema_of(relation))
                    if found is not None and name in found.kinds:
                        return found.kinds[name]
            query = query.parent_select
        return relation.kinds.get(name)

    def base(self, relation: DatabaseRelation, alias: str) -> exp.Table:
        """Returns a relation as a source by its full name, so that no other name takes its place."""
        name = relation.name
        if self.dialect == "sqlite":
            name = TableName("", self.schema_of(relation), name.name)
        return name.node(alias)

    def meanings(self, name: str) -> Sequence[str]:
        """Returns the shown names of the relations that a name in policies may mean. It was written with the
        schema or without, as it was shown then: a table is shown otherwise once another schema has its name.
        """
        return self._shown_names.get(name, ())

    @cached_property
    def _shown_names(self) -> Mapping[str, Sequence[str]]:
        found: defaultdict[str, list[str]] = defaultdict(list)
        for shown, each in self.by_shown.items():
            for name in {shown, each.name.name, self.names.full(shown).text}:
                found[name].append(shown)
        return found

    def map_columns(
        self, relations: Iterable[DatabaseRelation], left_out: Mapping[str, Sequence[str]]
    ) -> MappingSchema:
        """Returns the columns of relations, without those left out of them by their shown names."""
        found: dict[str, dict[str, dict[str, str]]] = {}
        for each in relations:
            gone = left_out.get(each.shown, ())
            columns = {column.name: "TEXT" for column in each.columns if column.name not in gone}
            if columns:
                found.setdefault(self.schema_of(each) or "main", {})[each.name.name] = columns
        return MappingSchema(dict[str, object](found), dialect=self.dialect, normalize=True)
