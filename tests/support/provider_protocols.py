"""The protocols of providers of models, as their services speak them on the wire."""

import json
import struct
from binascii import crc32
from typing import Any

from pydantic import JsonValue

from tests.support.chat_protocol import HttpRequest, json_response
from tests.support.provider_server import Served
from tests.support.trigrams import vector_of

DIMENSIONS = 8


def _body(request: HttpRequest) -> dict[str, Any]:
    return dict(json.loads(request.body))


def _vector(text: str) -> list[JsonValue]:
    return [*vector_of(text, DIMENSIONS)]


def _path(request: HttpRequest) -> str:
    return request.path.partition("?")[0]


class AzureProtocol:
    """Deployments of Azure OpenAI: server-sent events, of which the first has no choice but the judgement of
    the content filter.
    """

    content_type = "text/event-stream; charset=utf-8"

    def is_chat(self, request: HttpRequest) -> bool:
        return _path(request) == "/openai/deployments/tiny/chat/completions"

    def parts(self, served: Served) -> list[bytes]:
        verdict: JsonValue = {"hate": {"filtered": False, "severity": "safe"}}
        first: JsonValue = {
            "choices": [],
            "model": "",
            "object": "",
            "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": verdict}],
        }
        texts = [self._chunk({"content": piece}, verdict=verdict) for piece in served.pieces]
        if texts:
            texts[0] = self._event(first) + texts[0]
        calls = [
            self._chunk({"tool_calls": [piece]})
            for index, (name, arguments) in enumerate(served.calls)
            for piece in self._pieces(index, name, json.dumps(arguments))
        ]
        finish = {"stop": "tool_calls" if served.calls else "stop", "filter": "content_filter"}
        read, written = served.counted
        usage: JsonValue = {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
            "prompt_tokens_details": {"cached_tokens": 64},
        }
        return [
            *texts,
            *calls,
            self._chunk({}, finish=finish.get(served.finish, served.finish)),
            self._event({"choices": [], "usage": usage}),
            b"data: [DONE]\n\n",
        ]

    def error_part(self, error: str) -> bytes:
        return self._event({"error": {"message": error, "code": "server_error"}})

    def refusal(self, served: Served) -> bytes:
        headers = {} if served.retry_after is None else {"Retry-After": served.retry_after}
        codes = {404: "DeploymentNotFound", 401: "401", 400: "invalid_request_error"}
        error: JsonValue = {"code": codes.get(served.status, str(served.status)), "message": served.error}
        return json_response({"error": error}, served.status, headers)

    def answer(self, request: HttpRequest) -> bytes | None:
        if _path(request) != "/openai/deployments/tiny/embeddings":
            return None
        data: list[JsonValue] = [
            {"object": "embedding", "index": index, "embedding": _vector(text)}
            for index, text in enumerate(_body(request)["input"])
        ]
        usage: JsonValue = {"prompt_tokens": 7, "total_tokens": 7}
        return json_response({"object": "list", "data": data, "model": "tiny", "usage": usage})

    def _chunk(
        self, delta: dict[str, JsonValue], *, finish: str | None = None, verdict: JsonValue = None
    ) -> bytes:
        choice: dict[str, JsonValue] = {"index": 0, "delta": delta, "finish_reason": finish}
        if verdict is not None:
            choice["content_filter_results"] = verdict
        return self._event({"id": "1", "object": "chat.completion.chunk", "choices": [choice], "usage": None})

    def _event(self, body: JsonValue) -> bytes:
        return f"data: {json.dumps(body)}\n\n".encode()

    def _pieces(self, index: int, name: str, arguments: str) -> list[JsonValue]:
        half = len(arguments) // 2
        return [
            {
                "index": index,
                "id": f"call_{index}",
                "type": "function",
                "function": {"name": name, "arguments": ""},
            },
            {"index": index, "function": {"arguments": arguments[:half]}},
            {"index": index, "function": {"arguments": arguments[half:]}},
        ]


