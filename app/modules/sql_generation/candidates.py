"""Writes several statements for one question, runs each, and chooses the result on which most of
them agree.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Sequence
from dataclasses import dataclass

from app.modules.sql_generation.repair import is_same_statement
from graph.events import Status
from graph.ports import Emit, Question, Written

TEMPERATURE = 0.7
"""Temperature of all statements but the first: at the usual temperature they would all be the same."""

_RUN_SECONDS = 60.0
"""Timeout for running all of them. Those that have not ended by then have no vote."""


@dataclass(frozen=True)
class Tried:
    """A result for the vote: equal keys are equal rows in any order."""

    key: Hashable
    has_warnings: bool


TryOut = Callable[[Question, str], Awaitable[Tried | None]]
"""Runs a statement like any other, stores nothing, and returns None if it fails."""


@dataclass(frozen=True)
class Candidates:
    """`count` includes the first statement; 1 means that only that is written."""

    count: int
    try_out: TryOut
    dialect: str
    run_id: str

    async def choose(
        self,
        question: Question,
        first: Written,
        write_another: Callable[[], Coroutine[object, object, Written | None]],
        *,
        emit: Emit,
    ) -> Written:
        """Returns the first statement whose result has the most votes; results without warnings come before
        all others. Returns the first statement if none runs.

        `write_another` returns None if the model fails.
        """
        self._say(emit, f"Writing {self.count - 1} more statements, to compare their results")
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(write_another(), name=f"run {self.run_id}: candidate {number}")
                for number in range(2, self.count + 1)
            ]
        others = [each for task in tasks if (each := task.result()) is not None]
        written = [first, *(each for each in others if each.route == "sql")]
        self._say(emit, f"Comparing the results of {len(written)} statements")
        winner = _winner(written, await self._try_all(question, written))
        tokens_used = first.tokens_used + sum(each.tokens_used for each in others)
        return winner.model_copy(update={"tokens_used": tokens_used})

    async def _try_all(self, question: Question, written: Sequence[Written]) -> list[Tried | None]:
        """Returns the result of each statement, or None. Equal statements are run once."""
        originals = await asyncio.to_thread(self._originals, written)
        tried: dict[int, Tried | None] = {}

        async def try_out(position: int) -> None:
            tried[position] = await self.try_out(question, written[position].text)

        try:
            async with asyncio.timeout(_RUN_SECONDS), asyncio.TaskGroup() as group:
                for position in dict.fromkeys(originals):
                    name = f"run {self.run_id}: try out candidate {position + 1}"
                    group.create_task(try_out(position), name=name)
        except TimeoutError:
            pass  # what has ended in time votes
        return [tried.get(original) for original in originals]

    def _originals(self, written: Sequence[Written]) -> list[int]:
        """Returns, for each statement, the position of the first equal one."""
        return [
            next(
                position
                for position, other in enumerate(written)
                if is_same_statement(each.text, other.text, self.dialect)
            )
            for each in written
        ]

    def _say(self, emit: Emit, message: str) -> None:
        emit(Status(step="generating_sql", message=message, run_id=self.run_id))


def _winner(written: Sequence[Written], tried: Sequence[Tried | None]) -> Written:
    ran = [(each, found) for each, found in zip(written, tried, strict=True) if found is not None]
    eligible = [pair for pair in ran if not pair[1].has_warnings] or ran
    if not eligible:
        return written[0]
    votes = Counter(found.key for _, found in eligible)
    # `max` takes the first of several that are equal.
    return max(eligible, key=lambda pair: votes[pair[1].key])[0]
