"""A statement, read once for everything that is done with it in a turn.

The guard alone parses for itself: as an independent lock it trusts no
tree that other code could have changed.
"""

from functools import cached_property, lru_cache

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers
from sqlglot.optimizer.qualify import qualify
from sqlglot.schema import MappingSchema

from app.modules.sql.parsing import parsed_one, sqlglot_errors_only

_MOST_KEPT = 32
"""So many statements stay in memory: those of the turns under way."""


class Statement:
    """A statement's text, and its trees, each made at the first need.

    The trees are shared: code that changes one changes a copy of it.
    """

    def __init__(self, text: str, dialect: str) -> None:
        self.text = text
        self.dialect = dialect
        self._qualified: tuple[MappingSchema, exp.Expr | None] | None = None

    @cached_property
    def tree(self) -> exp.Expr:
        """As it is written. Raises `SqlglotError` and `RecursionError`."""
        return parsed_one(self.text, self.dialect)

    @cached_property
    def folded(self) -> exp.Expr:
        """With its names in the case that the dialect compares them in; raises like `tree`."""
        with sqlglot_errors_only():
            return normalize_identifiers(self.tree.copy(), dialect=self.dialect)

    def qualified(self, schema: MappingSchema) -> exp.Expr | None:
        """With every column that can be resolved under its table's alias; None when sqlglot gives up.

        Names are folded, and remember where they stood. Raises like `tree`.
        """
        kept = self._qualified
        if kept is None or kept[0] is not schema:
            kept = (schema, qualified(self.folded.copy(), self.dialect, schema))
            self._qualified = kept
        return kept[1]


@lru_cache(_MOST_KEPT)
def statement_of(text: str, dialect: str) -> Statement:
    """The same statement for the same text, so that it is parsed once."""
    return Statement(text, dialect)


def qualified(folded: exp.Expr, dialect: str, schema: MappingSchema) -> exp.Expr | None:
    """`Statement.qualified` of a tree that has been changed since; the tree itself is used up."""
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
