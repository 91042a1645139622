"""Settings, read once at the start: `KAI_...` variables, and the usual `OPENAI_...` ones for the model."""

import json
import os
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args
from urllib.parse import urlsplit

from cryptography.fernet import Fernet, MultiFernet
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    HttpUrl,
    IPvAnyNetwork,
    JsonValue,
    SecretStr,
    TypeAdapter,
    model_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from app.core.llm.capabilities import AnalysisFormSetting, InstructionSetting, ReplyFormatSetting, ToolSetting
from app.core.llm.context_kinds import ALL_CONTEXT, ContextKind
from app.core.llm.settings import Provider
from app.core.secrets import split_keys
from app.core.variables import PREFIX, Tuned, apply_tuning, check_names, is_of_kubernetes

DEFAULT_MODEL = "gpt-4.1-mini"

MAX_STATEMENT_CHARACTERS = 262_144
"""The highest `statement_chars`. Checking takes time in proportion to the length."""

MAX_RESULT_ROWS = 1_000_000
"""The highest `result_rows`."""

StoreKind = Literal["sqlite", "typesense"]
Seconds = Annotated[float, Field(gt=0)]
Quota = Annotated[int, Field(ge=0, le=2**53)]


def _http_url(text: str) -> str:
    TypeAdapter(HttpUrl).validate_python(text)
    return text


BaseUrl = Annotated[str, AfterValidator(_http_url)]


MAKE_A_KEY = "python3 -c 'import base64, os; print(base64.urlsafe_b64encode(os.urandom(32)).decode())'"
"""A command that prints a Fernet key with any Python."""


def _fernet_key(secret: SecretStr) -> SecretStr:
    try:
        MultiFernet([Fernet(key) for key in split_keys(secret.get_secret_value())])
    except ValueError:
        raise ValueError(
            f"it must be Fernet keys, separated by commas; create one with {MAKE_A_KEY}"
        ) from None
    return secret


def _digits(value: object) -> object:
    """A number of the environment, where it is a text."""
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def _port(value: object) -> object:
    if isinstance(value, str) and is_of_kubernetes("KAI_PORT", value):
        raise ValueError(
            "Kubernetes has set it for a Service called kai; set enableServiceLinks: false for the pod"
        )
    return value


def _home(folder: Path) -> Path:
    try:
        return folder.expanduser()
    except RuntimeError:
        raise ValueError(f"the home folder of {folder} is not known") from None


def _redis_url(secret: SecretStr) -> SecretStr:
    """Raises `ValueError` without any part of the URL: an unencoded password could stand in its host."""
    text = secret.get_secret_value()
    scheme, _, rest = text.partition("://")
    if "sentinel" in scheme or "cluster" in scheme or "," in rest.rpartition("@")[2]:
        raise ValueError("KAI speaks to one Redis: give a name or a proxy that follows the primary")
    if not text.startswith(("redis://", "rediss://", "unix://")):
        raise ValueError("it must begin with redis://, rediss:// or unix://")
    try:
        _ = urlsplit(text).port
    except ValueError:
        raise ValueError("its host and port cannot be read; is the password URL-encoded?") from None
    return secret


RedisUrl = Annotated[SecretStr, AfterValidator(_redis_url)]


def _nats_url(secret: SecretStr) -> SecretStr:
    """As for Redis, nothing of the URL is in what is raised."""
    for text in secret.get_secret_value().split(","):
        if not text.strip().startswith(("nats://", "tls://")):
            raise ValueError(
                "each server has to begin with nats:// or tls://; several are separated by commas"
            )
        try:
            host, _ = urlsplit(text.strip()).hostname, urlsplit(text.strip()).port
        except ValueError:
            host = None
        if not host:
            raise ValueError("its host and port cannot be read; is the password URL-encoded?")
    return secret


NatsUrl = Annotated[SecretStr, AfterValidator(_nats_url)]


def _host_pattern(text: str) -> str:
    if "*" in text[1:] or (text.startswith("*") and not text.startswith("*.") and text != "*"):
        raise ValueError('a * stands for any name ("*") or for what goes before a domain ("*.example.com")')
    return text


HostPattern = Annotated[str, AfterValidator(_host_pattern)]

_USUAL_PORTS = {"http": ":80", "https": ":443"}


def _origin(text: str) -> str:
    """Browsers name an origin in lower case, without a path and without the usual port of its scheme."""
    if text == "*":
        return text
    url = urlsplit(text.lower())
    origin = f"{url.scheme}://{url.netloc}"
    if not url.scheme or not url.netloc or origin != text.lower() or set("@*") & set(origin):
        raise ValueError(
            "an origin is a scheme, a host and perhaps a port, without a path: https://chat.example.com"
        )
    return origin.removesuffix(_USUAL_PORTS.get(url.scheme, ""))


