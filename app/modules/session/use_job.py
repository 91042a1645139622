"""Job that counts, after answers, the uses of the facts and examples that they have used."""

from collections import defaultdict
from collections.abc import Mapping

from app.modules.context_store.service import ContextStore
from app.modules.memory.facts import Facts
from app.modules.records.repository import SessionRepository

_MAX_MESSAGES = 40


class UseJob:
    """`facts` is None where facts are switched off."""

    def __init__(self, repository: SessionRepository, facts: Facts | None, examples: ContextStore) -> None:
        self._repository = repository
        self._facts = facts
        self._examples = examples

    async def work(self, session_id: str) -> None:
        """Count new uses. A repeated job counts nothing twice. Raises `StorageUnavailable`."""
        session = await self._repository.find(session_id)
        if session is None:
            return
        messages, _ = await self._repository.messages(session, _MAX_MESSAGES, None)
        of_facts: defaultdict[str, list[int]] = defaultdict(list)
        of_examples: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for message in messages:
            for fact_id in message.remembered:
                of_facts[fact_id].append(message.created_at)
            if message.context is not None and message.status == "complete":
                for example_id in message.context["examples"]:
                    of_examples[example_id][message.id] = message.created_at
        if self._facts is not None:
            for fact_id, times in of_facts.items():
                await self._facts.note_uses(fact_id, times)
        await self._note_examples(of_examples)

    async def _note_examples(self, uses: Mapping[str, Mapping[str, int]]) -> None:
        for example_id, messages in uses.items():
            await self._examples.note_uses(example_id, messages)
