"""What KAI knows of a person: nine lists of short sentences, one document an owner.

Kept only where an operator allows it and the owner has consented.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Literal, TypeAlias, get_args
from uuid import UUID, uuid5

from app.core.clock import now_ms
from app.core.errors import Conflict, Forbidden, Invalid
from app.core.storage.documents import Documents
from app.core.storage.edits import current_edit
from app.core.storage.port import Document, Equals, Storage
from app.modules.memory.guards import SECRET, holds_secret, instruction_warning
from app.modules.memory.session_profiles import SessionProfiles

Attribute = Literal[
    "output_preferences",
    "personal_preferences",
    "assistant_preferences",
    "knowledge",
    "interests",
    "dislikes",
    "family_and_friends",
    "work_profile",
    "goals",
]
ATTRIBUTES: Sequence[Attribute] = get_args(Attribute)
MOST_ITEMS = 8
LONGEST_ITEM = 160

_NAME = "profiles"
_IDS = UUID("6f0a3a52-7d0c-4f0e-9a55-5f2d8a1c9b17")
"""Makes the id of an owner's profile."""


@dataclass(frozen=True, kw_only=True)
class ProfileItem:
    """A sentence about the owner. `message_id` is the answer to the question that it was read from, in this
    session; both are None if the owner has written it.
    """

    text: str
    at: int
    message_id: str | None = None
    session_id: str | None = None


Items: TypeAlias = Mapping[Attribute, Sequence[ProfileItem]]


@dataclass(frozen=True, kw_only=True)
class Profile:
    """`consented_at` is None without the owner's consent. `revision` grows with every change."""

    id: str
    owner: str
    revision: int = 0
    consented_at: int | None = None
    items: Items = field(default_factory=dict)

    def of(self, attribute: Attribute) -> Sequence[ProfileItem]:
        return self.items.get(attribute, ())


Change = Callable[[Profile], Profile]


class ProfilesOff(Forbidden):
    """Profiles are switched off. One that is kept can still be read and forgotten."""

    problem = "profiles-off"
    title = "Profiles are switched off"
    sentence = "This KAI keeps no profiles. An operator switches them on with KAI_MEMORY__PROFILE=true."


class ConsentNeeded(Conflict):
    """The owner has not consented to a profile."""

    problem = "consent-needed"
    title = "A profile needs your consent"
    sentence = 'Without your consent no profile is kept. PATCH /memory/profile with "consent": true.'


class ItemRefused(Invalid):
    """A guard does not let the item be kept."""

    problem = "profile-item-refused"
    title = "This is not remembered"


class AttributeFull(Conflict):
    """An attribute has no room for another item."""

    problem = "profile-attribute-full"
    title = "This part of the profile is full"
    sentence = f"An attribute has at most {MOST_ITEMS} items. Forget one of them first."


class ItemNeedsConfirmation(Conflict):
    """A guard warns of the item. A person who has read the warning may keep it."""

    problem = "profile-item-needs-confirmation"
    title = "Read the warning before this is remembered"
    sentence = '{warning} To remember it all the same, send it again with "confirm": true.'


