"""KAI's routes, each written once, as a flow. Docstrings name the needed scope, unless it is `read`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Literal, TypedDict, Unpack

from pydantic import JsonValue, TypeAdapter

from kai_analyst_client import schema as m
from kai_analyst_client.answers import Answer
from kai_analyst_client.errors import Invalid, NotFound, Problem
from kai_analyst_client.flows import (
    KEEP,
    C_co,
    Flow,
    Group,
    Items,
    Keep,
    Listing,
    Reply,
    Request,
    changes,
    create,
    delete,
    endpoint,
    fetch,
    get,
    given,
    key_header,
    pages,
    patch,
    post,
    segment,
    send,
)
from kai_analyst_client.following import Following
from kai_analyst_client.tables import Table

Mode = Literal["ask", "agent"]
CallStatus = Literal[
    "proposed",
    "waiting",
    "approved",
    "begun",
    "done",
    "failed",
    "denied",
    "expired",
    "withdrawn",
    "unknown",
]
FactKind = Literal["decision", "lesson_learned", "preference", "procedure", "task_update", "terminology"]
FactScope = Literal["session", "workspace", "user", "shared"]
Role = Literal["user", "admin"]
Scope = Literal["read", "ask", "approve", "manage", "admin"]
Attribute = Literal[
    "output_preferences",
    "personal_preferences",
    "assistant_preferences",
    "knowledge",
    "interests",
    "dislikes",
    "family_and_friends",
    "work_profile",
    "goals",
]

_MOST_ROWS = 5_000
_WAIT = {"Prefer": "wait=50"}
"""Below the clients' own timeout."""


_JSON_OBJECT: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])


class Roles(TypedDict, total=False):
    """PostgreSQL roles that statements run as, one for each person."""

    by: Literal["owner", "claim"]
    names: dict[str, str]
    default: str | None


class About(TypedDict, total=False):
    """What the asking program shows, such as a table."""

    kind: Literal["table", "connection", "result", "failed_answer", "none"]
    id: str


class ToolSelection(TypedDict, total=False):
    """Where the tools of an investigation may come from."""

    builtin: bool
    mcp: bool
    extensions: bool


class Options(TypedDict, total=False):
    """Options of a question. `sql` is a statement to run in place of a generated one."""

    multitask_strategy: Literal["reject", "enqueue", "interrupt"]
    mode: Mode
    tools: ToolSelection
    sql: str
    rules: list[str]
    about: About
    metadata: dict[str, JsonValue]


def id_of(thing: m.Session | m.Database | str) -> str:
    return thing if isinstance(thing, str) else thing.id


class Databases(Group[C_co]):
    @endpoint
    def list(
        self,
        limit: int | None = None,
        *,
        listing: Listing | None = None,
    ) -> Flow[Items[m.Database]]:
        """Databases that the caller may ask, oldest first."""
        return (yield from pages("/database-connections", m.Database, limit, listing=listing))

    @endpoint
    def get(self, database: m.Database | str) -> Flow[m.Database]:
        return (yield from get(_database(database), m.Database))

    @endpoint
    def add(
        self,
        url: str,
        name: str,
        description: str = "",
        *,
        shared: bool = False,
        schemas: Sequence[str] = (),
        roles: Roles | None = None,
        key: str | None = None,
    ) -> Flow[m.Database]:
        """Register a database. KAI tries it first. `schemas` are patterns of those to read, `!` before one
        that is not. Needs scope `manage`.
        """
        body = given(
            url=url,
            name=name,
            description=description,
            shared=shared,
            schemas=[*schemas],
            roles=_roles(roles),
        )
        return (yield from create("/database-connections", body, m.Database, key=key))

    @endpoint
    def test(self, url: str, database: m.Database | str | None = None) -> Flow[m.CheckedDatabase]:
        """Open a database without registering it, perhaps as the new address of a registered one. Needs scope
        `manage`.
        """
        body = given(url=url, db_connection_id=None if database is None else id_of(database))
        return (yield from post("/database-connections/test", body, m.CheckedDatabase))

    @endpoint
    def test_steps(self, url: str, database: m.Database | str | None = None) -> Flow[m.ConnectionSteps]:
        """Test a database step by step: the first that fails says why. Needs scope `manage`."""
        body = given(url=url, db_connection_id=None if database is None else id_of(database))
        return (yield from post("/database-connections/test/steps", body, m.ConnectionSteps))

    @endpoint
    def upload(
        self, content: bytes, file_name: str, name: str | None = None, *, key: str | None = None
    ) -> Flow[m.UploadedFile]:
        """Make a private database of a CSV, Excel or Parquet file. Needs scope `manage`."""
        query = {"file_name": file_name, **({} if name is None else {"name": name})}
        request = Request(
            "POST", "/database-connections/files", query, content=content, headers=key_header(key)
        )
        return (yield from fetch(request, m.UploadedFile))

    @endpoint
    def file(self, database: m.Database | str) -> Flow[m.UploadedFile]:
        """How an uploaded file was read. Needs scope `manage`; its owner only."""
        return (yield from get(f"{_database(database)}/file", m.UploadedFile))

    @endpoint
    def correct_file(
        self,
        database: m.Database | str,
        tables: Sequence[Mapping[str, JsonValue]],
        *,
        version: int | None = None,
    ) -> Flow[m.UploadedFile]:
        """Read an uploaded file again, with other types. Needs scope `manage`; its owner only."""
        body: dict[str, JsonValue] = {"tables": [dict(each) for each in tables]}
        return (yield from patch(f"{_database(database)}/file", body, m.UploadedFile, version=version))

    @endpoint
    def change(
        self,
        database: m.Database | str,
        *,
        name: str | None = None,
        description: str | None = None,
        url: str | None = None,
        shared: bool | None = None,
        external_memory: bool | None = None,
        roles: Roles | None = None,
        schemas: Sequence[str] | None = None,
        starters: Sequence[str] | None = None,
        ask_above_rows: int | None = None,
        refuse_above_rows: int | None = None,
        version: int | None = None,
    ) -> Flow[m.Database]:
        """Change a database. KAI tries a new URL first, and scans it; one of the same server and user may
        leave out the password. Above so many estimated rows a statement waits for an approval, or is refused;
        0 removes the bound. Needs scope `manage`; its owner only.
        """
        body = given(
            name=name,
            description=description,
            url=url,
            shared=shared,
            external_memory=external_memory,
            roles=_roles(roles),
            schemas=None if schemas is None else [*schemas],
            starters=None if starters is None else [*starters],
            ask_above_rows=ask_above_rows,
            refuse_above_rows=refuse_above_rows,
        )
        return (yield from patch(_database(database), body, m.Database, version=version))

    @endpoint
    def delete(self, database: m.Database | str) -> Flow[None]:
        """Needs scope `manage`."""
        yield from delete(_database(database))

    @endpoint
    def schemas(self, database: m.Database | str) -> Flow[m.DatabaseSchemas]:
        """The schemas that its account may use. Needs scope `read`; its owner only."""
        return (yield from get(f"{_database(database)}/schemas", m.DatabaseSchemas))

    @endpoint
    def policies(self, database: m.Database | str) -> Flow[m.Policies]:
        """Which rows and columns people may see. Needs scope `manage`; its owner only."""
        return (yield from get(f"{_database(database)}/policies", m.Policies))

    @endpoint
    def set_policies(
        self,
        database: m.Database | str,
        policies: Mapping[str, JsonValue] | str | None,
        *,
        version: int | None = None,
    ) -> Flow[m.Policies]:
        """Put policies, or a YAML text with them, in the place of those that hold. None ends them.

        Needs scope `manage`.
        """
        body: dict[str, JsonValue] = {
            "policies": dict(policies) if isinstance(policies, Mapping) else policies
        }
        return (yield from patch(f"{_database(database)}/policies", body, m.Policies, version=version))

    @endpoint
    def check_policies(
        self, database: m.Database | str, policies: Mapping[str, JsonValue]
    ) -> Flow[m.PolicyFaults]:
        """The faults of policies. Nothing is stored. Needs scope `manage`."""
        return (yield from post(f"{_database(database)}/policies/check", dict(policies), m.PolicyFaults))

    @endpoint
    def test_policies(
        self,
        database: m.Database | str,
        sql: str,
        *,
        owner: str,
        attributes: Mapping[str, JsonValue] | None = None,
        policies: Mapping[str, JsonValue] | None = None,
    ) -> Flow[m.LimitedStatement]:
        """A statement as it would run for a person. Needs scope `manage`."""
        body = given(
            sql=sql,
            owner=owner,
            attributes=dict(attributes or {}),
            policies=None if policies is None else dict(policies),
        )
        return (yield from post(f"{_database(database)}/policies/test", body, m.LimitedStatement))

    @endpoint
    def scan(self, database: m.Database | str) -> Flow[m.Scan]:
        """Read its schema again, in the background. Needs scope `manage`."""
        return (yield from post(f"{_database(database)}/scan", {}, m.Scan))

    @endpoint
    def stop_scan(self, database: m.Database | str) -> Flow[None]:
        """Stop the scan that runs, if any. What it has read is kept. Needs scope `manage`."""
        yield from delete(f"{_database(database)}/scan")

    @endpoint
    def scan_state(self, database: m.Database | str) -> Flow[m.Scan]:
        return (yield from get(f"{_database(database)}/scan", m.Scan))

    @endpoint
    def tables(self, database: m.Database | str, limit: int | None = None) -> Flow[Items[m.DatabaseTable]]:
        return (yield from pages(f"{_database(database)}/tables", m.DatabaseTable, limit))

    @endpoint
    def describe_table(
        self,
        database: m.Database | str,
        table: str,
        description: str | Keep = KEEP,
        *,
        columns: Mapping[str, Mapping[str, JsonValue]] | Keep = KEEP,
        version: int | None = None,
    ) -> Flow[m.DatabaseTable]:
        """Describe a table, for users and models. `columns` are changes by names: `description`, `unit`, and
        `hidden`. Needs scope `manage`.
        """
        path = f"{_database(database)}/tables/{segment(table)}"
        edits: JsonValue | Keep = KEEP
        if not isinstance(columns, Keep):
            edits = {name: dict(edit) for name, edit in columns.items()}
        body = changes(description=description, columns=edits)
        return (yield from patch(path, body, m.DatabaseTable, version=version))

    @endpoint
    def overview(
        self, database: m.Database | str, language: Literal["en", "de"] | None = None
    ) -> Flow[m.DatabaseOverview]:
        """What it holds: figures over time, questions worth asking, tables by use."""
        request = Request(
            "GET", f"{_database(database)}/overview", {"language": language} if language else {}
        )
        return (yield from fetch(request, m.DatabaseOverview))

    @endpoint
    def sample(self, database: m.Database | str, table: str) -> Flow[m.Sample]:
        """The first rows of a table."""
        return (yield from get(f"{_database(database)}/tables/{segment(table)}/sample", m.Sample))

    @endpoint
    def inspect(self, database: m.Database | str, sql: str) -> Flow[m.InspectedStatement]:
        """Check a statement without running it. Raises `StatementFailed`."""
        return (yield from post(f"{_database(database)}/statements", {"sql": sql}, m.InspectedStatement))


