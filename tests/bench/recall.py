"""Time that recall takes with many facts of one owner.

python -m tests.bench.recall [--typesense] [FACTS...]

Half of the facts are of the user, half of the workspace, each with a vector of 384 numbers, in SQLite or in a
Typesense that is started here. The embedding model answers at once: its time is that of its service. Prints
milliseconds, and KAI's of the processor.
"""

import asyncio
import random
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from prometheus_client import CollectorRegistry

from app.core.ids import new_id
from app.core.llm.embedding import EmbeddingModel
from app.core.storage.port import Storage
from app.core.storage.sqlite import open_sqlite
from app.modules.memory.fact_choice import FactLimits
from app.modules.memory.fact_repository import _document
from app.modules.memory.facts import Facts
from app.modules.memory.model import FactGroup, FactKind, StoredFact
from app.modules.memory.recall import FactRecall, FactsQuestion
from app.modules.memory.scope_choice import AUTO
from migrations.runner import migrate
from tests.bench.checkpointers import temporary_folder, typesense
from tests.support.facts import facts_over, source
from tests.support.typesense import address_of, open_typesense

OWNER = "ann"
CONNECTION = "019ab1c2-0000-7000-8000-000000000000"
SESSION = "019ab1c2-0000-7000-8000-000000000001"
DIMENSIONS = 384
QUESTIONS = 100
AT_ONCE = 250
WORDS = [
    f"{first}{second}{third}"
    for first in ("re", "con", "pro", "sub", "trans", "inter", "de", "ex")
    for second in ("venu", "tract", "duct", "mit", "fer", "port", "form", "scrib", "volv", "ced")
    for third in ("ance", "ent", "ity", "ory", "ure", "ist", "al", "or", "ive", "ion")
]
FREQUENCIES = [1 / (rank + 3) for rank in range(len(WORDS))]
"""Of words, as in a language."""
TABLES = ["orders", "customers", "products", "refunds"]
KINDS: Sequence[FactKind] = ("decision", "lesson_learned", "preference", "procedure")


class Numbers(EmbeddingModel):
    """Vectors without a model."""

    def __init__(self) -> None:
        self.name = "numbers"

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [vector() for _ in texts]


@dataclass(frozen=True)
class Names:
    """A catalogue that has every name."""

    is_named: bool = True
    tables_before: Sequence[str] = ()

    def has_name(self, name: str) -> bool:
        return True


def vector() -> list[float]:
    return [random.gauss(0, 1) for _ in range(DIMENSIONS)]


def words(count: int) -> str:
    return " ".join([*random.choices(WORDS, FREQUENCIES, k=count), random.choice(TABLES)])


async def fill(storage: Storage, facts: Facts, count: int) -> None:
    groups = [facts.user_group(OWNER), facts.workspace_group(OWNER, CONNECTION)]
    for start in range(0, count, AT_ONCE):
        made = [fact(groups[number % 2], number) for number in range(start, min(count, start + AT_ONCE))]
        await storage.put("facts", [_document(each) for each in made])
        await facts.vectors.keep_all(made, "numbers", [vector() for _ in made])


def fact(group: FactGroup, number: int) -> StoredFact:
    return StoredFact(
        id=new_id(),
        owner=OWNER,
        group=group.id,
        scope=group.scope,
        kind=random.choice(KINDS),
        text=f"{number}: {words(12)}",
        connection_id=CONNECTION,
        source=source(),
        created_at=number,
        updated_at=number,
        used_at=number,
        vector_size=DIMENSIONS,
    )


async def measure(name: str, storage: Storage, count: int) -> None:
    random.seed(17)
    await migrate(storage)
    facts = facts_over(storage)
    await fill(storage, facts, count)
    recall = FactRecall(
        facts, Numbers(), scopes=AUTO, limits=FactLimits(), seconds=10, metrics=CollectorRegistry()
    )
    await ask(recall)
    began = time.process_time()
    took = [await ask(recall) for _ in range(QUESTIONS)]
    cpu = (time.process_time() - began) / QUESTIONS * 1_000
    quantiles = statistics.quantiles(took, n=20)
    print(
        f"{name:<9} {count:>6,} facts: median {statistics.median(took):5.1f} ms, "
        f"p95 {quantiles[-1]:5.1f} ms, processor {cpu:5.1f} ms a question",
        flush=True,
    )


async def ask(recall: FactRecall) -> float:
    async def read_catalogue() -> Names:
        return Names()

    asked = FactsQuestion(
        reach=recall.reach_of(OWNER, SESSION, CONNECTION),
        question=f"How many {words(4)} as I like it?",
        earlier=[words(4), words(4)],
        read_catalogue=read_catalogue,
    )
    began = time.perf_counter()
    assert await recall.recall(asked)
    return (time.perf_counter() - began) * 1_000


async def main(counts: Sequence[int], *, on_typesense: bool) -> None:
    if on_typesense:
        with typesense() as server:
            for count in counts:
                async with open_typesense(address_of(server), f"bench{count}_") as storage:
                    await measure("Typesense", storage, count)
        return
    for count in counts:
        with temporary_folder() as folder:
            async with open_sqlite(folder / "kai.db") as embedded:
                await measure("SQLite", embedded, count)


if __name__ == "__main__":
    wanted = [int(each) for each in sys.argv[1:] if each.isdigit()] or [1_000, 10_000]
    asyncio.run(main(wanted, on_typesense="--typesense" in sys.argv))
