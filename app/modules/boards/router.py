"""Routes of boards and their pins."""

from typing import Annotated

from fastapi import Depends, Path, Query, Request, Response, status

from app.http.callers import ASK, READ, Owner
from app.http.entity_tags import located
from app.http.parameters import ChangedQuery, ChangeSort, PageQuery
from app.http.rate_limits import count_question
from app.http.router import Router
from app.http.routes import PageOf
from app.modules.boards.schemas import (
    BoardBody,
    BoardChange,
    BoardWithPins,
    NewBoard,
    NewPinBody,
    PinBody,
    PinChange,
)
from app.modules.boards.service import Boards
from app.modules.session.chart_files import (
    PICTURE_RESPONSES,
    Drawing,
    Ending,
    PictureQuery,
    picture_answer,
)
from app.modules.session.schemas import ChartWords, RowsPage, WordedChart

router = Router(prefix="/boards", tags=["boards"])


async def _boards(request: Request) -> Boards:
    boards: Boards = request.app.state.services.boards
    return boards


Service = Annotated[Boards, Depends(_boards)]
BoardId = Annotated[str, Path(description="Id of the board.")]
PinId = Annotated[str, Path(description="Id of the pin.")]


class BoardsQuery(ChangedQuery):
    """Selects boards, and a page of them."""

    sort: ChangeSort = "-updated_at"


class PinRowsQuery(PageQuery):
    """Selects a page of rows."""

    limit: Annotated[int, Query(ge=1, le=5_000, description="The most rows of a page.")] = 20


@router.post(
    "",
    summary="Create a board",
    status_code=status.HTTP_201_CREATED,
    dependencies=[ASK, located("/boards/{id}")],
)
async def create_board(body: NewBoard, owner: Owner, boards: Service) -> BoardBody:
    """Creates a board, a page of pinned answers. Needs scope `ask`.

    Every call creates another board. An owner may have 200 (422 `too-many-boards`).
    """
    board = await boards.create(owner, body.title, stale_after_hours=body.stale_after_hours)
    return BoardBody.model_validate(board)


@router.get("", summary="List boards", dependencies=[READ])
async def list_boards(
    query: Annotated[BoardsQuery, Query()], owner: Owner, boards: Service
) -> PageOf[BoardBody]:
    """Lists the caller's boards without their pins, by default last changed first. Needs scope `read`."""
    found = await boards.repository.page(owner, query.wanted())
    return query.page_of([BoardBody.model_validate(each) for each in found.items], found)


@router.get("/{board_id}", summary="Get a board with its pins", dependencies=[READ])
async def read_board(board_id: BoardId, owner: Owner, boards: Service) -> BoardWithPins:
    """Returns the board with its pins in order, each with its state and its last rows. Needs scope `read`.

    No statement runs. A board of another owner is unknown (404).
    """
    return BoardWithPins.of(await boards.read(owner, board_id))


@router.patch("/{board_id}", summary="Change a board", dependencies=[ASK])
async def change_board(board_id: BoardId, body: BoardChange, owner: Owner, boards: Service) -> BoardWithPins:
    """Changes the title, the order of the pins, or the age from which rows are stale. Needs scope `ask`."""
    return BoardWithPins.of(await boards.change(owner, board_id, body.model_dump(exclude_unset=True)))


@router.delete(
    "/{board_id}", summary="Delete a board", status_code=status.HTTP_204_NO_CONTENT, dependencies=[ASK]
)
async def delete_board(board_id: BoardId, owner: Owner, boards: Service) -> None:
    """Deletes the board with its pins and their rows. Needs scope `ask`. Cannot be undone. The sessions of
    the pinned answers stay.
    """
    await boards.delete(owner, board_id)


@router.post(
    "/{board_id}/refresh",
    summary="Run the statements of a board again",
    status_code=status.HTTP_202_ACCEPTED,
    dependencies=[ASK],
)
async def refresh_board(board_id: BoardId, owner: Owner, boards: Service) -> BoardWithPins:
    """Begins to run the statements of all pins again, each under the same guard and limits and without a
    model, at most four at a time. Needs scope `ask`.

    Answers 202 at once, with pins in state `running`: get the board again until none is. A pin that fails
    keeps its last good rows, and `failure` names the cure.
    """
    return BoardWithPins.of(await boards.refresh(owner, board_id))


