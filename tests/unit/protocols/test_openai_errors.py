"""Problems on OpenAI's paths, in the form of OpenAI's errors."""

import gzip
import json

import httpx
import pytest
from pydantic import JsonValue
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from app.core.errors import NotFound
from app.http.problems import PROBLEM_JSON, problem_answer
from app.modules.protocols.openai.errors import ModelUnknown, OpenAiErrors, translated


async def answered(response: Response, path: str) -> httpx.Response:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await response(scope, receive, send)

    transport = httpx.ASGITransport(OpenAiErrors(app))
    async with httpx.AsyncClient(transport=transport, base_url="http://kai") as client:
        return await client.get(path)


async def test_a_problem_becomes_an_error_of_the_same_status() -> None:
    answer = await answered(problem_answer(ModelUnknown("gpt", ["kai/shop"])), "/openai/v1/models/gpt")
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/json")
    assert answer.json() == {
        "error": {
            "message": "The model 'gpt' does not exist, or you may not use it. There are: kai/shop.",
            "type": "invalid_request_error",
            "param": "model",
            "code": "model_not_found",
        }
    }


async def test_a_compressed_problem_is_translated() -> None:
    body = gzip.compress(json.dumps({"type": "urn:kai:x", "status": 409, "detail": "No."}).encode())
    packed = Response(body, 409, {"Content-Encoding": "gzip"}, PROBLEM_JSON)
    assert (await answered(packed, "/openai/v1/models")).json()["error"]["message"] == "No."


async def test_problems_of_other_paths_and_other_answers_stay_as_they_are() -> None:
    other = await answered(problem_answer(NotFound("No.")), "/api/v1/sessions")
    assert other.json()["type"] == "urn:kai:not-found"
    assert (await answered(JSONResponse({"a": 1}), "/openai/v1/models")).json() == {"a": 1}
    assert (await answered(PlainTextResponse("x"), "/openai/v1/models")).text == "x"


@pytest.mark.parametrize(
    ("status", "kind", "translation"),
    [
        (401, "unauthenticated", (401, "authentication_error", "invalid_api_key")),
        (403, "forbidden", (403, "permission_error", "urn:kai:forbidden")),
        (429, "rate-limit", (429, "rate_limit_error", "rate_limit_exceeded")),
        (503, "storage-unavailable", (503, "server_error", "urn:kai:storage-unavailable")),
        (422, "validation", (400, "invalid_request_error", "urn:kai:validation")),
    ],
)
def test_kinds_have_openais_types_and_codes(
    status: int, kind: str, translation: tuple[int, str, str]
) -> None:
    code, body = translated({"type": f"urn:kai:{kind}", "status": status, "detail": "No."})
    assert (code, body.error.type, body.error.code) == translation


def test_a_field_that_is_not_valid_is_the_parameter() -> None:
    errors: list[JsonValue] = [{"field": "body.messages.0.role", "message": "wrong"}]
    _, body = translated({"type": "urn:kai:validation", "status": 422, "detail": "No.", "errors": errors})
    assert body.error.param == "messages.0.role"
