"""Updates a profile from the owner's questions, by a model whose every claim quotes a question."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from app.core.clock import now_ms
from app.core.llm.errors import ReplyTooDeep
from app.core.llm.model import LanguageModel, ModelRejected, ModelUnavailable, PromptMessage, ReplySchema
from app.modules.memory.guards import holds_secret, instruction_warning
from app.modules.memory.model import RememberedExchange
from app.modules.memory.profile import (
    ATTRIBUTES,
    LONGEST_ITEM,
    MOST_ITEMS,
    Attribute,
    Profile,
    ProfileItem,
    Profiles,
    key,
)
from app.modules.prompts.sections import sections

logger = logging.getLogger(__name__)

_MOST_QUESTIONS = 10
_LONGEST_QUESTION = 2_000
_LEAST_QUOTED = 4
"""Letters and digits of a quote. Fewer are in nearly every question."""
_MOST_CHANGES = 20

_INSTRUCTIONS = (
    (Path(__file__).parent / "prompts" / "profile_update.md")
    .read_text(encoding="utf-8")
    .replace("{longest}", str(LONGEST_ITEM))
)
_CHANGE: JsonValue = {
    "type": "object",
    "properties": {
        "attribute": {"type": "string", "enum": list(ATTRIBUTES)},
        "text": {"type": "string"},
        "question": {"type": "integer"},
        "quote": {"type": "string"},
    },
    "required": ["attribute", "text", "question", "quote"],
    "additionalProperties": False,
}
_SCHEMA = ReplySchema(
    "update_profile",
    "Changes the profile of the user.",
    {"add": {"type": "array", "items": _CHANGE}, "remove": {"type": "array", "items": _CHANGE}},
)


class _Claim(BaseModel):
    """A change that a model proposes, with the words of the question that say it."""

    model_config = ConfigDict(frozen=True)

    attribute: Attribute
    text: Annotated[str, Field(min_length=1)]
    question: int
    quote: str


_CLAIM = TypeAdapter(_Claim)


@dataclass(frozen=True)
class Changes:
    """What a model proposes to add and to remove."""

    add: Sequence[_Claim] = ()
    remove: Sequence[_Claim] = ()


class ProfileUpdate:
    """Updates profiles after answers. Only questions are read: no answer, result or fact."""

    def __init__(self, profiles: Profiles, model: LanguageModel) -> None:
        self._profiles = profiles
        self._model = model

    async def learn(self, owner: str, session_id: str, exchanges: Mapping[str, RememberedExchange]) -> None:
        """Update the owner's profile from the questions of these exchanges, which are by message id.

        The same questions again change nothing more than the first time. Does nothing without the owner's
        consent, or if the model is unavailable. Raises `StorageUnavailable`.
        """
        questions = {each: exchange.question for each, exchange in exchanges.items()}
        asked = dict(list(questions.items())[-_MOST_QUESTIONS:])
        profile = await self._profiles.find_usable(owner)
        if profile is None or not asked:
            return
        try:
            prompt = _messages(profile, list(asked.values()))
            reply = await self._model.reply_by_schema(lambda _: prompt, _SCHEMA, lambda _: None)
            changes = read_changes(reply.text)
        except (ModelUnavailable, ModelRejected, ReplyTooDeep) as error:
            logger.warning("session %s: nothing is learned for the profile: %s", session_id, error)
            return
        now = now_ms()
        await self._profiles.update(
            owner, lambda known: changed(known, changes, asked, session_id=session_id, at=now)
        )

    async def forget_sessions(self, session_ids: Sequence[str]) -> None:
        await self._profiles.forget_sessions(session_ids)


def read_changes(reply: str) -> Changes:
    """Returns the changes in a reply; none if it holds no object. What is no change is left out.

    Raises `ReplyTooDeep`.
    """
    found = next(iter(_SCHEMA.read_objects(reply)), {})
    return Changes(_claims(found.get("add")), _claims(found.get("remove")))


def changed(
    profile: Profile, changes: Changes, asked: Mapping[str, str], *, session_id: str, at: int
) -> Profile:
    """Returns the profile with the changes whose quotes are in the questions, which are by message id."""
    messages = list(asked)
    items: dict[Attribute, list[ProfileItem]] = {name: list(profile.of(name)) for name in ATTRIBUTES}
    for claim in changes.remove:
        if _is_quoted(claim, list(asked.values())):
            kept = items[claim.attribute]
            items[claim.attribute] = [item for item in kept if key(item.text) != key(claim.text)]
    for claim in changes.add:
        text = " ".join(claim.text.split())
        known = {key(item.text) for item in items[claim.attribute]}
        if not _is_quoted(claim, list(asked.values())) or key(text) in known or not _is_keepable(text):
            continue
        item = ProfileItem(text=text, at=at, message_id=messages[claim.question - 1], session_id=session_id)
        items[claim.attribute] = _with(items[claim.attribute], item)
    return replace(profile, items={name: each for name, each in items.items() if each})


def _with(items: list[ProfileItem], item: ProfileItem) -> list[ProfileItem]:
    """Returns at most eight items: the oldest that a model has added makes room, never one of the owner."""
    if len(items) < MOST_ITEMS:
        return [*items, item]
    oldest = next((at for at, each in enumerate(items) if each.message_id is not None), None)
    return items if oldest is None else [*items[:oldest], *items[oldest + 1 :], item]


def _is_keepable(text: str) -> bool:
    """True if neither guard speaks against a text. Without a person, a warning is a refusal."""
    return len(text) <= LONGEST_ITEM and not holds_secret(text) and instruction_warning(text) is None


def _is_quoted(claim: _Claim, questions: Sequence[str]) -> bool:
    if not 1 <= claim.question <= len(questions):
        return False
    quote = key(claim.quote)
    letters = sum(map(str.isalnum, quote))
    return letters >= _LEAST_QUOTED and quote in key(questions[claim.question - 1][:_LONGEST_QUESTION])


def _claims(found: JsonValue) -> Sequence[_Claim]:
    claims: list[_Claim] = []
    for each in (found if isinstance(found, list) else [])[:_MOST_CHANGES]:
        try:
            claims.append(_CLAIM.validate_python(each))
        except ValidationError:
            continue
    return claims


def _messages(profile: Profile, questions: Sequence[str]) -> list[PromptMessage]:
    known = "\n".join(f"{name}: {item.text}" for name in ATTRIBUTES for item in profile.of(name))
    asked = "\n".join(
        f"{number}. {' '.join(text[:_LONGEST_QUESTION].split())}" for number, text in enumerate(questions, 1)
    )
    request = sections([("Present profile", known or "empty"), ("New questions", asked)])
    return [PromptMessage("system", _INSTRUCTIONS), PromptMessage("user", request)]
