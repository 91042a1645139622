"""Routes of the policies of a connection."""

from typing import Annotated, Literal

from fastapi import Depends, Request
from pydantic import BeforeValidator, ConfigDict, Field, JsonValue

from app.http.callers import MANAGE, Owner
from app.http.router import Router
from app.http.routes import Body, ResponseBody, Text, VersionedBody
from app.modules.database_connection.connection_policies import ConnectionPolicies
from app.modules.database_connection.model import Connection
from app.modules.database_connection.router import ConnectionId
from app.modules.policies.files import read_policy_file, write_policies
from app.modules.policies.model import Attribute, Name, Policies, read_policies
from app.modules.policies.rights import Person

router = Router(
    prefix="/database-connections/{db_connection_id}/policies",
    tags=["database connections"],
)


class PoliciesBody(VersionedBody):
    """The policies of a connection. `version` is that of the connection."""

    policies: dict[str, JsonValue] | None
    """The policies, as PATCH takes them. Null if everyone sees what the database's account sees."""
    text: str
    """The same as YAML, as `kai policies pull` writes it."""


_EXAMPLE: JsonValue = {
    "default": "allow",
    "policies": [{"name": "own region", "tables": {"orders": {"rows": ["region = {{ user.region }}"]}}}],
}


def _read_text(given: object) -> object:
    """Returns the policies of a text. Raises `PolicyFileFault`."""
    return read_policy_file(given).policies if isinstance(given, str) else given


class PoliciesChange(Body):
    """Policies to put in the place of those that hold."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"policies": _EXAMPLE}]})

    policies: Annotated[
        Policies | None, BeforeValidator(_read_text, json_schema_input_type=Policies | str | None)
    ]
    """The policies, or a text with them as YAML. Null ends them: everyone then sees what the database's
    account sees.
    """


class PolicyFaultBody(ResponseBody):
    """A fault of policies."""

    kind: Literal["error", "warning"]
    """`error` if policies with it are refused, `warning` if their writer may not have meant it."""
    place: str
    """Policy, table and part."""
    detail: str
    """What is wrong, and the cure."""


class PolicyFaultsBody(ResponseBody):
    """The faults of policies."""

    items: list[PolicyFaultBody]
    """The faults. Empty for policies without any."""


class PolicyTest(Body):
    """A statement to see as it would run for a person."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"sql": "SELECT * FROM orders", "owner": "anna", "attributes": {"region": "EMEA"}}]
        }
    )

    sql: Text
    """The statement."""
    owner: Name
    """The person, as their credential names them."""
    attributes: Annotated[dict[Name, Attribute], Field(default_factory=dict)]
    """Their attributes."""
    policies: Policies | None = None
    """Policies to try. Null for those that hold."""


class LimitedStatementBody(ResponseBody):
    """A statement as it would run for a person."""

    sql: str
    """The statement, limited to what the person may see. It has not run."""
    row_policies: list[str]
    """Names of the policies that limit its rows."""
    column_policies: list[str]
    """Names of the policies that change its columns."""
    has_barrier: bool
    """A condition of the statement can fail, so that it runs only on rows that the person may see."""


async def _service(request: Request) -> ConnectionPolicies:
    service: ConnectionPolicies = request.app.state.services.connection_policies
    return service


Service = Annotated[ConnectionPolicies, Depends(_service)]


def _body(connection: Connection) -> PoliciesBody:
    policies = None if connection.policies is None else read_policies(connection.policies)
    written = None if policies is None else policies.model_dump(mode="json", exclude_defaults=True)
    return PoliciesBody(version=connection.version, policies=written, text=write_policies(policies))


@router.get("", summary="Get the policies of a connection", dependencies=[MANAGE])
async def read_policies_of(db_connection_id: ConnectionId, owner: Owner, service: Service) -> PoliciesBody:
    """Returns which rows and columns people may see. Needs scope `manage`; owner only (else 403)."""
    connection = await service.read(owner, db_connection_id)
    return _body(connection)


@router.patch("", summary="Change the policies of a connection", dependencies=[MANAGE])
async def change_policies(
    db_connection_id: ConnectionId, body: PoliciesChange, owner: Owner, service: Service
) -> PoliciesBody:
    """Puts policies in the place of those that hold, from the next statement on. Needs scope `manage`; owner
    only (else 403).

    They hold for everyone who asks the database, its owner among them. Pins, schedules and overviews run with
    the rights of their owner. Links and shared facts refuse the database. Answers 422
    (`policies-not-valid`) with the places of errors.
    """
    connection = await service.change(owner, db_connection_id, body.policies)
    return _body(connection)


@router.post("/check", summary="Check policies", dependencies=[MANAGE])
async def check_policies(
    db_connection_id: ConnectionId, body: Policies, owner: Owner, service: Service
) -> PolicyFaultsBody:
    """Looks for unknown names, conditions that cannot be read, masks that do not fit, attributes that no
    claim and no API key gives, foreign keys masked on one side, and tables that no policy names where the
    default is deny. Nothing is stored. Needs scope `manage`; owner only (else 403).
    """
    found = await service.check(owner, db_connection_id, body)
    return PolicyFaultsBody(items=[PolicyFaultBody.model_validate(each) for each in found])


@router.post("/test", summary="See a statement as it would run for a person", dependencies=[MANAGE])
async def test_policies(
    db_connection_id: ConnectionId, body: PolicyTest, owner: Owner, service: Service
) -> LimitedStatementBody:
    """Limits a statement to what a person may see and returns it without running it; the key of hashes is
    left out. Needs scope `manage`; owner only (else 403).

    Answers 422 (`statement-failed`) for a statement that would be refused.
    """
    person = Person(body.owner, body.attributes)
    limited = await service.test(owner, db_connection_id, person, sql=body.sql, policies=body.policies)
    return LimitedStatementBody.model_validate(limited)
