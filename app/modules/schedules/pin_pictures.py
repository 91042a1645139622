"""The picture of a message: the chart of the pin that it is about, as the board shows it."""

from app.core.pictures import NoPicture, PicturesBusy
from app.modules.analysis.chart.pictures import ChartPictures
from app.modules.boards.errors import BoardUnknown, PinUnknown
from app.modules.boards.repository import BoardRepository
from app.modules.schedules.messages import NoticeMessage


class PinPictures:
    """A `Picture` for deliveries."""

    def __init__(self, boards: BoardRepository, pictures: ChartPictures) -> None:
        self._boards = boards
        self._pictures = pictures

    async def __call__(self, message: NoticeMessage) -> bytes | None:
        """Returns None for a whole board, a failure, a pin without a chart, a chart that cannot be drawn, and
        rows that are newer than the message.
        """
        if message.is_failure or message.board_id is None or message.pin_id is None:
            return None
        try:
            pin = await self._boards.pin(
                await self._boards.get(message.owner, message.board_id), message.pin_id
            )
        except (BoardUnknown, PinUnknown):
            return None
        if pin.result is None or pin.result.ran_at > message.at or pin.shown_chart is None:
            return None
        try:
            return await self._pictures.png(pin.shown_chart)
        except (NoPicture, PicturesBusy):
            return None
