"""Edits: changes of a record by a user, who may name the versions of it that they have seen.

Each edit adds one to the `version` of the record. What KAI itself changes adds nothing.
"""

from collections.abc import Collection, Generator
from contextlib import contextmanager
from contextvars import ContextVar

from app.core.errors import Problem
from app.core.storage.port import Document


class ChangedMeanwhile(Problem):
    """The record has another version than the caller has seen."""

    problem = "changed-meanwhile"
    title = "Changed meanwhile"
    status = 412
    sentence = (
        "It has been changed meanwhile: it has version {version}, and If-Match names another. Get it again, "
        "make your change to what it says now, and send that with its new ETag."
    )
    shows = ("version",)


class RecordEdit:
    """An edit in progress. `expected` are the versions that the caller has seen; None stands for any."""

    def __init__(self, expected: Collection[int] | None = None) -> None:
        self.expected = expected
        self.is_made = False

    def check(self, version: int) -> None:
        """Raises `ChangedMeanwhile` for a version that the caller has not seen."""
        if not self._is_seen(version):
            raise ChangedMeanwhile(version=version)

    def apply(self, document: Document) -> Document | None:
        """Returns the document with its next version, or None if the caller has not seen its version."""
        version = version_of(document)
        return {**document, "version": version + 1} if self._is_seen(version) else None

    def _is_seen(self, version: int) -> bool:
        return self.expected is None or version in self.expected

    def wrote(self, version: int) -> None:
        """Let another edit of the same request follow this one, which has made this version."""
        self.is_made = True
        if self.expected is not None:
            self.expected = (version,)


_current: ContextVar[RecordEdit | None] = ContextVar("edit", default=None)


def version_of(document: Document) -> int:
    """The number of edits of a document. 0 for one that was never edited."""
    version = document.get("version")
    return version if isinstance(version, int) else 0


@contextmanager
def edited_by(edit: RecordEdit) -> Generator[None]:
    """Edits in this block are conditional on the versions that the caller has seen."""
    token = _current.set(edit)
    try:
        yield
    finally:
        _current.reset(token)


def current_edit() -> RecordEdit:
    """The edit of the request that is being answered, and outside of requests one of any version."""
    return _current.get() or RecordEdit()
