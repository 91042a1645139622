"""What follows from policies for a person: the truth table of rows, and the order of masks."""

from collections.abc import Mapping

import pytest
from sqlglot import exp

from app.modules.policies.checking import RelationKey, find_uneven_keys, find_unknown_attributes
from app.modules.policies.conditions import UnreadableCondition, bound_condition
from app.modules.policies.model import Attribute, Kind, Policies
from app.modules.policies.rights import Person, Rights, rights_of, stricter

BY_REGION = {"rows": ["region = {{ user.region }}"]}
OPEN = {"rows": ["status = 'open'"]}
EMEA = Person("ann", {"region": "EMEA", "roles": ["seller"]})
UNKNOWN = Person("nil", {})


def rights(person: Person, *policies: Mapping[str, object], default: str = "allow") -> Rights:
    named = [{"name": f"p{at}", **each} for at, each in enumerate(policies)]
    return rights_of(Policies.model_validate({"default": default, "policies": named}), person)


def of_table(table: Mapping[str, object], **policy: object) -> Mapping[str, object]:
    return {"tables": {"t": table}, **policy}


def shown(found: Rights) -> str:
    """The rows of the table t as one text."""
    if found.is_hidden("t", ""):
        return "unknown"
    rule = found.rules.get("t")
    if rule is None or not rule.limits_rows:
        return "all"
    if rule.is_denied or rule.any_of == []:
        return "none"
    ways = [" AND ".join(each) for each in rule.any_of or ()]
    opened = [] if rule.any_of is None or [] in rule.any_of else [" OR ".join(ways)]
    return " AND ".join([*opened, *rule.all_of])


REGION = "region = {{ user.region }}"
TABLE = [
    (EMEA, [], "allow", "all"),
    (EMEA, [], "deny", "unknown"),
    (EMEA, [of_table({"hidden": True}), of_table({"rows": "all"})], "allow", "unknown"),
    (EMEA, [of_table({"columns": {"a": "null"}})], "allow", "all"),
    (EMEA, [of_table({"columns": {"a": "null"}})], "deny", "none"),
    (EMEA, [of_table(BY_REGION)], "allow", REGION),
    (EMEA, [of_table(BY_REGION), of_table(OPEN)], "allow", f"{REGION} OR status = 'open'"),
    (EMEA, [of_table({"rows": ["a", "b"]})], "deny", "a AND b"),
    (EMEA, [of_table(BY_REGION), of_table({"rows": "all"})], "allow", "all"),
    (EMEA, [of_table(BY_REGION), of_table(OPEN, always=True)], "allow", f"{REGION} AND status = 'open'"),
    (EMEA, [of_table({"rows": "all"}), of_table(OPEN, always=True)], "allow", "status = 'open'"),
    (EMEA, [of_table(OPEN, always=True)], "allow", "status = 'open'"),
    (EMEA, [of_table(OPEN, always=True)], "deny", "none"),
    (UNKNOWN, [of_table(BY_REGION)], "allow", "none"),
    (UNKNOWN, [of_table(BY_REGION), of_table(OPEN)], "allow", "status = 'open'"),
    (UNKNOWN, [of_table({"rows": "all"}), of_table(BY_REGION, always=True)], "allow", "none"),
    (UNKNOWN, [of_table({"rows": "all"}, when={"region": "EMEA"})], "allow", "none"),
    (EMEA, [of_table({"rows": "all"}, when={"region": "EMEA"})], "deny", "all"),
    (EMEA, [of_table({"rows": "all"}, when={"region": "APAC"})], "deny", "unknown"),
    (EMEA, [of_table(OPEN, roles=["seller"])], "allow", "status = 'open'"),
    (EMEA, [of_table(OPEN, roles=["manager"])], "allow", "all"),
    (EMEA, [of_table(OPEN, roles=["seller"], groups=["x"])], "allow", "all"),
]


