"""What follows from the policies of a connection for one person: a rule for each table.

A further policy only adds rows and only tightens columns, but for `always` ones, which narrow rows.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.modules.policies.conditions import attributes_in
from app.modules.policies.model import AccessPolicy, Attribute, Mask, Policies, TablePolicy

_RANKS: Mapping[Mask, int] = {
    "clear": 0,
    "year": 1,
    "last4": 1,
    "hash": 1,
    "fixed": 2,
    "null": 3,
    "hidden": 4,
}


@dataclass(frozen=True)
class Person:
    """A person as policies know them. What they lack, or have as null, is in no attribute."""

    owner: str
    attributes: Mapping[str, Attribute] = field(default_factory=dict)

    @property
    def known(self) -> Mapping[str, Attribute]:
        """The attributes, `owner` among them."""
        return {**self.attributes, "owner": self.owner}


@dataclass(kw_only=True)
class TableRule:
    """What a person may see of a table.

    `any_of` None: no policy speaks of rows. Otherwise a row meets all conditions of one of its lists; an
    empty list is met by every row. A row meets `all_of` in any case; `is_denied`: none does.
    """

    is_hidden: bool = False
    any_of: list[Sequence[str]] | None = None
    all_of: list[str] = field(default_factory=list)
    is_denied: bool = False
    masks: dict[str, Mask] = field(default_factory=dict)
    row_policies: list[str] = field(default_factory=list)
    """Names of the policies that speak of rows."""
    column_policies: list[str] = field(default_factory=list)
    """Names of the policies that speak of columns."""

    @property
    def limits_rows(self) -> bool:
        return self.is_denied or bool(self.all_of) or (self.any_of is not None and [] not in self.any_of)

    @property
    def masked(self) -> Mapping[str, Mask]:
        """The columns that are not shown as they are."""
        return {name: mask for name, mask in self.masks.items() if mask != "clear"}

    def hide_columns(self, names: Sequence[str]) -> None:
        self.masks.update(dict.fromkeys(names, "hidden"))


@dataclass(frozen=True, kw_only=True)
class Rights:
    """The rules of one person, by the names of tables. `fingerprint`: the same for the same rights."""

    person: Person
    default: str
    rules: Mapping[str, TableRule]
    hidden_schemas: frozenset[str]
    trusted_views: frozenset[str]
    fingerprint: str

    def is_hidden(self, table: str, schema: str) -> bool:
        """True if the table is unknown to the person."""
        rule = self.rules.get(table)
        if schema in self.hidden_schemas or (rule is not None and rule.is_hidden):
            return True
        return self.default == "deny" and rule is None

    def resolve_names(self, meanings: Callable[[str], Sequence[str]]) -> "Rights":
        """Returns the same rights by the present names of tables; `meanings` gives those a name may mean.

        Tables that a name does not tell apart any more are hidden, and no view is trusted by such a name.
        """
        rules: dict[str, TableRule] = {}
        for name, rule in self.rules.items():
            found = meanings(name)
            for shown in found:
                is_clear = len(found) == 1 and shown not in rules
                rules[shown] = rule if is_clear else TableRule(is_hidden=True)
        views = map(meanings, self.trusted_views)
        trusted = frozenset(found[0] for found in views if len(found) == 1)
        return replace(self, rules=rules, trusted_views=trusted)


def rights_of(policies: Policies, person: Person) -> Rights:
    """Returns what the person may see."""
    rules: dict[str, TableRule] = {}
    hidden_schemas: set[str] = set()
    for policy, is_certain in _policies_of(policies, person):
        hidden_schemas.update(policy.hidden_schemas)
        for table, says in policy.tables.items():
            _add(
                rules.setdefault(table, TableRule()), policy, says, known=person.known, is_certain=is_certain
            )
    if policies.default == "deny":
        for rule in rules.values():  # a policy that says nothing of rows opens none
            rule.any_of = rule.any_of or []
    return Rights(
        person=person,
        default=policies.default,
        rules=rules,
        hidden_schemas=frozenset(hidden_schemas),
        trusted_views=frozenset(policies.trusted_views),
        fingerprint=fingerprint_of(policies, person),
    )


def fingerprint_of(policies: Policies, person: Person) -> str:
    """Returns the fingerprint of the rights of a person, as `Rights` have it."""
    parts = [policies.model_dump(mode="json"), person.known]
    text = json.dumps(parts, sort_keys=True, default=list)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def stricter(one: Mask, other: Mask) -> Mask:
    """The stricter of two masks; null for two that cannot be compared."""
    if one == other:
        return one
    if _RANKS[one] == _RANKS[other]:
        return "null"
    return max(one, other, key=_RANKS.__getitem__)


def _policies_of(policies: Policies, person: Person) -> Iterator[tuple[AccessPolicy, bool]]:
    """Yields the policies whose subject is the person, and False for one that may be: the person lacks an
    attribute that it names.
    """
    known = person.known
    for policy in policies.policies:
        if policy.roles and not _has_one(known.get("roles"), policy.roles):
            continue
        if policy.groups and not _has_one(known.get("groups"), policy.groups):
            continue
        lacks = any(name not in known for name in policy.when)
        if not lacks and not all(_has_one(known[name], [value]) for name, value in policy.when.items()):
            continue
        yield policy, not lacks


def _has_one(value: Attribute | None, wanted: Sequence[object]) -> bool:
    if value is None:
        return False
    held = [value] if isinstance(value, str | int | float | bool) else value
    return any(type(each) is type(other) and each == other for each in held for other in wanted)


def _add(
    rule: TableRule,
    policy: AccessPolicy,
    says: TablePolicy,
    *,
    known: Mapping[str, Attribute],
    is_certain: bool,
) -> None:
    rule.is_hidden = rule.is_hidden or says.hidden
    for column, mask in says.columns.items():
        rule.masks[column] = stricter(rule.masks.get(column, "clear"), mask)
    if says.columns:
        rule.column_policies.append(policy.name)
    if says.rows is None:
        return  # neither opens rows nor closes them
    rule.row_policies.append(policy.name)
    conditions = [] if says.rows == "all" else says.rows
    lacks = not is_certain or any(name not in known for each in conditions for name in attributes_in(each))
    if policy.always:
        rule.is_denied = rule.is_denied or lacks
        rule.all_of += [] if lacks else conditions
        return
    rule.any_of = rule.any_of or []
    if not lacks:
        rule.any_of.append(conditions)