def _listed(value: object) -> object:
    """A JSON list, or texts separated by commas."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        return json.loads(value)
    return [each.strip() for each in value.split(",") if each.strip()]


Origins = Annotated[tuple[Annotated[str, AfterValidator(_origin)], ...], NoDecode, BeforeValidator(_listed)]


Protocol = Literal["langgraph", "agui", "openai", "mcp"]
"""A protocol of others that KAI speaks beside its own API."""
PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)
Protocols = Annotated[tuple[Protocol, ...], NoDecode, BeforeValidator(_listed)]


def is_loopback(host: str) -> bool:
    """True if the address means only this machine. Names other than localhost count as foreign."""
    try:
        return host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class _Group(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


_NEEDED: dict[Provider, tuple[str, ...]] = {
    "azure": ("base_url", "api_key", "model"),
    "vertexai": ("project", "model"),
    "bedrock": ("model",),
    "ollama": ("model",),
}
"""Settings that a provider does not work without."""


class LlmSettings(_Group):
    """`KAI_LLM__...`: the service that models run in, and a model per task (default: `model`)."""

    provider: Provider = "openai"
    base_url: BaseUrl | None = None
    api_key: SecretStr | None = None
    api_version: str = "2024-10-21"
    """Version of Azure OpenAI's API."""
    project: str = ""
    """Project of Google Cloud, for Vertex AI."""
    region: str = ""
    """Region of Bedrock, or location of Vertex AI. Default: `AWS_REGION`, or `global` for Vertex AI."""
    model: str | None = None
    sql_model: str | None = None
    analysis_model: str | None = None
    agent_model: str | None = None
    """Model of investigations. Default: the model that writes SQL."""
    summary_model: str | None = None
    embedding_model: str | None = None
    """Embedding model. Without one there is no vector ranking of tables."""
    titles: bool = True
    """Let the summary model write titles of conversations. Otherwise the first question is the title."""
    memories: bool = True
    """Let the models write and embed the searchable memory of each conversation. Otherwise it is a digest."""
    connect_timeout_seconds: Tuned[Seconds] = 5
    first_token_timeout_seconds: Seconds = 60
    token_timeout_seconds: Tuned[Seconds] = 30
    """The longest pause between two pieces of a reply, if it is shorter than the wait for the first."""
    total_timeout_seconds: Seconds = 180
    reply_chars: Tuned[Annotated[int, Field(ge=1_000, le=4_194_304)]] = 131_072
    """The longest reply in characters, reasoning between tags included."""
    max_retries: Tuned[Annotated[int, Field(ge=0, le=10)]] = 2
    max_output_tokens: Annotated[int, Field(ge=16)] = 4_096
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    reply_format: ReplyFormatSetting = "auto"
    instruction: InstructionSetting = "auto"
    """Form of the instructions for SQL. `auto` is the form that was measured for the model, else by
    its name.
    """
    candidates: Annotated[int, Field(ge=1, le=9)] = 1
    """Statements written for a question and compared by their results. 1 writes a single statement."""
    context_tokens: Annotated[int, Field(ge=500)] | None = None
    """Tokens of schema in a prompt. Default 6,000, and 700 with the short instructions."""
    context_window: Annotated[int, Field(ge=1_024)] | None = None
    """Tokens that prompt and reply may take together. Default: what is known of the model."""
    tools: ToolSetting = "auto"
    """The way in which the model of investigations calls tools."""

    allowed_context: tuple[ContextKind, ...] = ALL_CONTEXT
    """Kinds of context that prompts may hold."""

    @property
    def shows_results(self) -> bool:
        """True if models may read what investigations show: the conversation, and what tools return."""
        needed = {"schema", "values", "rows", "history", "tool_results"}
        return needed.issubset(self.allowed_context)

    @property
    def shows_answers(self) -> bool:
        """True if models may read earlier questions with their answers, which hold values of rows."""
        return {"history", "rows", "values"}.issubset(self.allowed_context)

    @property
    def remembers_by_model(self) -> bool:
        """True if models may write and embed the memories of conversations."""
        return self.memories and self.shows_answers and "memory" in self.allowed_context

    @property
    def writer(self) -> str:
        """The model that writes SQL."""
        return self.sql_model or self.model or DEFAULT_MODEL

    @property
    def analyst(self) -> str:
        """The model that chooses the statements of an analysis."""
        return self.analysis_model or self.model or DEFAULT_MODEL

    @property
    def configured(self) -> bool:
        return self.provider != "openai" or self.api_key is not None or self.base_url is not None

    @property
    def has_tools(self) -> bool:
        """True if there is a model that may call tools."""
        return self.configured and self.tools != "off" and self.shows_results

    @model_validator(mode="after")
    def _complete(self) -> Self:
        lacking = next(filter(None, (self._lacking(name) for name in _NEEDED.get(self.provider, ()))), None)
        if lacking is not None:
            raise ValueError(f"KAI_LLM__PROVIDER={self.provider} needs {lacking}")
        if self.provider == "vertexai" and self.api_key is not None:
            raise ValueError(
                "Vertex AI takes Google's credentials (GOOGLE_APPLICATION_CREDENTIALS) instead of "
                "KAI_LLM__API_KEY: unset it"
            )
        if self.provider not in ("openai", "azure") and self.reply_format not in ("auto", "text"):
            raise ValueError(
                f"KAI_LLM__PROVIDER={self.provider} takes no KAI_LLM__REPLY_FORMAT other than text"
            )
        return self

    def _lacking(self, name: str) -> str | None:
        return None if getattr(self, name) else f"KAI_LLM__{name.upper()}"


