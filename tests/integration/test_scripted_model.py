"""The scripted server speaks the protocol to OpenAI's own client."""

from openai import AsyncOpenAI, OpenAI

from tests.support.scripted_model import Scripted, ScriptedModel, scripted_model


def client(model: ScriptedModel) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=model.base_url, api_key="none", max_retries=0)


async def test_it_answers_without_streaming_too() -> None:
    async with scripted_model() as model, client(model) as openai:
        model.say("Hello there.")
        answer = await openai.chat.completions.create(model="any", messages=[])
    assert answer.choices[0].message.content == "Hello there."
    assert answer.usage is not None
    assert answer.usage.total_tokens == 102


def test_it_serves_tests_without_an_event_loop_too() -> None:
    with scripted_model() as model, OpenAI(base_url=model.base_url, api_key="none") as openai:
        model.say("Hello there.")
        answer = openai.chat.completions.create(model="any", messages=[])
    assert answer.choices[0].message.content == "Hello there."


async def test_it_lists_a_model() -> None:
    async with scripted_model() as model, client(model) as openai:
        assert [listed.id async for listed in openai.models.list()] == ["scripted"]


async def test_rules_go_before_the_queue_and_the_default_comes_last() -> None:
    async with scripted_model() as model, client(model) as openai:
        model.say("from the queue")
        model.rule("weather", "from a rule")
        model.rule(lambda asked: asked.body["model"] == "odd", Scripted("from another rule"))
        said = []
        for name, question in [
            ("any", "weather?"),
            ("odd", "weather?"),
            ("any", "sales?"),
            ("any", "sales?"),
        ]:
            answer = await openai.chat.completions.create(
                model=name, messages=[{"role": "user", "content": question}]
            )
            said.append(answer.choices[0].message.content)
    assert said == ["from a rule", "from another rule", "from the queue", "The answer stands in the rows."]
