"""Removes the reasoning that some open models write into the answer, between think tags."""

_OPEN, _CLOSE = "<think>", "</think>"


class VisibleText:
    """Filters a text that arrives in pieces: returns the text outside think tags, wherever the
    pieces are cut.
    """

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False

    def feed(self, piece: str) -> str:
        """Returns the text that is certain to be visible."""
        text, visible = self._held + piece, ""
        while True:
            tag = _CLOSE if self._thinking else _OPEN
            before, found, after = text.partition(tag)
            if not found:
                break
            visible += "" if self._thinking else before
            text, self._thinking = after, not self._thinking
        kept = _possible_tag_start(text, tag)
        self._held = text[len(text) - kept :]
        return visible if self._thinking else visible + text[: len(text) - kept]

    def end(self) -> str:
        """Returns the text that was held back in case a tag came."""
        return "" if self._thinking else self._held


def _possible_tag_start(text: str, tag: str) -> int:
    """Returns the number of characters at the end of the text that could begin the tag."""
    return next(size for size in range(min(len(text), len(tag) - 1), -1, -1) if text.endswith(tag[:size]))