class AnalysisSettings(_Group):
    """`KAI_ANALYSIS__...`: the texts about results."""

    form: AnalysisFormSetting = "auto"
    """Author of the choice of statements. `auto` is the program for models whose names tell of fewer than 15
    billion parameters, else the model.
    """


class AgentSettings(_Group):
    """`KAI_AGENT__...`: investigations, in which a model calls tools in several steps."""

    enabled: bool = True
    default_mode: Literal["ask", "agent"] = "ask"
    """Mode of sessions that name none. Agent mode offers tools that write, delete or leave KAI, too."""
    approval_minutes: Annotated[float, Field(gt=0, le=10_080)] = 30
    """Minutes after which a call that waits for a person can no longer be approved."""
    max_steps: Annotated[int, Field(ge=1, le=50)] = 12
    """Steps of an investigation. Beyond a limit, the model answers from what it has found."""
    max_calls: Tuned[Annotated[int, Field(ge=1, le=200)]] = 24
    max_calls_per_step: Tuned[Annotated[int, Field(ge=1, le=16)]] = 8
    parallel_calls: Tuned[Annotated[int, Field(ge=1, le=16)]] = 4
    """Calls of a step that run at the same time."""
    max_tokens: Annotated[int, Field(ge=1_000)] = 60_000
    max_seconds: Seconds = 300
    tool_seconds: Tuned[Annotated[float, Field(gt=0, le=240)]] = 30
    """Seconds that a call of a tool may take."""


ToolCategory = Literal["read", "write", "delete", "external", "extension"]


class ToolSettings(_Group):
    """`KAI_TOOLS__...`: which tools an investigation may call, as JSON lists.

    `never_allow` counts before `require_confirmation`, and that before `auto_approve`.
    """

    auto_approve: tuple[ToolCategory, ...] = ("read",)
    """Categories whose tools run without asking."""
    require_confirmation: tuple[ToolCategory, ...] = ("write", "delete", "external")
    """Categories whose tools ask a person first."""
    never_allow: tuple[str, ...] = ()
    """Names of tools, and `toolset.*`, that are never called."""
    extensions: bool = False
    """Load the tools of other packages, by their entry points of group `kai.tools`."""
    safe_extensions: tuple[str, ...] = ()
    """Names of tools of extensions, and `extension.*`, that run without asking."""

    def withholding(self, allowed: Sequence[ContextKind]) -> Self:
        """Returns the settings without the tools that show what no model may read."""
        withheld = [f"{toolset}.*" for toolset in ("knowledge", "memory") if toolset not in allowed]
        return self.model_copy(update={"never_allow": (*self.never_allow, *withheld)})

    @model_validator(mode="after")
    def _asks_outside(self) -> Self:
        if "external" in self.auto_approve:
            raise ValueError(
                "a tool that leaves KAI always asks: take external out of KAI_TOOLS__AUTO_APPROVE"
            )
        return self


class RuleSettings(_Group):
    """`KAI_RULES__...`: rules that models follow."""

    path: Annotated[Path, AfterValidator(_home)] | None = None
    """Folder of rules: `global/`, `modes/ask/`, `modes/agent/` and `AGENTS.md`."""


class McpSettings(_Group):
    """`KAI_MCP__...`: MCP servers whose tools an investigation may call, once an administrator has approved
    them.
    """

    config: Path | None = None
    """JSON file with `mcpServers`. Nothing else names a server."""
    networks: tuple[IPvAnyNetwork, ...] = ()
    """Loopback and private networks in which servers may be."""
    call_seconds: Tuned[Annotated[float, Field(gt=0, le=240)]] = 30
    """Seconds that a server may take for a call."""
    check_seconds: Tuned[Annotated[float, Field(ge=0.1, le=3_600)]] = 300
    """Seconds after which the tools of a server are compared with their approvals again."""


