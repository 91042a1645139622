"""Turns begin after the questions of their moment."""

import asyncio

from app.modules.run.pending_submissions import Arrivals


async def test_a_turn_begins_after_the_questions_that_are_being_stored() -> None:
    arrivals = Arrivals()
    happened: list[str] = []

    async def begin_turn() -> None:
        await arrivals.passed()
        happened.append("turn")

    with arrivals.arriving():
        turn = asyncio.create_task(begin_turn())
        for number in range(3):
            with arrivals.arriving():
                await asyncio.sleep(0)
                happened.append(f"question {number}")
    await turn
    assert happened == ["question 0", "question 1", "question 2", "turn"]


async def test_a_turn_does_not_wait_for_ever_for_a_question() -> None:
    arrivals = Arrivals()
    with arrivals.arriving():
        await arrivals.passed()
