"""Requests that chat clients send on their own account, beside the questions of a chat."""

import json
from collections.abc import AsyncGenerator
from typing import Any, Literal
from uuid import uuid4

import httpx
import openai
import pytest
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from tests.e2e.test_openai_clients import COUNT, name  # noqa: F401 - a fixture
from tests.e2e.test_turn import sql
from tests.support.choices import FIRST
from tests.support.scripted_model import ScriptedModel
from tests.support.server import Client, Server

CHAT = """### Chat History:
<chat_history>
USER: How many customers?
ASSISTANT: ```sql
SELECT count(*) AS customers FROM customers
```

| customers |
| --- |
| 3 |
</chat_history>"""
TITLE = f"""### Task:
Generate a concise title summarizing the chat history.
### Guidelines:
- Keep it short: 2-4 words is best.
- Your entire response must consist solely of the JSON object, without any introductory or concluding text.
### Output:
JSON format: {{ "title": "your concise title here" }}
### Examples:
- {{ "title": "Stock Trends" }}
{CHAT}"""
FOLLOW_UPS = f"""### Task:
Suggest 3-5 relevant follow-up questions or prompts that the user might naturally ask next.
### Output:
JSON format: {{ "follow_ups": ["Question 1?", "Question 2?", "Question 3?"] }}
{CHAT}"""
TAGS = f"""### Task:
Generate 1-3 broad tags categorizing the main themes of the chat history, along with 1-3 more specific ones.

### Output:
JSON format: {{ "tags": ["tag1", "tag2", "tag3"] }}

{CHAT}"""
QUERIES = f"""### Task:
Analyze the chat history to determine the necessity of generating search queries, in the given language.

### Guidelines:
- Respond **EXCLUSIVELY** with a JSON object.
- When generating search queries, respond in the format: {{ "queries": ["query1", "query2"] }}.
- If and only if it is entirely certain that no useful results can be retrieved, return: {{ "queries": [] }}.

### Output:
Strictly return in JSON format:
{{
  "queries": ["query1", "query2"]
}}

{CHAT}
"""
IMAGE = f"""### Task:
Generate a detailed prompt for am image generation task based on the given language and context.

### Output:
Strictly return in JSON format:
{{
    "prompt": "Your detailed description here."
}}

{CHAT}"""
COMPLETION = """### Task:
You are an autocompletion system. Continue the text in `<text>` based on the **completion type** in `<type>`.

### **Instructions**:
5. If unsure, return: `{ "text": "" }`.

### Context:
<chat_history>

</chat_history>
<type>General</type>
<text>How many cust</text>
#### Output:
"""
EMOJI = (
    "Your task is to reflect the speaker's likely facial expression through a fitting emoji. Interpret "
    "emotions from the message.\n\nMessage: ```How many customers?```"
)
LIBRECHAT = (
    "Provide a concise, 5-word-or-less title for the conversation, using title case conventions. Only return "
    "the title itself.\n\nConversation:\nUser: How many customers?\nAI: ```sql\nSELECT 1\n```"
)
TASKS = [
    (TITLE, {"title": "How many customers?"}),
    (FOLLOW_UPS, {"follow_ups": []}),
    (TAGS, {"tags": []}),
    (QUERIES, {"queries": []}),
    (IMAGE, {"prompt": "How many customers?"}),
    (COMPLETION, {"text": ""}),
]


@pytest.fixture
async def client(shared_server: Server) -> AsyncGenerator[openai.AsyncOpenAI]:
    base = f"{shared_server.address}/openai/v1"
    async with openai.AsyncOpenAI(base_url=base, api_key="sk-any", timeout=60) as made:
        yield made


async def sent(client: openai.AsyncOpenAI, database: str, prompt: str, **body: Any) -> tuple[str, bool]:
    """Returns the reply, and whether it names a session."""
    raw = await client.chat.completions.with_raw_response.create(
        model=database, messages=[{"role": "user", "content": prompt}], **body
    )
    content = raw.parse().choices[0].message.content
    assert content is not None
    return content, "X-Kai-Session" in raw.headers


async def test_a_chat_of_open_webui_with_its_tasks_is_one_session_of_its_questions(
    client: openai.AsyncOpenAI,
    kai: Client,
    model: ScriptedModel,
    name: str,  # noqa: F811
) -> None:
    headers = {"X-OpenWebUI-Chat-Id": str(uuid4()), "X-OpenWebUI-User-Name": "Ann"}
    chat: list[Any] = []
    session = ""
    for question in ("How many customers?", "And now?", "And again?"):
        chat.append({"role": "user", "content": question})
        queries, has_session = await sent(client, name, QUERIES, stream=False, extra_headers=headers)
        assert (json.loads(queries), has_session) == ({"queries": []}, False)
        model.say(sql(COUNT), FIRST)
        opened = await client.chat.completions.with_raw_response.create(
            model=name, messages=chat, stream=True, extra_headers=headers
        )
        session = opened.headers["X-Kai-Session"]
        pieces = [each.choices[0].delta.content or "" async for each in opened.parse()]
        assert "| 3 |" in "".join(pieces)
        chat.append({"role": "assistant", "content": "".join(pieces)})
        for prompt, reply in TASKS:
            said, has_session = await sent(
                client, name, prompt, stream=False, max_completion_tokens=1000, extra_headers=headers
            )
            assert (json.loads(said), has_session) == (reply, False)
    items = (await kai.session(session))["messages"]["items"]
    assert [each["query"] for each in items[::2]] == ["How many customers?", "And now?", "And again?"]