class LimitSettings(_Group):
    """`KAI_LIMITS__...`: limits of a single statement."""

    statement_seconds: Seconds = 30
    statement_chars: Tuned[Annotated[int, Field(ge=1, le=MAX_STATEMENT_CHARACTERS)]] = 65_536
    """The longest statement that is parsed, checked or run."""
    check_seconds: Tuned[Seconds] = 20
    """The longest that a statement is checked before it runs."""
    result_rows: Annotated[int, Field(ge=1, le=MAX_RESULT_ROWS)] = 10_000
    result_bytes: Annotated[int, Field(ge=1_024)] = 16 * 1024 * 1024


class QuotaSettings(_Group):
    """`KAI_QUOTAS__...`: limits of each owner. 0 means no limit."""

    requests_per_minute: Quota = 600
    questions_per_minute: Quota = 30
    runs: Quota = 20
    """Questions that are being answered or wait, at any time."""
    sessions: Quota = 10_000
    streams: Quota = 100
    """Open streams, counted by each process."""
    tokens_per_day: Quota = 0
    """Tokens of a UTC day. Runs that are open when they are used up are completed."""
    bytes_per_day: Quota = 0
    """Bytes that databases read for statements in a UTC day, where they say so (ClickHouse). Once they are
    used up, no statement runs.
    """


NO_QUOTAS = QuotaSettings(
    requests_per_minute=0,
    questions_per_minute=0,
    runs=0,
    sessions=0,
    streams=0,
    tokens_per_day=0,
    bytes_per_day=0,
)


class ConversationSettings(_Group):
    """`KAI_CONVERSATIONS__...`: the in-memory cache of conversations, and the reduction of long ones."""

    max_cache_memory_mb: Annotated[int, Field(ge=0)] = 1_024
    """0 keeps no conversation in memory."""
    inactivity_timeout_minutes: Tuned[Annotated[float, Field(gt=0)]] = 60
    reduce_with_ai: bool = False
    """Let the summary model summarize what prompts leave out of a long conversation, in place of a digest."""
    reduce_threshold: Annotated[int, Field(ge=1)] = 15
    """Messages (questions and answers) that a conversation must exceed before the model reduces it."""

    @property
    def model_reduces_above(self) -> int | None:
        """`reduce_threshold` where the model reduces conversations, else None."""
        return self.reduce_threshold if self.reduce_with_ai else None


class TypesenseSettings(_Group):
    """`KAI_TYPESENSE__...`: the server that stores everything if `KAI_STORE` is typesense."""

    nodes: Annotated[list[BaseUrl], Field(min_length=1)] = ["http://127.0.0.1:8108"]
    """JSON list of URLs. Of several nodes, the leader is asked."""
    api_key: SecretStr | None = None
    prefix: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")] = "kai_"
    """Prefix of the names of KAI's collections."""
    timeout_seconds: Tuned[Seconds] = 5
    max_retries: Tuned[Annotated[int, Field(ge=0, le=10)]] = 2


class CheckpointSettings(_Group):
    """`KAI_CHECKPOINTS__...`: the states of conversations, from which they can be forked."""

    keep_turns: Annotated[int, Field(ge=0, le=1_000_000)] = 20
    """Turns of a session whose checkpoints are kept. 0 keeps all."""


class RetentionSettings(_Group):
    """`KAI_RETENTION__...`: days after which records are deleted. 0 keeps them."""

    run_days: Annotated[int, Field(ge=0, le=36_500)] = 0
    """Records of ended runs."""
    row_days: Annotated[int, Field(ge=0, le=36_500)] = 0
    """Rows of answers."""


_SCOPE_LISTS = r"^(auto|(session|workspace|user)(, *(session|workspace|user))*)$"


class MemorySettings(_Group):
    """`KAI_MEMORY__...`: what KAI remembers beyond a conversation."""

    conversations: bool = True
    """Keep a searchable memory of each conversation. If false, none is written, and no model is called."""
    directives: bool = False
    """Keep lines of questions such as `preference: months as 2026-03` as facts."""
    profile: bool = False
    """Keep a profile of each user who consents, read from their questions by the summary model."""
    profile_seconds: Tuned[Seconds] = 2
    """The longest that the first question of a session waits for the profile."""
    facts: bool = True
    """Remember facts. If false, those that are kept can still be read and forgotten."""
    unused_days: Tuned[Annotated[int, Field(ge=1, le=3650)]] = 90
    """In a full scope, a fact that was not used for so long may go for a new one."""
    recall_ms: Tuned[Annotated[int, Field(ge=1, le=10_000)]] = 750
    """Milliseconds that a question waits for facts. What is not found by then is left out."""
    max_facts: Tuned[Annotated[int, Field(ge=1, le=10)]] = 10
    """Facts in a prompt."""
    max_tokens: Tuned[Annotated[int, Field(ge=1, le=4_000)]] = 600
    """Tokens of facts in a prompt."""
    scopes: Tuned[Annotated[str, Field(pattern=_SCOPE_LISTS)]] = "auto"
    """Scopes of the facts in a prompt: `auto`, or a list of `session`, `workspace` and `user`."""

    @model_validator(mode="after")
    def _learns_from_conversations(self) -> Self:
        if self.profile and not self.conversations:
            raise ValueError("KAI_MEMORY__PROFILE=true needs KAI_MEMORY__CONVERSATIONS=true")
        return self


