"""Routes of the caller's profile."""

from typing import Annotated

from fastapi import Depends, Path, Request, status

from app.core.errors import NotFound
from app.http.callers import ASK, READ, Owner
from app.http.router import Router
from app.modules.memory.profile import ATTRIBUTES, Attribute, Profile, Profiles
from app.modules.memory.profile_schemas import (
    AttributeBody,
    AttributeChange,
    AttributesBody,
    ConsentChange,
    ProfileBody,
    ProfileItemBody,
)

router = Router(tags=["memory"])


class AttributeUnknown(NotFound):
    """A profile has no such attribute."""

    sentence = f"A profile has no such attribute. Its attributes are {', '.join(ATTRIBUTES)}."


async def _profiles(request: Request) -> Profiles:
    service: Profiles = request.app.state.services.profiles
    return service


async def _attribute(
    attribute: Annotated[str, Path(description="Name of an attribute, such as `goals`.")],
) -> Attribute:
    for known in ATTRIBUTES:
        if known == attribute:
            return known
    raise AttributeUnknown


Service = Annotated[Profiles, Depends(_profiles)]
OneAttribute = Annotated[Attribute, Depends(_attribute)]


@router.get("/memory/profile", summary="Get the profile", dependencies=[READ])
async def read_profile(owner: Owner, profiles: Service) -> ProfileBody:
    """Returns what KAI knows of the caller: nine attributes, each item with the question that it was read
    from. Needs scope `read`. Empty lists without a profile.
    """
    return _body(await profiles.find(owner), profiles)


@router.patch("/memory/profile", summary="Consent to a profile", dependencies=[ASK])
async def change_consent(body: ConsentChange, owner: Owner, profiles: Service) -> ProfileBody:
    """Gives or withdraws the caller's consent. Needs scope `ask`.

    With consent, KAI reads what the caller says of themselves from their questions, and answers in new
    sessions as they like it. Without it, what is kept is neither changed nor used. Answers 403 `profiles-off`
    if this KAI keeps no profiles.
    """
    return _body(await profiles.consent(owner, given=body.consent), profiles)


@router.delete(
    "/memory/profile",
    summary="Forget the profile",
    status_code=status.HTTP_204_NO_CONTENT,
    dependencies=[ASK],
)
async def forget_profile(owner: Owner, profiles: Service) -> None:
    """Deletes the caller's profile with their consent. Needs scope `ask`. Can be repeated."""
    await profiles.forget_all(owner)


@router.get("/memory/profile/{attribute}", summary="Get an attribute of the profile", dependencies=[READ])
async def read_attribute(attribute: OneAttribute, owner: Owner, profiles: Service) -> AttributeBody:
    """Returns the items of an attribute. Needs scope `read`. Answers 404 for an unknown attribute."""
    return _attribute_body(attribute, await profiles.find(owner))


@router.patch("/memory/profile/{attribute}", summary="Change an attribute of the profile", dependencies=[ASK])
async def change_attribute(
    attribute: OneAttribute, body: AttributeChange, owner: Owner, *, profiles: Service
) -> AttributeBody:
    """Adds and removes items of an attribute, or replaces all. Needs scope `ask`. Items with the same text
    keep their source.

    Answers 403 `profiles-off`, 409 `consent-needed`, 409 `profile-attribute-full` beyond eight, 422
    `profile-item-refused` for what looks like a credential, and 409 `profile-item-needs-confirmation` for
    what looks like an instruction: send it again with `confirm`.
    """
    if body.items is None:
        changed = await profiles.edit(
            owner, attribute, add=body.add, remove=body.remove, confirmed=body.confirm
        )
    else:
        changed = await profiles.write(owner, attribute, body.items, confirmed=body.confirm)
    return _attribute_body(attribute, changed)


@router.delete(
    "/memory/profile/{attribute}",
    summary="Forget an attribute of the profile",
    status_code=status.HTTP_204_NO_CONTENT,
    dependencies=[ASK],
)
async def forget_attribute(attribute: OneAttribute, owner: Owner, profiles: Service) -> None:
    """Deletes the items of an attribute. Needs scope `ask`. Can be repeated."""
    await profiles.forget_attribute(owner, attribute)


def _body(profile: Profile, profiles: Profiles) -> ProfileBody:
    return ProfileBody.model_validate(
        {
            "version": profile.revision,
            "enabled": profiles.enabled,
            "consented_at": profile.consented_at,
            "attributes": AttributesBody.of(profile),
        }
    )


def _attribute_body(attribute: Attribute, profile: Profile) -> AttributeBody:
    items = ProfileItemBody.list_of(profile.of(attribute))
    return AttributeBody(version=profile.revision, attribute=attribute, items=items)
