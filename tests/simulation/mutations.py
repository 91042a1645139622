"""Defects put into the engine by hand, one at a time: the simulation has to find each of them.

`python -m tests.simulation.mutations` tries all of them, `... mutations NAME` one.
"""

import inspect
import os
import sys
import textwrap
import time
from collections.abc import Generator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import get_context

from tests.simulation.scenario import Outcome, simulate

MOST_SEEDS = 10_000
"""Those of `make simulate`."""

AT_ONCE = 2


@dataclass(frozen=True)
class Mutation:
    """A change of a function: `old` in its source becomes `new`. `where` is `module:Class.method` or
    `module:function`. `agents`: it is looked for with all sessions in agent mode.
    """

    name: str
    where: str
    old: str
    new: str
    agents: bool = False


_AGENT = "app.modules.agent"
_RUN = "app.modules.run"
_SCHEDULES = "app.modules.schedules"
_STORE = "app.core.storage"
_WEBHOOKS = "app.modules.webhooks"

MUTATIONS = (
    Mutation(
        "a completed message is acknowledged before it is handled",
        "app.core.bus.job_worker:JobWorker._do",
        '        disposition: Disposition = "again"\n',
        '        disposition: Disposition = "again"\n'
        '        await self._queue.ack(leased) if leased.kind != "run" else None\n',
    ),
    Mutation(
        "follow-up jobs that the queue has lost are not published again",
        f"{_RUN}.worker:Worker.sweep",
        "if emptied_at > max(self._emptied_at, after):",
        "if False:",
    ),
    Mutation(
        "done is emitted before the session is free",
        f"{_RUN}.completion:AttemptEnd._keep",
        "        released = await",
        "        await self._emit_done()\n        released = await",
    ),
    Mutation(
        "the follower says done while the session is held",
        f"{_RUN}.follower:RunFollower._say_again",
        "(holder == run.id and not asks)",
        "False",
    ),
    Mutation(
        "the fence is not raised for a new attempt",
        f"{_RUN}.lifecycle:RunLifecycle.take_up",
        "fenced = await self._repository.raise_fence(session)",
        "fenced = session",
    ),
    Mutation(
        "a new attempt has the number of the one before",
        f"{_RUN}.lifecycle:RunLifecycle.take_up",
        '"attempt": run.attempt + 1',
        '"attempt": run.attempt',
    ),
    Mutation(
        "a run that was begun is begun again as if it were new",
        f"{_RUN}.worker:Worker._answer",
        "leased = await self._checked(leased)",
        "leased = replace(leased, first=True)",
    ),
    Mutation(
        "an outcome that was emitted is not the run's",
        f"{_RUN}.completion:AttemptEnd._close",
        "if self._emitted or self._defective:",
        "if self._defective:",
    ),
    Mutation(
        "a run fails as soon as the store does",
        f"{_RUN}.attempt:StoreRetries.wait",
        "        now = time.monotonic()\n",
        "        raise error\n",
    ),
    Mutation(
        "a run that kills its process is tried again and again",
        f"{_RUN}.attempt:RunAttempt._answer",
        "if run.unclean_ends >= MAX_TRIES:",
        "if False:",
    ),
    Mutation(
        "runs that a death has hit are begun beside others",
        f"{_RUN}.worker:Worker._answer",
        "0 if unclean_ends >= MAX_TRIES else unclean_ends",
        "0",
    ),
    Mutation(
        "a state whose maker has died is not written",
        f"{_STORE}.typesense_compare_and_set:CompareAndSet.find_written",
        "            if state.written:\n",
        "            if True:\n",
    ),
    Mutation(
        "a decision that took long is written without a look at the document",
        f"{_STORE}.typesense_compare_and_set:CompareAndSet._succeed",
        "if is_certain and time.monotonic() - started <= _TO_FINISH_SECONDS / 2:",
        "if is_certain:",
    ),
    Mutation(
        "a decision counts although an earlier one that it does not know of may be lost",
        f"{_STORE}.typesense_successors:DecidedSuccessors.is_certain",
        "return not self._decisions.may_lose or",
        "return True or",
    ),
    Mutation(
        "a decision names none before it",
        f"{_STORE}.typesense_successors:DecidedSuccessors.create",
        "self._decisions.decide(document, value, state.latest)",
        "self._decisions.decide(document, value, getattr(await self._decisions.find(document), 'number', 0))",
    ),
    Mutation(
        "the latest decision counts although the document is later",
        f"{_STORE}.typesense_successors:DecidedSuccessors.latest",
        "if revision != stored and since >= layout.number_of(stored):",
        "if revision != stored:",
    ),
    Mutation(
        "a change that the bus has lost is called done",
        f"{_STORE}.typesense_compare_and_set:CompareAndSet._succeed",
        "if (other := await self._successors.find_other(documents, state, successor)) is not None:",
        "if (other := None):",
    ),
    Mutation(
        "any decision counts as one's own",
        f"{_STORE}.typesense_compare_and_set:CompareAndSet._succeed",
        "if successor is None:\n            return None",
        "if successor is None:\n            successor = State(changed, 'mine.1', written=False, latest=1)",
    ),
    Mutation(
        "a run that waits is not begun when its session is released",
        f"{_RUN}.lifecycle:RunLifecycle.keep",
        "elif released.awaited:",
        "elif False:",
    ),
    Mutation(
        "a question that waited stays in the place of those that wait",
        f"{_RUN}.lifecycle:RunLifecycle.keep",
        "if ended.question_turn != turn:",
        "if False:",
    ),
    Mutation(
        "a session is claimed while another run holds it by now",
        "app.modules.records.repository:SessionRepository.claim",
        """            Equals("active_run_id", None),
            AnyOf("status", ["idle", "error"]),
            Equals("fence", session.fence),
            Equals("turns", session.turns),
""",
        "",
    ),
    Mutation(
        "a session is released although another run holds it",
        "app.modules.records.repository:SessionRepository.release",
        '[Equals("active_run_id", run_id), Equals("fence", session.fence)]',
        '[Range("fence", at_least=0)]',
    ),
    Mutation(
        "a question overtakes those that wait",
        f"{_RUN}.submission:Submissions._keep_again",
        "if not submission.is_first or not await",
        "if not await",
    ),
    Mutation(
        "the same idempotency key makes another run",
        f"{_RUN}.submission:_new_run",
        "id=_keyed(session.id, question) or new_id()",
        "id=new_id()",
    ),
    Mutation(
        "a cancelled question does not look whether it has got its session",
        f"{_RUN}.lifecycle:RunLifecycle.drop",
        "if await self._is_given(session, run):",
        "if False:",
    ),
    Mutation(
        "an action whose process has died is made again",
        f"{_AGENT}.calls:TurnCalls._act",
        'if call.status == "begun" and not is_mine and not self._is_repeatable(call):',
        "if False:",
        agents=True,
    ),
    Mutation(
        "an action that fails is a result, whether it has had its effect or not",
        f"{_AGENT}.calls:TurnCalls._run_tool",
        "if not self._is_repeatable(call):",
        "if False:",
        agents=True,
    ),
    Mutation(
        "an action whose end is not known is reported as done",
        "app.modules.records.steps:InvestigationRecords.lose",
        '"status": "unknown"',
        '"status": "done"',
        agents=True,
    ),
    Mutation(
        "a decision replaces another one",
        "app.modules.records.steps:InvestigationRecords.deny",
        'was=("waiting",)',
        'was=("waiting", "approved", "expired")',
        agents=True,
    ),
    Mutation(
        "a turn whose decider has died does not go on",
        f"{_RUN}.lifecycle:RunLifecycle.sweep_waiting",
        "await self.go_on(session)",
        "pass",
        agents=True,
    ),
    Mutation(
        "a run that goes on is taken for one that waits in line as it is cancelled",
        f"{_RUN}.submission:Submissions.cancel",
        "if run.resumes is not None:",
        "if False:",
        agents=True,
    ),
    Mutation(
        "a turn goes on while a call of its step waits",
        "app.modules.records.steps:InvestigationRecords.is_decided",
        "return not any(",
        "return True or any(",
        agents=True,
    ),
    Mutation(
        "a turn that was stopped leaves its calls open",
        f"{_RUN}.lifecycle:RunLifecycle.keep",
        'if ended.status != "complete" and answer.route == "investigate":',
        "if False:",
        agents=True,
    ),
    Mutation(
        "a turn that was stopped leaves the calls open that it was storing",
        "app.modules.records.steps:InvestigationRecords.settle",
        "for each in (step, step + 1)",
        "for each in (step,)",
        agents=True,
    ),
    Mutation(
        "what a call has returned is in the stream once more",
        f"{_AGENT}.calls:TurnCalls._say",
        "if (call.id, event.event) not in self._said:",
        "if True:",
        agents=True,
    ),
    Mutation(
        "a sweep forgets the turns whose calls were denied",
        "app.modules.records.steps:InvestigationRecords.sessions_decided_since",
        '"denied", ',
        "",
        agents=True,
    ),
    Mutation(
        "calls that no user decides do not expire",
        "app.modules.records.steps:InvestigationRecords.expire_all",
        "if await self.expire(call) is not None",
        "if False",
        agents=True,
    ),
    Mutation(
        "a run that the queue has lost stays in a session that is deleted",
        f"{_RUN}.submission:Submissions.stopped",
        'if held is not None and held.status != "awaiting_approval":',
        "if False:",
    ),
    Mutation(
        "a run that has ended and that the queue has lost keeps a session that is deleted",
        f"{_RUN}.submission:Submissions.stopped",
        'held.status != "awaiting_approval":',
        'held.status == "open":',
    ),
    Mutation(
        "a deletion whose process dies leaves its decisions",
        f"{_STORE}.typesense:TypesenseStorage.delete",
        "await patches.forget(documents, ids)  # also",
        "pass  # also",
    ),
    Mutation(
        "a schedule is claimed although another worker has it",
        f"{_SCHEDULES}.running:Runs._claim",
        "self._repository.schedules.change(",
        "self._repository.change(",
    ),
    Mutation(
        "each run of a time has a notice of its own",
        f"{_SCHEDULES}.running:_notice",
        "id=id_of(schedule.id, str(slot))",
        "id=id_of(schedule.id, str(now))",
    ),
    Mutation(
        "each worker sends a notice",
        f"{_STORE}.claims:Claims.change",
        "same = [Equals(self._field, getattr(document, self._field))]",
        'same = [Equals(self._field, getattr(document, self._field))] * (self._field != "webhook_due_at")',
    ),
    Mutation(
        "no webhook is sent the end of a run",
        f"{_RUN}.lifecycle:RunLifecycle._changes",
        "await self._events.due_at(run.owner)",
        "None",
    ),
    Mutation(
        "the mark of a run is removed before its deliveries are made",
        f"{_WEBHOOKS}.events:WebhookEvents._tell",
        '        if run.status != "open":\n',
        '        await self._runs.change(run, {"webhook_due_at": None})\n        if run.status != "open":\n',
    ),
    Mutation(
        "each process that sees the end of a run makes a delivery of its own",
        f"{_WEBHOOKS}.events:WebhookEvents.add",
        'f"{webhook.id} {event} {subject_id}"',
        'f"{webhook.id} {event} {subject_id} {now}"',
    ),
    Mutation(
        "a run that goes on with a turn has the mark of the one that waited",
        f"{_RUN}.lifecycle:RunLifecycle.go_on",
        "add_following_run(following_run(waiting))",
        "add_following_run(replace(following_run(waiting), webhook_due_at=waiting.webhook_due_at))",
        agents=True,
    ),
    Mutation(
        "a keyed request that has failed is forgotten, with what it has created",
        "app.http.idempotency:Idempotency._settle",
        "await self._kept.release(request)",
        "await self._kept.drop(request)",
    ),
    Mutation(
        "another try of a keyed request has other ids",
        "app.http.idempotency:Idempotency._answer",
        "KeyedIds(held.id, held.created_at,",
        "KeyedIds(held.id, now,",
    ),
    Mutation(
        "what another try of a keyed request has created is an error",
        f"{_STORE}.documents:Documents.create",
        "if not is_of_key(record_id) or",
        "if",
    ),
)


