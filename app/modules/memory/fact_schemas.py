"""Request and response bodies of facts."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    field_validator,
    model_validator,
)

from app.http.routes import Body, ResponseBody, Text, Time, VersionedBody, not_null, storable
from app.modules.memory.model import (
    MAX_ABOUT,
    MAX_FACT_CHARACTERS,
    FactKind,
    FactOrigin,
    FactStatus,
    Kept,
    StoredFact,
)
from app.modules.memory.scopes import Scope

MAX_IMPORTED = 1_000

Id = Annotated[Text, Field(max_length=100)]
_Filled = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), AfterValidator(storable)]
Sentence = Annotated[_Filled, Field(max_length=MAX_FACT_CHARACTERS)]
Names = Annotated[Sequence[Annotated[_Filled, Field(max_length=300)]], Field(max_length=MAX_ABOUT)]
_ID = "019ab1c2-0000-7000-8000-000000000000"


class NewFactBody(Body):
    """A sentence to remember."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "kind": "terminology",
                    "text": "Churn means no order for 90 days.",
                    "scope": "workspace",
                    "db_connection_id": _ID,
                    "about": ["orders.ordered_on"],
                }
            ]
        }
    )

    text: Sentence
    """The sentence."""
    kind: FactKind
    """What it is."""
    scope: Scope = "workspace"
    """How far it reaches."""
    db_connection_id: Id | None = None
    """Id of the database connection. Needed for the scope `shared`, with `about`, and for `workspace` without
    a `message_id`.
    """
    about: Names = ()
    """Tables, or columns as `table.column`, without which the fact is of no use."""
    session_id: Id | None = None
    """Id of the conversation that it comes from. Needed for the scope `session` without a `message_id`."""
    message_id: Id | None = None
    """Id of the caller's question or answer that it comes from."""
    supersedes: Id | None = None
    """Id of the fact that it replaces."""
    confirm: bool = False
    """Remember it although a guard has warned."""


class FactChange(Body):
    """One change of a fact."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "Churn means no order for 60 days."}]})

    text: Sentence | None = None
    """Another wording: a new fact that supersedes this one."""
    scope: Scope | None = None
    """Another scope: a new fact there that supersedes this one."""
    db_connection_id: Id | None = None
    """With `scope`: the connection, if the fact has none."""
    status: Literal["active"] | None = None
    """Accepts a fact that waits, or undoes that it was superseded."""
    supersedes: Id | None = None
    """Id of a fact that this one replaces."""
    confirm: bool = False
    """Remember it although a guard has warned."""

    _given = field_validator("text", "scope", "status", "supersedes", mode="before")(not_null)

    @model_validator(mode="after")
    def _one(self) -> Self:
        changes = (self.text, self.scope, self.status, self.supersedes)
        if sum(each is not None for each in changes) != 1:
            raise ValueError("change one of text, scope, status and supersedes")
        return self


class FactSourceBody(ResponseBody):
    """Where a fact comes from."""

    origin: FactOrigin
    """How it was written."""
    at: Time
    """Time of the question, the answer or the click that it comes from."""
    message_id: str | None
    """Id of that message. Null if there is none."""
    session_id: str | None
    """Id of that conversation. Null if there is none."""
    tainted: bool
    """The turn has read from a tool outside of KAI."""


class FactBody(VersionedBody):
    """A remembered sentence."""

    id: str
    """Id of the fact."""
    text: str
    """The sentence."""
    kind: FactKind
    """What it is."""
    scope: Scope
    """How far it reaches."""
    db_connection_id: str | None
    """Id of the database connection. Null for facts of a user."""
    about: Sequence[str]
    """Tables or columns that it speaks of."""
    stale: bool
    """The latest scan lacks one of `about`: no answer uses the fact until the name is back."""
    mine: bool
    """The caller has written it."""
    source: FactSourceBody
    """Where it comes from."""
    status: FactStatus
    """`waiting`: no answer uses it before it is accepted."""
    supersedes: str | None
    """Id of the fact that it has replaced."""
    created_at: Time
    """Time of writing."""
    updated_at: Time
    """Time of the latest change of its status."""
    used_at: Time
    """Time of its latest use in an answer, at first that of writing."""
    uses: int
    """Answers that have used it."""
    expires_at: Time | None
    """Time at which it is deleted. Null if it stays."""


class KeptFact(FactBody):
    """A fact in the store."""

    is_new: bool
    """False if the scope held this text already."""
    near: Sequence[FactBody]
    """Facts that say almost the same. Does it replace one of them? Then send its id as `supersedes`."""


class FactImport(Body):
    """Facts of an export, or Markdown."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "markdown": "## terminology\n- Churn means no order for 90 days.\n",
                    "scope": "workspace",
                    "db_connection_id": _ID,
                }
            ]
        }
    )

    facts: Annotated[Sequence[dict[str, JsonValue]], Field(max_length=MAX_IMPORTED)] = ()
    """`facts` of an export."""
    markdown: Annotated[Text, Field(max_length=500_000)] = ""
    """Lists: one fact an item, under headings that are kinds, or with its kind and a colon before it."""
    kind: FactKind = "preference"
    """Kind of an item of a list that names none."""
    scope: Scope = "user"
    """Scope of the items of lists."""
    db_connection_id: Id | None = None
    """Connection of the items of lists, and of facts of an export whose own connection is unknown here."""
    confirm: bool = False
    """Remember also what a guard warns of."""


class NotImported(ResponseBody):
    """A fact that was not imported."""

    number: int
    """Its place in the list, from 1."""
    reason: str
    """Why not."""


class ImportedFacts(ResponseBody):
    """The outcome of an import."""

    kept: int
    """New facts."""
    known: int
    """Facts whose scope held their text already."""
    left_out: int
    """Facts that were superseded or forgotten when they were exported."""
    refused: Sequence[NotImported]
    """The others."""


class MemoryExport(ResponseBody):
    """Everything that KAI remembers of its caller."""

    exported_at: Time
    """Time of the export."""
    facts: Sequence[FactBody]
    """The caller's facts of every status, latest change first."""
    conversations: Sequence[JsonValue]
    """Memories of the caller's conversations."""
    profile: JsonValue
    """The caller's profile. Null if there is none."""
    consents: Sequence[JsonValue]
    """The caller's consents to an external memory."""


def fact_body(fact: StoredFact, reader: str, stale: frozenset[str]) -> FactBody:
    """Returns a fact as `reader` sees it. `stale` are ids of facts that lack a name."""
    return FactBody.model_validate(_fields(fact, reader, stale))


def kept_body(kept: Kept, reader: str, stale: frozenset[str]) -> KeptFact:
    fields = _fields(kept.fact, reader, stale)
    near = [fact_body(each, reader, stale) for each in kept.near]
    return KeptFact.model_validate({**fields, "is_new": kept.is_new, "near": near})


def _fields(fact: StoredFact, reader: str, stale: frozenset[str]) -> dict[str, object]:
    return {
        **vars(fact),
        "db_connection_id": fact.connection_id,
        "stale": fact.id in stale,
        "mine": fact.owner == reader,
        "expires_at": fact.expires_at,
    }
