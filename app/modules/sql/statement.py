"""A statement, parsed once for all its uses in a turn.

Only the guard parses again, what will run: it must not trust a tree that other code could have changed.
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Protocol

from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, traverse_scope
from sqlglot.schema import MappingSchema
from sqlglot.tokenizer_core import Token

from app.modules.sql.parsing import parsed, sqlglot_errors_only, tokenized
from app.modules.sql.table_names import TableNames

_MOST_KEPT = 32
"""Most statements in memory: those of the running turns."""


class KnownTables(Protocol):
    """Names of tables, and their columns by the folded text that a table is shown as."""

    @property
    def table_names(self) -> TableNames: ...

    @property
    def mapping(self) -> MappingSchema: ...


class Statement:
    """The text of a statement and its trees, each built on first use.

    The trees are shared: code that changes one must change a copy.
    """

    def __init__(self, text: str, dialect: str) -> None:
        self.text = text
        self.dialect = dialect
        self._qualified: tuple[KnownTables, exp.Expr | None] | None = None
        self._scopes: tuple[exp.Expr, Sequence[Scope]] | None = None

    @cached_property
    def tokens(self) -> list[Token]:
        """Raises `SqlglotError`."""
        return tokenized(self.text, self.dialect)

    @cached_property
    def trees(self) -> Sequence[exp.Expr]:
        """The trees of all statements in the text. Raises `SqlglotError` and `RecursionError`."""
        return [each for each in parsed(self.tokens, self.text, self.dialect) if each is not None]

    @cached_property
    def tree(self) -> exp.Expr:
        """The tree of the statement as written, a block if there are several. Raises what `trees` raises."""
        if not self.trees:
            raise ParseError("The text has no statement.")
        if len(self.trees) == 1:
            return self.trees[0]
        return exp.Block(expressions=[each.copy() for each in self.trees])

    @cached_property
    def folded(self) -> exp.Expr:
        """The tree with names in the case that the dialect compares them in. Raises what `tree` raises."""
        return self._folded_copy()

    def qualified(self, known: "KnownTables") -> exp.Expr | None:
        """The tree with every resolvable column under its table's alias; None if sqlglot cannot do that.

        Names are folded, and keep their position in the text. The name of a table is the text that it is
        shown as. Raises what `tree` raises.
        """
        kept = self._qualified
        if kept is None or kept[0] is not known:
            folded = self._folded_copy()
            known.table_names.put_shown(folded)
            kept = (known, qualified(folded, self.dialect, known.mapping))
            self._qualified = kept
        return kept[1]

    def scopes(self, known: "KnownTables") -> Sequence[Scope]:
        """The scopes of the tree that `qualified` returns, inner ones first; none if there is no such tree.

        They are shared as the trees are. Raises what `tree` raises, and other errors of sqlglot.
        """
        tree = self.qualified(known)
        if tree is None:
            return []
        kept = self._scopes
        if kept is None or kept[0] is not tree:
            kept = (tree, traverse_scope(tree))
            self._scopes = kept
        return kept[1]

    def _folded_copy(self) -> exp.Expr:
        with sqlglot_errors_only():
            return normalize_identifiers(self.tree.copy(), dialect=self.dialect)


@lru_cache(_MOST_KEPT)
def statement_of(text: str, dialect: str) -> Statement:
    """Returns the same statement for the same text, so that it is parsed once."""
    return Statement(text, dialect)


def qualified(folded: exp.Expr, dialect: str, schema: MappingSchema) -> exp.Expr | None:
    """Does what `Statement.qualified` does, for a tree with folded names. Changes the tree itself.

    Returns None if sqlglot cannot qualify it.
    """
    try:
        return qualify(
            folded,
            dialect=dialect,
            schema=schema,
            allow_partial_qualification=True,
            validate_qualify_columns=False,
            quote_identifiers=False,
        )
    except (SqlglotError, RecursionError):
        return None
