"""The events of a run as chunks that OpenAI's own models accept."""

import json
from collections.abc import Sequence
from typing import Any

from openai.types.chat import ChatCompletion, ChatCompletionChunk

from app.modules.protocols.openai.fold import LAST, ChunkFold, CompletionFold
from graph.events import SessionEvent
from tests.unit.protocols.said import (
    ANALYSIS,
    ASKED,
    HEADLINE,
    LEFT_OUT,
    MODEL_DOWN,
    PARTS,
    PIECES,
    REFERENCES,
    RUN,
    done,
)
from tests.unit.protocols.test_openai_text import text_of

MODEL = "kai/shop"


def chunks(*events: SessionEvent, include_usage: bool = False) -> list[Any]:
    fold = ChunkFold(RUN, MODEL, include_usage=include_usage)
    frames = [*fold.begin(), *(frame for event in events for frame in fold.frames(event))]
    assert {each.event for each in frames} == {None}
    return [each if each == LAST else json.loads(each.data) for each in frames]


def parsed(found: Sequence[Any]) -> list[ChatCompletionChunk]:
    return [ChatCompletionChunk.model_validate(each, strict=True) for each in found]


def test_a_stream_has_the_role_the_text_and_a_last_chunk() -> None:
    *found, last = chunks(*PARTS, done())
    assert last == LAST
    whole = parsed(found)
    assert {(each.id, each.model, each.created) for each in whole} == {("chatcmpl-run", MODEL, 1_700_000_000)}
    assert found[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert "".join(each.choices[0].delta.content or "" for each in whole) == text_of(*PARTS)
    assert [each.choices[0].finish_reason for each in whole[-2:]] == [None, "stop"]
    assert found[-1]["choices"][0]["delta"] == {}
    assert not any("usage" in each for each in found)


def test_the_usage_is_a_chunk_of_its_own_if_it_is_asked_for() -> None:
    *found, _ = chunks(*PARTS, done(), include_usage=True)
    whole = parsed(found)
    assert whole[-1].choices == []
    assert whole[-1].usage is not None
    assert whole[-1].usage.total_tokens == 7
    assert {each["usage"] for each in found[:-1]} == {None}


def test_a_failed_run_ends_with_an_error_and_nothing_after_it() -> None:
    found = chunks(MODEL_DOWN, done("failed"))
    assert found[-1] == {
        "error": {
            "message": "The model does not answer.",
            "type": "server_error",
            "param": None,
            "code": "urn:kai:model-unavailable",
        }
    }


def test_an_error_of_a_run_that_has_an_answer_is_not_shown() -> None:
    found = chunks(MODEL_DOWN, *PARTS, done())
    assert found[-1] == LAST
    assert not any("error" in each for each in found[:-1])


def test_a_whole_answer_is_the_text_of_its_stream() -> None:
    fold = CompletionFold(RUN, MODEL)
    for event in (*PARTS, done()):
        fold.add(event)
    whole = ChatCompletion.model_validate(fold.completion.model_dump(mode="json"), strict=True)
    assert whole.choices[0].message.content == text_of(*PARTS)
    assert whole.choices[0].finish_reason == "stop"
    assert fold.failure is None


def test_the_last_chunk_and_a_whole_answer_have_what_statements_were_computed_from() -> None:
    events: Sequence[SessionEvent] = [*PIECES, HEADLINE, ANALYSIS, REFERENCES, LEFT_OUT, done()]
    said = {
        "headline": "Ada has one",
        "references": REFERENCES.content,
        "left_out": LEFT_OUT.content,
        "findings": [],
        "analysis": "Ada has one.",
    }
    *others, with_finish, _ = chunks(*events)
    assert with_finish["kai"] == said
    assert not any("kai" in each for each in others)
    fold = CompletionFold(RUN, MODEL)
    for event in events:
        fold.add(event)
    assert fold.completion.model_dump(mode="json")["kai"] == said


def test_an_answer_that_waits_for_an_approval_says_where_to_give_it() -> None:
    fold = CompletionFold(RUN, MODEL)
    text = fold.add(ASKED) + fold.add(done("awaiting_approval"))
    assert "`save_example` needs your approval" in text
    assert "/api/v1/sessions/session/confirmations/" in text


def test_a_cancelled_answer_says_so() -> None:
    fold = CompletionFold(RUN, MODEL)
    assert "cancelled" in fold.add(done("cancelled"))
    assert fold.failure is None