def _authorization(secret: SecretStr) -> SecretStr:
    text = secret.get_secret_value()
    if not (text.isascii() and text.isprintable()):
        raise ValueError("it must be one line of ASCII")
    return secret if " " in text else SecretStr(f"Bearer {text}")


def _bare_url(text: str) -> str:
    url = urlsplit(text)
    if url.username or url.password:
        raise ValueError("put credentials into KAI_GRAPH_MEMORY__HEADER, not into the URL")
    if url.query or url.fragment:
        raise ValueError("it must be a URL without query and fragment")
    return text.rstrip("/")


class GraphMemorySettings(_Group):
    """`KAI_GRAPH_MEMORY__...`: a Graphiti service beside KAI's own memory. Nothing is sent to it without the
    consent of a database's owner and of the user.
    """

    enabled: bool = False
    recall: bool = False
    """Ask the service for facts that help with a question."""
    ingest: bool = False
    """Send each answered question. It costs the service about eight calls of its model a message."""
    endpoint: Annotated[BaseUrl, AfterValidator(_bare_url)] | None = None
    header: Annotated[SecretStr, AfterValidator(_authorization)] | None = None
    """Value of `Authorization` for a proxy before the service; a single word is a bearer token."""
    networks: tuple[IPvAnyNetwork, ...] = ()
    """Networks besides loopback to which memories may go without TLS."""
    max_message_chars: Tuned[Annotated[int, Field(ge=100, le=100_000)]] = 4_000
    queue: Tuned[Annotated[int, Field(ge=1, le=1_000)]] = 1_000
    """Questions that wait at most. Beyond it the oldest are dropped; facts never are."""
    retries: Tuned[Annotated[int, Field(ge=1, le=100)]] = 5
    """Tries of an entry."""
    system_messages: Tuned[bool] = True
    """Begin each group with a message that says whose it is."""
    connection_names: bool = False
    """Name the database as the source of a message."""

    @model_validator(mode="after")
    def _addressed(self) -> Self:
        if self.enabled and self.endpoint is None:
            raise ValueError("KAI_GRAPH_MEMORY__ENABLED needs KAI_GRAPH_MEMORY__ENDPOINT")
        return self


class NatsSettings(_Group):
    """`KAI_NATS__...`: the NATS by which processes share their work; without it one process does it all."""

    url: NatsUrl | None = None
    """Servers of one cluster, separated by commas."""
    credentials_file: Path | None = None
    """A user's JWT and key, as `nsc` writes them."""
    nkey: SecretStr | None = None
    """The seed of a user's NKey."""
    ca_file: Path | None = None
    """Authorities to trust instead of the system's."""
    certificate_file: Path | None = None
    key_file: Path | None = None
    """With `certificate_file`, the client certificate of KAI."""
    prefix: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{0,40}$")] = ""
    """The names of KAI's streams and subjects begin with it."""
    replicas: Annotated[Literal[1, 3, 5], BeforeValidator(_digits)] = 1
    """Servers that keep each stream."""

    @property
    def servers(self) -> list[str]:
        """For the client alone: passwords may be in them."""
        return [] if self.url is None else [each.strip() for each in self.url.get_secret_value().split(",")]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.credentials_file is not None and self.nkey is not None:
            raise ValueError("KAI_NATS__CREDENTIALS_FILE and KAI_NATS__NKEY are two logins: set one")
        if (self.certificate_file is None) != (self.key_file is None):
            raise ValueError("KAI_NATS__CERTIFICATE_FILE and KAI_NATS__KEY_FILE belong together: set both")
        return self


class RedisSettings(_Group):
    """`KAI_REDIS__...`: the cache of hot conversations and the shared counts of rates; optional."""

    url: RedisUrl | None = None
    prefix: Annotated[str, Field(pattern=r"^[a-z0-9_:-]{1,40}$")] = "kai:"

    @property
    def cache_prefix(self) -> str:
        """Prefix of hot conversations. Other programs may look for `session:{id}`, so it is set only if
        several KAIs share the server.
        """
        return "" if self.prefix == RedisSettings.model_fields["prefix"].default else self.prefix


