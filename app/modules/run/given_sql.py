"""A statement that the user gave: run unchanged, never repaired by a model."""

from dataclasses import dataclass

from graph.errors import StatementFailed, TurnError
from graph.ports import Emit, Question, SqlRunner, Written
from graph.state import Rows

EXPLANATION = "Your own statement, run as you wrote it."


class GivenStatementFailed(TurnError):
    """The guard or the database refused the user's own statement."""

    problem = "statement-failed"
    title = "The SQL did not run"
    status = 422


@dataclass(frozen=True)
class GivenSql:
    """A writer that returns the given statement."""

    sql: str
    dialect: str

    async def write(self, question: Question, emit: Emit) -> Written:
        return Written(route="sql", text=self.sql, explanation=EXPLANATION, author="user")


@dataclass(frozen=True)
class OnlyOnce:
    """A runner whose failure ends the turn: only the user repairs a statement that they gave."""

    runner: SqlRunner

    async def run(self, sql: str) -> Rows:
        try:
            return await self.runner.run(sql)
        except StatementFailed as failure:
            raise GivenStatementFailed(failure.detail) from failure

    async def keep(self) -> None:
        await self.runner.keep()
