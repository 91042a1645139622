"""The language of the page is the one of its cookie, else the one that Accept-Language asks for most."""

import pytest
from starlette.requests import Request

from app.web.language import language_of
from tests.support.cases import assert_each


def asked(**headers: str) -> str:
    """The language for a request with these headers."""
    lines = [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()]
    return language_of(Request({"type": "http", "headers": lines}))


def test_the_header_is_read_by_quality_and_place_and_malformed_parts_do_not_count() -> None:
    def check(header: str, language: str) -> None:
        assert asked(accept_language=header) == language

    assert_each(
        [
            ("de", "de"),
            ("de-AT", "de"),
            ("DE-ch-1996", "de"),
            ("de-CH,de;q=0.9,en;q=0.8", "de"),
            ("en-GB,en;q=0.9,de;q=0.8", "en"),
            ("en;q=0.5, de;q=0.501", "de"),
            ("de ; q=0.7 , en ; q=0.6", "de"),
            ("en,de", "en"),
            ("de,en", "de"),
            ("fr-CH, fr;q=0.9, de;q=0.7, en;q=0.5", "de"),
            ("fr, it", "en"),
            ("*", "en"),
            ("en;q=0.1, *;q=0.5", "de"),
            ("de;q=0, *", "en"),
            ("de;q=0", "en"),
            ("de;q=2, en;q=0.1", "en"),
            ("de;q=nan", "en"),
            ("de;q=-1", "en"),
            ("de;level=1", "en"),
            (";;,=,de,", "de"),
            ("deutsch", "en"),
            ("\xe4\xf6, de_DE", "en"),
            ("", "en"),
        ],
        check,
    )


def test_without_a_header_the_page_is_in_english() -> None:
    assert asked() == "en"


@pytest.mark.parametrize(
    ("cookie", "language"),
    [
        ("kai_language=de", "de"),
        ("other=1; kai_language=de; kai_sign_in=x", "de"),
        ("kai_language=fr", "en"),
        ("kai_language=", "en"),
        ("kai_language=../de", "en"),
        ("not_kai_language=de", "en"),
    ],
)
def test_a_cookie_with_a_language_of_the_page_comes_before_the_header(cookie: str, language: str) -> None:
    assert asked(cookie=cookie, accept_language="en") == language
    assert asked(cookie="kai_language=en", accept_language="de") == "en"
