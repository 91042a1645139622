"""The picture of a message: the chart of the pin that it is about, as the board shows it."""

from app.core.pictures import NoPicture, PicturesBusy
from app.modules.analysis.chart.pictures import ChartPictures
from app.modules.boards.errors import BoardUnknown, PinUnknown
from app.modules.boards.repository import BoardRepository
from app.modules.database_connection.errors import ConnectionNotFound
from app.modules.database_connection.repository import ConnectionRepository
from app.modules.schedules.messages import NoticeMessage


class PinPictures:
    """A `Picture` for deliveries."""

    def __init__(
        self, boards: BoardRepository, connections: ConnectionRepository, pictures: ChartPictures
    ) -> None:
        self._boards = boards
        self._connections = connections
        self._pictures = pictures

    async def __call__(self, message: NoticeMessage) -> bytes | None:
        """Returns None for a whole board, a failure, a pin without a chart, a chart that cannot be drawn,
        rows that are newer than the message, and rows that only its owner may see.
        """
        if message.is_failure or message.board_id is None or message.pin_id is None:
            return None
        try:
            pin = await self._boards.pin(
                await self._boards.get(message.owner, message.board_id), message.pin_id
            )
            connection = await self._connections.get(message.owner, pin.db_connection_id)
        except (BoardUnknown, PinUnknown, ConnectionNotFound):
            return None
        if connection.policies is not None:
            return None
        if pin.result is None or pin.result.ran_at > message.at or pin.shown_chart is None:
            return None
        try:
            return await self._pictures.png(pin.shown_chart)
        except (NoPicture, PicturesBusy):
            return None
