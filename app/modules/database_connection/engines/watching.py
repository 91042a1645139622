"""Stops a running statement from a second thread."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from app.modules.database_connection.threads import Stop

_WATCH_SECONDS = 0.05


@contextmanager
def cancelled_when_due(cancel: Callable[[], None], stop: Stop) -> Iterator[None]:
    """Call `cancel` repeatedly once `stop` is due, until the block ends.

    `cancel` is repeated because a cancellation between two statements has no effect. It must not raise.
    """
    finished = threading.Event()
    watch = threading.Thread(target=_watch, args=(cancel, stop, finished), daemon=True)
    watch.start()
    try:
        yield
    finally:
        finished.set()
        watch.join()


def _watch(cancel: Callable[[], None], stop: Stop, finished: threading.Event) -> None:
    while not finished.wait(_WATCH_SECONDS):
        if stop.due:
            cancel()
