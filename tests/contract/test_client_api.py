"""The typed client is held to KAI's OpenAPI description: every field, parameter and route, both ways."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import signature
from typing import Any, cast

import jsonschema
import pytest
from pydantic import BaseModel, JsonValue

from app.bootstrap.application import describe_api
from app.core.errors import Problem, problem_type
from graph.errors import TurnError
from kai_analyst_client import Answer, errors, events, models, provenance, routes
from kai_analyst_client.flows import Endpoint, Flow, Request

API = "/api/v1"
DESCRIPTION: dict[str, Any] = json.loads(json.dumps(describe_api().openapi()))
SCHEMAS: dict[str, Any] = DESCRIPTION["components"]["schemas"]
OPERATIONS: dict[tuple[str, str], dict[str, Any]] = {
    (method.upper(), path.removeprefix(API)): operation
    for path, methods in DESCRIPTION["paths"].items()
    if path.startswith(API)
    for method, operation in methods.items()
}

MODELS: dict[str, type[BaseModel]] = {
    "Action": models.Action,
    "ActionChunk": events.ActionChunk,
    "AgentModelBody": models.AgentModel,
    "AnalysisFormBody": models.AnalysisForm,
    "AnswerVersion": models.AnswerVersion,
    "AnalysisChunk": events.AnalysisChunk,
    "ApiKeyBody": models.ApiKey,
    "ApprovedToolBody": models.ApprovedTool,
    "AskedQuestion": models.AskedQuestion,
    "AttributeBody": models.ProfileAttribute,
    "AttributesBody": models.Attributes,
    "BoardBody": models.Board,
    "BoardWithPins": models.BoardWithPins,
    "CapabilitiesBody": models.Capabilities,
    "CapabilityBody": models.Capability,
    "ChartChunk": events.ChartChunk,
    "ChartOption": models.ChartOption,
    "CheckedDatabaseBody": models.CheckedDatabase,
    "CheckpointBody": models.Checkpoint,
    "ClarificationChunk": events.ClarificationChunk,
    "Code": models.Code,
    "CodeChunk": events.CodeChunk,
    "Column": models.Column,
    "ColumnRef": provenance.ColumnRef,
    "ComputedChart": models.ComputedChart,
    "Confirmation": events.Confirmation,
    "ConditionBody": models.ScheduleCondition,
    "ConfirmationBody": models.WaitingCall,
    "ConfirmationDecided": events.ConfirmationDecided,
    "ConnectionBody": models.Database,
    "ConsentBody": models.Consent,
    "ContextChunk": events.ContextChunk,
    "DecisionBody": models.Decision,
    "Done": events.Done,
    "ExampleBody": models.Example,
    "ExtensionBody": models.Extension,
    "FactBody": models.Fact,
    "FactSourceBody": models.FactSource,
    "Failure": events.Failure,
    "FeedbackBody": models.Feedback,
    "FileBody": models.UploadedFile,
    "Filter": provenance.Filter,
    "FactCell": models.FactCell,
    "Finding": models.Finding,
    "FindingsChunk": events.FindingsChunk,
    "HeadlineChunk": events.HeadlineChunk,
    "LeftOutChunk": events.LeftOutChunk,
    "Reference": models.Reference,
    "ReferencesChunk": events.ReferencesChunk,
    "ForeignKey": models.ForeignKey,
    "ForgottenBody": models.Forgotten,
    "FoundQuestion": models.FoundQuestion,
    "GeneratedSqlBody": models.GeneratedSql,
    "GivenFeedback": models.GivenFeedback,
    "GraphMemoryBody": models.GraphMemory,
    "GraphTestBody": models.GraphTest,
    "GraphTestStepBody": models.GraphTestStep,
    "Grouping": provenance.Grouping,
    "ImportedFacts": models.ImportedFacts,
    "InspectedStatementBody": provenance.InspectedStatement,
    "InstructionBody": models.Instruction,
    "Investigated": models.Investigated,
    "Join": provenance.Join,
    "KeptFact": models.KeptFact,
    "KnowledgeBody": provenance.Knowledge,
    "KnownExampleBody": provenance.KnownExample,
    "KnownFactBody": provenance.KnownFact,
    "KnownInstructionBody": provenance.KnownInstruction,
    "KnownTermBody": provenance.KnownTerm,
    "ListedSession": models.ListedSession,
    "McpServerBody": models.McpServer,
    "McpServerList": models.McpServerList,
    "McpToolBody": models.McpTool,
    "MeBody": models.Me,
    "Memory": events.Memory,
    "Link": models.ResourceLink,
    "LinkBody": models.Link,
    "MemoryExport": models.MemoryExport,
    "LastRunBody": models.LastRun,
    "LinkChunk": events.LinkChunk,
    "MessageBody": models.Message,
    "ModelBody": models.LanguageModel,
    "NamedFact": events.NamedFact,
    "NewApiKeyBody": models.NewApiKey,
    "NoticeBody": models.Notice,
    "NoticeFailureBody": models.NoticeFailure,
    "NoticesPage": models.Notices,
    "NotConfirmedBody": models.NotConfirmed,
    "NotImported": models.NotImported,
    "NullRule": provenance.NullRule,
    "Option": models.Option,
    "Ordering": provenance.Ordering,
    "OutputColumn": provenance.OutputColumn,
    "PageOf_MessageBody_": models.Messages,
    "PinBody": models.Pin,
    "PinFailureBody": models.PinFailure,
    "PinPeriod": models.PinPeriod,
    "ProfileBody": models.Profile,
    "ProfileItemBody": models.ProfileItem,
    "Progress": events.Progress,
    "ProvenanceBody": provenance.Provenance,
    "QueryDescription": provenance.QueryDescription,
    "RateBody": models.Rate,
    "Reset": events.Reset,
    "ResultCheck": provenance.Check,
    "ResultColumnBody": models.ResultColumn,
    "ResultsChunk": events.ResultsChunk,
    "Rows": models.Rows,
    "RowsPage": models.RowsPage,
    "RuleBody": models.Rule,
    "RuleScopeBody": models.RuleScope,
    "RunError": models.RunError,
    "SampleBody": models.Sample,
    "ScanBody": models.Scan,
    "ScheduleBody": models.Schedule,
    "SessionBody": models.Session,
    "SessionWithHistory": models.SessionWithMessages,
    "SnippetPart": models.SnippetPart,
    "Source": provenance.Source,
    "SqlChunk": events.SqlChunk,
    "SharedBody": models.Shared,
    "StartedDocumentation": models.StartedDocumentation,
    "Status": events.Status,
    "StepBody": models.Step,
    "SuggestionsChunk": events.SuggestionsChunk,
    "TableBody": models.DatabaseTable,
    "TableColumn": models.TableColumn,
    "TableColumnRef": provenance.TableColumnRef,
    "TableRead": provenance.TableRead,
    "TakenStep": models.TakenStep,
    "TermBody": models.Term,
    "ExampleMatch": models.ExampleMatch,
    "ExampleMatches": models.ExampleMatches,
    "ExampleRunBody": models.ExampleRun,
    "ImportedEntryBody": models.ImportedEntry,
    "KnowledgeImported": models.KnowledgeImport,
    "TextChunk": events.TextChunk,
    "ToolBody": models.Tool,
    "ToolCallBody": models.ToolCall,
    "ToolCalled": events.ToolCalled,
    "ToolList": models.ToolList,
    "ToolReturned": events.ToolReturned,
    "WindowCall": provenance.WindowCall,
    "StepCountBody": provenance.StepCount,
    "StepCountsBody": provenance.StepCounts,
    "UsageBody": models.Usage,
    "UploadedColumn": models.UploadedColumn,
    "UploadedTable": models.UploadedTable,
    "Used": models.Used,
    "UsedContext": models.UsedContext,
    "UsedToday": models.UsedToday,
    "WithdrawnBody": models.Withdrawn,
}
"""The client's model of each schema that answers hold."""
PAGES = {name for name in SCHEMAS if name.startswith("PageOf_")} | {"ModelPage"}
"""Read by `flows.pages`, which knows their two fields."""
API_NAMES = {model.__name__: name for name, model in MODELS.items()}


