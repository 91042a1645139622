"""The profile of an owner as a section of a prompt."""

import asyncio
import logging
from collections.abc import Callable
from functools import cache
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter

from app.core.llm.tokens import approximate_tokens
from app.modules.memory.profile import ATTRIBUTES, Attribute, Profile, Profiles
from app.modules.prompts.sections import sections

logger = logging.getLogger(__name__)

MOST_TOKENS = 300

_TEMPLATE = Path(__file__).parent / "prompts" / "profile.md.j2"
_TITLES: dict[Attribute, str] = {
    "output_preferences": "Output",
    "personal_preferences": "Address and tone",
    "assistant_preferences": "Assistant",
    "knowledge": "Knows well",
    "interests": "Interests",
    "dislikes": "Dislikes",
    "family_and_friends": "Family and friends",
    "work_profile": "Work",
    "goals": "Goals",
}
"""Only these attributes are shown, and in this order: what shapes an answer stands first."""


class ProfileSections:
    """Reads profiles for prompts, within a limit of seconds."""

    def __init__(self, profiles: Profiles, seconds: float, metrics: CollectorRegistry) -> None:
        self._profiles = profiles
        self._of_sessions = profiles.of_sessions
        self._seconds = seconds
        self._missed = Counter(
            "kai_profiles_missed",
            "Turns without the user's profile, because the store was slow or unavailable",
            registry=metrics,
        )

    async def read(self, owner: str, session_id: str, *, is_first: bool) -> str:
        """Returns the section about the owner that the session has begun with.

        Empty without a profile that may be used, and if the store is slow, unavailable or answers with
        something else: then the next turn tries again. Never raises. `is_first`: it is the session's first
        turn, which has kept none before.
        """
        if not self._profiles.enabled:
            return ""
        try:
            async with asyncio.timeout(self._seconds):
                kept = None if is_first else await self._of_sessions.find(owner, session_id)
                return await self._begin(owner, session_id) if kept is None else kept
        except Exception as error:  # noqa: BLE001 - the turn does without
            logger.debug("session %s is without its owner's profile: %r", session_id, error)
            self._missed.inc()
            return ""

    async def _begin(self, owner: str, session_id: str) -> str:
        """Returns the section, once it is kept for the session.

        It is announced before the profile is read, and the profile is read again afterwards: of one that is
        changed at the same moment, nothing may stay behind.
        """
        while True:
            is_announced = await self._of_sessions.announce(owner, session_id)
            if not is_announced and (kept := await self._of_sessions.find(owner, session_id)) is not None:
                return kept
            profile = await self._profiles.find_usable(owner)
            section = "" if profile is None else profile_section(profile)
            if not await self._of_sessions.write(session_id, section):
                continue
            if not section or await self._profiles.find_usable(owner) == profile:
                return section
            await self._of_sessions.forget_sessions([session_id])


def profile_section(profile: Profile) -> str:
    """Returns at most 300 tokens: without the last attributes' oldest items, if there is no room.

    Empty for an empty profile.
    """
    shown = {name: [item.text for item in profile.of(name)] for name in ATTRIBUTES if profile.of(name)}
    while shown:
        section = sections([("About the user", _rendered(shown))])
        if approximate_tokens(section) <= MOST_TOKENS:
            return section
        last = list(shown)[-1]
        shown[last] = shown[last][1:]
        if not shown[last]:
            del shown[last]
    return ""


def _rendered(shown: dict[Attribute, list[str]]) -> str:
    lines = [(_TITLES[name], [" ".join(text.split()) for text in texts]) for name, texts in shown.items()]
    return _template()(attributes=lines).strip()


@cache
def _template() -> Callable[..., str]:
    """The template, compiled once. Jinja is imported only by processes that use profiles."""
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415

    text = _TEMPLATE.read_text(encoding="utf-8")
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, autoescape=False)  # noqa: S701
    return environment.from_string(text).render
