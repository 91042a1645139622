"""The events of stored steps and calls."""

from collections.abc import Awaitable, Callable, Sequence

from app.modules.records.call_events import called_event, confirmation_events, returned_event
from app.modules.records.model import Run
from app.modules.records.rows import RowStore
from app.modules.records.steps import CallRecord, InvestigationRecords, StepRecord
from app.modules.tools.results import read_head
from graph.events import ResultsChunk, SessionEvent, SqlChunk, Status, TextChunk
from graph.state import Rows

ReadHead = Callable[[CallRecord], Awaitable[Rows | None]]
"""Reads the first rows of a call. Returns None if it has none."""


async def said_in_steps(records: InvestigationRecords, rows: RowStore, run: Run) -> list[SessionEvent]:
    """Returns what the steps of an ended run have emitted."""

    async def head(call: CallRecord) -> Rows | None:
        return None if call.result is None else await read_head(rows, call.id, call.result)

    said: list[SessionEvent] = []
    for step, calls in await records.of_message(run.message_id):
        said += [step_begun(step, run), *await step_events(step, calls, head)]
    return said


def step_begun(step: StepRecord, run: Run) -> Status:
    return Status(step="investigating", message=f"Investigating, step {step.step}", run_id=run.id)


async def step_events(step: StepRecord, calls: Sequence[CallRecord], head_of: ReadHead) -> list[SessionEvent]:
    """Returns the text of a step with calls, the calls, and what they returned so far. The calls of a fault
    have all been refused.
    """
    said = step.text if calls else ""
    events: list[SessionEvent] = [TextChunk(content=said, channel="investigation")] if said else []
    events += map(called_event, calls)
    events += [event for call in calls for event in confirmation_events(call)]
    for call in calls:
        if call.has_ended:
            events += result_chunks(call, await head_of(call))
            events.append(returned_event(call))
    return events


def result_chunks(call: CallRecord, head: Rows | None) -> list[SessionEvent]:
    """Returns the statement of a call that has run one, and its first rows."""
    if call.result is None or not call.result["sql"]:
        return []
    said: list[SessionEvent] = [
        SqlChunk(content=call.result["sql"], dialect=call.result["dialect"], tool_call_id=call.id)
    ]
    return said if head is None else [*said, ResultsChunk(content=head, tool_call_id=call.id)]
