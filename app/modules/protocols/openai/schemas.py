"""Bodies and answers of OpenAI's chat completions, as far as KAI honours them."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue

from app.http.routes import Body, ResponseBody, Text
from app.modules.protocols.options import QuestionOptions
from graph.answer import Statements

Unused = JsonValue
"""A field that tunes a language model. KAI's own settings decide that, so it has no effect."""

Role = Literal["system", "developer", "user", "assistant", "tool", "function"]


class CompletionMessage(Body):
    """A message of the conversation. Only the texts of the user count."""

    model_config = ConfigDict(extra="ignore")

    role: Role
    """Who has written it."""
    content: JsonValue = None
    """Its text, or a list of text parts."""


class StreamOptions(Body):
    """Options of a stream."""

    include_usage: bool | None = None
    """Send the tokens of the answer in a last chunk of their own."""
    include_obfuscation: bool | None = None
    """Taken without effect: chunks are not padded."""


class CompletionRequest(Body):
    """A question with the conversation before it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "model": "kai/shop",
                    "messages": [{"role": "user", "content": "Top 5 products by revenue"}],
                    "stream": False,
                }
            ]
        }
    )

    model: Annotated[Text, Field(min_length=1, max_length=300)]
    """The database to ask, by its name in `GET /openai/v1/models` or by its id; with `:agent` behind it, in
    agent mode.
    """
    messages: Annotated[list[CompletionMessage], Field(min_length=1)]
    """The conversation. The last message must be the user's: it is the question."""
    stream: bool | None = None
    """Stream the answer as it is written."""
    stream_options: StreamOptions | None = None
    """Options of the stream."""
    metadata: dict[str, JsonValue] | None = None
    """`chat_id` names the conversation. Other entries have no effect."""
    kai: QuestionOptions | None = None
    """What the client chooses for this question."""
    n: int | None = None
    """Number of answers. Only 1 is possible."""
    tools: JsonValue = None
    """Refused unless empty, except for a title of LibreChat: KAI calls its own tools."""
    tool_choice: JsonValue = None
    """Only `none` and `auto` are possible, except for a title of LibreChat."""
    functions: JsonValue = None
    """Refused unless empty, as `tools`."""
    function_call: JsonValue = None
    """Only `none` and `auto` are possible."""
    response_format: JsonValue = None
    """Only `{"type": "text"}` is possible, except for a title of LibreChat."""
    modalities: list[str] | None = None
    """Only `["text"]` is possible."""
    audio: JsonValue = None
    """Refused unless empty: KAI answers in text."""
    logprobs: bool | None = None
    """Only false is possible."""
    top_logprobs: int | None = None
    """Only 0 is possible."""
    prediction: JsonValue = None
    """Refused unless empty."""
    moderation: JsonValue = None
    """Refused unless empty: KAI judges no texts."""
    web_search_options: JsonValue = None
    """Refused unless empty: KAI asks databases only."""
    temperature: Unused = None
    """Taken without effect."""
    top_p: Unused = None
    """Taken without effect."""
    max_tokens: Unused = None
    """Taken without effect."""
    max_completion_tokens: Unused = None
    """Taken without effect."""
    stop: Unused = None
    """Taken without effect."""
    seed: Unused = None
    """Taken without effect."""
    user: Unused = None
    """Taken without effect: the owner is the caller."""
    safety_identifier: Unused = None
    """Taken without effect, as `user`."""
    presence_penalty: Unused = None
    """Taken without effect."""
    frequency_penalty: Unused = None
    """Taken without effect."""
    logit_bias: Unused = None
    """Taken without effect."""
    reasoning_effort: Unused = None
    """Taken without effect."""
    verbosity: Unused = None
    """Taken without effect."""
    service_tier: Unused = None
    """Taken without effect."""
    parallel_tool_calls: Unused = None
    """Taken without effect."""
    prompt_cache_key: Unused = None
    """Taken without effect."""
    prompt_cache_options: Unused = None
    """Taken without effect."""
    prompt_cache_retention: Unused = None
    """Taken without effect."""
    store: Unused = None
    """Taken without effect: KAI stores every conversation."""


class DatabaseModel(ResponseBody):
    """A database that may be asked, as a model."""

    id: str
    """Its name for `model`."""
    object: Literal["model"] = "model"
    """Kind of the object."""
    created: int
    """Time at which the database was registered, in seconds since 1970."""
    owned_by: Literal["kai"] = "kai"
    """Always `kai`."""