def shape(schema: Mapping[str, Any], names: Mapping[str, str]) -> object:
    """What a schema says of values, without titles, limits and the order of alternatives."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return ("model", names.get(name, name))
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return ("any", frozenset(shape(each, names) for each in schema[several]))
    if "const" in schema:
        return ("enum", frozenset([schema["const"]]))
    if "enum" in schema:
        return ("enum", frozenset(schema["enum"]))
    kind = schema.get("type")
    if kind == "array":
        return ("array", shape(schema.get("items", {}), names))
    if kind == "object":
        more = schema.get("additionalProperties")
        return ("object", shape(more if isinstance(more, dict) else {}, names))
    if kind is None:
        return ("model", "JsonValue")  # any value
    return (kind, schema.get("format"))


def answered_schemas() -> set[str]:
    """Names of all schemas that successful answers hold, at any depth."""
    found: set[str] = set()

    def walk(part: object) -> None:
        if isinstance(part, dict):
            reference = part.get("$ref")
            if isinstance(reference, str):
                name = reference.rpartition("/")[2]
                if name not in found:
                    found.add(name)
                    walk(SCHEMAS[name])
            for each in part.values():
                walk(each)
        elif isinstance(part, list):
            for each in part:
                walk(each)

    for operation in OPERATIONS.values():
        for status, answer in operation["responses"].items():
            if status.startswith("2"):
                walk(answer.get("content", {}))
    return found


def test_the_client_has_a_model_of_every_schema_that_an_answer_holds() -> None:
    assert set(MODELS) | PAGES | {"JsonValue"} >= answered_schemas()
    assert set(MODELS) <= answered_schemas()


@pytest.mark.parametrize("name", sorted(MODELS))
def test_a_model_has_the_fields_of_its_schema_and_no_others(name: str) -> None:
    of_client = MODELS[name].model_json_schema()["properties"]
    of_api = SCHEMAS[name]["properties"]
    assert {field: shape(each, API_NAMES) for field, each in of_client.items()} == {
        field: shape(each, {}) for field, each in of_api.items()
    }


def test_the_client_knows_every_event_by_its_name() -> None:
    union = OPERATIONS["POST", "/sessions/{session_id}/query/stream"]["responses"]["200"]
    text = json.dumps(union["content"]["text/event-stream"]["schema"])
    names = {
        SCHEMAS[name]["properties"]["event"]["const"]
        for name in MODELS
        if "event" in SCHEMAS[name]["properties"] and f'/{name}"' in text
    }
    assert names == events.EVENT_NAMES


# Requests: every flow is run up to its first request


_KNOWN: dict[str, Any] = {"id": "db", "name": "Shop"}
DATABASE = models.Database.model_construct(**_KNOWN)
ARGUMENTS: dict[str, object] = {
    "arguments": {"text": "Mine."},
    "version": 2,
    "about": ["orders.amount"],
    "add": ["Short answers"],
    "active": True,
    "also": ["db-2"],
    "answer": Answer(session_id="session", message_id="message", row_count=3),
    "apply": "auto",
    "board": "board",
    "cron": "0 8 * * 1",
    "time_zone": "Europe/Berlin",
    "paused": True,
    "condition": models.ScheduleCondition(kind="above", column="orders", value=3),
    "webhook_url": "https://hooks.example.com",
    "schedule_id": "schedule",
    "notice_id": "notice",
    "parts": [{"kind": "text", "markdown": "Revenue grew."}],
    "report_format": "html",
    "rows": 20,
    "call_hash": "0" * 64,
    "chart_choice": {"mark": "line"},
    "period_days": 90,
    "period_by": "orders.order_date",
    "chart_option": models.ChartOption(kind="moving_average", across=0, value=1, window=3),
    "number": 2,
    "checkpoint_id": "checkpoint",
    "comment": "Right",
    "confirm": True,
    "confirmation_id": "confirmation",
    "content": b"a,b\n1,2\n",
    "consent": True,
    "corrected_sql": "SELECT 1",
    "cursor": "cursor",
    "database": DATABASE,
    "days": 3,
    "dry_run": False,
    "decision": "edit",
    "columns": {"total": {"unit": "EUR"}},
    "description": "Orders",
    "endpoint": "http://127.0.0.1:8010",
    "erase": True,
    "height": 1,
    "example_id": "example",
    "external_memory": True,
    "fact_id": "fact",
    "facts": [{"text": "Churn means no order"}],
    "file_format": "csv",
    "file_name": "sales.csv",
    "fingerprint": "f" * 64,
    "instruction_id": "instruction",
    "items": ["Short answers"],
    "key_id": "key",
    "kind": "terminology",
    "limit": 10,
    "link_id": "link",
    "markdown": "- Churn",
    "meaning": "No order",
    "message_id": "message",
    "metadata": {"team": "sales"},
    "mode": "ask",
    "name": "revenue",
    "order": ["pin"],
    "owner": "ann",
    "pin_id": "pin",
    "priority": 1,
    "question": "How many orders?",
    "rating": "up",
    "reason": "Looks right",
    "remove": ["Long answers"],
    "result_id": "result",
    "role": "user",
    "roles": {"by": "owner", "names": {"ann": "north"}, "default": "south"},
    "run": True,
    "run_id": "run",
    "scope": "workspace",
    "scopes": ["read"],
    "server": "tickets",
    "session": "session",
    "shared": True,
    "sql": "SELECT 1",
    "stale_after_hours": 12,
    "statements": ["select 1"],
    "starters": ["Revenue per month"],
    "status": None,
    "supersedes": "fact-2",
    "table": "orders",
    "tables": [{"name": "sales", "columns": [{"name": "day", "type": "date"}]}],
    "term": "Churn",
    "term_id": "term",
    "text": "Net of tax",
    "thing_id": "thing",
    "text_version": 1,
    "title": "Orders",
    "tool": "search",
    "url": "sqlite:///shop.db",
    "width": 12,
    "pinned": True,
    "words": "orders",
}
SPECIAL: dict[tuple[type, str], dict[str, object]] = {
    (routes.Sessions, "change"): {"status": "idle"},
    (routes.Sessions, "list"): {"status": "idle"},
    (routes.Sessions, "confirmations"): {"status": "waiting"},
    (routes.Examples, "list"): {"status": "verified"},
    (routes.Examples, "add"): {"status": "verified"},
    (routes.Examples, "change"): {"status": "verified"},
    (routes.Facts, "list"): {"status": "active"},
    (routes.Facts, "change"): {"status": "active"},
    (routes.Links, "add"): {"kind": "board"},
    (routes.Rules, "add"): {"scope": models.RuleScope(connections=["db"])},
    (routes.Rules, "change"): {"scope": models.RuleScope(connections=["db"])},
    (routes.Memory, "attribute"): {"name": "goals"},
    (routes.Memory, "change_attribute"): {"name": "goals"},
    (routes.Memory, "delete_attribute"): {"name": "goals"},
    (routes.Memory, "test_graph"): {"mode": "basic"},
}
OPTIONS: routes.Options = {
    "on_busy": "enqueue",
    "mode": "ask",
    "tools": {"builtin": True, "mcp": True, "extensions": True},
    "sql": "SELECT 1",
    "rules": ["revenue"],
    "about": {"kind": "table", "id": "orders"},
}
GROUPS: Sequence[type] = [
    routes.Databases,
    routes.Sessions,
    routes.Boards,
    routes.Reports,
    routes.Schedules,
    routes.Notices,
    routes.Links,
    routes.Rules,
    routes.Examples,
    routes.Knowledge,
    routes.Glossary,
    routes.Instructions,
    routes.Facts,
    routes.Memory,
    routes.ApiKeys,
    routes.Server,
]


def endpoints() -> Iterator[tuple[type, str, Endpoint[..., object]]]:
    for group in GROUPS:
        for name, value in vars(group).items():
            if isinstance(value, Endpoint):
                yield group, name, value


def request_of(flow: Flow[object]) -> Request:
    """The first request of a flow."""
    request = next(flow)
    flow.close()
    return request


def arguments_of(group: type, name: str, flow: Callable[..., object]) -> dict[str, object]:
    special = SPECIAL.get((group, name), {})
    wanted = list(signature(flow).parameters)[1:]
    return {each: special.get(each, ARGUMENTS[each]) for each in wanted}


def export(*arguments: str) -> Flow[object]:
    """The rows of an answer, not of a call."""
    return cast("Endpoint[..., object]", vars(routes.Sessions)["export"]).flow(None, *arguments)


def requests() -> Iterator[Request]:
    for group, name, each in endpoints():
        flow = each.flow(None, **arguments_of(group, name, each.flow))
        yield request_of(flow)
    yield request_of(export("session", "message", "parquet"))
    for starting in (
        routes.ask_in("How many?", DATABASE, "session", options=OPTIONS),
        routes.follow_in("session", "run", 7),
    ):
        yield following_request(starting)
    yield request_of(routes.document_in(DATABASE, ["orders"], accept_estimate=True))


def following_request(starting: Flow[Any]) -> Request:
    with pytest.raises(StopIteration) as begun:
        next(starting)
    return cast("Request", begun.value.value.next_request())


def operation_of(request: Request) -> tuple[str, str]:
    """The route that a request is for."""
    parts = request.path.split("/")
    found = [
        (method, path)
        for method, path in OPERATIONS
        if method == request.method
        and len(path.split("/")) == len(parts)
        and all(
            one == other or one.startswith("{") for one, other in zip(path.split("/"), parts, strict=True)
        )
    ]
    exact = [each for each in found if "{" not in each[1]]
    assert found, f"{request.method} {request.path} is no route of KAI"
    return (exact or sorted(found, key=lambda each: each[1].count("{")))[0]


ALL_REQUESTS = list(requests())


@pytest.mark.parametrize("request_", ALL_REQUESTS, ids=lambda each: f"{each.method} {each.path}")
def test_a_request_of_the_client_is_one_that_kai_takes(request_: Request) -> None:
    operation = OPERATIONS[operation_of(request_)]
    parameters = operation.get("parameters", [])
    assert set(request_.query) <= {each["name"] for each in parameters if each["in"] == "query"}
    known_headers = {each["name"].lower() for each in parameters if each["in"] == "header"}
    assert {name.lower() for name in request_.headers} <= known_headers
    body = operation.get("requestBody")
    if body is None:
        assert not request_.body
        return
    if request_.content is not None:
        assert "application/octet-stream" in body["content"]
        return
    schema = body["content"]["application/json"]["schema"]
    jsonschema.validate(request_.body, {**schema, "components": {"schemas": SCHEMAS}})


def test_every_route_and_each_of_its_fields_can_be_sent() -> None:
    sent: dict[tuple[str, str], set[str]] = {}
    for each in ALL_REQUESTS:
        fields = each.body if isinstance(each.body, dict) else {}
        sent.setdefault(operation_of(each), set()).update(each.query, fields)
    wanted = {key: fields_of(operation) for key, operation in OPERATIONS.items()}
    # `limit` and `cursor` of lists are sent by `flows.pages`, which the routes share.
    paging = {"limit", "cursor"}
    assert {key: fields - paging for key, fields in sent.items()} == {
        key: fields - paging for key, fields in wanted.items()
    }


def fields_of(operation: Mapping[str, Any]) -> set[str]:
    names = {each["name"] for each in operation.get("parameters", []) if each["in"] == "query"}
    body = operation.get("requestBody")
    if body is not None and "application/json" in body["content"]:
        reference = body["content"]["application/json"]["schema"]["$ref"]
        names |= set(SCHEMAS[reference.rpartition("/")[2]]["properties"])
    return names


def test_every_error_of_a_single_type_is_one_of_kai() -> None:
    def all_of(base: type) -> Iterator[Any]:
        subclasses: list[type] = base.__subclasses__()
        for each in subclasses:
            yield each
            yield from all_of(each)

    bases: list[type] = [Problem, TurnError]
    known: set[str] = {problem_type(each.problem) for base in bases for each in all_of(base)}
    assert set(errors.BY_TYPE) <= known


def test_an_answer_of_a_proxy_is_an_error_too() -> None:
    error = errors.error_of_reply(502, {}, b"<html>Bad gateway</html>")
    assert isinstance(error, errors.Unavailable)
    assert error.status == 502


def test_a_problem_keeps_what_its_type_adds() -> None:
    problem: dict[str, JsonValue] = {
        "type": "urn:kai:session-busy",
        "title": "Busy",
        "status": 409,
        "detail": "Another run holds the session.",
        "active_run_id": "run-1",
    }
    error = errors.error_of_reply(409, {}, json.dumps(problem).encode())
    assert isinstance(error, errors.SessionBusy)
    assert error.members == {"active_run_id": "run-1"}
    assert str(error) == "Busy: Another run holds the session."