class Profiles:
    """The profiles of all owners. Methods read and change only that of `owner`.

    `enabled`: an operator allows profiles. All methods raise `StorageUnavailable`.
    """

    def __init__(self, storage: Storage, *, enabled: bool) -> None:
        self._storage = storage
        self._profiles = Documents(storage, _NAME, Profile, write=_document)
        self.of_sessions = SessionProfiles(storage)
        self.enabled = enabled

    async def find(self, owner: str) -> Profile:
        """Returns the profile, which is empty if there is none."""
        return await self._stored(owner) or _empty(owner)

    async def find_usable(self, owner: str) -> Profile | None:
        """Returns the profile if it may be used and changed by KAI: allowed, and consented to."""
        profile = await self._stored(owner) if self.enabled else None
        return profile if profile is not None and profile.consented_at is not None else None

    async def consent(self, owner: str, *, given: bool) -> Profile:
        """Give or withdraw the owner's consent. What is kept stays, but is not used without consent.

        Raises `ProfilesOff`.
        """
        if not given:
            changed = await self._change(owner, lambda profile: replace(profile, consented_at=None))
            await self._forget_shown(owner)
            return changed
        if not self.enabled:
            raise ProfilesOff
        now = now_ms()
        return await self._change(
            owner, lambda profile: replace(profile, consented_at=profile.consented_at or now)
        )

    async def write(
        self, owner: str, attribute: Attribute, texts: Sequence[str], *, confirmed: bool
    ) -> Profile:
        """Replace the items of an attribute by what their owner has written. Known texts keep their source.

        If nothing is added, the missing ones are forgotten, in open sessions, too. Raises `ProfilesOff`,
        `ConsentNeeded`, `ItemRefused` or `ItemNeedsConfirmation`.
        """
        lines = self._checked(texts, confirmed=confirmed)
        return await self._write(owner, attribute, lambda _: lines)

    async def edit(
        self, owner: str, attribute: Attribute, *, add: Sequence[str], remove: Sequence[str], confirmed: bool
    ) -> Profile:
        """Add items of an attribute and remove others. Changes of the same moment count, too.

        Raises what `write` raises, and `AttributeFull`.
        """
        lines = self._checked(add, confirmed=confirmed)
        removed = {key(text) for text in remove}

        def edited(known: Sequence[str]) -> Sequence[str]:
            kept = {key(text): text for text in known if key(text) not in removed}
            after = [*(kept | {key(line): line for line in lines}).values()]
            if len(after) > max(MOST_ITEMS, len(kept)):
                raise AttributeFull
            return after

        return await self._write(owner, attribute, edited)

    def _checked(self, texts: Sequence[str], *, confirmed: bool) -> Sequence[str]:
        """Returns the texts without blanks and repetitions. Raises what `write` raises."""
        if not self.enabled:
            raise ProfilesOff
        lines = list({key(text): " ".join(text.split()) for text in texts if text.split()}.values())
        for line in lines:
            if holds_secret(line):
                raise ItemRefused(SECRET)
            warning = instruction_warning(line)
            if warning is not None and not confirmed:
                raise ItemNeedsConfirmation(warning=warning)
        return lines

    async def _write(
        self, owner: str, attribute: Attribute, lines_after: Callable[[Sequence[str]], Sequence[str]]
    ) -> Profile:
        """Write an attribute: `lines_after` returns its texts after the change, by those before it."""
        now = now_ms()
        is_shorter = False

        def written(profile: Profile) -> Profile:
            nonlocal is_shorter
            if profile.consented_at is None:
                raise ConsentNeeded
            known = {key(item.text): item for item in profile.of(attribute)}
            lines = {key(line): line for line in lines_after(texts_of(profile, attribute))}
            is_shorter = bool(known.keys() - lines.keys())
            items = [known.get(each, ProfileItem(text=line, at=now)) for each, line in lines.items()]
            return replace(profile, items={**profile.items, attribute: items})

        changed = await self._change(owner, written)
        if is_shorter:
            await self._forget_shown(owner)
        return changed

    async def update(self, owner: str, change: Change) -> None:
        """Change the profile for KAI. Does nothing if it may not be kept any more."""
        if self.enabled:
            await self._change(
                owner, lambda profile: profile if profile.consented_at is None else change(profile)
            )

    async def forget_attribute(self, owner: str, attribute: Attribute) -> None:
        await self._forget_items(owner, partial(_without_attribute, attribute))

    async def forget_sessions(self, session_ids: Sequence[str]) -> None:
        """Forget what was read from the questions of these sessions, of any owner, and what they show."""
        await self.of_sessions.forget_sessions(session_ids)
        for session_id in session_ids:
            for found in await self._storage.search(_NAME, _word(session_id), []):
                owner = str(found["owner"])
                # Also before: if this process dies in between, nothing leads to the sessions any more.
                await self._forget_shown(owner)
                await self._forget_items(owner, partial(_without_session, session_id))

    async def forget_all(self, owner: str) -> None:
        """Delete the profile with its consent. An update that began before changes nothing afterwards."""
        # A change that is under way fails by its revision, so it cannot put the document back.
        await self._change_stored(owner, lambda profile: replace(profile, consented_at=None, items={}))
        await self._profiles.delete(Equals("owner", owner))
        await self._forget_shown(owner)

    async def _forget_shown(self, owner: str) -> None:
        """Delete what earlier states of the profile said, and what the owner's sessions have begun with. They
        begin again with what is left.
        """
        await self._storage.forget_earlier(_NAME, _id_of(owner))
        await self.of_sessions.forget_owner(owner)
        await self._storage.scrub()

    async def _forget_items(self, owner: str, kept: Callable[[Profile], Items]) -> None:
        await self._change_stored(owner, lambda profile: replace(profile, items=kept(profile)))
        # Afterwards, so that a session that begins meanwhile either shows what is left or is found here.
        await self._forget_shown(owner)

    async def _change_stored(self, owner: str, change: Change) -> None:
        """Change a profile that is there."""
        if await self._stored(owner) is not None:
            await self._change(owner, change)

    async def _change(self, owner: str, change: Change) -> Profile:
        """Returns the changed profile. Of two changes at once, the second begins again."""
        while True:
            stored = await self._stored(owner)
            before = stored or _empty(owner)
            current_edit().check(before.revision)
            after = change(before)
            if after == before:
                return before
            after = replace(after, revision=before.revision + 1)
            if await self._replace(before, after, is_new=stored is None):
                current_edit().wrote(after.revision)
                return after

    async def _replace(self, before: Profile, after: Profile, *, is_new: bool) -> bool:
        if is_new:
            return await self._profiles.add(after)
        return await self._profiles.replace(after, [Equals("revision", before.revision)])

    async def _stored(self, owner: str) -> Profile | None:
        profile = await self._profiles.get(_id_of(owner))
        return profile if profile is not None and profile.owner == owner else None


def _without_attribute(attribute: Attribute, profile: Profile) -> Items:
    return {name: items for name, items in profile.items.items() if name != attribute}


def _without_session(session_id: str, profile: Profile) -> Items:
    return {
        name: [item for item in items if item.session_id != session_id]
        for name, items in profile.items.items()
    }


def _document(profile: Profile) -> Document:
    """Sessions are found by words, because a profile is made of many."""
    sessions = {item.session_id for items in profile.items.values() for item in items if item.session_id}
    return {**asdict(profile), "sessions": " ".join(sorted(map(_word, sessions)))}


def _word(session_id: str) -> str:
    """Returns a session's id as one word, however a store divides texts."""
    return session_id.replace("-", "")


def texts_of(profile: Profile, attribute: Attribute) -> list[str]:
    """Returns the sentences of an attribute without their sources."""
    return [item.text for item in profile.of(attribute)]


def key(text: str) -> str:
    """Returns what makes two items the same: their words in any case."""
    return " ".join(text.split()).casefold()


def _empty(owner: str) -> Profile:
    return Profile(id=_id_of(owner), owner=owner)


def _id_of(owner: str) -> str:
    return str(uuid5(_IDS, owner))
