"""`/api/v1` only grows: no client of the latest release meets a break."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.api_breaks import Schema, breaks, present, released


def test_nothing_that_was_released_is_broken() -> None:
    assert breaks(released(), present()) == []


@pytest.fixture(scope="module")
def described() -> Schema:
    return present()


def schema(described: Schema, name: str) -> Any:
    return described["components"]["schemas"][name]


def remove_route(after: Schema) -> None:
    del after["paths"]["/api/v1/boards/{board_id}"]["patch"]


def remove_answered_field(after: Schema) -> None:
    del schema(after, "BoardBody")["properties"]["title"]


def remove_sent_field(after: Schema) -> None:
    del schema(after, "NewBoard")["properties"]["stale_after_hours"]


def require_sent_field(after: Schema) -> None:
    schema(after, "NewBoard")["required"].append("stale_after_hours")


def stop_requiring_answered_field(after: Schema) -> None:
    schema(after, "BoardBody")["required"].remove("title")


def narrow_sent_type(after: Schema) -> None:
    schema(after, "NewBoard")["properties"]["stale_after_hours"]["maximum"] = 12


def change_sent_type(after: Schema) -> None:
    schema(after, "NewBoard")["properties"]["stale_after_hours"]["type"] = "string"


def answer_null(after: Schema) -> None:
    title = schema(after, "BoardBody")["properties"]["title"]
    title["anyOf"] = [{"type": title.pop("type")}, {"type": "null"}]


def require_parameter(after: Schema) -> None:
    page = after["paths"]["/api/v1/boards"]["get"]["parameters"]
    page[0]["required"] = True


def remove_enum_value(after: Schema) -> None:
    schema(after, "NewComment")["properties"]["kind"]["enum"] = ["answer"]


BREAKS: dict[Callable[[Schema], None], str] = {
    remove_route: "PATCH /api/v1/boards/{board_id}: removed",
    remove_answered_field: ".title: removed",
    remove_sent_field: "POST /api/v1/boards: body.stale_after_hours: removed",
    require_sent_field: "POST /api/v1/boards: body.stale_after_hours: now required",
    stop_requiring_answered_field: ".title: may be missing",
    narrow_sent_type: "POST /api/v1/boards: body.stale_after_hours: maximum 12",
    change_sent_type: "POST /api/v1/boards: body.stale_after_hours: no more integer",
    answer_null: ".title: may be null",
    require_parameter: "GET /api/v1/boards: needs parameter",
    remove_enum_value: "POST /api/v1/comments: body.kind: no more board",
}


@pytest.mark.parametrize("change", BREAKS, ids=lambda change: change.__name__)
def test_each_kind_of_break_is_found(described: Schema, change: Callable[[Schema], None]) -> None:
    after = copy.deepcopy(described)
    change(after)
    found = breaks(described, after)
    assert any(BREAKS[change] in line for line in found), found
    assert breaks(after, copy.deepcopy(after)) == []


def test_what_only_grows_is_no_break(described: Schema) -> None:
    after = copy.deepcopy(described)
    schema(after, "NewBoard")["properties"]["colour"] = {"type": "string"}
    schema(after, "BoardBody")["properties"]["colour"] = {"type": "string"}
    schema(after, "BoardBody")["required"].append("colour")
    after["paths"]["/api/v1/colours"] = {"get": {"responses": {"200": {}}}}
    assert breaks(described, after) == []
