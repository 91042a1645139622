"""Writes the models of the client from the description of the API: `make client`.

A client outlives servers. A field that an answer lacks is null or empty, a value that an enum did not have is
a string, and a chunk of a new kind is an `OtherChunk`. Only ids, times and discriminators are required.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from datamodel_code_generator import InputFileType, LiteralType, PythonVersion, generate
from datamodel_code_generator.enums import DataModelType
from datamodel_code_generator.format import DatetimeClassType, Formatter

from app.http.description.apis import API_V1
from app.http.description.documents import route_document
from app.main import describe_api

PATH = Path(__file__).parents[2] / "kai_analyst_client" / "schema.py"

Schema = dict[str, Any]

_HEAD = "Answers and events of KAI, written by `make client`. Its OpenAPI description tells what fields mean."
_PREFIX = "#/components/schemas/"
_NAMES = {
    "AnswerBody": "RunAnswer",
    "AttributeBody": "ProfileAttribute",
    "ConditionBody": "ScheduleCondition",
    "ConfirmationBody": "WaitingCall",
    "ConnectionBody": "Database",
    "CountsBody": "CommentCounts",
    "FileBody": "UploadedFile",
    "KnowledgeImported": "KnowledgeImport",
    "Link": "ResourceLink",
    "ModelBody": "LanguageModel",
    "NoticesPage": "Notices",
    "OverviewBody": "DatabaseOverview",
    "PageOf_MessageBody_": "Messages",
    "ResultCheck": "Check",
    "SessionWithHistory": "SessionWithMessages",
    "TableBody": "DatabaseTable",
    "TargetBody": "ScheduleTarget",
}
"""The client's names of schemas, where they are not the schema's without `Body`."""
_BASES = {
    "RunAnswer": "Message",
    "BoardWithPins": "Board",
    "KeptFact": "Fact",
    "ListedSession": "Session",
    "NewApiKey": "ApiKey",
    "SessionWithMessages": "Session",
    "TriedTarget": "ScheduleTarget",
    "UsedToday": "Used",
}
"""Models that may be passed where another one is expected, which has their first fields."""
_SETTING_OF_JSON = """\
    model_config = ConfigDict(
        arbitrary_types_allowed=True,
    )
