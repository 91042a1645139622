"""Markdown that a language model wrote, without what a client would fetch to show it."""

from collections.abc import Callable


def without_images(markdown: str, after: str = "") -> str:
    """Returns the text with its images as text. A client that draws an image fetches its address, which can
    carry what the model has read.

    `after` is the text that it follows.
    """
    escape = "\\" if after.endswith("!") and markdown.startswith("[") else ""
    return escape + markdown.replace("![", "!\\[")


def pieces_without_images(show: Callable[[str], None]) -> Callable[[str], None]:
    """Returns a function that shows the pieces of a text as `without_images` returns the whole."""
    before = ""

    def show_piece(piece: str) -> None:
        nonlocal before
        show(without_images(piece, before))
        before = piece or before

    return show_piece
