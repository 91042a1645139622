"""Names of tables: the only place that compares, quotes, prints and parses them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

_DEFAULT_SCHEMAS = {"sqlite": "main", "postgres": "public", "duckdb": "main"}
"""Schemas of tables that are known without one."""
_OWN_MARKS = {".", '"', "`"}


@dataclass(frozen=True, order=True, slots=True)
class TableName:
    """Name of a table. Catalog and schema are empty where the database has no more than one."""

    catalog: str
    schema: str
    name: str

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that are not empty, the name last."""
        return tuple(part for part in (self.catalog, self.schema, self.name) if part)

    @property
    def within_catalog(self) -> "TableName":
        """The same name without its catalog."""
        return TableName("", self.schema, self.name)

    @property
    def text(self) -> str:
        """The name as people read it: `sales.orders`. A part with a dot is in quotes unless it is alone."""
        if len(self.parts) == 1:
            return self.name
        return ".".join(map(_marked, self.parts))

    def node(self, alias: str = "") -> exp.Table:
        """Returns the name as a source of a query, every part in quotes."""
        catalog, schema = (exp.to_identifier(part or None, quoted=True) for part in (self.catalog, self.schema))
        named = exp.to_identifier(alias or None, quoted=True)
        return exp.Table(
            this=exp.to_identifier(self.name, quoted=True),
            db=schema,
            catalog=catalog,
            alias=exp.TableAlias(this=named) if named else None,
        )

    def sql(self, dialect: str) -> str:
        """Returns the name as SQL, in quotes where it needs them."""
        return ".".join(
            exp.to_identifier(part, quoted=needs_quotes(part, dialect)).sql(dialect) for part in self.parts
        )

    def qualify(self, table: exp.Table) -> None:
        """Write the schema and the catalog before the name that a statement reads the table by, in place."""
        for key, part in (("db", self.schema), ("catalog", self.catalog)):
            if part:
                table.set(key, exp.to_identifier(part, quoted=True))


def needs_quotes(name: str, dialect: str) -> bool:
    """True if a name means the same only in quotes."""
    plain = exp.SAFE_IDENTIFIER_RE.fullmatch(name) is not None
    return not plain or (dialect == "postgres" and name != name.lower())


def shown_names(names: Iterable[TableName], dialect: str) -> Mapping[TableName, TableName]:
    """Returns for each name the shortest form that has no second meaning among the names."""
    folds = _Folds(dialect)
    found: dict[TableName, TableName] = {}
    same: defaultdict[str, list[TableName]] = defaultdict(list)
    for each in names:
        same[folds.part(each.name)].append(each)
    for group in same.values():
        for each in group:
            found[each] = TableName("", "", each.name) if len(group) == 1 else each.within_catalog
    texts = {folds.part(shown.text) for each, shown in found.items() if shown.schema}
    for each, shown in found.items():
        if not shown.schema and folds.part(shown.name) in texts:  # a name with a dot in it
            found[each] = each.within_catalog
    return found


class TableNames:
    """The names of a database's tables, by the texts that they are shown as.

    `database` is the database's own name, which statements may write before that of a table.
    """

    def __init__(self, dialect: str, names: Mapping[str, TableName], database: str = "") -> None:
        self._dialect = dialect
        self._folds = _Folds(dialect)
        self._names = names
        self._database = self._folds.part(database)
        self._by_name: defaultdict[str, list[str]] = defaultdict(list)
        for shown, name in names.items():
            self._by_name[self._folds.part(name.name)].append(shown)

    def __getitem__(self, shown: str) -> TableName:
        return self._names[shown]

    def meanings(self, table: exp.Table) -> Sequence[str]:
        """Returns the tables that a source of a statement may mean: none, one, or several of one name."""
        *qualifiers, name = table.parts
        if not all(isinstance(part, exp.Identifier) for part in (*qualifiers, name)):
            return []
        return self._meanings([self._folds.identifier(part) for part in (*qualifiers, name)])

    def find(self, table: exp.Table) -> str | None:
        """Returns the one table that a source of a statement means. None if there is none or several."""
        found = self.meanings(table)
        return found[0] if len(found) == 1 else None

    def read(self, text: str) -> Sequence[str]:
        """Returns the tables that a person or a model may mean by a text: as shown, or with more or fewer of
        its parts, in any case.
        """
        if text in self._names:
            return [text]
        wanted = [part.casefold() for part in _parts(text)]
        exact = [shown for shown, name in self._names.items() if shown.casefold() == text.casefold()]
        return exact or [
            shown
            for shown, name in self._names.items()
            if name.name.casefold() == wanted[-1] and _ends_with(self._whole(name), wanted)
        ]

    def same_name(self, table: exp.Table) -> Sequence[str]:
        """Returns all tables of the name of a source, whatever its schema is."""
        named = isinstance(table.this, exp.Identifier)
        return self._by_name.get(self._folds.identifier(table.this), []) if named else []

    @property
    def schemas(self) -> Collection[str]:
        """The schemas of the tables, in order."""
        return sorted({self._schema_of(name) for name in self._names.values()})

    def _meanings(self, parts: Sequence[str]) -> Sequence[str]:
        *qualifiers, name = parts
        same = self._by_name.get(name, [])
        return [shown for shown in same if self._is_qualified(self._names[shown], qualifiers)] if qualifiers else same

    def _is_qualified(self, name: TableName, qualifiers: Sequence[str]) -> bool:
        schema = self._folds.part(self._schema_of(name))
        catalog = self._catalog_of(name)
        if len(qualifiers) == 1:
            if qualifiers[0] == schema:
                return bool(schema)
            in_default = schema == _DEFAULT_SCHEMAS.get(self._dialect)
            return self._dialect == "duckdb" and in_default and bool(catalog) and qualifiers[0] == catalog
        return len(qualifiers) == 2 and bool(schema and catalog) and list(qualifiers) == [catalog, schema]

    def _schema_of(self, name: TableName) -> str:
        if name.schema:
            return name.schema
        return self._database if self._dialect == "mysql" else _DEFAULT_SCHEMAS.get(self._dialect, "")

    def _catalog_of(self, name: TableName) -> str:
        if name.catalog:
            return self._folds.part(name.catalog)
        return "" if self._dialect == "mysql" else self._database

    def _whole(self, name: TableName) -> list[str]:
        whole = (self._catalog_of(name), self._schema_of(name), name.name)
        return [part.casefold() for part in whole if part]


class _Folds:
    """Names as the database of a dialect compares them."""

    def __init__(self, dialect: str) -> None:
        self._dialect = Dialect.get_or_raise(dialect)

    def part(self, name: str) -> str:
        """Returns the form of a real name that equals that of the same name."""
        return self.identifier(exp.to_identifier(name, quoted=True)) if name else ""

    def identifier(self, identifier: exp.Expr) -> str:
        """Returns the form of a name as a statement writes it."""
        return self._dialect.normalize_identifier(identifier.copy()).name


def _marked(part: str) -> str:
    return '"' + part.replace('"', '""') + '"' if _OWN_MARKS.intersection(part) else part


def _parts(text: str) -> list[str]:
    """Returns the parts of a text with dots between them, of which some may be in quotes."""
    parts, quote = [""], ""
    for letter in text:
        if quote:
            if letter == quote:
                quote = ""
            else:
                parts[-1] += letter
        elif letter in _OWN_MARKS - {"."}:
            quote = letter
        elif letter == ".":
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _ends_with(whole: Sequence[str], wanted: Sequence[str]) -> bool:
    return list(whole[-len(wanted) :]) == list(wanted)
