"""Tests of the connection to Graphiti, step by step, in a group of their own.

`basic` only reads. `smoke` writes a message, waits until it is kept, and deletes it: a service that answers
202 and keeps nothing does not pass, nor one that deletes nothing.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

from app.core.clock import now_ms, rfc3339
from app.modules.memory.graphiti.client import GraphitiClient, GraphitiFailed, GraphMessage
from app.modules.memory.graphiti.status import GraphTest, GraphTestMode, GraphTestStep
from app.modules.memory.scopes import GroupId

_LOOK_SECONDS = 0.5
SEEN_SECONDS = 30.0
"""How long a message may take to be kept. Graphiti asks its model about eight times."""
_NAME = "kai.test"
_TEXT = "KAI tests whether this service remembers: the answer is forty-two."


class _StepFailed(Exception):
    """A step has an answer, but not the right one. The text says which."""


async def check_connection(
    client: GraphitiClient, group: GroupId, mode: GraphTestMode, *, seen_seconds: float = SEEN_SECONDS
) -> GraphTest:
    """Never raises `GraphitiFailed`. `group` is one of `Groups.trial`, and used once."""
    trial = _Trial(client, group, seen_seconds)
    steps = [("health", trial.health), ("search", trial.search)]
    if mode == "smoke":
        steps = [
            ("health", trial.health),
            ("write", trial.write),
            ("kept", trial.wait_until_kept),
            ("search", trial.search_written),
        ]
    results = await _results(steps)
    if mode == "smoke" and results[0].passed:  # also what is kept late is deleted
        results = [*results, *await _results([("delete", trial.delete), ("deleted", trial.look_again)])]
    return GraphTest(mode, tuple(results))


async def _results(steps: Sequence[tuple[str, Callable[[], Awaitable[str]]]]) -> list[GraphTestStep]:
    results: list[GraphTestStep] = []
    for name, do in steps:
        began = time.monotonic()
        passed = False
        try:
            detail = await do()
            passed = True
        except (GraphitiFailed, _StepFailed) as failure:
            detail = f"{failure}."
        milliseconds = round((time.monotonic() - began) * 1_000)
        results.append(GraphTestStep(name=name, passed=passed, milliseconds=milliseconds, detail=detail))
        if not passed:
            break
    return results


class _Trial:
    def __init__(self, client: GraphitiClient, group: GroupId, seen_seconds: float) -> None:
        self._client = client
        self._group = group
        self._seen_seconds = seen_seconds

    async def health(self) -> str:
        await self._client.check_health()
        return "The service answers. This does not prove that it remembers."

    async def search(self) -> str:
        """In a group that nothing was written to."""
        if await self._client.search([self._group], _TEXT, max_facts=1):
            raise _StepFailed("a search in an empty group finds something: the service mixes groups")
        return "A search in an empty group finds nothing, as it should."

    async def write(self) -> str:
        message = GraphMessage(name=_NAME, role_type="user", content=_TEXT, timestamp=rfc3339(now_ms()))
        await self._client.add_messages(self._group, [message])
        return "The service has accepted a message."

    async def wait_until_kept(self) -> str:
        ends = time.monotonic() + self._seen_seconds
        while _NAME not in {each.name for each in await self._client.episodes(self._group)}:
            if time.monotonic() >= ends:
                raise _StepFailed(
                    f"the accepted message was not kept within {self._seen_seconds:g} s: the service's "
                    "worker has stopped, or its model fails or is slow; restart the service and read its log"
                )
            await asyncio.sleep(_LOOK_SECONDS)
        return "The service has kept the message."

    async def search_written(self) -> str:
        found = await self._client.search([self._group], _TEXT, max_facts=5)
        return f"A search answers, with {len(found)} facts that the service has derived."

    async def delete(self) -> str:
        await self._client.delete_group(self._group)
        return "The service answers that it has deleted the message."

    async def look_again(self) -> str:
        if await self._client.episodes(self._group) or await self._client.search(
            [self._group], _TEXT, max_facts=1
        ):
            raise _StepFailed(
                "the service says that it has deleted, and still shows the message: it does not forget, so "
                "KAI will show erasures as not confirmed"
            )
        return "The message is gone."