class Sessions(Group[C_co]):
    """Conversations. What changes one needs scope `ask`."""

    @endpoint
    def count_steps(self, database: m.Database | str, sql: str) -> Flow[m.StepCounts]:
        """Count the rows of a statement step by step, by statements of their own. Needs scope `ask`."""
        path = f"{_database(database)}/statements/counts"
        return (yield from post(path, {"sql": sql}, m.StepCounts))

    @endpoint
    def create(
        self,
        database: m.Database | str,
        title: str | None = None,
        *,
        mode: Mode | None = None,
        also_db_connection_ids: Sequence[str] = (),
        metadata: Mapping[str, JsonValue] | None = None,
        key: str | None = None,
    ) -> Flow[m.Session]:
        """Create a session about a database (its id or name)."""
        database_id = yield from resolve_database(database)
        body = given(
            db_connection_id=database_id,
            title=title,
            mode=mode,
            also_db_connection_ids=[*also_db_connection_ids],
            metadata=dict(metadata or {}),
        )
        return (yield from create("/sessions", body, m.Session, key=key))

    @endpoint
    def list(
        self,
        limit: int | None = None,
        *,
        database: m.Database | str | None = None,
        status: str | None = None,
        pinned: bool | None = None,
        words: str | None = None,
        listing: Listing | None = None,
    ) -> Flow[Items[m.ListedSession]]:
        """Sessions, last used first. `words` are looked for in titles and questions."""
        database_id = None if database is None else id_of(database)
        found = pages(
            "/sessions",
            m.ListedSession,
            limit,
            listing=listing,
            db_connection_id=database_id,
            status=status,
            pinned=None if pinned is None else str(pinned).lower(),
            q=words,
        )
        return (yield from found)

    @endpoint
    def get(self, session: m.Session | str) -> Flow[m.SessionWithMessages]:
        """A session with its latest messages."""
        return (yield from get(_session(session), m.SessionWithMessages))

    @endpoint
    def messages(self, session: m.Session | str, limit: int | None = None) -> Flow[Items[m.Message]]:
        """Messages, oldest first; with a limit the latest of them."""
        found: Items[m.Message] = []
        cursor: str | None = None
        while limit is None or len(found) < limit:
            size = 100 if limit is None else min(100, limit - len(found))
            query: dict[str, str | int] = {"limit": size}
            if cursor is not None:
                query["cursor"] = cursor
            page = yield from fetch(Request("GET", f"{_session(session)}/messages", query), m.Messages)
            found = [*page.items, *found]
            if (cursor := page.next_cursor) is None:
                break
        return found

    @endpoint
    def message(self, session: m.Session | str, message_id: str) -> Flow[m.Message]:
        """A question or an answer."""
        return (yield from get(f"{_session(session)}/messages/{segment(message_id)}", m.Message))

    @endpoint
    def questions(self, session: m.Session | str, limit: int | None = None) -> Flow[Items[m.AskedQuestion]]:
        """Questions without their answers, oldest first."""
        return (yield from pages(f"{_session(session)}/questions", m.AskedQuestion, limit))

    @endpoint
    def change(
        self,
        session: m.Session | str,
        *,
        title: str | Keep | None = KEEP,
        mode: Mode | Keep = KEEP,
        also_db_connection_ids: Sequence[str] | Keep = KEEP,
        metadata: Mapping[str, JsonValue] | Keep = KEEP,
        status: Literal["idle", "closed"] | Keep = KEEP,
        pinned: bool | Keep = KEEP,
        version: int | None = None,
    ) -> Flow[m.Session]:
        """Change what is given. A title of None removes the title."""
        body = changes(
            title=title,
            mode=mode,
            also_db_connection_ids=also_db_connection_ids
            if isinstance(also_db_connection_ids, Keep)
            else [*also_db_connection_ids],
            metadata=metadata if isinstance(metadata, Keep) else dict(metadata),
            status=status,
            pinned=pinned,
        )
        return (yield from patch(_session(session), body, m.Session, version=version))

    @endpoint
    def delete(self, session: m.Session | str) -> Flow[None]:
        yield from delete(_session(session))

    @endpoint
    def cancel(self, session: m.Session | str, run_id: str) -> Flow[None]:
        """Stop a run. Its stream ends with `done` and status `cancelled`."""
        yield from send(Request("POST", f"{_session(session)}/runs/{segment(run_id)}/cancel"))

    @endpoint
    def checkpoints(self, session: m.Session | str, limit: int | None = None) -> Flow[Items[m.Checkpoint]]:
        """States that a fork can start from, newest first."""
        return (yield from pages(f"{_session(session)}/checkpoints", m.Checkpoint, limit))

    @endpoint
    def fork(
        self, session: m.Session | str, checkpoint_id: str, *, key: str | None = None
    ) -> Flow[m.Session]:
        """Create another session that goes on from a checkpoint."""
        path = f"{_session(session)}/checkpoints/{segment(checkpoint_id)}/fork"
        return (yield from create(path, {}, m.Session, key=key))

    @endpoint
    def give_feedback(
        self,
        session: m.Session | str,
        message_id: str,
        rating: Literal["up", "down"],
        *,
        comment: str | None = None,
        corrected_sql: str | None = None,
        key: str | None = None,
    ) -> Flow[m.Feedback]:
        body = given(rating=rating, comment=comment, corrected_sql=corrected_sql)
        return (yield from create(f"{_message(session, message_id)}/feedback", body, m.Feedback, key=key))

    @endpoint
    def change_message(
        self,
        session: m.Session | str,
        message_id: str,
        *,
        chart_choice: m.ChartChoice | Keep | None = KEEP,
        version: int | None = None,
    ) -> Flow[m.Message]:
        """Change how an answer's chart is drawn. None goes back to the chart as it was proposed."""
        body = changes(chart_choice=_choice(chart_choice))
        return (yield from patch(_message(session, message_id), body, m.Message, version=version))

    @endpoint
    def read_chart_words(self, session: m.Session | str, message_id: str, words: str) -> Flow[m.WordedChart]:
        """Read what words make of an answer's chart: give its choice to `change_message` to keep it."""
        return (yield from post(f"{_message(session, message_id)}/chart", {"words": words}, m.WordedChart))

    @endpoint
    def add_version(
        self, session: m.Session | str, message_id: str, sql: str, *, key: str | None = None
    ) -> Flow[m.AnswerVersion]:
        """Run a statement of yours for the question of an answer, without a model, and keep it with it."""
        return (
            yield from create(
                f"{_message(session, message_id)}/versions", {"sql": sql}, m.AnswerVersion, key=key
            )
        )

    @endpoint
    def version_rows(self, session: m.Session | str, message_id: str, number: int) -> Flow[Table]:
        """All rows of a later statement of an answer."""
        return (yield from all_rows(_version(session, message_id, number)))

    @endpoint
    def export_version(
        self,
        session: m.Session | str,
        message_id: str,
        number: int,
        *,
        file_format: Literal["csv", "parquet", "xlsx"] = "csv",
    ) -> Flow[bytes]:
        """All rows of a later statement of an answer, as a file that KAI writes."""
        path = _version(session, message_id, number)
        return (yield from send(Request("GET", path, {"format": file_format}))).content

    @endpoint
    def rows_page(
        self, session: m.Session | str, message_id: str, *, limit: int = 20, cursor: str | None = None
    ) -> Flow[m.RowsPage]:
        """A page of the rows of an answer."""
        return (yield from rows_page(_rows(session, message_id), limit, cursor))

    @endpoint
    def export(
        self,
        session: m.Session | str,
        message_id: str,
        file_format: Literal["csv", "parquet", "xlsx"] = "csv",
        *,
        result_id: str | None = None,
    ) -> Flow[bytes]:
        """All rows of an answer, or of a call of a tool, as a file that KAI writes."""
        path = _rows(session, message_id) if result_id is None else _result(session, message_id, result_id)
        return (yield from send(Request("GET", path, {"format": file_format}))).content

    @endpoint
    def chart(
        self,
        session: m.Session | str,
        message_id: str,
        file_format: Literal["svg", "png"] = "svg",
        *,
        theme: Literal["light", "dark"] | None = None,
        width: int | None = None,
    ) -> Flow[bytes]:
        """The chart of an answer as a picture, the chosen one or else the proposed one."""
        path = f"{_message(session, message_id)}/chart.{file_format}"
        return (yield from send(Request("GET", path, _drawn(theme, width)))).content

    @endpoint
    def steps(self, session: m.Session | str, message_id: str) -> Flow[Items[m.Step]]:
        """Steps of an answer's investigation with their calls of tools, also while it runs."""
        return (yield from get(f"{_message(session, message_id)}/steps", m.Investigated)).items

    @endpoint
    def provenance(
        self, session: m.Session | str, message_id: str, version: int | None = None
    ) -> Flow[m.Provenance]:
        """What the statement of an answer, or of a later version, does, what its author knew, and checks of
        its rows.
        """
        query: dict[str, str | int] = {} if version is None else {"version": version}
        path = f"{_message(session, message_id)}/provenance"
        return (yield from fetch(Request("GET", path, query), m.Provenance))

    @endpoint
    def result_rows(self, session: m.Session | str, message_id: str, result_id: str) -> Flow[Table]:
        """All rows that a call of a tool has fetched."""
        return (yield from all_rows(_result(session, message_id, result_id)))

    @endpoint
    def confirmations(
        self, session: m.Session | str, status: CallStatus | None = "waiting", limit: int | None = None
    ) -> Flow[Items[m.WaitingCall]]:
        """Calls of tools that wait for a person, or with a status of None all that ever asked for one."""
        return (yield from pages(f"{_session(session)}/confirmations", m.WaitingCall, limit, status=status))

    @endpoint
    def decide(
        self,
        session: m.Session | str,
        confirmation_id: str,
        decision: Literal["approve", "edit", "deny"],
        *,
        call_hash: str,
        arguments: dict[str, JsonValue] | None = None,
        reason: str | None = None,
    ) -> Flow[m.Decision]:
        """Decide about a call that waits. `call_hash` is that of the call that was looked at; the decision is
        about nothing else. `edit` approves it with `arguments` in place of its own. The last decision of a
        step has the id of the run that goes on (`kai.wait`).

        Needs scope `approve`.
        """
        body = given(decision=decision, call_hash=call_hash, arguments=arguments, reason=reason)
        path = f"{_session(session)}/confirmations/{segment(confirmation_id)}"
        return (yield from post(path, body, m.Decision))