def test_rows_follow_the_truth_table() -> None:
    wrong = [
        f"{policies} {default}: {found}, not {expected}"
        for person, policies, default, expected in TABLE
        if (found := shown(rights(person, *policies, default=default))) != expected
    ]
    assert not wrong, "\n".join(wrong)


def test_a_schema_is_hidden_with_its_tables() -> None:
    found = rights(EMEA, {"hidden_schemas": ["hr"]})
    assert found.is_hidden("t", "hr")
    assert not found.is_hidden("t", "sales")


def test_the_stricter_mask_wins_and_two_of_one_rank_give_null() -> None:
    order = ["clear", "year", "fixed", "null", "hidden"]
    for at, one in enumerate(order):
        for other in order[at:]:
            assert stricter(one, other) == stricter(other, one) == other  # type: ignore[arg-type]
    assert stricter("hash", "last4") == "null"
    both = rights(UNKNOWN, of_table({"columns": {"a": "hash"}}), of_table({"columns": {"a": "hidden"}}))
    assert both.rules["t"].masks == {"a": "hidden"}


def test_masks_hold_where_an_attribute_is_missing() -> None:
    found = rights(UNKNOWN, of_table({"columns": {"a": "null"}, **BY_REGION}, when={"level": 3}))
    assert found.rules["t"].masks == {"a": "null"}


def test_rights_have_one_fingerprint_and_others_another() -> None:
    policy = of_table(BY_REGION)
    first = rights(EMEA, policy).fingerprint
    assert first == rights(Person("ann", {"roles": ["seller"], "region": "EMEA"}), policy).fingerprint
    others = {
        rights(Person("bob", EMEA.attributes), policy).fingerprint,
        rights(Person("ann", {"region": "APAC"}), policy).fingerprint,
        rights(EMEA, policy, default="deny").fingerprint,
    }
    assert len(others - {first}) == 3


def test_attributes_that_nothing_gives_and_keys_masked_on_one_side_are_found() -> None:
    policies = Policies.model_validate(
        {
            "default": "allow",
            "policies": [
                {"name": "hashes", "tables": {"customers": {"columns": {"id": "hash"}}}},
                {
                    "name": "sellers",
                    "roles": ["seller"],
                    "when": {"level": 1},
                    "tables": {
                        "orders": {
                            "rows": ["a = {{ user.region }} OR c = {{ user.region }}"],
                            "columns": {"customer_id": "hash"},
                        }
                    },
                },
                {"name": "others", "groups": ["x"], "tables": {"orders": {"rows": ["b = {{ user.owner }}"]}}},
            ],
        }
    )
    places = [each.place for each in find_unknown_attributes(policies, {"owner", "roles"})]
    assert places == [
        "policy 'sellers', when",
        "policy 'sellers', table 'orders', rows[0]",
        "policy 'others', groups",
    ]
    assert find_unknown_attributes(policies, {"owner", "roles", "groups", "level", "region"}) == []
    key = RelationKey(("orders", "customer_id"), ("customers", "id"))
    (uneven,) = find_uneven_keys(policies, [key])
    assert "which is hash, while this is clear" in uneven.detail
    assert uneven.place.startswith("policy 'hashes'")
    both = policies.model_copy(update={"policies": policies.policies[1:2]})
    both.policies[0].tables["customers"] = policies.policies[0].tables["customers"]
    assert find_uneven_keys(both, [key]) == []


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "mysql", "duckdb"])
def test_attributes_are_bound_as_literals(dialect: str) -> None:
    hostile = "x' OR 1=1 -- \\' {{ user.b }}"
    bound = bound_condition("a = {{ user.a }} AND b IN {{user.b}}", {"a": hostile, "b": [1, "2"]}, dialect)
    assert [each.this for each in bound.find_all(type(bound.this.this.expression))][:1] == [hostile]
    assert "__kai" not in bound.sql(dialect)
    empty = bound_condition("b NOT IN {{ user.b }}", {"b": []}, dialect).sql(dialect)
    assert empty in {"(NOT FALSE)", "(NOT 0)"}


