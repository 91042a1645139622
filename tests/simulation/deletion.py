"""Deletion of a session, or of everything of its owner, while its runs go on."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from app.core.bus.port import EventLogs, StartedRuns
from app.core.kept_responses import KeptResponses
from app.core.secrets import SecretBox
from app.core.storage import typesense_layout as layout
from app.core.storage.port import Storage
from app.modules.boards.repository import BoardRepository
from app.modules.comments.repository import CommentRepository
from app.modules.context_store.service import ContextStore, FindFault
from app.modules.database_connection.service import DatabaseConnections
from app.modules.forgetting.service import OwnerForgetting
from app.modules.items.service import ClientItems
from app.modules.memory.erasure import MemoryForgetting
from app.modules.memory.facts import Facts
from app.modules.memory.graphiti.forgetting import GraphForgetting
from app.modules.memory.guards import WordGuard
from app.modules.memory.profile import Profiles
from app.modules.memory.scopes import Groups
from app.modules.memory.service import ConversationMemories
from app.modules.overview.repository import OverviewRepository
from app.modules.records.repository import SessionRepository
from app.modules.records.rows import RowStore
from app.modules.records.steps import InvestigationRecords
from app.modules.rules.repository import RuleRepository
from app.modules.run.follower import RunFollower
from app.modules.run.submission import Submissions
from app.modules.schedules.repository import ScheduleRepository
from app.modules.session.erasure import SessionForgetting
from app.modules.session.service import SessionService
from app.modules.sharing.repository import LinkRepository
from app.modules.usage.service import Allowances
from app.modules.webhooks.repository import WebhookRepository
from tests.simulation.bus import DecisionData
from tests.simulation.store import SCHEMA, StoreData
from tests.simulation.turn import SimulatedGraph, Story
from tests.simulation.world import World

SWEPT_AFTER_MS = (8_000, 25_000, 60_000)
SWEEP_SECONDS = 5.0
BOX = SecretBox(base64.urlsafe_b64encode(bytes(32)))

_STAYS = ("usage",)
"""What a deletion of everything leaves: counts of used tokens."""


@dataclass
class Deletion:
    """What a user deletes, and when. `whole`: everything of theirs."""

    session_ids: Sequence[str]
    whole: bool
    after: float
    at_approval: bool
    """Once the first question waits for people, or has ended."""
    at_handover: bool
    """As a worker is asked to stop."""
    is_done: bool = False


class Deleting:
    """What deletes in a process. It has no database connections."""

    def __init__(
        self,
        storage: Storage,
        repository: SessionRepository,
        graph: SimulatedGraph,
        *,
        logs: EventLogs,
        submissions: Submissions,
        follower: RunFollower,
        records: InvestigationRecords,
        allowances: Allowances,
    ) -> None:
        connections = cast("DatabaseConnections", None)
        memories, profiles = ConversationMemories(storage, None), Profiles(storage, enabled=False)
        facts = Facts(
            storage,
            Groups(b"simulated"),
            connections,
            find_session=_nothing,
            find_message=_nothing,
            guard=WordGuard(),
        )
        memory = MemoryForgetting(storage, memories, facts, profiles=profiles, graph=GraphForgetting(storage))
        context = ContextStore(storage, connections, cast("FindFault", None))
        self.sessions = SessionForgetting(
            storage, repository, graph, memories=memory, context=context, logs=logs
        )
        self.service = SessionService(
            repository,
            RowStore(storage),
            submissions,
            follower=follower,
            graph=graph,
            connections=connections,
            context=context,
            forgetting=self.sessions,
            facts=facts,
            allowances=allowances,
            investigations=records,
            started=cast("StartedRuns", None),
        )
        self.owners = OwnerForgetting(
            memory,
            self.service,
            connections,
            context=context,
            rules=RuleRepository(storage),
            items=ClientItems(storage),
            boards=BoardRepository(storage),
            links=LinkRepository(storage),
            schedules=ScheduleRepository(storage),
            comments=CommentRepository(storage),
            overviews=OverviewRepository(storage),
            kept_responses=KeptResponses(storage, BOX),
            webhooks=WebhookRepository(storage),
        )


async def _nothing(*_: str) -> None:
    """No fact is kept."""


def check_deleted(
    world: World, deletion: Deletion, store: StoreData, *, decisions: DecisionData, story: Story
) -> None:
    """Nothing names a session that is deleted, nor its owner if everything of theirs is."""
    if not deletion.is_done:
        world.violate("a deletion has not ended")
        return
    words = [*deletion.session_ids, *(['"owner": "ann"'] if deletion.whole else [])]
    stays = {layout.place_of(SCHEMA[name]) for name in _STAYS}
    for place, rows in store.rows.items():
        for row in rows.values() if place not in stays else ():
            if any(word in str(row.get("document0")) for word in words):
                world.violate(f"{place} holds of what is deleted: {json.dumps(row)[:300]}")
    for document, decision in decisions.latest.items():
        if document not in decisions.unerased and any(
            word in decision.value for word in deletion.session_ids
        ):
            world.violate(f"the decisions hold of what is deleted: {document} {decision.value[:200]}")
    for session_id in deletion.session_ids:
        if story.checkpoints.get(session_id):
            world.violate(f"session {session_id[-3:]} is deleted and has checkpoints")
