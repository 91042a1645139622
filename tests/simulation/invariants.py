"""What has to hold once everything is at rest."""

from collections import Counter
from typing import cast

from app.core.storage.port import Document
from tests.simulation.clients import Asked
from tests.simulation.site import Cluster
from tests.simulation.turn import STEPS, TOKENS_PER_STEP

_MOST_TRIES = 3


def unrest(cluster: Cluster, asked: list[Asked]) -> str | None:
    """Returns what is not at rest yet, None when all is."""
    store, world = cluster.store, cluster.world
    for server in (world.store, world.queue, world.logs, world.completed, world.decisions):
        if server.down_until > world.loop.time():
            return f"the {server.name} is unreachable"
    for run in store.documents("runs"):
        if run["status"] == "open":
            return f"{run['question']!r} is open"
    for session in store.documents("sessions"):
        if session["active_run_id"] is not None:
            return f"session {str(session['id'])[-3:]} is held by {str(session['active_run_id'])[-4:]}"
    if cluster.alone:
        return None
    for kind, jobs in cluster.queue.jobs.items():
        if refs := jobs.refs():
            return f"the queue holds {kind} jobs of {sorted(each.run_id[-4:] for each in refs)}"
    return None


def check_at_rest(cluster: Cluster, asked: list[Asked]) -> None:
    """Record each invariant that does not hold."""
    runs = {str(run["id"]): run for run in cluster.store.documents("runs")}
    answers: dict[str, list[Document]] = {}
    for message in cluster.store.documents("messages"):
        if message["role"] == "assistant":
            answers.setdefault(str(message["run_id"]), []).append(message)
    for each in asked:
        _check_question(cluster, each, runs, answers)
    _check_outcomes(cluster, runs, answers)
    _check_order(cluster, asked, answers)
    _check_completed(cluster, runs, answers)
    _check_growth(cluster)


def _check_question(
    cluster: Cluster, asked: Asked, runs: dict[str, Document], answers: dict[str, list[Document]]
) -> None:
    violate = cluster.world.violate
    kept = [run for run in runs.values() if run["question"] == asked.text]
    if asked.state == "refused" and kept:
        violate(f"{asked.text!r} was refused, and is kept ({kept[0]['status']})")
    if len(kept) > 1:
        violate(f"{asked.text!r} is kept {len(kept)} times")
    if asked.state != "acknowledged" or asked.run is None:
        return
    run, found = runs.get(asked.run.id), answers.get(asked.run.id, [])
    if run is None or len(found) != 1:
        violate(f"{asked.text!r} is acknowledged and has {len(found)} answers")
        return
    dones = [event for _, event, _ in asked.events].count("done")
    if dones != 1 or asked.done is None:
        violate(f"the stream of {asked.text!r} has {dones} done")
        return
    streamed = (asked.done["status"], asked.done["tokens_used"])
    kept_as = (run["status"], run["tokens_used"])
    said_as = (found[0]["status"], found[0]["tokens_used"])
    if not streamed == kept_as == said_as:
        violate(f"{asked.text!r}: its stream says {streamed}, its run {kept_as}, its message {said_as}")
    ids = [event_id for event_id, _, _ in asked.events]
    if ids != sorted(set(ids)):
        violate(f"the events of {asked.text!r} are repeated or out of order")


def _check_outcomes(cluster: Cluster, runs: dict[str, Document], answers: dict[str, list[Document]]) -> None:
    """Each run ended as it deserves, with the answer that belongs to its end, and is counted once."""
    violate, story, world = cluster.world.violate, cluster.story, cluster.world
    counted = Counter(run_id for run_id, _, _ in cluster.observed)
    outcomes = {run_id: outcome for run_id, outcome, _ in cluster.observed}
    for run_id, run in runs.items():
        name, status = run["question"], run["status"]
        message = next(iter(answers.get(run_id, [])), None)
        if message is None:
            violate(f"{name!r} is {status} and has no answer")
            continue
        if message["status"] != status:
            violate(f"{name!r}: its run is {status}, its message {message['status']}")
        whole = story.answer_of(str(name))
        if status == "complete" and message["analysis"] != whole:
            violate(f"{name!r} is complete, and its answer is {message['analysis']!r}")
        if status == "complete" and run["tokens_used"] != STEPS * TOKENS_PER_STEP:
            violate(f"{name!r} is complete, and its tokens are {run['tokens_used']}")
        if counted[run_id] > 1:
            violate(f"{name!r} is counted {counted[run_id]} times by the metrics")
        if counted[run_id] == 1 and outcomes[run_id] != status:
            violate(f"{name!r} is {status}, and the metrics count it as {outcomes[run_id]}")
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


def _check_order(cluster: Cluster, asked: list[Asked], answers: dict[str, list[Document]]) -> None:
    """A question that was acknowledged before another of its session was asked is answered before it."""
    turns: dict[str, set[int]] = {}
    placed: list[tuple[Asked, int]] = []
    for each in asked:
        if each.state == "acknowledged" and each.run is not None and answers.get(each.run.id):
            sequence = cast("int", answers[each.run.id][0]["sequence"])
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
    for message in cluster.store.documents("messages"):
        if message["role"] == "human":
            answer = next(iter(answers.get(str(message["run_id"]), [])), None)
            if answer is not None and answer["sequence"] != cast("int", message["sequence"]) + 1:
                cluster.world.violate(
                    f"{message['query']!r} is at {message['sequence']}, its answer at {answer['sequence']}"
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
        if times != 1:
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
