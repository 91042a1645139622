"""The facts that a run's question needs, and news of earlier ones: ports of `graph.ports`."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from app.core.clock import rfc3339
from app.modules.memory.directive_news import DirectiveNews
from app.modules.memory.model import StoredFact
from app.modules.memory.recall import FactRecall, FactsQuestion, Reach
from app.modules.memory.scopes import Scope
from app.modules.records.model import Run
from app.modules.sql_generation.context import tables_read
from app.modules.sql_generation.option_reply import resolved
from app.modules.sql_generation.schema_context import SchemaContext
from app.modules.sql_generation.schema_index import SchemaIndex
from graph.events import Memory
from graph.ports import Question
from graph.state import NamedFact, RememberedFact

_DATE_CHARACTERS = 10


@dataclass(frozen=True)
class _Catalogue:
    """Implements `app.modules.memory.recall.Catalogue` for one question."""

    index: SchemaIndex
    is_named: bool
    tables_before: Sequence[str]

    def has_name(self, name: str) -> bool:
        return self.index.has_name(name)


class RunFacts:
    """Finds the facts of one run's question. They are read once an attempt."""

    def __init__(
        self,
        recall: FactRecall,
        schema_context: SchemaContext,
        reach: Reach,
        *,
        filled: asyncio.Task[Collection[Scope]] | None,
    ) -> None:
        """`filled`: the scopes that have facts, if that is being read already."""
        self._recall = recall
        self._schema_context = schema_context
        self._reach = reach
        self._filled = filled
        self._found: dict[str, RememberedFact] = {}

    async def facts_for(self, question: Question) -> Sequence[RememberedFact]:
        meant = resolved(question)
        facts = await self._recall.recall(
            FactsQuestion(
                reach=self._reach,
                question=meant.text,
                earlier=[] if meant.alone else [each["query"] for each in meant.exchanges],
                read_catalogue=lambda: self._catalogue(meant),
                filled=self._filled,
            )
        )
        self._filled = None
        self._found = {fact.id: _remembered(fact) for fact in facts}
        return list(self._found.values())

    async def read_facts(self, ids: Sequence[str]) -> Sequence[RememberedFact]:
        if any(each not in self._found for each in ids):
            facts = await self._recall.read(self._reach, ids)
            self._found = {fact.id: _remembered(fact) for fact in facts}
        return [self._found[each] for each in ids if each in self._found]

    async def _catalogue(self, question: Question) -> _Catalogue | None:
        """Returns None for a question with a verified answer, which no model reads."""
        schema_context = self._schema_context
        if await schema_context.verified_answer(question.text) is not None:
            return None
        index = await schema_context.index()
        tables: Sequence[str] = ()
        if question.previous_sql and not question.alone:
            tables = await asyncio.to_thread(tables_read, question.previous_sql, index)
        return _Catalogue(index, await schema_context.is_named_in(question.text), tables)


@dataclass(frozen=True)
class RunNews:
    """Reports in the events of a run what became of earlier directives of its session."""

    news: DirectiveNews
    run_of: Run

    async def read_news(self) -> Sequence[Memory]:
        run = self.run_of
        found = await self.news.read(run.owner, run.session_id, run.message_id)
        events: list[Memory] = []
        if found.kept:
            named = [
                NamedFact(id=fact.id, kind=fact.kind, scope=fact.scope, text=fact.text) for fact in found.kept
            ]
            events.append(Memory(action="kept", facts=named))
        if found.refused:
            events.append(Memory(action="refused", facts=[], reason=found.refused))
        return events


def _remembered(fact: StoredFact) -> RememberedFact:
    return RememberedFact(
        id=fact.id,
        kind=fact.kind,
        scope=fact.scope,
        text=fact.text,
        date=rfc3339(fact.created_at)[:_DATE_CHARACTERS],
    )