class VertexProtocol:
    """Google's streamGenerateContent as server-sent events, and the address that gives access tokens to
    service accounts.
    """

    content_type = "text/event-stream"
    _MODEL = "/v1beta1/projects/my-project/locations/global/publishers/google/models/tiny"

    def is_chat(self, request: HttpRequest) -> bool:
        return request.path == f"{self._MODEL}:streamGenerateContent?alt=sse"

    def parts(self, served: Served) -> list[bytes]:
        read, written = served.counted
        texts = [self._event([{"text": piece}], usage=(read, None)) for piece in served.pieces]
        calls = [
            self._event([{"functionCall": {"name": name, "args": arguments}}])
            for name, arguments in served.calls
        ]
        finish = {"stop": "STOP", "length": "MAX_TOKENS", "filter": "SAFETY"}[served.finish]
        return [*texts, *calls, self._event([{"text": ""}], finish=finish, usage=(read, written))]

    def error_part(self, error: str) -> bytes:
        body = {"error": {"code": 503, "message": error, "status": "UNAVAILABLE"}}
        return f"data: {json.dumps(body)}\n\n".encode()

    def refusal(self, served: Served) -> bytes:
        statuses = {
            400: "INVALID_ARGUMENT",
            401: "UNAUTHENTICATED",
            403: "PERMISSION_DENIED",
            404: "NOT_FOUND",
            429: "RESOURCE_EXHAUSTED",
        }
        error: dict[str, JsonValue] = {
            "code": served.status,
            "message": served.error,
            "status": statuses.get(served.status, "INTERNAL"),
        }
        if served.retry_after is not None:
            kind = "type.googleapis.com/google.rpc.RetryInfo"
            error["details"] = [{"@type": kind, "retryDelay": f"{served.retry_after}s"}]
        return json_response({"error": error}, served.status)

    def answer(self, request: HttpRequest) -> bytes | None:
        path = _path(request)
        if path == "/token":
            return json_response({"access_token": "ya29.token", "token_type": "Bearer", "expires_in": 3600})
        if path == "/v1beta1/publishers/google/models":
            names: list[JsonValue] = [
                {"name": f"publishers/google/models/{name}"} for name in ("tiny", "gemini-2.5-pro")
            ]
            return json_response({"publisherModels": names})
        if path == f"{self._MODEL}:predict":
            predictions: list[JsonValue] = [
                {"embeddings": {"values": _vector(each["content"]), "statistics": {"token_count": 3}}}
                for each in _body(request)["instances"]
            ]
            return json_response({"predictions": predictions})
        return None

    def _event(
        self,
        parts: list[JsonValue],
        *,
        finish: str | None = None,
        usage: tuple[int, int | None] | None = None,
    ) -> bytes:
        candidate: dict[str, JsonValue] = {"content": {"role": "model", "parts": parts}}
        body: dict[str, JsonValue] = {"candidates": [candidate], "modelVersion": "tiny"}
        if finish is not None:
            candidate["finishReason"] = finish
        if usage is not None:
            read, written = usage
            counted: dict[str, JsonValue] = {
                "promptTokenCount": read,
                "totalTokenCount": read + (written or 0),
                "cachedContentTokenCount": 64,
            }
            if written is not None:
                counted["candidatesTokenCount"] = written
            body["usageMetadata"] = counted
        return f"data: {json.dumps(body)}\r\n\r\n".encode()


