"""Bodies of the profile's routes."""

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from app.http.routes import Body, ResponseBody, Text, Time, VersionedBody
from app.modules.memory.profile import LONGEST_ITEM, MOST_ITEMS, Attribute, Profile, ProfileItem

ItemText = Annotated[Text, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_ITEM)]


class ConsentChange(Body):
    """Gives or withdraws the consent to a profile."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"consent": True}]})

    consent: bool
    """True: KAI may keep a profile and use it in answers. False: what is kept is not used."""


class AttributeChange(Body):
    """Either `items`, in place of those that are kept, or those to `add` and to `remove`."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"add": ["Months as 2026-03"]}, {"items": ["Months as 2026-03", "Short answers"]}]
        }
    )

    items: Annotated[Sequence[ItemText] | None, Field(max_length=MOST_ITEMS)] = None
    """All items, at most eight."""
    add: Annotated[Sequence[ItemText], Field(max_length=MOST_ITEMS)] = ()
    """Items to add. What others have added at the same moment stays."""
    remove: Annotated[Sequence[Text], Field(max_length=MOST_ITEMS)] = ()
    """Texts of items to forget. Unknown ones are ignored."""
    confirm: bool = False
    """Keep them also if a guard has warned of one."""

    @model_validator(mode="after")
    def _check_way(self) -> Self:
        if (self.items is None) != bool(self.add or self.remove):
            raise ValueError("give either `items`, or `add` and `remove`")
        return self


class ProfileItemBody(ResponseBody):
    """A sentence about the user."""

    text: str
    """The sentence, at most 160 characters."""
    message_id: str | None
    """Id of the answer to the question that it was read from. Null if the user has written it."""
    session_id: str | None
    """Session of that question. Null if the user has written it."""
    at: Time
    """Time at which it was added."""

    @classmethod
    def list_of(cls, items: Sequence[ProfileItem]) -> list["ProfileItemBody"]:
        return [cls.model_validate(vars(item)) for item in items]


class AttributesBody(ResponseBody):
    """The nine attributes of a profile, each with at most eight items."""

    output_preferences: Sequence[ProfileItemBody]
    """How answers should look."""
    personal_preferences: Sequence[ProfileItemBody]
    """How the user wants to be addressed, and in what tone."""
    assistant_preferences: Sequence[ProfileItemBody]
    """What the assistant should be like."""
    knowledge: Sequence[ProfileItemBody]
    """What the user knows well."""
    interests: Sequence[ProfileItemBody]
    """What the user likes or wants to learn about."""
    dislikes: Sequence[ProfileItemBody]
    """What the user does not want."""
    family_and_friends: Sequence[ProfileItemBody]
    """People close to the user."""
    work_profile: Sequence[ProfileItemBody]
    """The user's profession, team and tasks."""
    goals: Sequence[ProfileItemBody]
    """What the user wants to reach."""

    @classmethod
    def of(cls, profile: Profile) -> "AttributesBody":
        return cls(
            output_preferences=ProfileItemBody.list_of(profile.of("output_preferences")),
            personal_preferences=ProfileItemBody.list_of(profile.of("personal_preferences")),
            assistant_preferences=ProfileItemBody.list_of(profile.of("assistant_preferences")),
            knowledge=ProfileItemBody.list_of(profile.of("knowledge")),
            interests=ProfileItemBody.list_of(profile.of("interests")),
            dislikes=ProfileItemBody.list_of(profile.of("dislikes")),
            family_and_friends=ProfileItemBody.list_of(profile.of("family_and_friends")),
            work_profile=ProfileItemBody.list_of(profile.of("work_profile")),
            goals=ProfileItemBody.list_of(profile.of("goals")),
        )


class ProfileBody(VersionedBody):
    """What KAI knows of a user."""

    enabled: bool
    """True if this KAI keeps profiles (`KAI_MEMORY__PROFILE`)."""
    consented_at: Time | None
    """Time of the user's consent. Null without it: then nothing is added, and nothing is used."""
    attributes: AttributesBody
    """The attributes with their items."""


class AttributeBody(VersionedBody):
    """An attribute of a profile."""

    attribute: Attribute
    """Name of the attribute."""
    items: Sequence[ProfileItemBody]
    """Its items, at most eight."""
