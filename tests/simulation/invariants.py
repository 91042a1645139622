"""What has to hold once everything is at rest."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import cast

from app.core.bus.event_log import IDS_PER_ATTEMPT
from app.core.storage.port import Document
from app.modules.run.messages import next_run_id
from tests.simulation.clients import Asked
from tests.simulation.deletion import check_deleted
from tests.simulation.keyed import check_keyed
from tests.simulation.schedules import check_schedules, unrest_of_schedules
from tests.simulation.site import Cluster
from tests.simulation.store import StoreData
from tests.simulation.turn import STEPS, TOKENS_PER_STEP
from tests.simulation.webhooks import check_webhooks, unrest_of_webhooks

_MOST_TRIES = 3


def unrest(cluster: Cluster, asked: list[Asked]) -> str | None:
    """Returns what is not at rest yet, None when all is."""
    store, world = cluster.store, cluster.world
    for server in (world.store, world.queue, world.logs, world.completed, world.decisions):
        if server.down_until > world.loop.time():
            return f"the {server.name} is unreachable"
    runs = {str(run["id"]): run for run in store.documents("runs")}
    for run in runs.values():
        if run["status"] == "open":
            return f"{run['question']!r} is open"
    for session in store.documents("sessions"):
        if session["active_run_id"] is not None and not _is_ghost(store, session, runs):
            return f"session {str(session['id'])[-3:]} is held by {str(session['active_run_id'])[-4:]}"
    if any(each["kind"] == "session" for each in store.documents("forgotten")):
        return "late writes of what is deleted are looked for"
    if cluster.timetable is not None and (reason := unrest_of_schedules(world, store)) is not None:
        return reason
    if cluster.received is not None and (reason := unrest_of_webhooks(store)) is not None:
        return reason
    if cluster.alone:
        return None
    for kind, jobs in cluster.queue.jobs.items():
        if refs := jobs.refs():
            return f"the queue holds {kind} jobs of {sorted(each.run_id[-4:] for each in refs)}"
    return None


def _is_ghost(store: StoreData, session: Document, runs: Mapping[str, Document]) -> bool:
    """Returns True if the process that claimed the session died before it wrote anything. The next to read
    the session releases it.
    """
    written = store.document("sessions", str(session["id"]))
    return written is not None and written["active_run_id"] is None and session["active_run_id"] not in runs


def check_at_rest(cluster: Cluster, asked: list[Asked]) -> None:
    """Record each invariant that does not hold."""
    runs = {str(run["id"]): run for run in cluster.store.documents("runs")}
    answers: dict[str, list[Document]] = {}
    for message in cluster.store.documents("messages"):
        if message["role"] == "assistant":
            answers.setdefault(str(message["run_id"]), []).append(message)
    for each in asked:
        _check_question(cluster, each, runs, answers)
        if each.state == "acknowledged" and each.run is not None and each.run.mode == "agent":
            others = [other for other in asked if other.session_id == each.session_id and other is not each]
            is_stopped = _is_cancelled(each) or any(
                other.multitask_strategy == "interrupt" for other in others
            )
            _check_calls(cluster, each, runs, is_stopped=is_stopped)
    _check_outcomes(cluster, runs, answers)
    _check_order(cluster, asked, runs, answers)
    _check_completed(cluster, runs, answers)
    _check_growth(cluster)
    deletion = cluster.deletion
    if deletion is not None:
        check_deleted(
            cluster.world, deletion, cluster.store, decisions=cluster.decisions, story=cluster.story
        )
    if cluster.timetable is not None and not (deletion and deletion.whole):
        check_schedules(cluster.world, cluster.timetable, cluster.store)
    if cluster.received is not None and deletion is None:
        check_webhooks(cluster.world, cluster.received, cluster.store)
    check_keyed(cluster.world, cluster.keyed, cluster.store)


def _check_question(
    cluster: Cluster, asked: Asked, runs: dict[str, Document], answers: dict[str, list[Document]]
) -> None:
    violate = cluster.world.violate
    kept = [run for run in runs.values() if run["question"] == asked.text and run["resumes"] is None]
    if asked.state == "refused" and kept:
        violate(f"{asked.text!r} was refused, and is kept ({kept[0]['status']})")
    if len(kept) > 1:
        violate(f"{asked.text!r} is kept {len(kept)} times")
    if asked.state != "acknowledged" or asked.run is None:
        return
    last = _last_run(asked.run.id, runs)
    found = [] if last is None else answers.get(str(last["id"]), [])
    if last is None or len(found) != 1:
        violate(f"{asked.text!r} is acknowledged and has {len(found)} answers")
        return
    tokens = 0
    heard: Asked | None = asked
    while heard is not None:
        tokens += _check_stream(cluster, heard, runs)
        heard = heard.following
    kept_as, said_as = (last["status"], tokens), (found[0]["status"], found[0]["tokens_used"])
    if kept_as != said_as:
        violate(f"{asked.text!r}: its runs say {kept_as}, its message {said_as}")


def _check_stream(cluster: Cluster, heard: Asked, runs: dict[str, Document]) -> int:
    """Returns the tokens of a run whose stream was followed."""
    violate = cluster.world.violate
    dones = [event for _, event, _ in heard.events].count("done")
    if dones != 1 or heard.done is None or heard.run is None:
        violate(f"the stream of {heard.text!r} has {dones} done")
        return 0
    run = runs[heard.run.id]
    streamed, kept_as = (heard.done["status"], heard.done["tokens_used"]), (run["status"], run["tokens_used"])
    if streamed != kept_as:
        violate(f"{heard.text!r}: its stream says {streamed}, its run {kept_as}")
    ids = [event_id for event_id, _, _ in heard.events]
    if ids != sorted(set(ids)):
        violate(f"the events of {heard.text!r} are repeated or out of order")
    for before, after in pairwise(ids):
        if after != before + 1 and after % IDS_PER_ATTEMPT != 1:
            violate(f"the events of {heard.text!r} have a gap between {before} and {after}")
    said: set[tuple[str, str]] = set()
    for _, event, data in heard.events:
        if event == "reset":
            said.clear()
        named = json.loads(data)
        call_id = named.get("tool_call_id") or named.get("confirmation_id")
        if call_id is None or event not in _ONCE:
            continue
        if (event, call_id) in said:
            violate(f"{event} of {str(call_id)[-4:]} is in the stream of {heard.text!r} twice")
        said.add((event, call_id))
    return cast("int", run["tokens_used"])


def _last_run(run_id: str, runs: dict[str, Document]) -> Document | None:
    """Returns the last run of the turn that a run has begun."""
    run = runs.get(run_id)
    while run is not None and run["status"] == "awaiting_approval":
        run = runs.get(next_run_id(str(run["id"])))
    return run


def _is_cancelled(asked: Asked) -> bool:
    return asked.cancelled or (asked.following is not None and _is_cancelled(asked.following))


def _check_calls(cluster: Cluster, asked: Asked, runs: dict[str, Document], *, is_stopped: bool) -> None:
    """What asks is done once if it was approved, and reported as it ended; each decision stays as it was
    made, unless a user has stopped the turn, or it has failed.
    """
    violate, booked = cluster.world.violate, Counter(cluster.story.office.booked)
    assert asked.run is not None
    last, message = (
        _last_run(asked.run.id, runs),
        cluster.store.effective("messages", asked.run.message_id),
    )
    if last is None or message is None:
        return
    calls = [
        call
        for call in cluster.store.documents("tool_calls")
        if call["message_id"] == asked.run.message_id and call["gate"] == "asks"
    ]
    text = str(message["analysis"])
    for call in calls:
        call_id, status = str(call["id"]), str(call["status"])
        name = f"call {call_id[-4:]} of {asked.text!r}"
        effects, confirmed = booked[call_id], asked.decided.get(call_id, set())
        if status not in _EFFECTS or effects not in _EFFECTS[status]:
            violate(f"{name} is {status} at the end, and has {effects} effects")
        if status == "unknown" and not cluster.world.struck and not is_stopped:
            violate(f"{name} is unknown, and nothing has failed")
        if len(confirmed) > 1 or (confirmed == {"denied"} and status != "denied"):
            violate(f"{name} was {sorted(confirmed)}, and is {status}")
        is_over = is_stopped or last["status"] == "failed"
        if confirmed == {"approved"} and status not in ("done", "unknown") and not is_over:
            violate(f"{name} was approved, and is {status}")
        if last["status"] == "complete" and not _is_reported(call, calls, text):
            violate(f"{name} is {status}, and the answer is {text!r}")
    if last["status"] == "complete" and not calls:
        violate(f"{asked.text!r} is complete and has called nothing that asks")


_ONCE = ("tool_call", "tool_result", "confirmation", "confirmation_decided")
_EFFECTS: dict[str, tuple[int, ...]] = {
    "done": (1,),
    "unknown": (0, 1),
    "denied": (0,),
    "expired": (0,),
    "withdrawn": (0,),
}
"""How often a call may have had its effect, by how it ended."""


def _is_reported(call: Document, calls: Sequence[Document], text: str) -> bool:
    """The answer says how the call ended. If a call of its step was not decided, it lists what was done."""
    if any(each["status"] in ("expired", "withdrawn") for each in calls):
        heads = {"expired": "did not come in time", "withdrawn": "was withdrawn", "done": "Done:"}
        head = heads.get(str(call["status"]))
        same_step = [each for each in calls if each["step"] == call["step"]]
        is_last = any(each["status"] in ("expired", "withdrawn") for each in same_step)
        return head is None or not is_last or head in text
    words = {"done": "booked", "denied": "denied", "unknown": "may have happened"}
    word = words.get(str(call["status"]))
    return word is not None and word in text


def _check_outcomes(cluster: Cluster, runs: dict[str, Document], answers: dict[str, list[Document]]) -> None:
    """Each run ended as it deserves, with the answer that belongs to its end, and is counted once."""
    violate, story, world = cluster.world.violate, cluster.story, cluster.world
    counted = Counter(run_id for run_id, _, _ in cluster.observed)
    outcomes = {run_id: outcome for run_id, outcome, _ in cluster.observed}
    for run_id, run in runs.items():
        name, status = run["question"], run["status"]
        if counted[run_id] > 1:
            violate(f"{name!r} is counted {counted[run_id]} times by the metrics")
        if counted[run_id] == 1 and outcomes[run_id] != status:
            violate(f"{name!r} is {status}, and the metrics count it as {outcomes[run_id]}")
        if status == "awaiting_approval":
            if next_run_id(run_id) not in runs:
                violate(f"no run goes on with the turn of {name!r}")
            continue
        message = next(iter(answers.get(run_id, [])), None)
        if message is None:
            violate(f"{name!r} is {status} and has no answer")
            continue
        if message["status"] != status:
            violate(f"{name!r}: its run is {status}, its message {message['status']}")
        is_whole, tokens = message["analysis"] == story.answer_of(str(name)), STEPS * TOKENS_PER_STEP
        if run["mode"] == "agent":
            steps = cluster.store.documents("agent_steps")
            of_turn = [each for each in steps if each["message_id"] == run["message_id"]]
            is_whole, tokens = (
                bool(message["analysis"]),
                sum(cast("int", each["tokens_used"]) for each in of_turn),
            )
        if status == "complete" and not is_whole:
            violate(f"{name!r} is complete, and its answer is {message['analysis']!r}")
        if status == "complete" and message["tokens_used"] != tokens:
            violate(f"{name!r} is complete, and its tokens are {message['tokens_used']}")
        if status == "failed":
            problem = str(cast("Document", run["error"] or {}).get("type")).removeprefix("urn:kai:")
            deaths, poisoned = story.deaths.get(run_id, 0), story.poisoned.get(run_id, 0)
            if problem == "too-many-attempts":
                if name not in story.poison and (deaths + poisoned < _MOST_TRIES or deaths == 0):
                    violate(
                        f"{name!r} is given up: it was under way in {deaths} processes that died, and in "
                        f"{poisoned} that another run has killed"
                    )
            elif not (problem == "storage-unavailable" and world.long_outage):
                violate(f"{name!r} has failed: {problem}")
        if status == "complete" and name in story.poison:
            violate(f"{name!r} kills its process and is complete")


def _answer_of(run_id: str, runs: dict[str, Document], answers: dict[str, list[Document]]) -> Document | None:
    """Returns the answer of the turn that a run has begun."""
    last = _last_run(run_id, runs)
    return None if last is None else next(iter(answers.get(str(last["id"]), [])), None)


def _check_order(
    cluster: Cluster, asked: list[Asked], runs: dict[str, Document], answers: dict[str, list[Document]]
) -> None:
    """A question that was acknowledged before another of its session was asked is answered before it."""
    turns: dict[str, set[int]] = {}
    placed: list[tuple[Asked, int]] = []
    for each in asked:
        found = None if each.run is None else _answer_of(each.run.id, runs, answers)
        if each.state == "acknowledged" and found is not None:
            sequence = cast("int", found["sequence"])
            if sequence in turns.setdefault(each.session_id, set()):
                cluster.world.violate(f"{each.text!r} shares its place in the history")
            turns[each.session_id].add(sequence)
            placed.append((each, sequence))
    for one, first in placed:
        for other, second in placed:
            before = one.session_id == other.session_id and one.acknowledged_at < other.asked_at
            if before and first > second and not one.cancelled and not other.cancelled:
                cluster.world.violate(
                    f"{other.text!r} is answered before {one.text!r}, which was asked first"
                )
    # A late import of a claim gives its question an earlier place than a later claim: `docs/typesense.md`.
    is_late = any(each.startswith("late") and "upsert turns" in each for each in cluster.world.struck)
    for message in cluster.store.documents("messages"):
        if message["role"] == "human":
            answer = _answer_of(str(message["run_id"]), runs, answers)
            place = cast("int", message["sequence"]) + 1
            answered_at = place if answer is None else cast("int", answer["sequence"])
            if place > answered_at or (place < answered_at and not is_late):
                cluster.world.violate(
                    f"{message['query']!r} is at {message['sequence']}, its answer at {answered_at}"
                )


def _check_completed(cluster: Cluster, runs: dict[str, Document], answers: dict[str, list[Document]]) -> None:
    """Each completed message is handled, and remembered once."""
    if cluster.alone:
        return
    memories = {
        str(each["session_id"]): str(each["summary"])
        for each in cluster.store.documents("conversation_memories")
    }
    for run_id, run in runs.items():
        if run["status"] != "complete" or not answers.get(run_id):
            continue
        if run_id not in cluster.handled:
            cluster.world.violate(f"the completed message of {run['question']!r} was never handled")
        times = memories.get(str(run["session_id"]), "").count(f"Asked: {run['question']} ")
        # A late write shows lists the answer as it waited for people, until the document itself is read.
        is_late = run["resumes"] is not None and any(each.startswith("late") for each in cluster.world.struck)
        if times > 1 or (times == 0 and not is_late):
            cluster.world.violate(f"{run['question']!r} is remembered {times} times")


def _check_growth(cluster: Cluster) -> None:
    world = cluster.world
    for run_id, log in cluster.logs.logs.items():
        dones = [entry.event for entry in log.after(0)].count("done")
        if dones > 1:
            world.violate(f"the log of {run_id[-4:]} has {dones} done")
    for session in cluster.store.documents("sessions"):
        mine = [run for run in cluster.store.documents("runs") if run["session_id"] == session["id"]]
        attempts = sum(cast("int", run["attempt"]) for run in mine)
        if cast("int", session["fence"]) > 2 * attempts + 2:
            world.violate(f"the fence of a session is {session['fence']} after {attempts} attempts")
    for run_id in world.held_at_done:
        world.violate(f"the session of {run_id[-4:]} was held as its done was seen")