class DatabaseModels(ResponseBody):
    """Databases that may be asked, oldest first."""

    object: Literal["list"] = "list"
    """Kind of the object."""
    data: list[DatabaseModel]
    """The databases."""


class CompletionUsage(ResponseBody):
    """Tokens of an answer. KAI counts prompts and replies together, all as `completion_tokens`."""

    prompt_tokens: Literal[0] = 0
    """Always 0."""
    completion_tokens: int
    """Tokens of all calls of the model, prompts and replies."""
    total_tokens: int
    """The same."""


class KaiAnswer(ResponseBody, Statements):
    """The analysis of an answer, with what its statements were computed from."""

    analysis: str | None
    """The analysis, the reply or the question back, in Markdown: a part of the message's text. Null without
    one.
    """


class CalledFunction(ResponseBody):
    """The function that a title of LibreChat is given to."""

    name: str
    """The name that the request has chosen."""
    arguments: str
    """The title, as a JSON object."""


class FunctionCall(ResponseBody):
    """A call of the client's own function, in which LibreChat asks for a title."""

    index: Literal[0] = 0
    """Always 0."""
    id: str
    """Id of the call."""
    type: Literal["function"] = "function"
    """Always `function`."""
    function: CalledFunction
    """The function."""


def _is_none(value: object) -> bool:
    return value is None


class AnswerMessage(ResponseBody):
    """The message with the answer."""

    role: Literal["assistant"] = "assistant"
    """Always `assistant`."""
    content: str | None
    """The statement, the first rows, the analysis and suggested questions, in Markdown. Null beside
    `tool_calls`.
    """
    tool_calls: Annotated[list[FunctionCall] | None, Field(exclude_if=_is_none)] = None
    """The title, if LibreChat has asked for it as the call of a function. Otherwise left out."""
    refusal: None = None
    """Always null."""


class CompletionChoice(ResponseBody):
    """The answer."""

    index: Literal[0] = 0
    """Always 0."""
    message: AnswerMessage
    """Its message."""
    finish_reason: Literal["stop"] = "stop"
    """Always `stop`."""
    logprobs: None = None
    """Always null."""


class Completion(ResponseBody):
    """An answer."""

    id: str
    """`chatcmpl-` and the id of KAI's run."""
    object: Literal["chat.completion"] = "chat.completion"
    """Kind of the object."""
    created: int
    """Time of the question, in seconds since 1970."""
    model: str
    """The model of the request."""
    choices: list[CompletionChoice]
    """One answer."""
    usage: CompletionUsage
    """Tokens of the answer."""
    kai: KaiAnswer | None = None
    """The analysis and its sources. Null for a background task."""


class CompletionDelta(ResponseBody):
    """The next piece of an answer."""

    role: Literal["assistant"] | None = None
    """In the first chunk only."""
    content: str | None = None
    """The next piece of the text."""
    tool_calls: list[FunctionCall] | None = None
    """As in a whole answer, in one piece."""


class ChunkChoice(ResponseBody):
    """The next piece of the answer."""

    index: Literal[0] = 0
    """Always 0."""
    delta: CompletionDelta
    """The piece."""
    finish_reason: Literal["stop"] | None = None
    """`stop` in the last chunk with a choice."""
    logprobs: None = None
    """Always null."""


class CompletionChunk(ResponseBody):
    """A chunk of a streamed answer. `[DONE]` follows the last one."""

    id: str
    """`chatcmpl-` and the id of KAI's run."""
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"
    """Kind of the object."""
    created: int
    """Time of the question, in seconds since 1970."""
    model: str
    """The model of the request."""
    choices: list[ChunkChoice]
    """One piece. Empty in the chunk of the usage."""
    usage: CompletionUsage | None = None
    """Tokens of the answer, in the last chunk if the request has asked for them."""
    kai: KaiAnswer | None = None
    """The analysis and its sources, in the chunk with the `finish_reason` of an answer. In no other chunk."""


class ErrorDetails(ResponseBody):
    """An error as OpenAI's clients read it."""

    message: str
    """The cause in a sentence, and the cure if there is one."""
    type: str
    """Kind of the error by its HTTP status, such as `invalid_request_error`."""
    param: str | None
    """The field of the request that is wrong, where it is one."""
    code: str | None
    """OpenAI's code where it has one, such as `model_not_found`; else the kind of KAI's problem."""


class ErrorBody(ResponseBody):
    """An error."""

    error: ErrorDetails
    """The error."""