class Boards(Group[C_co]):
    """Boards of pinned answers. What changes one, or refreshes it, needs scope `ask`."""

    @endpoint
    def create(
        self, title: str, *, stale_after_hours: int | None = None, key: str | None = None
    ) -> Flow[m.Board]:
        return (
            yield from create(
                "/boards", given(title=title, stale_after_hours=stale_after_hours), m.Board, key=key
            )
        )

    @endpoint
    def list(
        self,
        limit: int | None = None,
        *,
        listing: Listing | None = None,
    ) -> Flow[Items[m.Board]]:
        """Boards, last changed first."""
        return (yield from pages("/boards", m.Board, limit, listing=listing))

    @endpoint
    def get(self, board: m.Board | str) -> Flow[m.BoardWithPins]:
        """A board with its pins. No statement runs."""
        return (yield from get(_board(board), m.BoardWithPins))

    @endpoint
    def change(
        self,
        board: m.Board | str,
        *,
        title: str | None = None,
        order: Sequence[str] | None = None,
        stale_after_hours: int | None = None,
        period_days: int | Keep | None = KEEP,
        version: int | None = None,
    ) -> Flow[m.BoardWithPins]:
        """Change a board. `order` holds the ids of its pins. Refresh it after a change of its period."""
        ids: list[JsonValue] | None = None if order is None else [*order]
        body = given(title=title, order=ids, stale_after_hours=stale_after_hours)
        return (
            yield from patch(
                _board(board), body | changes(period_days=period_days), m.BoardWithPins, version=version
            )
        )

    @endpoint
    def delete(self, board: m.Board | str) -> Flow[None]:
        yield from delete(_board(board))

    @endpoint
    def refresh(self, board: m.Board | str) -> Flow[m.BoardWithPins]:
        """Begin to run the statements of all pins again: get the board until none is `running`."""
        return (yield from fetch(Request("POST", f"{_board(board)}/refresh"), m.BoardWithPins))

    @endpoint
    def pin(
        self,
        board: m.Board | str,
        message_id: str,
        *,
        title: str | None = None,
        chart_choice: m.ChartChoice | None = None,
        width: int | None = None,
        height: int | None = None,
        key: str | None = None,
    ) -> Flow[m.Pin]:
        """Pin an answer that has SQL and rows."""
        choice = None if chart_choice is None else chart_choice.model_dump(exclude_none=True)
        body = given(message_id=message_id, title=title, chart_choice=choice, width=width, height=height)
        return (yield from create(f"{_board(board)}/pins", body, m.Pin, key=key))

    @endpoint
    def get_pin(self, board: m.Board | str, pin_id: str) -> Flow[m.Pin]:
        return (yield from get(_pin(board, pin_id), m.Pin))

    @endpoint
    def change_pin(
        self,
        board: m.Board | str,
        pin_id: str,
        *,
        title: str | None = None,
        message_id: str | None = None,
        chart_choice: m.ChartChoice | Keep | None = KEEP,
        width: int | None = None,
        height: int | None = None,
        period_by: str | Keep | None = KEEP,
        version: int | None = None,
    ) -> Flow[m.Pin]:
        """Change a pin. `message_id` replaces its statement and rows by those of another answer."""
        body = given(title=title, message_id=message_id, width=width, height=height)
        body |= changes(chart_choice=_choice(chart_choice), period_by=period_by)
        return (yield from patch(_pin(board, pin_id), body, m.Pin, version=version))

    @endpoint
    def read_chart_words(self, board: m.Board | str, pin_id: str, words: str) -> Flow[m.WordedChart]:
        """Read what words make of a pin's chart: give its choice to `change_pin` to keep it."""
        return (yield from post(f"{_pin(board, pin_id)}/chart", {"words": words}, m.WordedChart))

    @endpoint
    def unpin(self, board: m.Board | str, pin_id: str) -> Flow[None]:
        yield from delete(_pin(board, pin_id))

    @endpoint
    def refresh_pin(self, board: m.Board | str, pin_id: str) -> Flow[m.Pin]:
        """Begin to run the statement of a pin again: get the pin until it is not `running`."""
        return (yield from fetch(Request("POST", f"{_pin(board, pin_id)}/refresh"), m.Pin))

    @endpoint
    def rows(self, board: m.Board | str, pin_id: str) -> Flow[Table]:
        """All last rows of a pin. No statement runs."""
        return (yield from all_rows(f"{_pin(board, pin_id)}/rows"))

    @endpoint
    def chart(
        self,
        board: m.Board | str,
        pin_id: str,
        file_format: Literal["svg", "png"] = "svg",
        *,
        theme: Literal["light", "dark"] | None = None,
        width: int | None = None,
    ) -> Flow[bytes]:
        """The chart of a pin as a picture."""
        path = f"{_pin(board, pin_id)}/chart.{file_format}"
        return (yield from send(Request("GET", path, _drawn(theme, width)))).content