class WorkerSettings(_Group):
    """`KAI_WORKER__...`: workers, as processes or within `kai serve`."""

    concurrency: Annotated[int, Field(ge=1, le=1_000)] = 32
    """Runs that a process answers at once."""
    owner_share: Tuned[Annotated[float, Field(gt=0, le=1)]] = 1
    """Share of these that the runs of one owner may take; at least one."""
    max_waiting: Annotated[int, Field(ge=1)] = 1_000
    """Runs that wait for a worker. Further questions are refused."""
    lease_seconds: Tuned[Annotated[float, Field(ge=3, le=600)]] = 15
    """Seconds without a renewal after which other workers take over a worker's runs."""
    store_patience_seconds: Tuned[Annotated[float, Field(ge=0, le=600)]] = 15
    """Seconds that questions and runs wait for an unavailable store before they report it."""
    drain_seconds: Annotated[float, Field(ge=0, le=600)] = 35
    """Seconds that a stopping worker gives its runs before it hands them over."""
    follow_up_pause_seconds: Tuned[Annotated[float, Field(ge=0, le=600)]] = 5
    """Seconds after an answer before its title and memory begin: the next question comes first, and the
    answers of a session within this time share their calls of the model."""
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65_535)] = 8_001
    """Address of `kai worker` for health and metrics."""


class DatabaseSettings(_Group):
    """`KAI_DATABASES__...`: which databases may be registered, as JSON lists.

    If nothing is set, the single user of a KAI on loopback may register what they can reach themselves: files
    anywhere, and databases on this machine and in private networks. Where others can reach it
    (`KAI_HOST`), that is files in the data folder, and no private address.
    """

    folders: tuple[Path, ...] | None = None
    networks: tuple[IPvAnyNetwork, ...] | None = None


class ScheduleSettings(_Group):
    """`KAI_SCHEDULES__...`: pins and boards that run at times, and tell of it."""

    webhook_networks: tuple[IPvAnyNetwork, ...] = ()
    """Loopback and private networks that webhooks may be sent to, also without TLS."""
    chat_servers: tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?$")], ...] = ()
    """Hosts of chat servers that the installation runs itself, with a port where their URLs have one."""


class OverviewSettings(_Group):
    """`KAI_OVERVIEW__...`: what databases hold, computed for the start of the page."""

    enabled: bool = True
    table_rows: Annotated[int, Field(ge=0)] = 5_000_000
    """Larger tables are left out."""
    statement_seconds: Seconds = 5
    """Time limit for each statement; that of all statements counts, too."""


_MAIL_PORTS = {"starttls": 587, "tls": 465, "none": 25}


class MailSettings(_Group):
    """`KAI_MAIL__...`: the SMTP server that sends notices of schedules as mail; off without `host`."""

    host: str | None = None
    port: Annotated[int, Field(ge=1, le=65_535)] | None = None
    tls: Literal["starttls", "tls", "none"] = "starttls"
    """`starttls`: TLS is begun, and required. `tls`: TLS from the first byte. `none`: a server nearby."""
    user: str | None = None
    password: SecretStr | None = None
    sender: Annotated[str, Field(pattern=r"^([A-Za-z0-9._+-]{1,64}@[A-Za-z0-9.-]{1,189})?$")] = ""
    """Address that the mails come from."""
    domains: tuple[Annotated[str, Field(pattern=r"^[a-z0-9.-]{1,189}$")], ...] = ()
    """Domains to whose addresses mails may be sent. Empty: all."""

    @property
    def server_port(self) -> int:
        return self.port or _MAIL_PORTS[self.tls]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.host is not None and not self.sender:
            raise ValueError("KAI_MAIL__HOST needs KAI_MAIL__SENDER, the address that mails come from")
        if (self.user is None) != (self.password is None):
            raise ValueError("KAI_MAIL__USER and KAI_MAIL__PASSWORD belong together: set both")
        if self.password is not None and self.tls == "none" and not is_loopback(self.host or ""):
            raise ValueError("KAI_MAIL__TLS=none would send the password in clear: use starttls or tls")
        return self


class UploadSettings(_Group):
    """`KAI_UPLOADS__...`: CSV, Excel and Parquet files that become databases of their owners."""

    folder: Path | None = None
    """Folder of the files. Default: `uploads` in the data folder. Processes that answer questions and those
    that serve the API must all reach it."""
    max_bytes: Annotated[int, Field(ge=0, le=2**40)] = 100_000_000
    """Largest file. 0 takes none."""
    owner_bytes: Annotated[int, Field(ge=0, le=2**53)] = 1_000_000_000
    """All files of an owner together."""
    receive_seconds: Tuned[Seconds] = 600
    """Time limit for sending a file."""
    import_seconds: Tuned[Seconds] = 120
    """Time limit for reading a file."""


