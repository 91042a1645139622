"""Log lines of a run's life: one for each action, with the ids of the run."""

import logging
from typing import Literal

from app.modules.session.model import Outcome

Action = Literal["taken", "finished", "failed", "cancelled", "handed_over", "requeued", "lost"]

ACTION_OF_OUTCOME: dict[Outcome, Action] = {
    "complete": "finished",
    "failed": "failed",
    "cancelled": "cancelled",
}
_WARNINGS: tuple[Action, ...] = ("requeued", "lost")

logger = logging.getLogger("kai.runs")


def log_run(action: Action, *, run_id: str, session_id: str, **details: str | int | None) -> None:
    """Log what happened to a run. `details` hold no contents: ids, counts and names of problems only."""
    ids = {"run_id": run_id, "session_id": session_id}
    known = {name: value for name, value in details.items() if value is not None}
    logger.log(
        logging.WARNING if action in _WARNINGS else logging.INFO,
        "run %s",
        action.replace("_", " "),
        extra={"action": action, **ids, **known},
    )