class Schedules(Group[C_co]):
    """Times at which pins and boards run. What changes one needs scope `ask`."""

    @endpoint
    def add(
        self,
        board: m.Board | str,
        cron: str,
        *,
        pin_id: str | None = None,
        time_zone: str | None = None,
        condition: m.ScheduleCondition | None = None,
        webhook_url: str | None = None,
        mail: Sequence[str] = (),
        chats: Sequence[str] = (),
        language: Literal["en", "de"] | None = None,
        key: str | None = None,
    ) -> Flow[m.Schedule]:
        """Run a pin, or all pins of a board. `webhook_secret` of the answer is shown this once, and the URLs
        of `chats` never.
        """
        body = given(
            board_id=_board_id(board),
            pin_id=pin_id,
            cron=cron,
            time_zone=time_zone,
            condition=None if condition is None else condition.model_dump(),
            webhook_url=webhook_url,
            targets=_targets((), mail, chats) or None,
            language=language,
        )
        return (yield from create("/schedules", body, m.Schedule, key=key))

    @endpoint
    def list(
        self,
        limit: int | None = None,
        *,
        board: m.Board | str | None = None,
        listing: Listing | None = None,
    ) -> Flow[Items[m.Schedule]]:
        """Schedules, newest first."""
        board_id = None if board is None else _board_id(board)
        return (yield from pages("/schedules", m.Schedule, limit, listing=listing, board_id=board_id))

    @endpoint
    def get(self, schedule_id: str) -> Flow[m.Schedule]:
        return (yield from get(_schedule(schedule_id), m.Schedule))

    @endpoint
    def change(
        self,
        schedule_id: str,
        *,
        cron: str | None = None,
        time_zone: str | None = None,
        paused: bool | None = None,
        condition: m.ScheduleCondition | Keep | None = KEEP,
        webhook_url: str | Keep | None = KEEP,
        keep: Sequence[m.ScheduleTarget] | None = None,
        mail: Sequence[str] = (),
        chats: Sequence[str] = (),
        language: Literal["en", "de"] | None = None,
        version: int | None = None,
    ) -> Flow[m.Schedule]:
        """Change a schedule. A new webhook has a new secret. With `keep`, its targets are those of `keep` and
        the new ones of `mail` and `chats`; without it, they stay.
        """
        targets = None if keep is None else _targets(keep, mail, chats)
        body = given(cron=cron, time_zone=time_zone, paused=paused, targets=targets, language=language)
        new = condition.model_dump() if isinstance(condition, m.ScheduleCondition) else condition
        body |= changes(condition=new, webhook_url=webhook_url)
        return (yield from patch(_schedule(schedule_id), body, m.Schedule, version=version))

    @endpoint
    def try_targets(self, schedule_id: str) -> Flow[m.TriedTargets]:
        """Send a test to the mail addresses and chats of a schedule."""
        return (yield from fetch(Request("POST", f"{_schedule(schedule_id)}/test"), m.TriedTargets))

    @endpoint
    def delete(self, schedule_id: str) -> Flow[None]:
        yield from delete(_schedule(schedule_id))


class Webhooks(Group[C_co]):
    """Receivers of ends of runs and of notices. What changes one needs scope `ask`."""

    @endpoint
    def add(
        self,
        url: str,
        events: Sequence[str],
        *,
        content: Literal["ids", "answer"] | None = None,
        key: str | None = None,
    ) -> Flow[m.Webhook]:
        """Have events sent to an address. `secret` of the answer is shown this once: `verify_webhook` reads
        requests with it.
        """
        return (
            yield from create(
                "/webhooks", given(url=url, events=[*events], content=content), m.Webhook, key=key
            )
        )

    @endpoint
    def list(
        self,
        limit: int | None = None,
        *,
        listing: Listing | None = None,
    ) -> Flow[Items[m.Webhook]]:
        """Webhooks, newest first."""
        return (yield from pages("/webhooks", m.Webhook, limit, listing=listing))

    @endpoint
    def get(self, webhook_id: str) -> Flow[m.Webhook]:
        return (yield from get(_webhook(webhook_id), m.Webhook))

    @endpoint
    def change(
        self,
        webhook_id: str,
        *,
        url: str | None = None,
        events: Sequence[str] | None = None,
        content: Literal["ids", "answer"] | None = None,
        enabled: bool | None = None,
        version: int | None = None,
    ) -> Flow[m.Webhook]:
        """Change what is given. A new address has a new secret; `enabled` sends again, or nothing more."""
        wanted: JsonValue = None if events is None else [*events]
        body = given(url=url, content=content, enabled=enabled, events=wanted)
        return (yield from patch(_webhook(webhook_id), body, m.Webhook, version=version))

    @endpoint
    def delete(self, webhook_id: str) -> Flow[None]:
        yield from delete(_webhook(webhook_id))

    @endpoint
    def test(self, webhook_id: str) -> Flow[m.WebhookDelivery]:
        """Send a test now."""
        return (yield from fetch(Request("POST", f"{_webhook(webhook_id)}/test"), m.WebhookDelivery))

    @endpoint
    def rotate_secret(self, webhook_id: str) -> Flow[m.Webhook]:
        """Make a new secret. For 24 hours the earlier one signs, too."""
        return (yield from fetch(Request("POST", f"{_webhook(webhook_id)}/rotate-secret"), m.Webhook))

    @endpoint
    def deliveries(
        self,
        webhook_id: str,
        limit: int | None = None,
        *,
        state: Literal["waiting", "delivered", "given_up"] | None = None,
        listing: Listing | None = None,
    ) -> Flow[Items[m.WebhookDelivery]]:
        """What was sent and what waits, newest first."""
        return (
            yield from pages(
                f"{_webhook(webhook_id)}/deliveries", m.WebhookDelivery, limit, listing=listing, state=state
            )
        )

    @endpoint
    def redeliver(self, webhook_id: str, delivery_id: str) -> Flow[m.WebhookDelivery]:
        """Send a delivery once more, under its id."""
        path = f"{_webhook(webhook_id)}/deliveries/{segment(delivery_id)}/redeliver"
        return (yield from fetch(Request("POST", path), m.WebhookDelivery))


class Notices(Group[C_co]):
    """What happened at the times of schedules."""

    @endpoint
    def list(self, limit: int | None = None) -> Flow[Items[m.Notice]]:
        """Notices, newest first."""
        return (yield from pages("/notices", m.Notice, limit))

    @endpoint
    def unread(self) -> Flow[int]:
        """The number of notices after the latest that was marked as read."""
        return (yield from fetch(Request("GET", "/notices", {"limit": 1}), m.Notices)).unread

    @endpoint
    def mark_read(self, notice_id: str) -> Flow[None]:
        """Mark a notice and all before it as read. Needs scope `ask`."""
        yield from send(Request("POST", "/notices/read", body={"notice_id": notice_id}))


