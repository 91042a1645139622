"""All conversations of an evaluation, a few at a time, under a progress bar."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from app.bootstrap import Services
from app.core.llm.model import LanguageModel
from app.evaluation.answering import RunCosts
from app.evaluation.question_set import Conversation
from app.evaluation.results_file import append
from app.evaluation.scoring import play
from app.modules.database_connection.repository import Connection


class Asking:
    """Puts conversations to KAI or the baseline; each outcome is written as soon as it is known."""

    def __init__(
        self,
        services: Services,
        databases: Mapping[str | None, Connection],
        file: TextIO,
        *,
        baseline: LanguageModel | None,
        instructed: bool,
    ) -> None:
        self._services = services
        self._databases = databases
        self._file = file
        self._baseline = baseline
        self._instructed = instructed
        self._costs = RunCosts()
        self._asked = self._right = 0
        services.calls.listen(self._costs.add)

    async def ask(self, conversations: Sequence[Conversation], jobs: int) -> None:
        """Ends when all is asked; the first thing that goes wrong with KAI itself ends it too."""
        waiting = iter(conversations)
        with _progress() as bar:
            task = bar.add_task("", total=sum(map(len, conversations)))
            workers = [
                asyncio.create_task(self._work(waiting, bar, task), name=f"evaluation {number}")
                for number in range(jobs)
            ]
            try:
                await asyncio.gather(*workers)
            finally:
                for worker in workers:
                    worker.cancel()
                await asyncio.gather(*workers, return_exceptions=True)

    async def _work(self, waiting: Iterator[Conversation], bar: Progress, task: TaskID) -> None:
        for conversation in waiting:
            connection = self._databases[conversation[0].db]
            outcomes = play(
                self._services,
                connection,
                conversation,
                costs=self._costs,
                baseline=self._baseline,
                instructed=self._instructed,
            )
            async for outcome in outcomes:
                append(self._file, outcome)
                self._asked += 1
                self._right += outcome.kind == "correct"
                bar.update(task, advance=1, description=f"{self._right / self._asked:.0%} right")


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