class AuditSettings(_Group):
    """`KAI_AUDIT__...`: the record of each statement sent to a user's database."""

    file: Path | None = None
    """File of the record. Default: the ordinary log, at level info."""
    statements: bool = False
    """Record the text of statements, too, not only its digest."""


Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Signatures with a key pair. With a shared secret, every service that checks tokens could forge them."""


def _safe_url(text: str) -> str:
    url = HttpUrl(text)
    if url.scheme != "https" and not is_loopback(url.host or ""):
        raise ValueError("it must begin with https://, unless it is on this machine")
    return text


def _with_openid(scopes: str) -> str:
    if "openid" not in scopes.split():
        raise ValueError("openid must be among the scopes, or the provider names no one")
    return scopes


_OF_THE_BUTTON = ("client_secret", "scopes", "provider_name", "session_hours", "sign_out_at_issuer")


class OidcSettings(_Group):
    """`KAI_AUTH__OIDC__...`: the issuer whose tokens are accepted besides API keys. With a client id, people
    sign in to the page by it.
    """

    issuer: Annotated[str, AfterValidator(_safe_url)] | None = None
    audience: str | None = None
    algorithms: Annotated[tuple[Algorithm, ...], Field(min_length=1)] = ("RS256", "ES256")
    owner_claim: Annotated[str, Field(min_length=1)] = "sub"
    role_claim: Annotated[str, Field(min_length=1)] = "roles"
    """A text or a list of texts; a caller who has `admin_value` in it is an administrator, every
    other a user.
    """
    admin_value: Annotated[str, Field(min_length=1)] = "kai-admin"
    database_claim: str | None = None
    """A text that chooses the role in databases registered with roles by claim."""
    attribute_claims: dict[str, str] = {}
    """Attributes of people, for policies of databases, and the claims that have them, as JSON."""
    leeway_seconds: Tuned[Annotated[float, Field(ge=0, le=300)]] = 30
    client_id: Annotated[str, Field(min_length=1)] | None = None
    """KAI's own name at the issuer. Without one the page has no button for it."""
    client_secret: SecretStr | None = None
    """Without one KAI is a public client, secured by PKCE alone."""
    scopes: Annotated[str, AfterValidator(_with_openid)] = "openid profile"
    """Scopes to ask the issuer for, separated by spaces: those that bring the claims above."""
    provider_name: Annotated[str, Field(min_length=1, max_length=60)] | None = None
    """Name of the issuer on the button. Default: its host."""
    session_hours: Annotated[float, Field(gt=0, le=720)] | None = None
    """Hours that a browser stays signed in. Default: until the ID token expires."""
    sign_out_at_issuer: bool = False
    """Who signs out of the page that the issuer has signed in signs out at the issuer, too."""

    @property
    def shown_name(self) -> str:
        return self.provider_name or urlsplit(self.issuer or "").netloc

    @model_validator(mode="after")
    def _for_the_page(self) -> Self:
        if self.client_id is None:
            for name in _OF_THE_BUTTON:
                if name in self.model_fields_set:
                    raise ValueError(f"KAI_AUTH__OIDC__{name.upper()} needs KAI_AUTH__OIDC__CLIENT_ID")
        elif self.issuer is None:
            raise ValueError("KAI_AUTH__OIDC__CLIENT_ID needs KAI_AUTH__OIDC__ISSUER")
        return self

    @model_validator(mode="after")
    def _for_us(self) -> Self:
        if self.issuer is not None and not self.audience:
            raise ValueError("with an issuer, set KAI_AUTH__OIDC__AUDIENCE to the tokens' audience")
        if self.audience is not None and self.issuer is None:
            raise ValueError("with an audience, set KAI_AUTH__OIDC__ISSUER to the issuer of accepted tokens")
        return self


class AuthSettings(_Group):
    """`KAI_AUTH__...`: who may use KAI."""

    required: bool = False
    """Require a key or a token also on a loopback address."""
    wrong_keys_per_minute: Annotated[int, Field(ge=0, le=10_000)] = 30
    """Wrong credentials of one address that are answered at once; 0 is no limit."""
    oidc: OidcSettings = OidcSettings()


class HttpSettings(_Group):
    """`KAI_HTTP__...`: how long a client may take to send a request."""

    head_seconds: Tuned[Seconds] = 10
    """Time limit for the request line and the headers."""
    body_seconds: Tuned[Seconds] = 30


class _OpenAiEnvironment(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="OPENAI_", env_ignore_empty=True, frozen=True)

    base_url: BaseUrl | None = None
    api_key: SecretStr | None = None
    model: str | None = None


