"""As much of HTTP and of OpenAI's chat protocol as a scripted model speaks."""

import json
from asyncio import IncompleteReadError, StreamReader
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from tests.support.model_script import Scripted
from tests.support.trigrams import vector_of

STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)
STREAM_END = b"0\r\n\r\n"


@dataclass(frozen=True)
class HttpRequest:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


async def read_request(reader: StreamReader) -> HttpRequest | None:
    """The next request of a connection; none when the client has closed it, maybe in the midst of one."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.rstrip().split("\r\n")
        parted = (line.partition(":") for line in lines)
        headers = {name.lower(): value.strip() for name, _, value in parted}
        method, path, _ = first.split(" ")
        body = await reader.readexactly(int(headers.get("content-length", "0")))
    except IncompleteReadError:
        return None
    return HttpRequest(method, path, headers, body)


def json_response(body: JsonValue, status: int = 200, headers: Mapping[str, str] | None = None) -> bytes:
    content = json.dumps(body).encode()
    given = {"Content-Type": "application/json", "Content-Length": str(len(content)), **(headers or {})}
    lines = "".join(f"{name}: {value}\r\n" for name, value in given.items())
    return f"HTTP/1.1 {status} Scripted\r\n{lines}\r\n".encode() + content


def refusal(reply: Scripted, authorization: str) -> bytes:
    error: JsonValue = {"message": f"{reply.error} (you sent {authorization})", "code": reply.code}
    headers = {} if reply.retry_after is None else {"Retry-After": reply.retry_after}
    return json_response({"error": error}, reply.status, headers)


def completion(reply: Scripted) -> bytes:
    choice: JsonValue = {
        "index": 0,
        "message": {"role": "assistant", "content": reply.text},
        "finish_reason": reply.finish_reason,
    }
    usage: dict[str, JsonValue] = {"usage": reply.counted} if reply.usage else {}
    return json_response({"id": "1", "object": "chat.completion", "choices": [choice], **usage})


def embeddings(model: str, texts: Sequence[str]) -> bytes:
    """Of a model whose name ends in how long its vectors are: `trigrams-64`."""
    dimensions = int(model.rsplit("-", 1)[1])
    data: list[JsonValue] = [
        {"object": "embedding", "index": index, "embedding": [*vector_of(text, dimensions)]}
        for index, text in enumerate(texts)
    ]
    words = sum(len(text.split()) for text in texts)
    usage: JsonValue = {"prompt_tokens": words, "total_tokens": words}
    return json_response({"object": "list", "model": model, "data": data, "usage": usage})


def models(listed: list[JsonValue] | None) -> bytes:
    if listed is None:
        return json_response({"detail": "Not Found"}, 404)
    return json_response({"object": "list", "data": listed})


def token_event(token: str, tool: str | None, *, is_first: bool) -> bytes:
    """A piece of the reply's text, or of the arguments of its call of a tool."""
    delta: dict[str, JsonValue] = {"content": token}
    if tool is not None:
        function: dict[str, JsonValue] = {"arguments": token}
        call: dict[str, JsonValue] = {"index": 0, "function": function}
        if is_first:
            function["name"] = tool
            call |= {"id": "call_1", "type": "function"}
        delta = {"tool_calls": [call]}
    return _chunk({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})


def call_events(calls: Sequence[tuple[str, str]]) -> bytes:
    """Calls of tools, each in two pieces."""
    return b"".join(
        _chunk({"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}]})
        for index, (name, arguments) in enumerate(calls)
        for call in _pieces(index, name, arguments)
    )


def _pieces(index: int, name: str, arguments: str) -> list[dict[str, JsonValue]]:
    half = len(arguments) // 2
    first: dict[str, JsonValue] = {"name": name, "arguments": arguments[:half]}
    second: dict[str, JsonValue] = {"arguments": arguments[half:]}
    return [
        {"index": index, "id": "", "type": "function", "function": first},
        {"index": index, "function": second},
    ]


def finish_event(reason: str) -> bytes:
    return _chunk({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})


def usage_event(reply: Scripted) -> bytes:
    return _chunk({"choices": [], "usage": reply.counted})


def event(data: str) -> bytes:
    """A server-sent event in an HTTP chunk of its own."""
    return http_chunk(f"data: {data}\n\n".encode())


def http_chunk(content: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(content), content)


def _chunk(body: dict[str, JsonValue]) -> bytes:
    return event(
        json.dumps({"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "scripted", **body})
    )