class Comments(Group[C_co]):
    """Comments on answers and boards. `link_id` is the link by which the caller sees a thing of others. What
    writes needs scope `ask`.
    """

    @endpoint
    def add(
        self,
        kind: Literal["answer", "board"],
        target_id: str,
        text: str,
        *,
        link_id: str | None = None,
        key: str | None = None,
    ) -> Flow[m.Comment]:
        body = given(kind=kind, target_id=target_id, text=text, link_id=link_id)
        return (yield from create("/comments", body, m.Comment, key=key))

    @endpoint
    def list(
        self,
        kind: Literal["answer", "board"],
        target_id: str,
        limit: int | None = None,
        *,
        link_id: str | None = None,
        listing: Listing | None = None,
    ) -> Flow[Items[m.Comment]]:
        """Comments, oldest first."""
        of = {"kind": kind, "target_id": target_id, "link_id": link_id}
        return (yield from pages("/comments", m.Comment, limit, listing=listing, **of))

    @endpoint
    def get(self, comment_id: str, *, link_id: str | None = None) -> Flow[m.Comment]:
        query = {} if link_id is None else {"link_id": link_id}
        return (yield from fetch(Request("GET", f"/comments/{segment(comment_id)}", query), m.Comment))

    @endpoint
    def people(
        self, kind: Literal["answer", "board"], target_id: str, *, link_id: str | None = None
    ) -> Flow[m.People]:
        """The owner of a thing and those who have commented on it."""
        of = {"kind": kind, "target_id": target_id} | ({} if link_id is None else {"link_id": link_id})
        return (yield from fetch(Request("GET", "/comments/people", of), m.People))

    @endpoint
    def counts(self, session: m.Session | str) -> Flow[m.CommentCounts]:
        """Numbers of unresolved comments on the answers of a session."""
        session_id = session if isinstance(session, str) else session.id
        request = Request("GET", "/comments/counts", {"session_id": session_id})
        return (yield from fetch(request, m.CommentCounts))

    @endpoint
    def change(
        self,
        comment_id: str,
        *,
        text: str | None = None,
        resolved: bool | None = None,
        link_id: str | None = None,
        version: int | None = None,
    ) -> Flow[m.Comment]:
        """Change the text of an own comment, or resolve or reopen one."""
        body = given(text=text, resolved=resolved, link_id=link_id)
        return (yield from patch(f"/comments/{segment(comment_id)}", body, m.Comment, version=version))

    @endpoint
    def delete(self, comment_id: str) -> Flow[None]:
        yield from delete(f"/comments/{segment(comment_id)}")


class Links(Group[C_co]):
    """Read-only links to answers, sessions and boards."""

    @endpoint
    def add(
        self,
        kind: Literal["answer", "session", "board"],
        target_id: str,
        *,
        days: int | None = None,
        preview: bool | None = None,
        key: str | None = None,
    ) -> Flow[m.Link]:
        """Make a link for users who may use the database; with `preview`, its title, headline and picture are
        public. Needs scope `ask`.
        """
        return (
            yield from create(
                "/links", given(kind=kind, target_id=target_id, days=days, preview=preview), m.Link, key=key
            )
        )

    @endpoint
    def list(
        self,
        limit: int | None = None,
        *,
        listing: Listing | None = None,
    ) -> Flow[Items[m.Link]]:
        """The caller's links, newest first."""
        return (yield from pages("/links", m.Link, limit, listing=listing))

    @endpoint
    def revoke(self, link_id: str) -> Flow[None]:
        """Needs scope `ask`."""
        yield from delete(f"/links/{segment(link_id)}")

    @endpoint
    def open(self, link_id: str) -> Flow[m.Shared]:
        """What a link shows, of a session the latest messages."""
        return (yield from get(f"/shared/{segment(link_id)}", m.Shared))

    @endpoint
    def go_on(self, link_id: str, *, key: str | None = None) -> Flow[m.Session]:
        """Make a session of your own with copies of what a link shows. Needs scope `ask`."""
        return (yield from create(f"/shared/{segment(link_id)}/continue", {}, m.Session, key=key))

    @endpoint
    def rows(self, link_id: str, message_id: str) -> Flow[Table]:
        """All rows of an answer that a link shows."""
        return (yield from all_rows(f"/shared/{segment(link_id)}/messages/{segment(message_id)}/rows"))


class Rules(Group[C_co]):
    """Rules that models follow. What changes one needs scope `manage`."""

    @endpoint
    def list(
        self, limit: int | None = None, *, database: m.Database | str | None = None
    ) -> Flow[Items[m.Rule]]:
        database_id = None if database is None else id_of(database)
        return (yield from pages("/rules", m.Rule, limit, db_connection_id=database_id))

    @endpoint
    def get(self, name: str) -> Flow[m.Rule]:
        return (yield from get(f"/rules/{segment(name)}", m.Rule))

    @endpoint
    def add(
        self,
        name: str,
        text: str,
        *,
        apply: Literal["always", "auto", "manual"] | None = None,
        active: bool | None = None,
        priority: int | None = None,
        scope: m.RuleScope | None = None,
        chart: str | None = None,
        chart_of: Sequence[str] | None = None,
        key: str | None = None,
    ) -> Flow[m.Rule]:
        columns: list[JsonValue] | None = None if chart_of is None else [*chart_of]
        body = given(
            name=name,
            text=text,
            apply=apply,
            active=active,
            priority=priority,
            scope=_dumped(scope),
            chart=chart,
            chart_of=columns,
        )
        return (yield from create("/rules", body, m.Rule, key=key))

    @endpoint
    def change(
        self,
        name: str,
        *,
        text: str | None = None,
        apply: Literal["always", "auto", "manual"] | None = None,
        active: bool | None = None,
        priority: int | None = None,
        scope: m.RuleScope | None = None,
        chart: str | None = None,
        chart_of: Sequence[str] | None = None,
        version: int | None = None,
    ) -> Flow[m.Rule]:
        columns: list[JsonValue] | None = None if chart_of is None else [*chart_of]
        body = given(text=text, apply=apply, active=active, priority=priority, scope=_dumped(scope))
        body |= given(chart=chart, chart_of=columns)
        return (yield from patch(f"/rules/{segment(name)}", body, m.Rule, version=version))

    @endpoint
    def delete(self, name: str) -> Flow[None]:
        yield from delete(f"/rules/{segment(name)}")


class Examples(Group[C_co]):
    """Questions with the SQL that answers them. What changes one needs scope `manage`."""

    @endpoint
    def list(
        self,
        limit: int | None = None,
        *,
        database: m.Database | str | None = None,
        words: str | None = None,
        status: Literal["proposed", "verified", "rejected"] | None = None,
        listing: Listing | None = None,
    ) -> Flow[Items[m.Example]]:
        database_id = None if database is None else id_of(database)
        found = pages(
            "/examples",
            m.Example,
            limit,
            listing=listing,
            db_connection_id=database_id,
            q=words,
            status=status,
        )
        return (yield from found)

    @endpoint
    def get(self, example_id: str) -> Flow[m.Example]:
        return (yield from get(f"/examples/{segment(example_id)}", m.Example))

    @endpoint
    def add(
        self,
        database: m.Database | str,
        question: str,
        sql: str,
        *,
        status: Literal["proposed", "verified", "rejected"] = "verified",
        key: str | None = None,
    ) -> Flow[m.Example]:
        body = given(db_connection_id=id_of(database), question=question, sql=sql, status=status)
        return (yield from create("/examples", body, m.Example, key=key))

    @endpoint
    def change(
        self,
        example_id: str,
        *,
        question: str | None = None,
        sql: str | None = None,
        status: Literal["proposed", "verified", "rejected"] | None = None,
        version: int | None = None,
    ) -> Flow[m.Example]:
        body = given(question=question, sql=sql, status=status)
        return (yield from patch(f"/examples/{segment(example_id)}", body, m.Example, version=version))

    @endpoint
    def test(self, example_id: str, *, sql: str | None = None) -> Flow[m.ExampleRun]:
        """Run the statement of an example, or this one in its place."""
        return (yield from post(f"/examples/{segment(example_id)}/test", given(sql=sql), m.ExampleRun))

    @endpoint
    def matches(self, database: m.Database | str, statements: Sequence[str]) -> Flow[Items[m.ExampleMatch]]:
        """Statements that are the SQL of a verified example, apart from their layout."""
        body = given(db_connection_id=id_of(database), statements=[*statements])
        found = yield from post("/examples/matches", body, m.ExampleMatches)
        return found.items

    @endpoint
    def delete(self, example_id: str) -> Flow[None]:
        yield from delete(f"/examples/{segment(example_id)}")