"""
_ANY: Schema = {"customTypePath": "pydantic.JsonValue"}
_EMPTY: dict[str, Schema] = {
    "null": {"default": None},
    "string": {"default": ""},
    "integer": {"default": 0},
    "number": {"default": 0},
    "boolean": {"default": False},
    "array": {"default_factory": "list"},
    "object": {"default_factory": "dict"},
}
_OTHER_CHUNK: Schema = {
    "type": "object",
    "description": "A chunk of a kind that this client does not know.",
    "required": ["event", "type"],
    "properties": {
        "event": {"const": "chunk"},
        "type": {"type": "string"},
        "content": {**_ANY, "default": None},
    },
}


def client_schema() -> str:
    """Returns the text of `kai_analyst_client/schema.py`."""
    api = route_document(describe_api(), API_V1)
    models = _models(api)
    events = [_name_of(each) for each in _references(api["components"]["schemas"]["RunEvent"])]
    written = generate(
        json.dumps({"openapi": "3.1.0", "info": {}, "paths": {}, "components": {"schemas": models}}),
        input_file_type=InputFileType.OpenAPI,
        output_model_type=DataModelType.PydanticV2BaseModel,
        base_class="kai_analyst_client.flows.Model",
        custom_file_header=f'"""{_HEAD}"""',
        target_python_version=PythonVersion.PY_311,
        enum_field_as_literal=LiteralType.All,
        use_schema_description=True,
        use_union_operator=True,
        use_standard_collections=True,
        use_single_line_docstring=True,
        strict_nullable=True,
        output_datetime_class=DatetimeClassType.Datetime,
        formatters=[Formatter.BUILTIN],
    )
    union = f"Event = {' | '.join([*events, 'OtherChunk'])}"
    return _tidied(f"{written}\n\n{union}\n")


def _tidied(text: str) -> str:
    """Returns generated code as it is written here. A part that an answer lacks has empty fields."""
    text = text.replace(_SETTING_OF_JSON, "")
    text = re.sub(r"(\w+) = Field\({}, validate_default=True\)", r"\1 = Field(default_factory=\1)", text)
    for command in (("check", "--fix-only", "--select", "I,F401"), ("format",)):
        ruff = [sys.executable, "-m", "ruff", *command, "--quiet", "--stdin-filename", str(PATH), "-"]
        text = subprocess.run(ruff, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout
    return text


def _models(api: Schema) -> dict[str, Schema]:
    """Returns the schemas of what successful answers hold, at any depth, as the client reads them."""
    schemas = api["components"]["schemas"]
    waiting = [
        name
        for path, methods in api["paths"].items()
        if path.startswith("/api/v1/")
        for operation in methods.values()
        for status, answer in operation["responses"].items()
        if status.startswith("2")
        for name in _references(answer)
    ]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in seen and name != "ProblemBody":
            seen.add(name)
            waiting += _references(schemas[name])
    found = {name: schemas[name] for name in seen if "properties" in schemas[name]}
    pages = {name for name in found if name.startswith("PageOf_")} | {"ModelPage"}
    kept = {name: found[name] for name in sorted(found) if name not in pages or name in _NAMES}
    named = {_name_of(name): name for name in kept}
    if len(named) < len(kept):
        raise ValueError(f"two models have a name: {set(kept) - set(named.values())}")
    models = {name: _model(schemas[schema], schemas) for name, schema in named.items()}
    return {**{name: _derived(name, models) for name in models}, "OtherChunk": _OTHER_CHUNK}


def _references(part: object) -> Iterator[str]:
    """Yields the names of the schemas that a part of the description refers to, in order."""
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"].removeprefix(_PREFIX)
        for each in part.values():
            yield from _references(each)
    elif isinstance(part, list):
        for each in part:
            yield from _references(each)


def _name_of(schema: str) -> str:
    return _NAMES.get(schema, schema.removesuffix("Body"))


def _model(schema: Schema, schemas: Mapping[str, Schema]) -> Schema:
    """Returns the model of a schema, with a default for each field that need not be there."""
    fields = {name: _field(name, each, schemas) for name, each in schema["properties"].items()}
    return {
        "type": "object",
        "description": f"{schema.get('description', 'A page of a list').partition('. ')[0].rstrip('.')}.",
        "required": [name for name, each in fields.items() if each.pop("required", False)],
        "properties": fields,
    }


def _field(name: str, schema: Schema, schemas: Mapping[str, Schema]) -> Schema:
    field = _plain(schema)
    if {"type": "null"} in field.get("anyOf", []) or field == _ANY:
        return {**field, "default": None}
    if "$ref" in schema:
        is_required = bool(_model(schemas[next(_references(schema))], schemas)["required"])
        return {**field, "required": True} if is_required else {**field, "default": {}}
    if "const" in schema or name == "id" or name.endswith("_id") or schema.get("format") == "date-time":
        return {**field, "required": True}
    return {**field, **_EMPTY[schema["type"]]}


def _plain(schema: Schema) -> Schema:
    """Returns the types of a schema, without limits and texts. What the server has checked is not checked."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(_PREFIX)
        return _ANY if name == "JsonValue" else {"$ref": f"{_PREFIX}{_name_of(name)}"}
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return {"anyOf": [_plain(each) for each in schema[several]]}
    if "const" in schema:
        return {"const": schema["const"]}
    if "enum" in schema:
        return {"anyOf": [{"enum": schema["enum"]}, {"type": "string"}]}
    match schema.get("type"):
        case None:
            return _ANY
        case "array":
            return {"type": "array", "items": _plain(schema.get("items", {}))}
        case "object":
            more = schema.get("additionalProperties")
            return {"type": "object", "additionalProperties": _plain(more if isinstance(more, dict) else {})}
        case kind:
            return {"type": kind, **({"format": "date-time"} if schema.get("format") == "date-time" else {})}


def _derived(name: str, models: Mapping[str, Schema]) -> Schema:
    """Returns a model, as one that extends its base if it has one."""
    model = models[name]
    if name not in _BASES:
        return model
    base = models[_BASES[name]]["properties"]
    own = {field: each for field, each in model["properties"].items() if field not in base}
    required = [field for field in model["required"] if field in own]
    extended = {**model, "properties": own, "required": required}
    return {"description": model["description"], "allOf": [{"$ref": f"{_PREFIX}{_BASES[name]}"}, extended]}


if __name__ == "__main__":
    PATH.write_text(client_schema())