class BedrockProtocol:
    """Bedrock's ConverseStream: binary messages of AWS's event stream. Models that cannot call tools in a
    stream are asked by Converse.
    """

    content_type = "application/vnd.amazon.eventstream"
    WITHOUT_STREAM = "mistral.mistral-large-2402-v1:0"

    def is_chat(self, request: HttpRequest) -> bool:
        return request.path == "/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream"

    def is_whole(self, request: HttpRequest) -> bool:
        return request.path == "/model/mistral.mistral-large-2402-v1%3A0/converse"

    def whole(self, served: Served) -> bytes:
        read, written = served.counted
        content: list[JsonValue] = [{"text": "".join(served.pieces)}]
        for index, (name, arguments) in enumerate(served.calls):
            content.append({"toolUse": {"toolUseId": f"t{index}", "name": name, "input": arguments}})
        return json_response(
            {
                "output": {"message": {"role": "assistant", "content": content}},
                "stopReason": "max_tokens" if served.finish == "length" else "tool_use",
                "usage": {"inputTokens": read, "outputTokens": written, "totalTokens": read + written},
                "metrics": {"latencyMs": 7},
            }
        )

    def parts(self, served: Served) -> list[bytes]:
        read, written = served.counted
        start = self._message("messageStart", {"role": "assistant"})
        texts = [
            self._message("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": piece}})
            for piece in served.pieces
        ]
        if texts:
            texts[0] = start + texts[0]
        calls = b"".join(
            self._call(index, name, json.dumps(arguments))
            for index, (name, arguments) in enumerate(served.calls, start=1)
        )
        reasons = {"length": "max_tokens", "filter": "content_filtered"}
        reason = reasons.get(served.finish, "tool_use" if served.calls else "end_turn")
        usage: JsonValue = {
            "inputTokens": read,
            "outputTokens": written,
            "totalTokens": read + written,
        }
        return [
            *texts,
            *([calls] if calls else []),
            self._message("contentBlockStop", {"contentBlockIndex": 0}),
            self._message("messageStop", {"stopReason": reason}),
            self._message("metadata", {"usage": usage, "metrics": {"latencyMs": 7}}),
        ]

    def error_part(self, error: str) -> bytes:
        return self._message("modelStreamErrorException", {"message": error}, is_error=True)

    def refusal(self, served: Served) -> bytes:
        kinds = {
            400: "ValidationException",
            401: "UnrecognizedClientException",
            403: "AccessDeniedException",
            404: "ResourceNotFoundException",
            429: "ThrottlingException",
        }
        headers = {"x-amzn-ErrorType": kinds.get(served.status, "InternalServerException")}
        if served.retry_after is not None:
            headers["Retry-After"] = served.retry_after
        return json_response({"message": served.error}, served.status, headers)

    def answer(self, request: HttpRequest) -> bytes | None:
        if _path(request) == "/foundation-models":
            names: list[JsonValue] = [
                {"modelId": name, "modelArn": f"arn:aws:bedrock:eu-west-1::foundation-model/{name}"}
                for name in ("tiny", "anthropic.claude-sonnet-4-5-20250929-v1:0")
            ]
            return json_response({"modelSummaries": names})
        if request.path == "/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke":
            return json_response(
                {"embedding": _vector(_body(request)["inputText"]), "inputTextTokenCount": 3}
            )
        return None

    def _call(self, index: int, name: str, arguments: str) -> bytes:
        half = len(arguments) // 2
        start: JsonValue = {"toolUse": {"toolUseId": f"tooluse_{index}", "name": name}}
        pieces: list[dict[str, JsonValue]] = [
            {"contentBlockIndex": index, "delta": {"toolUse": {"input": piece}}}
            for piece in (arguments[:half], arguments[half:])
        ]
        return (
            self._message("contentBlockStart", {"contentBlockIndex": index, "start": start})
            + b"".join(self._message("contentBlockDelta", piece) for piece in pieces)
            + self._message("contentBlockStop", {"contentBlockIndex": index})
        )

    def _message(self, kind: str, payload: dict[str, JsonValue], *, is_error: bool = False) -> bytes:
        """A message: lengths with their checksum, headers, payload, and the checksum of it all."""
        headers = b"".join(
            struct.pack("!B", len(name)) + name.encode() + struct.pack("!BH", 7, len(value)) + value.encode()
            for name, value in (
                (":exception-type" if is_error else ":event-type", kind),
                (":content-type", "application/json"),
                (":message-type", "exception" if is_error else "event"),
            )
        )
        content = json.dumps(payload).encode()
        prelude = struct.pack("!II", 16 + len(headers) + len(content), len(headers))
        message = prelude + struct.pack("!I", crc32(prelude)) + headers + content
        return message + struct.pack("!I", crc32(message))


class OllamaProtocol:
    """Ollama's own protocol: a line of JSON a part."""

    content_type = "application/x-ndjson"

    def is_chat(self, request: HttpRequest) -> bool:
        return request.path == "/api/chat"

    def parts(self, served: Served) -> list[bytes]:
        read, written = served.counted
        texts = [self._line({"content": piece}) for piece in served.pieces]
        calls = [
            self._line({"content": "", "tool_calls": [{"function": {"name": name, "arguments": arguments}}]})
            for name, arguments in served.calls
        ]
        last: dict[str, JsonValue] = {
            "done": True,
            "done_reason": {"filter": "content_filter"}.get(served.finish, served.finish),
            "prompt_eval_count": read,
            "eval_count": written,
        }
        return [*texts, *calls, self._line({"content": ""}, **last)]

    def error_part(self, error: str) -> bytes:
        return json.dumps({"error": error}).encode() + b"\n"

    def refusal(self, served: Served) -> bytes:
        headers = {} if served.retry_after is None else {"Retry-After": served.retry_after}
        return json_response({"error": served.error}, served.status, headers)

    def answer(self, request: HttpRequest) -> bytes | None:
        match request.path:
            case "/v1/models":
                return json_response({"data": [{"id": "tiny:latest", "owned_by": "library"}]})
            case "/api/tags":
                return json_response({"models": [{"name": "tiny:latest"}, {"name": "qwen3:4b"}]})
            case "/api/show" if _body(request)["model"] == "tiny:latest":
                return json_response(
                    {
                        "capabilities": ["completion", "tools"],
                        "parameters": 'stop "<end>"\nnum_ctx                        16384',
                        "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40960},
                    }
                )
            case "/api/embed":
                if _body(request)["model"] != "tiny":
                    return json_response({"error": "model not found"}, 404)
                texts = _body(request)["input"]
                return json_response({"model": "tiny", "embeddings": [_vector(text) for text in texts]})
            case _:
                return None

    def _line(self, message: dict[str, JsonValue], **fields: JsonValue) -> bytes:
        body = {
            "model": "tiny",
            "created_at": "2026-11-01T10:00:00.123456789Z",
            "message": {"role": "assistant", **message},
            "done": False,
            **fields,
        }
        return json.dumps(body).encode() + b"\n"
