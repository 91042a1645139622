"""Ids and messages of clients."""

import pytest
from pydantic import JsonValue

from app.modules.protocols.questions import ContentUnsupported, question_of
from app.modules.protocols.threads import NotStoredYet, as_uuid, session_id_of
from app.modules.run.errors import NotKeptYet

UUID = "019ab1c2-0000-7000-8000-0000000000ab"


def test_a_text_names_one_conversation_of_an_owner() -> None:
    assert session_id_of("ada", "thread_1") == session_id_of("ada", "thread_1")
    assert len({session_id_of(*each) for each in (("ada", "1"), ("bob", "1"), ("ada", "2"))}) == 3
    assert as_uuid(session_id_of("ada", "thread_1")) is not None


@pytest.mark.parametrize("given", [UUID, UUID.upper()])
def test_a_uuid_is_taken_in_its_usual_form(given: str) -> None:
    assert as_uuid(given) == UUID


@pytest.mark.parametrize(
    "given", ["", "thread_1", UUID.replace("-", ""), "{" + UUID + "}", "urn:uuid:" + UUID]
)
def test_other_text_is_no_uuid(given: str) -> None:
    assert as_uuid(given) is None


@pytest.mark.parametrize(
    "content",
    [" How many? ", [{"type": "text", "text": "How many?"}], ["How many?"]],
)
def test_a_question_is_text(content: JsonValue) -> None:
    assert question_of(content) == "How many?"


@pytest.mark.parametrize(
    "content",
    [
        "",
        None,
        7,
        [],
        "x" * 8_001,
        "a\x00b",
        [{"type": "image_url", "image_url": {"url": "data:"}}, {"type": "text", "text": "What?"}],
        [{"type": "text"}],
    ],
)
def test_another_content_is_refused(content: JsonValue) -> None:
    with pytest.raises(ContentUnsupported):
        question_of(content)


def test_a_question_that_may_be_stored_later_is_no_success_and_not_to_be_asked_again() -> None:
    unknown = NotStoredYet(NotKeptYet("session", "run"))
    assert (unknown.status, unknown.members["run_id"]) == (503, "run")
    assert unknown.headers["X-Should-Retry"] == "false"