class Knowledge(Group[C_co]):
    """All that people have written of a database, as a file."""

    @endpoint
    def export(
        self, database: m.Database | str, *, file_format: Literal["csv", "markdown"] = "csv"
    ) -> Flow[bytes]:
        """Examples, glossary, instructions, and descriptions of tables and columns."""
        query = {"db_connection_id": id_of(database), "format": file_format}
        return (yield from send(Request("GET", "/knowledge/file", query))).content

    @endpoint
    def load(
        self,
        database: m.Database | str,
        text: str,
        *,
        file_format: Literal["csv", "markdown"] = "csv",
        dry_run: bool = True,
    ) -> Flow[m.KnowledgeImport]:
        """Import a file, or report what that would do. Needs scope `manage`."""
        body = given(db_connection_id=id_of(database), format=file_format, text=text, dry_run=dry_run)
        return (yield from post("/knowledge/file", body, m.KnowledgeImport))


class Glossary(Group[C_co]):
    """Terms of the business. What changes one needs scope `manage`."""

    @endpoint
    def list(
        self,
        limit: int | None = None,
        *,
        database: m.Database | str | None = None,
        words: str | None = None,
        listing: Listing | None = None,
    ) -> Flow[Items[m.Term]]:
        database_id = None if database is None else id_of(database)
        return (
            yield from pages(
                "/glossary", m.Term, limit, listing=listing, db_connection_id=database_id, q=words
            )
        )

    @endpoint
    def get(self, term_id: str) -> Flow[m.Term]:
        return (yield from get(f"/glossary/{segment(term_id)}", m.Term))

    @endpoint
    def add(
        self,
        database: m.Database | str,
        term: str,
        meaning: str,
        *,
        sql: str | None = None,
        key: str | None = None,
    ) -> Flow[m.Term]:
        body = given(db_connection_id=id_of(database), term=term, meaning=meaning, sql=sql)
        return (yield from create("/glossary", body, m.Term, key=key))

    @endpoint
    def change(
        self,
        term_id: str,
        *,
        term: str | Keep = KEEP,
        meaning: str | Keep = KEEP,
        sql: str | Keep | None = KEEP,
        version: int | None = None,
    ) -> Flow[m.Term]:
        body = changes(term=term, meaning=meaning, sql=sql)
        return (yield from patch(f"/glossary/{segment(term_id)}", body, m.Term, version=version))

    @endpoint
    def delete(self, term_id: str) -> Flow[None]:
        yield from delete(f"/glossary/{segment(term_id)}")


class Instructions(Group[C_co]):
    """Instructions for reading the data. What changes one needs scope `manage`."""

    @endpoint
    def list(
        self,
        limit: int | None = None,
        *,
        database: m.Database | str | None = None,
        words: str | None = None,
        listing: Listing | None = None,
    ) -> Flow[Items[m.Instruction]]:
        database_id = None if database is None else id_of(database)
        return (
            yield from pages(
                "/instructions", m.Instruction, limit, listing=listing, db_connection_id=database_id, q=words
            )
        )

    @endpoint
    def get(self, instruction_id: str) -> Flow[m.Instruction]:
        return (yield from get(f"/instructions/{segment(instruction_id)}", m.Instruction))

    @endpoint
    def add(
        self, database: m.Database | str, text: str, scope: str | None = None, *, key: str | None = None
    ) -> Flow[m.Instruction]:
        body = given(db_connection_id=id_of(database), text=text, scope=scope)
        return (yield from create("/instructions", body, m.Instruction, key=key))

    @endpoint
    def change(
        self,
        instruction_id: str,
        *,
        text: str | Keep = KEEP,
        scope: str | Keep | None = KEEP,
        version: int | None = None,
    ) -> Flow[m.Instruction]:
        path = f"/instructions/{segment(instruction_id)}"
        return (yield from patch(path, changes(text=text, scope=scope), m.Instruction, version=version))

    @endpoint
    def delete(self, instruction_id: str) -> Flow[None]:
        yield from delete(f"/instructions/{segment(instruction_id)}")


class Facts(Group[C_co]):
    """Sentences that KAI remembers. What changes one needs scope `ask`, or for shared ones `manage`."""

    @endpoint
    def list(
        self,
        limit: int | None = None,
        *,
        scope: FactScope | None = None,
        kind: FactKind | None = None,
        database: m.Database | str | None = None,
        status: Literal["active", "superseded", "forgotten", "waiting"] | None = None,
        message_id: str | None = None,
        session: m.Session | str | None = None,
        words: str | None = None,
        listing: Listing | None = None,
    ) -> Flow[Items[m.Fact]]:
        found = pages(
            "/memory/facts",
            m.Fact,
            limit,
            listing=listing,
            scope=scope,
            kind=kind,
            db_connection_id=None if database is None else id_of(database),
            status=status,
            message_id=message_id,
            session_id=None if session is None else id_of(session),
            q=words,
        )
        return (yield from found)

    @endpoint
    def get(self, fact_id: str) -> Flow[m.Fact]:
        return (yield from get(f"/memory/facts/{segment(fact_id)}", m.Fact))

    @endpoint
    def add(
        self,
        text: str,
        kind: FactKind,
        scope: FactScope = "workspace",
        *,
        database: m.Database | str | None = None,
        about: Sequence[str] = (),
        session: m.Session | str | None = None,
        message_id: str | None = None,
        supersedes: str | None = None,
        confirm: bool = False,
        key: str | None = None,
    ) -> Flow[m.KeptFact]:
        """Remember a sentence. `confirm` keeps it although a guard has warned."""
        body = given(
            text=text,
            kind=kind,
            scope=scope,
            db_connection_id=None if database is None else id_of(database),
            about=[*about],
            session_id=None if session is None else id_of(session),
            message_id=message_id,
            supersedes=supersedes,
            confirm=confirm,
        )
        return (yield from create("/memory/facts", body, m.KeptFact, key=key))

    @endpoint
    def change(
        self,
        fact_id: str,
        *,
        text: str | None = None,
        scope: FactScope | None = None,
        database: m.Database | str | None = None,
        status: Literal["active"] | None = None,
        supersedes: str | None = None,
        confirm: bool = False,
        version: int | None = None,
    ) -> Flow[m.KeptFact]:
        """Make one change: text, scope, status or supersedes."""
        body = given(
            text=text,
            scope=scope,
            db_connection_id=None if database is None else id_of(database),
            status=status,
            supersedes=supersedes,
            confirm=confirm,
        )
        return (yield from patch(f"/memory/facts/{segment(fact_id)}", body, m.KeptFact, version=version))

    @endpoint
    def forget(self, fact_id: str) -> Flow[None]:
        yield from delete(f"/memory/facts/{segment(fact_id)}")

    @endpoint
    def import_facts(
        self,
        facts: Sequence[Mapping[str, JsonValue]] = (),
        markdown: str = "",
        *,
        kind: FactKind = "preference",
        scope: FactScope = "user",
        database: m.Database | str | None = None,
        confirm: bool = False,
    ) -> Flow[m.ImportedFacts]:
        """Import facts of an export, or the lists of a Markdown text."""
        body = given(
            facts=[dict(each) for each in facts],
            markdown=markdown,
            kind=kind,
            scope=scope,
            db_connection_id=None if database is None else id_of(database),
            confirm=confirm,
        )
        return (yield from post("/memory/facts/import", body, m.ImportedFacts))