def test_attributes_are_compared_as_values_of_their_columns_kind() -> None:
    kinds: dict[str, Kind] = {"name": "text", "team": "integer", "open": "boolean"}

    def kind_of(column: exp.Column) -> Kind | None:
        return kinds.get(column.name.lower())

    odd = ["O'Hara", "\\' OR 1=1 -- ", "Zoë ☃ \u202e", "{{ user.b }}", "*/ ; /*", "\ud800"]
    fits: list[tuple[str, Attribute, list[str]]] = [
        ("name = {{ user.a }}", 0, ["0"]),
        ("NAME IN {{ user.a }}", [*odd, 7, 1.5], [*odd, "7", "1.5"]),
        ("team = {{ user.a }}", "-007", ["-007"]),
        ("team IN {{ user.a }}", [*map(str, range(10_000))], [*map(str, range(10_000))]),
        ("{{ user.a }} = team", 7, ["7"]),
        ("open = {{ user.a }}", "TRUE", []),
        ("id IN (SELECT team FROM x WHERE name = {{ user.a }})", 7, ["7"]),  # of another table
    ]
    for text, value, literals in fits:
        bound = bound_condition(text, {"a": value}, "mysql", kind_of=kind_of)
        found = [each.this for each in bound.find_all(exp.Literal)]
        assert sorted(found) == sorted(literals), text
    named = bound_condition("name = {{ user.a }}", {"a": 0}, "mysql", kind_of=kind_of)
    assert named.sql("mysql") == "(name = '0')"
    misfits: list[tuple[str, Attribute]] = [
        ("name = {{ user.a }}", False),
        ("name IN {{ user.a }}", ["x", True]),
        ("team = {{ user.a }}", "7x"),
        ("team = {{ user.a }}", ""),
        ("team IN {{ user.a }}", ["7", "abc"]),
        ("team = {{ user.a }}", "\u0667"),
        ("open = {{ user.a }}", "no"),
        ("name = {{ user.a }}", "x\0"),
        ("team = {{ user.a }}", float("nan")),
    ]
    for text, value in misfits:
        with pytest.raises(UnreadableCondition):
            bound_condition(text, {"a": value}, "mysql", kind_of=kind_of)


@pytest.mark.parametrize(
    "text",
    [
        "a = '{{ user.a }}'",
        "a = {{ user.b }}",
        "a = {{ user.l }}",
        "a = {{ user.missing }}",
        "a = 1) OR (1 = 1",
        "a = 1; DROP TABLE t",
        "a = {{ a }}",
        "a, b",
        "__kai_attribute_a = 1",
    ],
)
def test_a_condition_that_is_not_one_or_cannot_be_bound_is_refused(text: str) -> None:
    with pytest.raises(UnreadableCondition):
        bound_condition(text, {"a": "x", "l": ["x"], "b": None}, "postgres")  # type: ignore[dict-item]


def test_a_name_holds_for_the_table_it_was_written_for_and_hides_those_it_does_not_tell_apart() -> None:
    one = {"a.orders": ("a.orders",), "orders": ("a.orders", "b.orders"), "a.sums": ("sums",)}
    policies = Policies.model_validate(
        {
            "default": "allow",
            "policies": [{"name": "p", "tables": {"orders": BY_REGION, "a.sums": BY_REGION, "gone": OPEN}}],
            "trusted_views": ["orders", "a.sums"],
        }
    )
    found = rights_of(policies, EMEA).resolve_names(lambda name: one.get(name, ()))
    assert {name: rule.is_hidden for name, rule in found.rules.items()} == {
        "a.orders": True,
        "b.orders": True,
        "sums": False,
    }
    assert found.rules["sums"].any_of == [[REGION]]
    assert found.trusted_views == {"sums"}


def test_two_names_of_one_table_hide_it() -> None:
    found = rights(EMEA, {"tables": {"orders": {"rows": "all"}, "a.orders": BY_REGION}}, default="deny")
    assert found.resolve_names(lambda _: ["orders"]).is_hidden("orders", "a")
