"""Rules, where they apply, and the turn that they are chosen for."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal, TypeAlias

from app.core.llm.tokens import approximate_tokens
from app.modules.sql.table_names import parts_of

Apply = Literal["always", "auto", "manual"]
"""`always`: in every turn within the scope. `auto`: if the model is shown a table that the scope names.
`manual`: if the question names the rule."""

ChatMode = Literal["ask", "agent"]

MAX_BYTES = 16 * 1024
"""The longest rule, front matter included."""
BUDGET_TOKENS = 2_000
"""Tokens of all rules in a prompt."""
DEFAULT_PRIORITY = 100
MAX_PRIORITY = 1_000_000
MAX_CHART_WORDS = 500
"""Characters of what a rule says of charts."""
NAME = r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}"
"""Pattern of names, so that a question can name a rule as `@name`."""

Audience: TypeAlias = str
"""`all` for a rule of administrators for every connection, else `owner:` with the owner of its
connections, `files` for a rule of a file.
"""
ALL: Audience = "all"
FILES: Audience = "files"


def audience_of(owner: str) -> Audience:
    return f"owner:{owner}"


@dataclass(frozen=True, kw_only=True)
class RuleScope:
    """Where a rule may apply. An empty list means everywhere.

    `connections` are ids, in files also names. `table_patterns` are globs of table names, in any case.
    """

    connections: tuple[str, ...] = ()
    chat_modes: tuple[ChatMode, ...] = ()
    table_patterns: tuple[str, ...] = ()

    def names_table(self, table: str) -> bool:
        """True if a pattern fits the table, with or without its schema, or there are no patterns."""
        names = {table.casefold(), parts_of(table)[-1].casefold()}
        return not self.table_patterns or any(
            fnmatchcase(name, pattern.casefold()) for name in names for pattern in self.table_patterns
        )

    def names_any_table(self, tables: Collection[str]) -> bool:
        return not self.table_patterns or any(map(self.names_table, tables))


@dataclass(frozen=True, kw_only=True)
class RuleText:
    """A rule as it is written: the fields of its front matter, and its text."""

    text: str
    apply: Apply = "always"
    active: bool = True
    priority: int = DEFAULT_PRIORITY
    scope: RuleScope = field(default_factory=RuleScope)
    chart: str | None = None
    """How charts are drawn, in the words that change a chart. None for a rule that is not about charts."""
    chart_of: tuple[str, ...] = ()
    """Columns that a result has if its chart is drawn so. Empty: every result."""


@dataclass(frozen=True, kw_only=True)
class Rule(RuleText):
    """A rule with its place. `active` includes the toggle; a rule with a `fault` is never applied."""

    name: str
    audience: Audience
    owner: str | None = None
    """Owner who stored the rule. None for a file."""
    path: str | None = None
    """Path of its file, within the folder of rules. None for a stored rule."""
    fault: str | None = None
    """What is wrong with its file."""
    created_at: int | None = None
    updated_at: int | None = None
    version: int = 0
    """Number of edits; of a rule in a file, those of its toggle."""

    @property
    def key(self) -> tuple[Audience, str]:
        """Identifies the rule, whatever its fields say."""
        return self.audience, self.path or self.name

    @property
    def order(self) -> tuple[int, str, str]:
        """Sort key: lower priority first."""
        return self.priority, self.name.casefold(), str(self.key)

    @property
    def tokens(self) -> int:
        return approximate_tokens(self.text)


@dataclass(frozen=True, kw_only=True)
class Situation:
    """A turn, as far as scopes look at it."""

    connection_id: str
    connection_name: str
    mode: ChatMode
    question: str
    named: Sequence[str] = ()
    """Names of rules in the request."""
    tables: Collection[str] = ()
    """All tables of the database."""
    shown: Collection[str] = ()
    """Tables that the prompt shows."""


@dataclass(frozen=True, kw_only=True)
class RulesInForce:
    """The rules of a turn, in order of priority, and the names of those for which there is no room."""

    rules: Sequence[Rule] = ()
    left_out: Sequence[str] = ()
