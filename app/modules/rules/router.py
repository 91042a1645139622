"""Routes of rules."""

from typing import Annotated

from fastapi import Depends, Path, Query, Request, status

from app.core.cursor import cut_page
from app.core.errors import NotFound
from app.core.storage.listing import ListRequest
from app.http.callers import MANAGE, READ, CurrentCaller, Owner
from app.http.entity_tags import located
from app.http.parameters import PageQuery
from app.http.router import Router
from app.http.routes import PageOf, Text
from app.modules.rules.schemas import NewRule, RuleBody, RuleChange
from app.modules.rules.service import Rules

router = Router(prefix="/rules", tags=["rules"])

OFF = "Rules are off: they need a language model, and KAI_AGENT__ENABLED. GET /capabilities says more."


async def _rules(request: Request) -> Rules:
    """Raises `NotFound` where rules are off."""
    rules: Rules | None = request.app.state.services.rules
    if rules is None:
        raise NotFound(OFF)
    return rules


Service = Annotated[Rules, Depends(_rules)]
Name = Annotated[str, Path(description="Name of the rule, in any case.")]


class RuleListQuery(PageQuery):
    """Selects rules, and a page of them."""

    db_connection_id: Annotated[
        Text | None,
        Query(
            max_length=100,
            description="Only rules whose scope leaves room for this connection, also those of its owner. "
            "Left out: the caller's own rules and those for all connections.",
        ),
    ] = None


@router.post(
    "",
    summary="Add a rule",
    status_code=status.HTTP_201_CREATED,
    dependencies=[MANAGE, located("/rules/{name}")],
)
async def add_rule(body: NewRule, caller: CurrentCaller, rules: Service) -> RuleBody:
    """Stores a rule that models read in the system message. Needs scope `manage`.

    `scope.connections` has to name connections of the caller. Without connections the rule is for all: only
    administrators store such a rule (else 403). Answers 409 (`rule-exists`) if there is a rule of this name,
    422 (`rule-not-readable`) if its front matter is not as it should be. `warnings` name rules that it
    contradicts.
    """
    return RuleBody.of(await rules.add(caller, body.name, body.written()))


@router.get("", summary="List rules", dependencies=[READ])
async def list_rules(
    query: Annotated[RuleListQuery, Query()], owner: Owner, rules: Service
) -> PageOf[RuleBody]:
    """Lists the caller's rules, those for all connections and those of files, in order of priority. Needs
    scope `read`.

    Answers 404 where rules are off: without a model, and with `KAI_AGENT__ENABLED=false`.
    """
    every = await rules.listed(owner, query.db_connection_id)
    found = cut_page(every, ListRequest(limit=query.limit, cursor=query.cursor))
    return query.page_of([RuleBody.of(each) for each in found.items], found)


@router.get("/{name}", summary="Get a rule", dependencies=[READ])
async def read_rule(name: Name, owner: Owner, rules: Service) -> RuleBody:
    """Returns the caller's rule of this name, else that for all connections, else that of a file. Needs scope
    `read`. Any other rule is unknown (404).
    """
    return RuleBody.of(await rules.get(owner, name))


@router.patch("/{name}", summary="Change a rule, or switch it on or off", dependencies=[MANAGE])
async def change_rule(name: Name, body: RuleChange, caller: CurrentCaller, rules: Service) -> RuleBody:
    """Changes the fields that the body holds. Needs scope `manage`. A rule for all connections or of a file
    is changed by administrators only (else 403).

    Of a file's rule only `active` can be changed (else 409 `rule-of-file`).
    """
    change = body.changed(await rules.get_changeable(caller, name)) if body.changes_text else None
    return RuleBody.of(await rules.change(caller, name, change, active=body.active))


@router.delete(
    "/{name}", summary="Delete a rule", status_code=status.HTTP_204_NO_CONTENT, dependencies=[MANAGE]
)
async def delete_rule(name: Name, caller: CurrentCaller, rules: Service) -> None:
    """Deletes a stored rule. Needs scope `manage`. A rule for all connections is deleted by administrators
    only (else 403). Answers 404 if it does not exist, and 409 (`rule-of-file`) for one of a file.
    """
    await rules.delete(caller, name)