@contextmanager
def mutated(mutation: Mutation) -> Generator[None]:
    """The engine with the defect, for the block."""
    module_name, _, path = mutation.where.partition(":")
    module = import_module(module_name)
    class_name, _, method = path.rpartition(".")
    owner = getattr(module, class_name) if class_name else module
    original = getattr(owner, method)
    source = inspect.getsource(original)
    assert mutation.old in source, f"{mutation.name}: the source has changed"
    namespace: dict[str, object] = {}
    changed = textwrap.dedent(source.replace(mutation.old, mutation.new, 1))
    code = compile(changed, f"<{mutation.name}>", "exec")
    exec(code, vars(module), namespace)  # noqa: S102
    setattr(owner, method, namespace[method])
    try:
        yield
    finally:
        setattr(owner, method, original)


def find(mutation: Mutation) -> tuple[Outcome | None, float]:
    """The first seed that shows the defect, and the seconds of processor that it took."""
    began = time.process_time()
    with mutated(mutation):
        tried = (simulate(seed, agents=mutation.agents) for seed in range(MOST_SEEDS))
        found = next((each for each in tried if each.violations), None)
    return found, time.process_time() - began


def main() -> None:
    if os.environ.get("PYTHONHASHSEED") != "0":
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        command = [sys.executable, "-m", "tests.simulation.mutations", *sys.argv[1:]]
        os.execve(sys.executable, command, environment)
    wanted = " ".join(sys.argv[1:])
    chosen = [each for each in MUTATIONS if wanted in each.name]
    missed = 0
    with ProcessPoolExecutor(AT_ONCE, max_tasks_per_child=1, mp_context=get_context("spawn")) as pool:
        for mutation, (outcome, seconds) in zip(chosen, pool.map(find, chosen), strict=True):
            if outcome is None:
                missed += 1
                print(f"NOT FOUND in {MOST_SEEDS} seeds ({seconds:.0f} s): {mutation.name}", flush=True)
            else:
                print(f"found by seed {outcome.seed} ({seconds:.0f} s): {mutation.name}", flush=True)
                print(f"    {outcome.violations[0]}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} defects found")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
