"""Routes of comments."""

from typing import Annotated

from fastapi import Depends, Path, Query, Request, Response, status

from app.http.callers import ASK, READ, Owner
from app.http.entity_tags import located
from app.http.router import Router
from app.http.routes import PageOf
from app.modules.comments.schemas import (
    CommentBody,
    CommentChange,
    CommentsQuery,
    CountsBody,
    NewComment,
    PeopleBody,
    ThingQuery,
)
from app.modules.comments.service import Comments

router = Router(tags=["comments"])


async def _comments(request: Request) -> Comments:
    comments: Comments = request.app.state.services.comments
    return comments


Service = Annotated[Comments, Depends(_comments)]
CommentId = Annotated[str, Path(description="Id of the comment.")]


@router.post(
    "/comments",
    summary="Write a comment",
    status_code=status.HTTP_201_CREATED,
    dependencies=[ASK, located("/comments/{id}")],
)
async def add_comment(body: NewComment, reader: Owner, comments: Service) -> CommentBody:
    """Writes a comment on an answer or a board of the caller, or on one that a link shows. Needs scope `ask`.

    A person whom the text names by `@name` gets a notice if they may see the thing. Answers 404 for a thing
    that the caller may not see, and 422 (`too-many-comments`) beyond 500.
    """
    return CommentBody.of(await comments.add(reader, body.where(), body.text), reader)


@router.get("/comments", summary="List comments", dependencies=[READ])
async def list_comments(
    query: Annotated[CommentsQuery, Query()],
    reader: Owner,
    comments: Service,
    response: Response,
) -> PageOf[CommentBody]:
    """Lists the comments on a thing, by default oldest first. Needs scope `read`.

    Answers 404 for a thing that the caller may not see.
    """
    found = await comments.page(reader, query.where(), query.wanted())
    response.headers["Cache-Control"] = "private, no-cache"  # a browser then looks for changes by itself
    return query.page_of([CommentBody.of(each, reader) for each in found.items], found)


@router.get("/comments/people", summary="List people to mention", dependencies=[READ])
async def list_people(query: Annotated[ThingQuery, Query()], reader: Owner, comments: Service) -> PeopleBody:
    """Lists the owner of a thing and those who have commented on it. Needs scope `read`. Others who may see
    it can be mentioned by their names, too; no person can be looked up.
    """
    return PeopleBody(items=await comments.people(reader, query.where()))


@router.get("/comments/counts", summary="Count comments of a session", dependencies=[READ])
async def count_comments(
    session_id: Annotated[str, Query(max_length=100, description="Id of a session of yours.")],
    reader: Owner,
    comments: Service,
) -> CountsBody:
    """Counts the unresolved comments on the answers of a session. Needs scope `read`."""
    return CountsBody(counts=dict(await comments.open_counts(reader, session_id)))


@router.get("/comments/{comment_id}", summary="Get a comment", dependencies=[READ])
async def read_comment(
    comment_id: CommentId,
    reader: Owner,
    comments: Service,
    link_id: Annotated[str | None, Query(max_length=100, description="Link that shows its thing.")] = None,
) -> CommentBody:
    """Returns a comment on a thing that the caller may see, if need be by a link. Needs scope `read`."""
    return CommentBody.of(await comments.get(reader, comment_id, link_id=link_id), reader)


@router.patch("/comments/{comment_id}", summary="Change a comment", dependencies=[ASK])
async def change_comment(
    comment_id: CommentId, body: CommentChange, reader: Owner, comments: Service
) -> CommentBody:
    """Changes the text of a comment of the caller, or marks a comment as resolved or open. Needs scope `ask`.

    Answers 403 (`not-the-author`) for the text of another person's.
    """
    if body.text is not None:
        changed = await comments.edit(reader, comment_id, body.text, link_id=body.link_id)
        if body.resolved is None:
            return CommentBody.of(changed, reader)
    resolved = bool(body.resolved)
    return CommentBody.of(
        await comments.resolve(reader, comment_id, resolved=resolved, link_id=body.link_id), reader
    )


@router.delete(
    "/comments/{comment_id}",
    summary="Delete a comment",
    status_code=status.HTTP_204_NO_CONTENT,
    dependencies=[ASK],
)
async def delete_comment(comment_id: CommentId, reader: Owner, comments: Service) -> None:
    """Deletes a comment of the caller, or one on a thing of theirs. Needs scope `ask`."""
    await comments.delete(reader, comment_id)