@router.post(
    "/{board_id}/pins",
    summary="Pin an answer",
    status_code=status.HTTP_201_CREATED,
    dependencies=[ASK, located("/boards/{board_id}/pins/{id}")],
)
async def pin_answer(board_id: BoardId, body: NewPinBody, owner: Owner, boards: Service) -> PinBody:
    """Pins an answer of the caller: its question, SQL, connection, chart and rows. Needs scope `ask`.

    If the answer's rows are no longer stored, its statement runs. Answers 404 for an unknown answer or a
    connection that the caller may not use, 422 (`nothing-to-pin`) for an answer without SQL and rows, and 422
    (`too-many-pins`) if the board has 30.
    """
    return PinBody.of(await boards.pin(owner, board_id, body.new()))


@router.get("/{board_id}/pins/{pin_id}", summary="Get a pin", dependencies=[READ])
async def read_pin(board_id: BoardId, pin_id: PinId, owner: Owner, boards: Service) -> PinBody:
    """Returns the pin with its state and its last rows. Needs scope `read`. No statement runs."""
    return PinBody.of(await boards.read_pin(owner, board_id, pin_id))


@router.patch("/{board_id}/pins/{pin_id}", summary="Change a pin", dependencies=[ASK])
async def change_pin(
    board_id: BoardId, pin_id: PinId, body: PinChange, owner: Owner, boards: Service
) -> PinBody:
    """Changes the fields that the body holds, and no others. Needs scope `ask`.

    `message_id` replaces question, SQL, connection and rows by those of another answer of the caller, and
    answers as pinning does. Answers 422 (`chart-choice`, with the reason) if the rows do not allow a
    `chart_choice`.
    """
    changes = body.model_dump(exclude_unset=True)
    return PinBody.of(await boards.change_pin(owner, board_id, pin_id, changes=changes))


@router.post(
    "/{board_id}/pins/{pin_id}/chart",
    summary="Read what words make of a pin's chart",
    dependencies=[ASK, Depends(count_question)],
)
async def read_pin_chart_words(
    board_id: BoardId, pin_id: PinId, body: ChartWords, owner: Owner, boards: Service
) -> WordedChart:
    """Returns the choice that words make of a pin's chart, and its picture, as for an answer. Needs scope
    `ask` and counts as a question. Nothing is stored.
    """
    return WordedChart.of(*await boards.read_chart_words(owner, board_id, pin_id, words=body.words))


@router.delete(
    "/{board_id}/pins/{pin_id}",
    summary="Remove a pin",
    status_code=status.HTTP_204_NO_CONTENT,
    dependencies=[ASK],
)
async def remove_pin(board_id: BoardId, pin_id: PinId, owner: Owner, boards: Service) -> None:
    """Deletes the pin with its rows. Needs scope `ask`. The session of the pinned answer stays."""
    await boards.unpin(owner, board_id, pin_id)


@router.post(
    "/{board_id}/pins/{pin_id}/refresh",
    summary="Run the statement of a pin again",
    status_code=status.HTTP_202_ACCEPTED,
    dependencies=[ASK],
)
async def refresh_pin(board_id: BoardId, pin_id: PinId, owner: Owner, boards: Service) -> PinBody:
    """Begins to run the statement again, as the refresh of its board does. Needs scope `ask`.

    Answers 202 at once, with the pin in state `running`: get it again until it is not.
    """
    return PinBody.of(await boards.refresh_pin(owner, board_id, pin_id))


@router.get(
    "/{board_id}/pins/{pin_id}/chart.{ending}",
    summary="Get the chart of a pin as a picture",
    response_class=Response,
    responses=PICTURE_RESPONSES,
    dependencies=[READ],
)
async def draw_pin_chart(
    board_id: BoardId,
    pin_id: PinId,
    ending: Ending,
    query: Annotated[PictureQuery, Query()],
    owner: Owner,
    boards: Service,
    pictures: Drawing,
    request: Request,
) -> Response:
    """Draws the chart of the last rows, as the route of an answer does. Needs scope `read`."""
    pin = (await boards.read_pin(owner, board_id, pin_id)).pin
    return await picture_answer(request, pictures, pin.shown_chart, ending=ending, query=query)


@router.get("/{board_id}/pins/{pin_id}/rows", summary="Get the last rows of a pin", dependencies=[READ])
async def read_pin_rows(
    board_id: BoardId,
    pin_id: PinId,
    query: Annotated[PinRowsQuery, Query()],
    owner: Owner,
    boards: Service,
) -> RowsPage:
    """Returns a page of the last rows. Needs scope `read`. No statement runs.

    A refresh between two pages may replace the rows. Answers 404 if the pin has no rows yet.
    """
    result, rows, next_cursor = await boards.rows(
        owner, board_id, pin_id, limit=query.limit, cursor=query.cursor
    )
    return RowsPage.model_validate({**vars(result), "items": rows, "next_cursor": next_cursor})
