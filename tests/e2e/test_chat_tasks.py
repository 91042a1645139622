"""Requests that chat clients send on their own account, beside the questions of a chat."""

import json
from collections.abc import AsyncGenerator
from typing import Any
from uuid import uuid4

import openai
import pytest

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
