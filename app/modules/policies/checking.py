"""Faults of policies, before they hold: names that are unknown, conditions that cannot be read, masks that do
not fit.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, permutations
from typing import Literal

from app.modules.policies.catalog import DatabaseRelation, RelationCatalog
from app.modules.policies.conditions import UnreadableCondition, attributes_in, bound_condition
from app.modules.policies.limiting import qualified_condition
from app.modules.policies.masks import fits
from app.modules.policies.model import AccessPolicy, Mask, Policies, TablePolicy
from app.modules.policies.rights import stricter

_LOST = (
    "The latest scan has no table of this name. As long as policies that hold name it, tables found since "
    "are unknown to their people: write its present name, or take it out."
)
_MOOT = "nothing that holds"
_MOST_OVERLAPS = 200
"""Overlaps that are named: many policies of one table have very many."""


@dataclass(frozen=True)
class PolicyFault:
    """A sentence about a place in policies. With an `error` they are not kept."""

    kind: Literal["error", "warning"]
    place: str
    detail: str


@dataclass(frozen=True)
class RelationKey:
    """A column that refers to another: each is a table and a column."""

    own: tuple[str, str]
    other: tuple[str, str]


def find_faults(policies: Policies, catalog: RelationCatalog) -> list[PolicyFault]:
    """Returns the errors of policies, and what their writer may not have meant."""
    return [
        *(fault for policy in policies.policies for fault in _check_policy(policy, catalog)),
        *_check_views(policies, catalog),
        *islice(_check_overlaps(policies), _MOST_OVERLAPS),
        *_check_default(policies, catalog),
    ]


def find_unknown_attributes(policies: Policies, known: Collection[str]) -> list[PolicyFault]:
    """Returns the places of attributes that are not `known`: no person has them."""
    found: list[PolicyFault] = []
    for policy in policies.policies:
        named = [
            *(("roles", "roles") for _ in policy.roles[:1]),
            *(("groups", "groups") for _ in policy.groups[:1]),
            *((name, "when") for name in policy.when),
            *(
                (name, f"table {shown!r}, rows[{at}]")
                for shown, says in policy.tables.items()
                for at, text in enumerate(says.rows if isinstance(says.rows, list) else ())
                for name in dict.fromkeys(attributes_in(text))
            ),
        ]
        for name, part in named:
            if name not in known:
                detail = (
                    f"No claim and no API key gives the attribute {name!r}, so that it opens rows to no one. "
                    "Map a claim to it by KAI_AUTH__OIDC__ATTRIBUTE_CLAIMS, or make keys with it."
                )
                found.append(PolicyFault("warning", f"policy {policy.name!r}, {part}", detail))
    return found


def find_uneven_keys(policies: Policies, keys: Sequence[RelationKey]) -> list[PolicyFault]:
    """Returns the foreign keys whose two sides some people see by different masks: they do not join."""
    everyone = [each for each in policies.policies if not (each.roles or each.groups or each.when)]
    found: dict[RelationKey, PolicyFault] = {}
    for policy in policies.policies:
        masks: dict[tuple[str, str], Mask] = {}
        for each in (policy, *everyone):
            for shown, says in each.tables.items():
                for column, mask in says.columns.items():
                    place = (shown, column)
                    masks[place] = stricter(masks.get(place, "clear"), mask)
        for key in keys:
            own, other = masks.get(key.own, "clear"), masks.get(key.other, "clear")
            if own != other:
                detail = (
                    f"It refers to {'.'.join(key.other)}, which is {other}, while this is {own}: they do not "
                    "join. Give both the mask hash, or none."
                )
                place_of = f"policy {policy.name!r}, table {key.own[0]!r}, column {key.own[1]!r}"
                found.setdefault(key, PolicyFault("warning", place_of, detail))
    return list(found.values())


def _check_policy(policy: AccessPolicy, catalog: RelationCatalog) -> Iterator[PolicyFault]:
    for shown, says in policy.tables.items():
        place = f"policy {policy.name!r}, table {shown!r}"
        relation = catalog.by_shown.get(shown)
        if relation is None:
            yield PolicyFault("error", place, _LOST)
            continue
        yield from _check_columns(says, relation, place)
        yield from _check_rows(says, relation, place, catalog=catalog)
    known = {catalog.schema_of(each) for each in catalog.by_shown.values()}
    for schema in policy.hidden_schemas:
        if schema not in known:
            place = f"policy {policy.name!r}, hidden_schemas"
            yield PolicyFault("error", place, f"No table of the latest scan is in the schema {schema!r}.")


def _check_columns(says: TablePolicy, relation: DatabaseRelation, place: str) -> Iterator[PolicyFault]:
    for name, mask in says.columns.items():
        column = relation.by_name.get(name)
        if column is None:
            yield PolicyFault("error", f"{place}, column {name!r}", "The table has no such column.")
        elif not fits(mask, column.kind):
            detail = f"The mask {mask} does not fit values of the type {column.kind}. Use null or hidden."
            yield PolicyFault("error", f"{place}, column {name!r}", detail)


def _check_rows(
    says: TablePolicy, relation: DatabaseRelation, place: str, *, catalog: RelationCatalog
) -> Iterator[PolicyFault]:
    for at, text in enumerate(says.rows if isinstance(says.rows, list) else ()):
        known = dict.fromkeys(attributes_in(text), "")
        try:
            qualified_condition(catalog, relation, [bound_condition(text, known, catalog.dialect)])
        except UnreadableCondition as error:
            said = str(error)
            yield PolicyFault("error", f"{place}, rows[{at}]", f"{said[:1].upper()}{said[1:]}.")


def _check_views(policies: Policies, catalog: RelationCatalog) -> Iterator[PolicyFault]:
    for shown in policies.trusted_views:
        relation = catalog.by_shown.get(shown)
        if relation is None or not relation.is_view:
            yield PolicyFault(
                "error", f"trusted_views, {shown!r}", "The latest scan has no view of this name."
            )


def _check_overlaps(policies: Policies) -> Iterator[PolicyFault]:
    """Yields what one policy says and another takes back, for a person of both."""
    for one, other in permutations(policies.policies, 2):
        for shown in sorted(one.tables.keys() & other.tables.keys()):
            place = f"policies {one.name!r} and {other.name!r}, table {shown!r}"
            for detail in _contradictions(one, other, shown):
                yield PolicyFault("warning", place, detail)


def _contradictions(one: AccessPolicy, other: AccessPolicy, shown: str) -> Iterator[str]:
    """Yields how the first policy takes back what the second one says of a table."""
    says, taken = one.tables[shown], other.tables[shown]
    covers = _covers(one, other)
    if covers and says.hidden:
        if not taken.hidden:
            yield f"The first hides the table from all people of the second, which then says {_MOOT}."
        return
    add_up = not one.always and not other.always
    if covers and add_up and says.rows == "all" and isinstance(taken.rows, list):
        yield f"The first shows all rows to all people of the second, whose rows say {_MOOT}. Use `always`."
    for column in sorted(says.columns.keys() & taken.columns.keys()):
        masks = (says.columns[column], taken.columns[column])
        if masks[1] == "clear" != masks[0] and covers:
            yield f"The first masks the column {column!r} of all people of the second, which shows it."
        elif one.name < other.name and stricter(*masks) not in masks:
            yield f"The masks {' and '.join(masks)} of the column {column!r} give null to a person of both."


def _covers(one: AccessPolicy, other: AccessPolicy) -> bool:
    """True if the first policy holds for every person of the second."""
    return (
        _holds_for(one.roles, other.roles)
        and _holds_for(one.groups, other.groups)
        and one.when.items() <= other.when.items()
    )


def _holds_for(wanted: Sequence[str], narrower: Sequence[str]) -> bool:
    return not wanted or (bool(narrower) and set(narrower) <= set(wanted))


def _check_default(policies: Policies, catalog: RelationCatalog) -> Iterator[PolicyFault]:
    if policies.default == "allow":
        return
    named = {shown for policy in policies.policies for shown in policy.tables}
    for shown in catalog.by_shown.keys() - named:
        yield PolicyFault("warning", f"table {shown!r}", "No policy names it: it is unknown to everyone.")
