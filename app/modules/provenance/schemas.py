"""Where an answer comes from, on the wire."""

from app.http.routes import ResponseBody, Time
from app.modules.sql.provenance.model import QueryDescription, TableRead
from app.modules.sql_generation.result_warnings.checks import ResultCheck
from graph.state import Column, Cut, FactKind, FactScope


class KnownTermBody(ResponseBody):
    """A glossary term that the statement's author knew."""

    id: str
    """Id of the term."""
    term: str
    """The term, as it is now."""
    meaning: str
    """Its meaning."""
    sql: str | None
    """Its SQL expression. Null if it has none."""
    is_changed: bool
    """It was changed after the answer."""


class KnownInstructionBody(ResponseBody):
    """An instruction that the statement's author knew."""

    id: str
    """Id of the instruction."""
    text: str
    """The instruction, as it is now."""
    scope: str | None
    """Table that it is about. Null for the whole database."""
    is_changed: bool
    """It was changed after the answer."""


class KnownExampleBody(ResponseBody):
    """A verified example that the statement's author knew."""

    id: str
    """Id of the example."""
    question: str
    """Its question, as it is now."""
    verified_by: str | None
    """The owner who verified it. Null if it was verified before this was recorded."""
    verified_at: Time | None
    """Time of the verification. Null when `verified_by` is."""
    is_changed: bool
    """It was changed after the answer."""
    is_statement: bool
    """Its SQL, as it is now, is the answer's statement, apart from its layout."""


class KnownFactBody(ResponseBody):
    """A fact that the statement's author knew."""

    id: str
    """Id of the fact."""
    kind: FactKind
    """Kind of the fact."""
    scope: FactScope
    """How far the fact reaches."""
    text: str
    """The fact."""


class KnowledgeBody(ResponseBody):
    """What the statement's author knew of the database."""

    tables: list[str]
    """Names of the tables that the model read, at most 100."""
    terms: list[KnownTermBody]
    """Terms of the glossary."""
    instructions: list[KnownInstructionBody]
    """Instructions."""
    examples: list[KnownExampleBody]
    """Verified examples."""
    facts: list[KnownFactBody]
    """Remembered facts."""
    deleted_count: int
    """Entries and facts that were used and exist no more, or are not for the caller to read."""


class ProvenanceBody(ResponseBody):
    """Where an answer comes from, without a model's words."""

    question: str
    """The question, as it was asked."""
    standalone_question: str
    """A follow-up in words that stand alone. Empty if the question stands alone as asked."""
    answered_at: Time
    """Time at which the statement had given its rows, and the answer was complete."""
    dialect: str
    """SQL dialect of the statement."""
    sql: str
    """The statement."""
    tables: list[TableRead]
    """Tables that it reads, by name."""
    queries: list[QueryDescription]
    """Its queries. Each comes after those that it reads; the last gives the result. Empty if the statement
    cannot be read.
    """
    knowledge: KnowledgeBody | None
    """What its author knew. Null for the user's own statement, for the built-in writer's, and for answers
    that were given before KAI kept this.
    """
    columns: list[Column]
    """Columns of the result, in order."""
    row_count: int | None
    """Number of stored rows. Null if the statement gave none."""
    truncated: bool
    """A limit cut the result."""
    cut_by: Cut | None
    """The limit that cut the result. Null otherwise."""
    checks: list[ResultCheck]
    """Checks of the statement and of all stored rows."""