TITLE_PROMPT = (
    "Analyze this conversation and provide:\n1. The detected language of the conversation\n2. A concise "
    "title in the detected language (5 words or less, no punctuation or quotation)\n\n{convo}"
)
WORDS = "A concise title for the conversation in 5 words or less, without punctuation or quotation"
TITLE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "language": {"type": "string", "description": "The detected language of the conversation"},
        "title": {"type": "string", "description": WORDS},
    },
    "required": ["language", "title"],
    "additionalProperties": False,
    "$schema": "http://json-schema.org/draft-07/schema#",
}
AS_FORMAT: dict[str, Any] = {
    "response_format": {"type": "json_schema", "json_schema": {"name": "extract", "schema": TITLE_SCHEMA}}
}
AS_FUNCTION: dict[str, Any] = {
    "tools": [{"type": "function", "function": {"name": "extract", "parameters": TITLE_SCHEMA}}],
    "tool_choice": {"type": "function", "function": {"name": "extract"}},
}
LIBRECHAT_DEFAULTS: dict[str, Any] = {"temperature": 1, "top_p": 1, "presence_penalty": 0, "user": "6650f1"}
TITLED = {"language": "", "title": "How many customers?"}


async def test_a_chat_of_librechat_with_its_title_is_one_session_of_its_questions(
    client: openai.AsyncOpenAI,
    kai: Client,
    model: ScriptedModel,
    name: str,  # noqa: F811
) -> None:
    chat: list[Any] = []
    session = ""
    for question in ("How many customers?", "And now?"):
        chat.append({"role": "user", "content": question})
        model.say(sql(COUNT), FIRST)
        opened = await client.chat.completions.with_raw_response.create(
            model=name, messages=chat, stream=True, **LIBRECHAT_DEFAULTS
        )
        session = opened.headers["X-Kai-Session"]
        answer = "".join([each.choices[0].delta.content or "" async for each in opened.parse()])
        assert "| 3 |" in answer
        chat.append({"role": "assistant", "content": answer})
        if len(chat) == 2:
            prompt = TITLE_PROMPT.format(convo=f"User: {question}\nAI: {answer}")
            text, has_session = await sent(client, name, prompt, **LIBRECHAT_DEFAULTS, **AS_FORMAT)
            assert (json.loads(text), has_session) == (TITLED, False)
            raw = await client.chat.completions.with_raw_response.create(
                model=name,
                messages=[{"role": "user", "content": prompt}],
                **LIBRECHAT_DEFAULTS,
                **AS_FUNCTION,
            )
            message = raw.parse().choices[0].message
            assert message.content is None
            assert [called_with(each) for each in message.tool_calls or []] == [("extract", TITLED)]
            assert "X-Kai-Session" not in raw.headers
    items = (await kai.session(session))["messages"]["items"]
    assert [each["query"] for each in items[::2]] == ["How many customers?", "And now?"]


def called_with(call: Any) -> tuple[str, Any]:
    return call.function.name, json.loads(call.function.arguments)


@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
async def test_a_structured_title_is_read_by_langchain_as_librechat_asks_for_it(
    shared_server: Server,
    method: Literal["json_schema", "function_calling"],
    name: str,  # noqa: F811
) -> None:
    prompt = TITLE_PROMPT.format(convo="User: How many customers?\nAI: ")
    async with httpx.AsyncClient(timeout=60) as http:
        for streaming in (False, True):
            llm = ChatOpenAI(
                base_url=f"{shared_server.address}/openai/v1",
                api_key=SecretStr("sk-any"),
                model=name,
                streaming=streaming,
                http_async_client=http,
            )
            chain = llm.with_structured_output({"title": "extract", **TITLE_SCHEMA}, method=method)
            assert await chain.ainvoke(prompt) == TITLED


async def test_a_question_in_a_format_is_refused_as_before(
    client: openai.AsyncOpenAI,
    name: str,  # noqa: F811
) -> None:
    asked = "Which title sells best?"
    quoted = TITLE_PROMPT.format(convo="User: How many customers?\nAI: 3")
    more = {**TITLE_SCHEMA, "properties": {**TITLE_SCHEMA["properties"], "sales": {"type": "integer"}}}
    other = {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": more}}}
    for prompt, body in ((asked, AS_FORMAT), (asked, AS_FUNCTION), (quoted, other)):
        with pytest.raises(openai.BadRequestError, match=r"is not supported|must be text"):
            await sent(client, name, prompt, **body)
    with pytest.raises(openai.BadRequestError, match="`n` must be 1"):
        await sent(client, name, quoted, n=2, **AS_FORMAT)


async def test_a_task_without_json_is_answered_with_text(
    client: openai.AsyncOpenAI,
    name: str,  # noqa: F811
) -> None:
    assert await sent(client, name, LIBRECHAT) == ("How many customers?", False)
    assert await sent(client, name, EMOJI) == ("🙂", False)
    stream = await client.chat.completions.create(
        model=name,
        messages=[{"role": "system", "content": "Be brief."}, {"role": "user", "content": TITLE}],
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = [each async for each in stream]
    text = "".join(choice.delta.content or "" for each in chunks for choice in each.choices)
    assert json.loads(text) == {"title": "How many customers?"}
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens == 0
