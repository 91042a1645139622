"""State of a graph memory, and results of its tests."""

from dataclasses import dataclass
from typing import Literal

GraphState = Literal["working", "unavailable", "stalled"]
"""`unavailable`: the latest requests of this process have failed. `stalled`: the service accepts messages and
keeps none.
"""
GraphTestMode = Literal["basic", "smoke"]


@dataclass(frozen=True)
class GraphStatus:
    state: GraphState
    lag_seconds: int
    """Age of the oldest message that was accepted and is not seen yet."""
    waiting: int
    """Entries that wait to be sent."""
    not_erased: int
    """Groups that are to be erased, and whose erasure is not confirmed."""


@dataclass(frozen=True, kw_only=True)
class GraphTestStep:
    name: str
    passed: bool
    milliseconds: int
    detail: str


@dataclass(frozen=True)
class GraphTest:
    """The steps up to the first that failed. What was written is deleted all the same."""

    mode: GraphTestMode
    steps: tuple[GraphTestStep, ...]

    @property
    def passed(self) -> bool:
        return all(each.passed for each in self.steps)