class Memory(Group[C_co]):
    """The profile, the memory outside of KAI, and forgetting. What changes something needs scope `ask`."""

    @endpoint
    def export(self) -> Flow[m.MemoryExport]:
        return (yield from get("/memory/export", m.MemoryExport))

    @endpoint
    def profile(self) -> Flow[m.Profile]:
        return (yield from get("/memory/profile", m.Profile))

    @endpoint
    def consent_to_profile(self, consent: bool, *, version: int | None = None) -> Flow[m.Profile]:
        return (yield from patch("/memory/profile", {"consent": consent}, m.Profile, version=version))

    @endpoint
    def delete_profile(self) -> Flow[None]:
        yield from delete("/memory/profile")

    @endpoint
    def attribute(self, name: Attribute) -> Flow[m.ProfileAttribute]:
        return (yield from get(f"/memory/profile/{name}", m.ProfileAttribute))

    @endpoint
    def change_attribute(
        self,
        name: Attribute,
        items: Sequence[str] | None = None,
        *,
        add: Sequence[str] = (),
        remove: Sequence[str] = (),
        confirm: bool = False,
        version: int | None = None,
    ) -> Flow[m.ProfileAttribute]:
        """Replace all items, or add some and remove others."""
        body = given(items=None if items is None else [*items], add=[*add], remove=[*remove], confirm=confirm)
        return (yield from patch(f"/memory/profile/{name}", body, m.ProfileAttribute, version=version))

    @endpoint
    def delete_attribute(self, name: Attribute) -> Flow[None]:
        yield from delete(f"/memory/profile/{name}")

    @endpoint
    def graph(self) -> Flow[m.GraphMemory]:
        """State of the memory outside of KAI, and the text that a consent is about."""
        return (yield from get("/memory/graph", m.GraphMemory))

    @endpoint
    def test_graph(self, mode: Literal["basic", "smoke"] = "basic") -> Flow[m.GraphTest]:
        """Needs scope `admin`."""
        return (yield from post("/memory/graph/test", {"mode": mode}, m.GraphTest))

    @endpoint
    def consents(self, limit: int | None = None) -> Flow[Items[m.Consent]]:
        return (yield from pages("/memory/consents", m.Consent, limit))

    @endpoint
    def consent(self, database: m.Database | str, endpoint: str, text_version: int) -> Flow[m.Consent]:
        """Consent to `graph().consent_text` for a database and the address of the service."""
        body = given(db_connection_id=id_of(database), endpoint=endpoint, text_version=text_version)
        return (yield from fetch(Request("PUT", "/memory/consents", body=body), m.Consent))

    @endpoint
    def withdraw_consent(self, database: m.Database | str, *, erase: bool = False) -> Flow[m.Withdrawn]:
        query = {"db_connection_id": id_of(database), "erase": str(erase).lower()}
        return (yield from fetch(Request("DELETE", "/memory/consents", query), m.Withdrawn))

    @endpoint
    def forget(self) -> Flow[m.Forgotten]:
        """Delete everything that memory holds of the caller."""
        return (yield from fetch(Request("DELETE", "/memory"), m.Forgotten))

    @endpoint
    def forget_everything(self) -> Flow[m.Forgotten]:
        """Delete everything that KAI holds of the caller."""
        return (yield from fetch(Request("DELETE", "/me/data"), m.Forgotten))


class ApiKeys(Group[C_co]):
    """API keys of all owners. Needs scope `admin`."""

    @endpoint
    def list(
        self,
        limit: int | None = None,
        *,
        listing: Listing | None = None,
    ) -> Flow[Items[m.ApiKey]]:
        return (yield from pages("/api-keys", m.ApiKey, limit, listing=listing))

    @endpoint
    def add(
        self,
        owner: str,
        days: int | None,
        *,
        name: str = "",
        role: Role = "user",
        scopes: Sequence[Scope] = (),
        attributes: Mapping[str, JsonValue] | None = None,
        key: str | None = None,
    ) -> Flow[m.NewApiKey]:
        """Create a key. Its text is in this answer only. `days` of None never expires. Policies of databases
        name `attributes`.
        """
        body: dict[str, JsonValue] = {"owner": owner, "days": days, "name": name, "role": role}
        body |= {"scopes": [*scopes], "attributes": dict(attributes or {})}
        return (yield from create("/api-keys", body, m.NewApiKey, key=key))

    @endpoint
    def revoke(self, key_id: str) -> Flow[None]:
        yield from delete(f"/api-keys/{segment(key_id)}")


class Reports(Group[C_co]):
    @endpoint
    def make(
        self,
        *,
        session: m.Session | str | None = None,
        board: m.Board | str | None = None,
        parts: Sequence[Mapping[str, JsonValue]] | None = None,
        title: str | None = None,
        report_format: Literal["html", "markdown", "ipynb"] = "html",
        rows: int = 200,
        language: Literal["en", "de"] = "en",
        time_zone: str = "UTC",
    ) -> Flow[bytes]:
        """One file of answers of a session, or of pins of a board. `parts` are those of the API.

        `language` is that of the report's own words, `time_zone` the IANA name of its times' zone.
        """
        body = given(
            session_id=None if session is None else id_of(session),
            board_id=None if board is None else _board_id(board),
            parts=None if parts is None else [dict(each) for each in parts],
            title=title,
            format=report_format,
            rows=rows,
            language=language,
            time_zone=time_zone,
        )
        return (yield from send(Request("POST", "/reports", body=body))).content


class Runs(Group[C_co]):
    """Questions on their way to an answer. `ask` and `answer` wait, for as long as it takes.

    A failed run raises its error.
    """

    @endpoint
    def ask(
        self,
        question: str,
        *,
        database: m.Database | str | None = None,
        session: m.Session | str | None = None,
        rows: int = 100,
        keep: bool = False,
        key: str | None = None,
        **options: Unpack[Options],
    ) -> Flow[m.RunAnswer]:
        """Ask a question and return its answer with its first rows, at most 1000. One request, unless it
        takes longer than a minute. Needs scope `ask`.

        Without a session it is asked in a new one, which is deleted after a day unless it is to be kept.
        """
        path, body = "/ask", {"query": question, "rows": rows, **_plain(options)}
        if session is None:
            body |= {**_named(database), "keep": keep}
        else:
            path = f"{_session(session)}/query"
            if database is not None:
                body["db_connection_id"] = yield from resolve_database(database)
        headers = {**_WAIT, **key_header(key)}
        reply = yield from send(Request("POST", path, body=body, headers=headers))
        return (yield from _wait_for_answer(reply, rows))

    @endpoint
    def answer(self, session: m.Session | str, run_id: str, rows: int = 100) -> Flow[m.RunAnswer]:
        """Wait for the answer of a run."""
        reply = yield from send(_answer(id_of(session), run_id, rows))
        return (yield from _wait_for_answer(reply, rows))

    @endpoint
    def get(self, session: m.Session | str, run_id: str) -> Flow[m.Run]:
        """A run and its state."""
        return (yield from get(f"{_session(session)}/runs/{segment(run_id)}", m.Run))

    @endpoint
    def list(
        self,
        limit: int | None = None,
        *,
        session: m.Session | str | None = None,
        status: str | None = None,
        ended_after: str | None = None,
        listing: Listing | None = None,
    ) -> Flow[Items[m.Run]]:
        """Runs of a session, or of all that are kept, newest first; those of a state, and those that ended
        after a time (RFC 3339).
        """
        path = "/runs" if session is None else f"{_session(session)}/runs"
        found = pages(
            path,
            m.Run,
            limit,
            listing=listing,
            status=status,
            ended_after=ended_after,
        )
        return (yield from found)


