"""Policies that contradict each other for a person of both are warned of."""

from collections.abc import Mapping

import pytest

from app.modules.policies.catalog import DatabaseRelation, RelationCatalog, RelationColumn
from app.modules.policies.checking import find_faults
from app.modules.policies.model import Policies
from app.modules.sql.table_names import TableName

COLUMNS = [
    RelationColumn(name=name, kind="text", database_type="text", is_key=False) for name in ("region", "phone")
]
CATALOG = RelationCatalog(
    "postgres",
    [
        DatabaseRelation(
            shown="t", name=TableName("", "public", "t"), columns=COLUMNS, is_view=False, definition=""
        )
    ],
    "",
)
BY_REGION = {"rows": ["region = {{ user.region }}"]}


def warnings(*policies: Mapping[str, object]) -> list[str]:
    named = [{"name": f"p{at}", **each} for at, each in enumerate(policies)]
    found = find_faults(Policies.model_validate({"default": "allow", "policies": named}), CATALOG)
    assert all(each.kind == "warning" for each in found)
    return [f"{each.place}: {each.detail}" for each in found]


def of_table(table: Mapping[str, object], **policy: object) -> Mapping[str, object]:
    return {"tables": {"t": table}, **policy}


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        (of_table({"hidden": True}), of_table(BY_REGION, roles=["seller"]), "hides the table"),
        (of_table({"rows": "all"}), of_table(BY_REGION, roles=["seller"]), "shows all rows"),
        (
            of_table({"rows": "all"}, roles=["seller", "boss"]),
            of_table(BY_REGION, roles=["seller"], when={"office": "Oslo"}),
            "shows all rows",
        ),
        (
            of_table({"columns": {"phone": "hash"}}, roles=["a"]),
            of_table({"columns": {"phone": "last4"}}, groups=["b"]),
            "of the column 'phone' give null",
        ),
        (
            of_table({"columns": {"phone": "fixed"}}),
            of_table({"columns": {"phone": "clear"}}, roles=["boss"]),
            "masks the column 'phone'",
        ),
    ],
)
def test_what_one_policy_takes_back_of_another_is_said(
    one: Mapping[str, object], other: Mapping[str, object], said: str
) -> None:
    for pair in ((one, other), (other, one)):
        (found,) = warnings(*pair)
        assert said in found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (of_table({"hidden": True}, roles=["guest"]), of_table(BY_REGION, roles=["seller"])),
        (of_table({"rows": "all"}, roles=["boss"]), of_table(BY_REGION)),
        (of_table({"rows": "all"}), of_table(BY_REGION, always=True)),
        (of_table(BY_REGION, roles=["a"]), of_table(BY_REGION, roles=["b"])),
        (of_table({"columns": {"phone": "fixed"}}), of_table({"columns": {"phone": "hidden"}})),
        (of_table({"hidden": True}), of_table({"hidden": True}, roles=["a"])),
    ],
)
def test_policies_that_add_up_are_not_warned_of(
    one: Mapping[str, object], other: Mapping[str, object]
) -> None:
    assert warnings(one, other) == []


def test_overlaps_of_very_many_policies_are_named_in_part() -> None:
    masks = ("hash", "last4")
    many = [of_table({"columns": {"region": mask, "phone": mask}}) for _ in range(100) for mask in masks]
    assert len(warnings(*many)) == 200
