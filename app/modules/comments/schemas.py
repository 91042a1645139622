"""Bodies of comments."""

from typing import Annotated, Self

from fastapi import Query
from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, field_validator, model_validator

from app.http.parameters import CreatedQuery, CreationSort
from app.http.routes import Body, ResponseBody, Text, Time, VersionedBody, not_null, storable
from app.modules.comments.model import MOST_CHARACTERS, Comment, ThingKind
from app.modules.comments.service import Where

_ID = "019ab1c2-0000-7000-8000-000000000000"

Id = Annotated[Text, Field(max_length=100)]
CommentText = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MOST_CHARACTERS),
    AfterValidator(storable),
]


class ThingQuery(Body):
    """Selects what may be commented."""

    kind: Annotated[ThingKind, Query(description="`answer` or `board`.")]
    target_id: Annotated[Text, Query(max_length=100, description="Id of the answer or board.")]
    link_id: Annotated[
        Text | None, Query(max_length=100, description="Link that shows it. Left out for things of yours.")
    ] = None

    def where(self) -> Where:
        return Where(kind=self.kind, thing_id=self.target_id, link_id=self.link_id)


class CommentsQuery(CreatedQuery, ThingQuery):
    """Selects a page of the comments on a thing."""

    limit: Annotated[int, Query(ge=1, le=100, description="The most items of a page.")] = 100
    sort: CreationSort = "created_at"


class NewComment(Body):
    """A comment to write."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"kind": "board", "target_id": _ID, "text": "@ada Why did this fall?"}]
        }
    )

    kind: ThingKind
    """`answer` or `board`."""
    target_id: Id
    """Id of the answer or board."""
    link_id: Id | None = None
    """Link that shows it. Left out for things of yours."""
    text: CommentText
    """Plain text. `@name` tells a person who may see the thing, at most ten."""

    def where(self) -> Where:
        return Where(kind=self.kind, thing_id=self.target_id, link_id=self.link_id)


class CommentChange(Body):
    """Changes of a comment. Fields that are left out stay unchanged."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"resolved": True}]})

    link_id: Id | None = None
    """Link that shows its thing. Left out for things of yours."""
    text: CommentText | None = None
    """The new text. Only its author may change it."""
    resolved: Annotated[bool, Field(strict=True)] | None = None
    """True marks it as resolved, false opens it again."""

    @model_validator(mode="after")
    def _some(self) -> Self:
        if self.text is None and self.resolved is None:
            raise ValueError("name text or resolved")
        return self

    _given = field_validator("text", "resolved", mode="before")(not_null)


class CommentBody(VersionedBody):
    """A comment."""

    id: str
    """Id of the comment."""
    author: str
    """Person who has written it."""
    own: bool
    """True if that is the caller."""
    text: str
    """Plain text."""
    mentions: list[str]
    """People in the text who may see the thing."""
    created_at: Time
    """Time of writing."""
    edited_at: Time | None
    """Time of the latest change of its text. Null if there was none."""
    resolved_at: Time | None
    """When it was resolved. Null while it is open."""
    resolved_by: str | None
    """Person who has resolved it. Null while it is open."""

    @classmethod
    def of(cls, comment: Comment, reader: str) -> "CommentBody":
        return cls.model_validate({**vars(comment), "own": comment.author == reader})


class PeopleBody(ResponseBody):
    """People who may be mentioned."""

    items: list[str]
    """Their names."""


class CountsBody(ResponseBody):
    """Numbers of unresolved comments on answers of a session."""

    counts: dict[str, int]
    """By the ids of the answers; those without one are left out."""