class Server(Group[C_co]):
    """Routes of the client itself, and the groups of the others."""

    def __init__(self, client: C_co) -> None:
        super().__init__(client)
        self.databases = Databases(client)
        self.sessions = Sessions(client)
        self.runs = Runs(client)
        self.boards = Boards(client)
        self.reports = Reports(client)
        self.schedules = Schedules(client)
        self.webhooks = Webhooks(client)
        self.comments = Comments(client)
        self.notices = Notices(client)
        self.links = Links(client)
        self.rules = Rules(client)
        self.examples = Examples(client)
        self.knowledge = Knowledge(client)
        self.glossary = Glossary(client)
        self.instructions = Instructions(client)
        self.facts = Facts(client)
        self.memory = Memory(client)
        self.api_keys = ApiKeys(client)

    @endpoint
    def me(self) -> Flow[m.Me]:
        return (yield from get("/me", m.Me))

    @endpoint
    def usage(self) -> Flow[m.Usage]:
        return (yield from get("/usage", m.Usage))

    @endpoint
    def models(self, limit: int | None = None) -> Flow[Items[m.LanguageModel]]:
        return (yield from pages("/models", m.LanguageModel, limit))

    @endpoint
    def tools(self) -> Flow[m.ToolList]:
        return (yield from get("/tools", m.ToolList))

    @endpoint
    def problems(self) -> Flow[m.ProblemKinds]:
        """Every kind of problem, with its causes and its cure."""
        return (yield from get("/problems", m.ProblemKinds))

    @endpoint
    def problem(self, kind: str) -> Flow[m.ProblemKind]:
        """A kind of problem, such as `session-busy`."""
        return (yield from get(f"/problems/{segment(kind)}", m.ProblemKind))

    @endpoint
    def capabilities(self) -> Flow[m.Capabilities]:
        return (yield from get("/capabilities", m.Capabilities))

    @endpoint
    def mcp_servers(self) -> Flow[Items[m.McpServer]]:
        return (yield from get("/mcp/servers", m.McpServerList)).items

    @endpoint
    def approve_mcp_tool(self, server: str, tool: str, fingerprint: str) -> Flow[m.McpTool]:
        """Let investigations call exactly this tool. Needs scope `admin`."""
        path = f"/mcp/servers/{segment(server)}/tools/{segment(tool)}/approve"
        return (yield from post(path, {"fingerprint": fingerprint}, m.McpTool))

    @endpoint
    def withdraw_mcp_tool(self, server: str, tool: str) -> Flow[None]:
        """Needs scope `admin`."""
        yield from delete(f"/mcp/servers/{segment(server)}/tools/{segment(tool)}/approve")

    @endpoint
    def rows(self, answer: Answer | m.Message, session: m.Session | str | None = None) -> Flow[Table]:
        """All rows of an answer, of as many pages as it takes. A message of a session needs the session."""
        if answer.row_count is None:
            return Table(columns=answer.columns, rows=[], truncated=False, cut_by=None)
        if isinstance(answer, Answer):
            return (yield from all_rows(_rows(answer.session_id, answer.message_id)))
        if session is None:
            raise TypeError("the rows of a message need its session: kai.rows(message, session)")
        return (yield from all_rows(_rows(session, answer.id)))

    @endpoint
    def generate_sql(
        self, query: str, database: m.Database | str | None = None, *, run: bool = False
    ) -> Flow[m.GeneratedSql]:
        """Write and check SQL for a question, without a session; `run` returns its first rows, too.

        Needs scope `ask`.
        """
        body = given(db_connection_id=(yield from resolve_database(database)), query=query, run=run)
        return (yield from post("/generate/sql", body, m.GeneratedSql))


def resolve_database(database: m.Database | str | None) -> Flow[str]:
    """Returns the id of a database given by id or name, or of the only one.

    Raises `NotFound` or `Invalid`.
    """
    if isinstance(database, m.Database):
        return database.id
    known = yield from pages("/database-connections", m.Database, None)
    found = [
        each for each in known if database in (None, each.id) or each.name.casefold() == database.casefold()
    ]
    if len(found) == 1:
        return found[0].id
    names = ", ".join(f"{each.name} ({each.id})" for each in known) or "none"
    if found:
        detail = f"Name one database, by its id or name. There are: {names}."
        raise Invalid(Problem(type="about:blank", title="Several databases", status=422, detail=detail))
    detail = f"There is no database {database!r}. There are: {names}."
    raise NotFound(Problem(type="about:blank", title="Unknown database", status=404, detail=detail))


def ask_in(
    question: str,
    database: m.Database | str | None,
    session: m.Session | str | None,
    *,
    key: str | None,
    options: Options,
) -> Flow[Following]:
    """Returns the place before the first event of a question's run, which is asked when it is read."""
    body: dict[str, JsonValue] = {"query": question, **_plain(options)}
    headers = key_header(key)
    if session is None:
        body |= {**_named(database), "keep": True}
        return Following("", None, Request("POST", "/ask/stream", body=body, headers=headers))
    if database is not None:
        body["db_connection_id"] = yield from resolve_database(database)
    ask = Request("POST", f"{_session(session)}/query/stream", body=body, headers=headers)
    return Following(id_of(session), None, ask)


def follow_in(session: m.Session | str, run_id: str, after: int) -> Flow[Following]:
    """Returns the place after an event of a run."""
    yield from ()
    return Following(id_of(session), run_id, None, after=after)


def document_in(
    database: m.Database | str | None, tables: Sequence[str], *, accept_estimate: bool
) -> Flow[Following]:
    """Begin to document a database. Returns the place before the first event of its run."""
    database_id = yield from resolve_database(database)
    body = given(db_connection_id=database_id, tables=[*tables], accept_estimate=accept_estimate)
    started = yield from create("/generate/documentation", body, m.StartedDocumentation)
    return Following(started.session_id, started.run_id, None)


def _named(database: m.Database | str | None) -> dict[str, JsonValue]:
    """Returns the field that names the database of a question without a session."""
    if isinstance(database, m.Database):
        return {"db_connection_id": database.id}
    return given(database=database)


def _answer(session_id: str, run_id: str, rows: int) -> Request:
    path = f"{_session(session_id)}/runs/{segment(run_id)}/answer"
    return Request("GET", path, {"rows": rows}, headers=_WAIT)


def _wait_for_answer(reply: Reply, rows: int) -> Flow[m.RunAnswer]:
    """Ask for an answer again until it is there. Each request waits for it by itself."""
    while reply.status == HTTPStatus.ACCEPTED:
        run = _JSON_OBJECT.validate_json(reply.content)
        request = _answer(str(run["session_id"]), str(run["run_id"]), rows)
        pause = float(reply.headers.get("retry-after", 0))
        reply = yield from send(replace(request, wait_seconds=pause))
    return m.RunAnswer.model_validate_json(reply.content)


def rows_page(path: str, limit: int, cursor: str | None) -> Flow[m.RowsPage]:
    query: dict[str, str | int] = {"limit": limit}
    return (
        yield from fetch(
            Request("GET", path, query if cursor is None else {**query, "cursor": cursor}), m.RowsPage
        )
    )


def all_rows(path: str) -> Flow[Table]:
    """Returns all rows of a result, of as many pages as it takes."""
    page = yield from rows_page(path, _MOST_ROWS, None)
    rows = list(page.items)
    while page.next_cursor is not None:
        page = yield from rows_page(path, _MOST_ROWS, page.next_cursor)
        rows += page.items
    return Table(columns=page.columns, rows=rows, truncated=page.truncated, cut_by=page.cut_by)


def _database(database: m.Database | str) -> str:
    return f"/database-connections/{segment(id_of(database))}"


def _session(session: m.Session | str) -> str:
    return f"/sessions/{segment(id_of(session))}"


def _board(board: m.Board | str) -> str:
    return f"/boards/{segment(_board_id(board))}"


def _board_id(board: m.Board | str) -> str:
    return board if isinstance(board, str) else board.id


def _pin(board: m.Board | str, pin_id: str) -> str:
    return f"{_board(board)}/pins/{segment(pin_id)}"


def _targets(keep: Sequence[m.ScheduleTarget], mail: Sequence[str], chats: Sequence[str]) -> list[JsonValue]:
    named = [*(("id", each.id) for each in keep), *(("address", each) for each in mail)]
    return [{name: value} for name, value in (*named, *(("url", each) for each in chats))]


def _webhook(webhook_id: str) -> str:
    return f"/webhooks/{segment(webhook_id)}"


def _schedule(schedule_id: str) -> str:
    return f"/schedules/{segment(schedule_id)}"


def _drawn(theme: str | None, width: int | None) -> dict[str, str | int]:
    """Returns how a picture is drawn, as a query."""
    wanted: dict[str, str | int | None] = {"theme": theme, "width": width}
    return {name: value for name, value in wanted.items() if value is not None}


def _choice(choice: m.ChartChoice | Keep | None) -> dict[str, JsonValue] | Keep | None:
    return choice.model_dump(exclude_none=True) if isinstance(choice, m.ChartChoice) else choice


def _message(session: m.Session | str, message_id: str) -> str:
    return f"{_session(session)}/messages/{segment(message_id)}"


def _rows(session: m.Session | str, message_id: str) -> str:
    return f"{_message(session, message_id)}/rows"


def _version(session: m.Session | str, message_id: str, number: int) -> str:
    return f"{_message(session, message_id)}/versions/{number}/rows"


def _result(session: m.Session | str, message_id: str, result_id: str) -> str:
    return f"{_message(session, message_id)}/results/{segment(result_id)}/rows"


def _plain(fields: Roles | Options) -> dict[str, JsonValue]:
    plain: dict[str, JsonValue] = _JSON_OBJECT.validate_python(fields)
    return plain


def _roles(roles: Roles | None) -> dict[str, JsonValue] | None:
    return None if roles is None else _plain(roles)


def _dumped(scope: m.RuleScope | None) -> JsonValue:
    return None if scope is None else scope.model_dump(mode="json")
