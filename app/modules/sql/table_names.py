"""Names of tables: the only place that compares, quotes, prints and parses them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect, NormalizationStrategy

from app.modules.sql.engine_data import engine_data

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
    def name_in_catalog(self) -> "TableName":
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
        catalog, schema = (
            exp.to_identifier(part or None, quoted=True) for part in (self.catalog, self.schema)
        )
        named = exp.to_identifier(alias or None)
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
    match Dialect.get_or_raise(dialect).normalization_strategy:
        case NormalizationStrategy.LOWERCASE:
            return not plain or name != name.lower()
        case NormalizationStrategy.UPPERCASE:
            return not plain or name != name.upper()
        case _:
            return not plain


def shortened(shown: str, name: TableName) -> TableName:
    """Returns the parts of a name that the text has which it is shown as."""
    return TableName("", "", name.name) if shown == name.name else name.name_in_catalog


def written_name(table: exp.Table) -> TableName:
    """Returns the name that a statement reads a table by, with as many parts as it writes."""
    return TableName(table.catalog, table.db, table.name)


def shown_names(names: Iterable[TableName], dialect: str) -> Mapping[TableName, TableName]:
    """Returns for each name the shortest form that has no second meaning among the names."""
    folds = _Folds(dialect)
    found: dict[TableName, TableName] = {}
    same: defaultdict[str, list[TableName]] = defaultdict(list)
    for each in names:
        same[folds.part(each.name)].append(each)
    for group in same.values():
        for each in group:
            found[each] = TableName("", "", each.name) if len(group) == 1 else each.name_in_catalog
    texts = {folds.part(shown.text) for shown in found.values() if shown.schema}
    for each, shown in found.items():
        if not shown.schema and folds.part(shown.name) in texts:  # a name with a dot in it
            found[each] = each.name_in_catalog
    return found


class TableNames:
    """The names of a database's tables, by the texts that they are shown as.

    `database` is the database's own name, which statements may write before that of a table.
    """

    def __init__(self, dialect: str, names: Mapping[str, TableName], database: str = "") -> None:
        self.dialect = dialect
        self._folds = _Folds(dialect)
        self._names = names
        self._database = self._folds.part(database)
        self._by_name: defaultdict[str, list[str]] = defaultdict(list)
        for shown, name in names.items():
            self._by_name[self._folds.part(name.name)].append(shown)

    def __getitem__(self, shown: str) -> TableName:
        return self._names[shown]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __contains__(self, shown: str) -> bool:
        return shown in self._names

    @cached_property
    def folded_names(self) -> Mapping[str, str]:
        """The texts that the tables are shown as, by these texts as the database compares names."""
        return {self._folds.part(shown): shown for shown in self._names}

    @cached_property
    def schemas(self) -> Sequence[str]:
        """The schemas of the tables, in order."""
        return sorted({self.schema_of(shown) for shown in self._names}) or [
            self._own_schema or "this database"
        ]

    def schema_of(self, shown: str) -> str:
        """Returns the schema of a table, that of the connection where the scan knew none."""
        name = self._names[shown]
        return name.schema or self._own_schema

    @property
    def _own_schema(self) -> str:
        data = engine_data(self.dialect)
        return self._database if data.schemas_are_databases else data.default_schema

    def full(self, shown: str) -> TableName:
        """Returns a table's name with its schema, also where the scan knew none, and no catalog."""
        return TableName("", self.schema_of(shown), self._names[shown].name)

    def short(self, shown: str) -> TableName:
        """Returns the shortest name of a table without a second meaning."""
        return shortened(shown, self._names[shown])

    def written(self, shown: str) -> str:
        """Returns the shortest name of a table as SQL."""
        return self.short(shown).sql(self.dialect)

    def meanings(self, table: exp.Table) -> Sequence[str]:
        """Returns the tables that a source of a statement may mean: none, one, or several of one name."""
        parts = table.parts
        if not parts or not all(isinstance(part, exp.Identifier) for part in parts):
            return []
        *qualifiers, name = parts
        same = self._by_name.get(self._folds.identifier(name), [])
        if not qualifiers or not same:
            return same
        before = [self._folds.identifier(part) for part in qualifiers]
        in_schema = [each for each in same if [self._folds.part(self.schema_of(each))] == before]
        return in_schema or [each for each in same if self._is_qualified(each, before)]

    def find(self, table: exp.Table) -> str | None:
        """Returns the one table that a source of a statement means. None if there is none or several."""
        found = self.meanings(table)
        return found[0] if len(found) == 1 else None

    def same_name(self, table: exp.Table) -> Sequence[str]:
        """Returns all tables of the name of a source, whatever its schema is."""
        named = isinstance(table.this, exp.Identifier)
        return self._by_name.get(self._folds.identifier(table.this), []) if named else []

    def are_within(self, table: exp.Table) -> bool:
        """True if the schema before the name of a source is one that has tables here."""
        before = [
            self._folds.identifier(part) for part in table.parts[:-1] if isinstance(part, exp.Identifier)
        ]
        return any(self._is_qualified(shown, before) for shown in self._names)

    def read(self, text: str) -> Sequence[str]:
        """Returns the tables that a person or a model may mean by a text: as shown, or with more or fewer of
        its parts, in any case.
        """
        if text in self._names:
            return [text]
        folded = text.casefold()
        if exact := self._in_any_case.get(folded):
            return exact
        wanted = [part.casefold() for part in parts_of(text)]
        same = self._last_parts.get(wanted[-1], [])
        return [shown for shown in same if _ends_with(self._whole(shown), wanted)]

    def put_shown(self, tree: exp.Expr) -> None:
        """Name the tables of a tree by the texts that they are shown as, each in one identifier, in place.

        Names that are shown without a schema stay as they are written.
        """
        for table in list(tree.find_all(exp.Table)):
            shown = self.find(table) if table.db else None
            if shown is None or shown == self._names[shown].name:
                continue
            before = table.this
            after = exp.to_identifier(self._folds.part(shown), quoted=True)
            after.meta.update(before.meta)
            table.set("this", after)
            table.set("db", None)
            table.set("catalog", None)
            if not table.alias:
                table.set("alias", exp.TableAlias(this=before.copy()))

    def put_written(self, tree: exp.Expr) -> None:
        """Name the tables of a tree by their shortest names, in place, where an identifier has the text that
        a table with a schema is shown as. Undoes `put_shown`.
        """
        tables = list(tree.find_all(exp.Table))
        taken = {table.alias_or_name for table in tables}
        renamed: dict[str, str] = {}
        for table in tables:
            shown = None if table.db else self.folded_names.get(table.name) or self._shown(table.name)
            if shown is None or shown == self._names[shown].name:
                continue
            name = self.short(shown)
            table.set("this", exp.to_identifier(name.name, quoted=True))
            name.qualify(table)
            if not table.alias:
                known_as = renamed.get(shown, name.name)
                if shown not in renamed and known_as in taken:
                    known_as = f"{name.schema}_{name.name}"
                if known_as != name.name:
                    table.set("alias", exp.TableAlias(this=exp.to_identifier(known_as, quoted=True)))
                taken.add(known_as)
                renamed[shown] = known_as
        for column in list(tree.find_all(exp.Column)) if renamed else ():
            if column.table in renamed:
                column.set("table", exp.to_identifier(renamed[column.table], quoted=True))

    def _shown(self, name: str) -> str | None:
        return name if name in self._names else None

    @cached_property
    def _in_any_case(self) -> Mapping[str, list[str]]:
        found: defaultdict[str, list[str]] = defaultdict(list)
        for shown in self._names:
            found[shown.casefold()].append(shown)
        return found

    @cached_property
    def _last_parts(self) -> Mapping[str, list[str]]:
        found: defaultdict[str, list[str]] = defaultdict(list)
        for shown, name in self._names.items():
            found[name.name.casefold()].append(shown)
        return found

    def _is_qualified(self, shown: str, qualifiers: Sequence[str]) -> bool:
        schema = self._folds.part(self.schema_of(shown))
        catalog = self._catalog_of(shown)
        if len(qualifiers) == 1:
            if qualifiers[0] == schema:
                return bool(schema)
            in_default = schema == engine_data(self.dialect).default_schema
            return self.dialect == "duckdb" and in_default and bool(catalog) and qualifiers[0] == catalog
        return len(qualifiers) == 2 and bool(schema and catalog) and list(qualifiers) == [catalog, schema]

    def _catalog_of(self, shown: str) -> str:
        name = self._names[shown]
        if name.catalog:
            return self._folds.part(name.catalog)
        return "" if engine_data(self.dialect).schemas_are_databases else self._database

    def _whole(self, shown: str) -> list[str]:
        whole = (self._catalog_of(shown), self.schema_of(shown), self._names[shown].name)
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


def parts_of(text: str) -> list[str]:
    """Returns the parts of a text with dots between them, of which some may be in quotes: a doubled quote in
    them is one.
    """
    parts, quote, closed = [""], "", ""
    for letter in text:
        if quote:
            if letter == quote:
                quote, closed = "", letter
            else:
                parts[-1] += letter
            continue
        if letter == closed:
            parts[-1] += letter
        if letter in _OWN_MARKS - {"."}:
            quote = letter
        elif letter == ".":
            parts.append("")
        else:
            parts[-1] += letter
        closed = ""
    return parts


def _ends_with(whole: Sequence[str], wanted: Sequence[str]) -> bool:
    return list(whole[-len(wanted) :]) == list(wanted)