class Settings(BaseSettings):
    """All `KAI_...` variables. Raises `pydantic.ValidationError` for an invalid value."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        env_ignore_empty=True,
        frozen=True,
        extra="ignore",
        hide_input_in_errors=True,
    )

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65_535), BeforeValidator(_port)] = 8_000
    data_dir: Annotated[Path, AfterValidator(_home), Field(validate_default=True)] = Path("~/.kai")
    store: StoreKind = "sqlite"
    migrate_at_start: bool = True
    """Migrate an older store at the start. Otherwise `kai migrate` does."""
    encrypt_checkpoints: bool = False
    """Encrypt checkpoints with the encryption key."""
    encryption_key: Annotated[SecretStr, AfterValidator(_fernet_key)] | None = None
    """Fernet keys for database URLs, webhooks, chats and checkpoints, separated by commas: the first one
    encrypts, and all decrypt. Default: a key that is created in the data folder."""
    allowed_hosts: tuple[HostPattern, ...] | None = None
    """Names by which requests may address KAI."""
    public_url: BaseUrl | None = None
    """Address at which users open KAI's page. Mails and messages to chats link to it."""
    cors_origins: Origins = ()
    """Pages of other sites that may call KAI from a browser. `*` is every page."""
    protocols: Protocols = PROTOCOLS
    """Protocols that are served. The paths of others do not exist."""
    log_format: Literal["auto", "text", "json"] = "auto"
    """`auto`: readable lines on a terminal, JSON elsewhere."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """The level of KAI's own loggers."""
    access_log: bool | None = None
    """Log each HTTP request; by default everywhere but in `kai demo`."""
    metrics_open: bool = False
    """Serve /metrics without a login."""
    drain_seconds: Annotated[float, Field(ge=0, le=300)] = 0
    """Seconds that a stopping server continues to serve while /readyz reports that it drains."""
    http: HttpSettings = HttpSettings()
    auth: AuthSettings = AuthSettings()
    llm: LlmSettings = LlmSettings()
    limits: LimitSettings = LimitSettings()
    analysis: AnalysisSettings = AnalysisSettings()
    agent: AgentSettings = AgentSettings()
    tools: ToolSettings = ToolSettings()
    mcp: McpSettings = McpSettings()
    rules: RuleSettings = RuleSettings()
    quotas: QuotaSettings = QuotaSettings()
    typesense: TypesenseSettings = TypesenseSettings()
    conversations: ConversationSettings = ConversationSettings()
    checkpoints: CheckpointSettings = CheckpointSettings()
    retention: RetentionSettings = RetentionSettings()
    memory: MemorySettings = MemorySettings()
    graph_memory: GraphMemorySettings = GraphMemorySettings()
    nats: NatsSettings = NatsSettings()
    redis: RedisSettings = RedisSettings()
    worker: WorkerSettings = WorkerSettings()
    databases: DatabaseSettings = DatabaseSettings()
    schedules: ScheduleSettings = ScheduleSettings()
    overview: OverviewSettings = OverviewSettings()
    mail: MailSettings = MailSettings()
    uploads: UploadSettings = UploadSettings()
    audit: AuditSettings = AuditSettings()
    tuning: Tuned[dict[str, JsonValue]] = {}
    """`KAI_TUNING__...`: other values of what is `Tuned`, for tests."""

    @model_validator(mode="before")
    @classmethod
    def _apply_tuning(cls, given: dict[str, Any]) -> dict[str, Any]:
        return apply_tuning(cls, given, given.get("tuning", {}))

    @property
    def upload_folder(self) -> Path:
        return self.uploads.folder or self.data_dir / "uploads"

    @property
    def serves_others(self) -> bool:
        """True if other machines can reach the address that KAI listens on."""
        return not is_loopback(self.host)

    @property
    def login_required(self) -> bool:
        """Every request needs a credential. Otherwise a request without one acts for the owner `local`."""
        return self.serves_others or self.auth.required or self.auth.oidc.issuer is not None


def read_settings(*, pass_unknown: bool = False) -> Settings:
    """Returns the settings of this process. `KAI_LLM__...` takes precedence over `OPENAI_...`, which counts
    for the provider `openai` only.

    Raises `UnknownVariable` unless `pass_unknown`, `ValidationError` or `SettingsError`.
    """
    if not pass_unknown:
        check_names(os.environ.items(), Settings)
    settings, usual = Settings(), _OpenAiEnvironment()
    if settings.llm.provider != "openai":
        return settings
    llm = settings.llm.model_copy(
        update={
            "base_url": settings.llm.base_url or usual.base_url,
            "api_key": settings.llm.api_key or usual.api_key,
            "model": settings.llm.model or usual.model or DEFAULT_MODEL,
        }
    )
    return settings.model_copy(update={"llm": llm})
