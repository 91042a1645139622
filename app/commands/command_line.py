"""The `kai` command. Imports are inside the commands: help comes at once, and servers load only their own."""

import asyncio
import gc
import sys
from collections.abc import Callable, Coroutine
from importlib.util import find_spec
from pathlib import Path
from signal import SIG_DFL, SIGINT, default_int_handler, getsignal, signal
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

import typer

if TYPE_CHECKING:
    from app.commands.registered.databases import DatabaseStore

app = typer.Typer(
    help="Ask questions of your SQL databases in plain language.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)

_MISUSED = 2

StoreName = Literal["sqlite", "typesense"]
Port = Annotated[
    int | None,
    typer.Option(min=0, max=65_535, help="Port to listen on [env KAI_PORT, default 8000]."),
]
Host = Annotated[str | None, typer.Option(help="Address to listen on [env KAI_HOST, default 127.0.0.1].")]
DataDir = Annotated[
    Path | None,
    typer.Option(
        help="Folder for everything KAI keeps [env KAI_DATA_DIR, default ~/.kai, or the demo's .kai here]."
    ),
]

ModeOption = Annotated[
    Literal["exact", "subset", "bird"],
    typer.Option(help="What is right: the gold's columns exactly, more columns too, or BIRD's set of rows."),
]
Split = Literal["tune", "report"]


def _show_version(wanted: bool) -> None:
    if wanted:
        from app import __version__  # noqa: PLC0415

        typer.echo(f"kai {__version__}")
        raise typer.Exit


@app.callback()
def _kai(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Ask questions of your SQL databases in plain language."""


@app.command()
def serve(host: Host = None, port: Port = None, data_dir: DataDir = None) -> None:
    """Serve the HTTP API."""
    from app.commands.serve import serve as run  # noqa: PLC0415

    _run(run(host=host, port=port, data_dir=data_dir), is_server=True)


@app.command()
def api(
    part: Annotated[
        Literal["requests", "streams", "all"],
        typer.Option("--serve", help="Serve the requests or the streams alone; a proxy routes by path."),
    ] = "all",
    host: Host = None,
    port: Port = None,
    data_dir: DataDir = None,
) -> None:
    """Serve the HTTP API and its streams; workers answer the questions (KAI_NATS__URL)."""
    from app.commands.serve import serve_api as run  # noqa: PLC0415

    _run(run(part, host, port, data_dir=data_dir), is_server=True)


@app.command()
def worker(
    kind: Annotated[
        Literal["runs", "history", "memory", "graph"],
        typer.Option(
            help="Answer questions; or, once they are answered, write titles or memories, or send to a graph "
            "memory (KAI_GRAPH_MEMORY__ENABLED)."
        ),
    ] = "runs",
    data_dir: DataDir = None,
) -> None:
    """Answer the questions that any API has taken in, or work on what is answered (KAI_NATS__URL)."""
    from app.commands.serve import work as run  # noqa: PLC0415

    _run(run(kind, data_dir), is_server=True)


@app.command()
def demo(
    host: Host = None,
    port: Port = None,
    data_dir: DataDir = None,
    store: Annotated[
        StoreName | None,
        typer.Option(help="Where to keep everything; a Typesense is started for it [env KAI_STORE]."),
    ] = None,
    nats: Annotated[
        bool, typer.Option("--nats", help="Start a NATS, too, and send jobs and streams over it.")
    ] = False,
    access_log: Annotated[
        bool, typer.Option("--access-log", help="Log each HTTP request [env KAI_ACCESS_LOG].")
    ] = False,
) -> None:
    """Serve the HTTP API with a sample business to ask about; needs no model, no key and no database."""
    from app.commands.serve import demo as run  # noqa: PLC0415

    _run(run(host, port, data_dir, store=store, nats=nats, access_log=access_log), is_server=True)


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="For example: 'Top 5 customers by revenue'.")],
    db: Annotated[
        str, typer.Option(envvar="KAI_DB", help="Database URL, or a SQLite, CSV, Excel or Parquet file.")
    ],
    mode: Annotated[
        Literal["ask", "agent"],
        typer.Option(help="Tools that read, or all: those that write or leave KAI ask for your approval."),
    ] = "ask",
    chart: Annotated[
        Path | None,
        typer.Option(help="Write the chart to this file, which ends in .svg or .png.", metavar="FILE"),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the whole answer as JSON, and the steps to standard error.")
    ] = False,
) -> None:
    """Ask one question about a database and show the steps, the SQL, the rows and the analysis.

    Calls that need an approval are shown and asked about on a terminal. Without one the exit code is 3, and
    nothing of them was done.
    """
    from app.commands.ask import AskOutput, picture_format_of  # noqa: PLC0415
    from app.commands.ask import ask as run  # noqa: PLC0415

    _check_question(question)
    if chart is not None:
        try:
            picture_format_of(chart)
        except ValueError as error:
            _fail(str(error), _MISUSED)
    _run(run(question, db, mode, output=AskOutput(chart=chart, as_json=as_json)))


@app.command()
def mcp(
    url: Annotated[
        str | None, typer.Option(help="Address of a KAI that serves, such as http://127.0.0.1:8000.")
    ] = None,
    api_key: Annotated[
        str | None, typer.Option(envvar="KAI_API_KEY", help="API key for that KAI.", show_envvar=True)
    ] = None,
    db: Annotated[
        str | None, typer.Option(help="Serve only this database (URL or SQLite file), and keep nothing.")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Serve MCP over stdio: for a KAI at a URL, for one database, or else for the data folder."""
    if url is not None and db is not None:
        _fail("--url and --db do not go together.", _MISUSED)
    if url is not None:
        from app.modules.protocols.mcp.bridge import serve_bridge  # noqa: PLC0415

        _run(serve_bridge(url.rstrip("/").removesuffix("/mcp"), api_key))
        return
    from app.commands.mcp import serve_database, serve_folder  # noqa: PLC0415

    _run(serve_folder(data_dir) if db is None else serve_database(db), is_server=True)


@app.command()
def generate_sql(
    question: Annotated[str, typer.Argument(help="For example: 'Top 5 customers by revenue'.")],
    db: Annotated[str, typer.Option(envvar="KAI_DB", help="Database URL, or the path of a SQLite file.")],
    runs: Annotated[bool, typer.Option("--run", help="Run the statement too, and show its rows.")] = False,
    output: Annotated[
        Literal["text", "sql", "json"],
        typer.Option("--format", help="All in words, the statement alone, or one JSON object."),
    ] = "text",
) -> None:
    """Write SQL for a question about a database, check it, and with --run run it.

    Exits with 0 for a valid statement, 1 for any other outcome, 2 for wrong options. With --format sql only a
    valid statement goes to standard output; warnings go to standard error.
    """
    from app.commands.generate_sql import generate_sql as run  # noqa: PLC0415

    _check_question(question)
    _run(run(question, db, runs=runs, output=output))


@app.command()
def document(
    db: Annotated[str, typer.Option(envvar="KAI_DB", help="Database URL, or the path of a SQLite file.")],
    out: Annotated[
        Path | None, typer.Option(help="Write the Markdown to this file instead of standard output.")
    ] = None,
    table: Annotated[list[str] | None, typer.Option(help="Document only this table; repeatable.")] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Begin without asking, however many tables there are.")
    ] = False,
) -> None:
    """Document a database in Markdown: purpose, columns, keys, joins and quality notes of each table.

    Shows an estimate and asks before more than 20 tables. Exits with 0 once the document is written.
    """
    from app.commands.document import document as run  # noqa: PLC0415

    _run(run(db, out, table or [], yes=yes))


@app.command()
def check_sql(
    sql: Annotated[str | None, typer.Argument(help="One statement.", metavar="SQL")] = None,
    dialect: Annotated[
        str | None, typer.Option(help="The statement's dialect.", metavar="sqlite|postgres|mysql|duckdb")
    ] = None,
    db: Annotated[
        str | None,
        typer.Option(help="Database URL or SQLite file: check tables and columns against it, too."),
    ] = None,
    jsonl: Annotated[
        str | None,
        typer.Option(help="Statements as JSON lines with id and sql; - is standard input.", metavar="FILE|-"),
    ] = None,
) -> None:
    """Say whether KAI would run a statement, without running it.

    Exits with 0 for allow, 1 for block, 2 for wrong options; after --jsonl with 0 once all lines are judged.
    """
    from app.commands.check_sql import check_sql as run  # noqa: PLC0415

    raise typer.Exit(run(sql, dialect, db, jsonl=jsonl))


@app.command()
def check_settings() -> None:
    """Check all KAI_... variables, and print each problem. The exit code is 2 if there is one.

    Servers that run without a terminal log an unknown variable and go on; this command fails.
    """
    from app.commands.check_settings import check_settings as run  # noqa: PLC0415

    raise typer.Exit(0 if run() else _MISUSED)


@app.command()
def models() -> None:
    """List the language models of the service, and which task uses which."""
    from app.commands.models import list_models  # noqa: PLC0415

    _run(list_models())


@app.command()
def migrate(
    source: Annotated[
        StoreName | None, typer.Option("--from", help="Copy everything from this store ...")
    ] = None,
    target: Annotated[StoreName | None, typer.Option("--to", help="... to this one.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Bring the store up to date, or (with both options) copy everything to another one."""
    from app.commands.migrate import copy_store, migrate_store  # noqa: PLC0415

    if source is None and target is None:
        _run(migrate_store(data_dir))
    elif source is None or target is None or source == target:
        _fail("--from and --to go together and name different stores, as in: --from sqlite --to typesense")
    else:
        _run(copy_store(source, target, data_dir))


Folder = Annotated[Path, typer.Argument(help="The folder of the backup.")]


@app.command()
def backup(folder: Folder, data_dir: DataDir = None) -> None:
    """Back up all data to a new folder, also while KAI is serving."""
    from app.commands.backup import backup as run  # noqa: PLC0415

    _run(run(folder, data_dir))


@app.command()
def restore(folder: Folder, data_dir: DataDir = None) -> None:
    """Replace the data of KAI with a backup. Stop KAI first."""
    from app.commands.backup import restore as run  # noqa: PLC0415

    _run(run(folder, data_dir))


@app.command()
def prune(
    idle_days: Annotated[
        int, typer.Option(min=1, max=36_500, help="Sessions that were not used for this long.")
    ] = 30,
    data_dir: DataDir = None,
) -> None:
    """Delete old checkpoints of unused sessions. They stay usable; forks need a kept checkpoint."""
    from app.commands.prune import prune as run  # noqa: PLC0415

    _run(run(idle_days, data_dir))


@app.command("eval")
def evaluate(
    questions: Annotated[
        Path | None, typer.Argument(help="Question set: a JSON object a line.", metavar="FILE")
    ] = None,
    db: Annotated[
        str | None, typer.Option(help="Database URL or SQLite file; {db} stands for a question's own db.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Results file [default: FILE's name, .results.jsonl]; it is resumed.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Ask again what the results file holds.")] = False,
    mode: ModeOption = "exact",
    split: Annotated[
        Split | None, typer.Option(help="Ask one half only: tune on one, report the other.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="Ask only questions with this tag; repeatable.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Ask so many conversations, drawn by the seed.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Draws the halves and the limit.")] = 0,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, max=64, help="Conversations at a time [default: 4, without a model 1]."),
    ] = None,
    baseline: Annotated[
        Literal["plain"] | None,
        typer.Option(help="Ask the model itself, with a prompt of nothing but the schema and the question."),
    ] = None,
    compare_prompts: Annotated[
        bool,
        typer.Option("--compare-prompts", help="Ask with short and long instructions; KAI uses the better."),
    ] = False,
    compare_agent: Annotated[
        bool, typer.Option("--compare-agent", help="Ask with investigations off and on, and compare.")
    ] = False,
    model: Annotated[
        str | None, typer.Option(help="The model of every task [env KAI_LLM__MODEL and its like].")
    ] = None,
    tasks: Annotated[
        Path | None,
        typer.Option(help="Ask a task set instead of FILE: a JSON object a line.", metavar="FILE"),
    ] = None,
    memory: Annotated[
        Path | None,
        typer.Option(help="Ask a dialogue set instead of FILE, with facts and without.", metavar="FILE"),
    ] = None,
    runs: Annotated[int, typer.Option(min=1, max=20, help="Runs of each task, with --tasks.")] = 3,
    system: Annotated[
        Literal["all", "agent", "pipeline", "plain"],
        typer.Option(help="With --tasks: KAI with investigations, without them, or one plain prompt."),
    ] = "all",
) -> None:
    """Measure execution accuracy: ask every question of a set and score the rows against its gold SQL.

    With --tasks, ask what one statement cannot answer, and score the findings against planted truths. With
    --memory, ask what needs facts that were defined before, and count the use of wrong ones.
    """
    if memory is not None:
        _need_tasks()
        from kai_analyst_tasks.dialogues.run import MemoryEvaluation, evaluate_memory  # noqa: PLC0415

        if db is None or questions is not None or tasks is not None or baseline or split:
            _fail("--memory goes with --db, --output, --model and --limit alone.", _MISUSED)
        remembering = MemoryEvaluation(dialogues=memory, database=db, output=output, model=model, limit=limit)
        _run(evaluate_memory(remembering))
        return
    if tasks is not None:
        _need_tasks()
        from kai_analyst_tasks.run import TaskEvaluation, evaluate_tasks  # noqa: PLC0415

        if questions is not None or db is not None or baseline or compare_prompts or compare_agent or split:
            _fail("--tasks has databases of its own: it goes with no FILE, --db or comparison.", _MISUSED)
        asked = TaskEvaluation(
            tasks=tasks,
            output=output,
            systems=("agent", "pipeline", "plain") if system == "all" else (system,),
            runs=runs,
            model=model,
            tags=tag or (),
            limit=limit,
            seed=seed,
            jobs=jobs or 1,
            fresh=fresh,
        )
        _run(evaluate_tasks(asked))
        return
    if questions is None or db is None:
        _fail("Name a question set and its --db, or a task set by --tasks.", _MISUSED)
    from app.evaluation.loop import compare_agent as compare_loop  # noqa: PLC0415
    from app.evaluation.prompts import compare_prompts as compare  # noqa: PLC0415
    from app.evaluation.question_set import QuestionSelection  # noqa: PLC0415
    from app.evaluation.run import Evaluation  # noqa: PLC0415
    from app.evaluation.run import evaluate as run  # noqa: PLC0415

    selection = QuestionSelection(split, tag or (), limit, seed)
    wanted = Evaluation(
        questions=questions,
        database=db,
        output=output,
        selection=selection,
        mode=mode,
        jobs=jobs,
        fresh=fresh,
        system=baseline or "kai",
        model=model,
    )
    if [baseline is not None, compare_prompts, compare_agent].count(True) > 1:
        _fail("Of --baseline, --compare-prompts and --compare-agent only one can be asked for.", _MISUSED)
    if compare_prompts:
        _run(compare(wanted))
    elif compare_agent:
        _run(compare_loop(wanted))
    else:
        _run(run(wanted))


@app.command()
def eval_tasks(
    output: Annotated[Path, typer.Argument(help="File to write.", metavar="FILE")],
    seed: Annotated[int, typer.Option(min=0, help="Seed of the databases and their planted truths.")] = 1,
) -> None:
    """Make a task set for kai eval --tasks: databases are generated from the seed when they are asked."""
    _need_tasks()
    from kai_analyst_tasks.run import make_tasks  # noqa: PLC0415

    try:
        make_tasks(seed, output)
    except OSError as error:
        _fail(str(error))


def _need_tasks() -> None:
    """Ends with a reason where the package of tasks and dialogues is missing."""
    if find_spec("kai_analyst_tasks") is None:
        _fail(
            "Tasks and dialogues are a package beside KAI. In a clone: pip install ./kai_analyst_tasks",
            _MISUSED,
        )


@app.command()
def eval_compare(
    first: Annotated[Path, typer.Argument(help="Results of kai eval.", metavar="A")],
    second: Annotated[Path, typer.Argument(help="Other results on the same set.", metavar="B")],
    mode: ModeOption = "exact",
) -> None:
    """Compare two evaluations: which answers differ in being right, and whether that may be chance."""
    from app.evaluation.run import compare_results as run  # noqa: PLC0415

    _run(run(first, second, mode))


keys = typer.Typer(
    help="Make, list and revoke API keys, also while KAI serves; rotate the key of encryption.",
    no_args_is_help=True,
)
app.add_typer(keys, name="keys")


@keys.command("create")
def create_key(
    owner: Annotated[str, typer.Option(help="Whose key it is, and what is made with it.")],
    role: Annotated[
        Literal["user", "admin"], typer.Option(help="A user asks; an admin manages databases and keys.")
    ] = "user",
    scope: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this of what the role may: read, ask, approve, manage or admin; repeatable. Left out: "
            "all but approve."
        ),
    ] = None,
    days: Annotated[int, typer.Option(min=1, max=3_650, help="How long it is good for.")] = 90,
    never_expires: Annotated[bool, typer.Option("--never-expires", help="Good until it is revoked.")] = False,
    name: Annotated[str, typer.Option(help="What it is for.")] = "",
    attribute: Annotated[
        list[str] | None,
        typer.Option(
            help="What policies of databases know of the owner, such as region=EMEA; repeatable. A repeated "
            "name has several values.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Create a key and show it once."""
    from app.commands.keys import create as run  # noqa: PLC0415

    lifetime_days = None if never_expires else days
    made = run(
        data_dir,
        owner=owner,
        name=name,
        role=role,
        scopes=scope or [],
        days=lifetime_days,
        attributes=attribute or [],
    )
    _run(made)


@keys.command("list")
def list_keys(data_dir: DataDir = None) -> None:
    """List the keys of all owners, without their secrets."""
    from app.commands.keys import show_all as run  # noqa: PLC0415

    _run(run(data_dir))


@keys.command("revoke")
def revoke_key(
    key_id: Annotated[str, typer.Argument(help="As `kai keys list` shows it.", metavar="ID")],
    data_dir: DataDir = None,
) -> None:
    """Revoke a key permanently; servers stop accepting it within seconds."""
    from app.commands.keys import revoke as run  # noqa: PLC0415

    _run(run(data_dir, key_id))


@keys.command("rotate-encryption")
def rotate_encryption(data_dir: DataDir = None) -> None:
    """Encrypt all stored secrets and checkpoints with the first key of KAI_ENCRYPTION_KEY.

    Without KAI_ENCRYPTION_KEY it makes a new key for the data folder: stop KAI first.
    """
    from app.commands.keys import rotate_encryption as run  # noqa: PLC0415

    _run(run(data_dir))


databases = typer.Typer(
    help="Add, list, test, change and remove databases, also while KAI serves.", no_args_is_help=True
)
app.add_typer(databases, name="databases")

DatabaseName = Annotated[
    str, typer.Argument(help="Id or name, as `kai databases list` shows them.", metavar="DATABASE")
]
DatabaseOwner = Annotated[str, typer.Option(help="Whose databases. Without a login, all are of this one.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
SchemaPatterns = Annotated[
    list[str] | None,
    typer.Option(
        "--schema",
        help="Read only schemas of this pattern (sales_*), or none of it (!raw); repeatable [default: all].",
        metavar="PATTERN",
    ),
]


def _store(data_dir: Path | None, owner: str) -> "DatabaseStore":
    from app.commands.registered.databases import DatabaseStore  # noqa: PLC0415

    return DatabaseStore(data_dir, owner)


@databases.command("list")
def list_databases(as_json: AsJson = False, owner: DatabaseOwner = "local", data_dir: DataDir = None) -> None:
    """List the databases of an owner and the shared ones, without their passwords."""
    from app.commands.registered.databases import list_databases as run  # noqa: PLC0415

    _run(run(_store(data_dir, owner), as_json=as_json))


@databases.command("add")
def add_database(
    url: Annotated[
        str | None,
        typer.Argument(help="URL, or a SQLite file; left out, its parts are asked for.", metavar="URL"),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name for users [default: the database's].")] = None,
    schema: SchemaPatterns = None,
    shared: Annotated[bool, typer.Option("--shared", help="All users may ask about it.")] = False,
    owner: DatabaseOwner = "local",
    data_dir: DataDir = None,
) -> None:
    """Test a database step by step and add it. Exits with 1, and adds nothing, if a step fails."""
    from app.commands.registered.databases import add_database as run  # noqa: PLC0415

    _run(run(_store(data_dir, owner), url, name=name, schemas=schema or [], shared=shared))


@databases.command("show")
def show_database(
    database: DatabaseName, as_json: AsJson = False, owner: DatabaseOwner = "local", data_dir: DataDir = None
) -> None:
    """Show what is known of a database: address, schemas, tables, warnings of its account."""
    from app.commands.registered.databases import show_database as run  # noqa: PLC0415

    _run(run(_store(data_dir, owner), database, as_json=as_json))


@databases.command("test")
def try_database(
    database: Annotated[
        str, typer.Argument(help="Id, name, or a URL that is not stored.", metavar="DATABASE")
    ],
    as_json: AsJson = False,
    owner: DatabaseOwner = "local",
    data_dir: DataDir = None,
) -> None:
    """Test a database step by step: name, port, encryption, signing in, listing, reading.

    Exits with 1 if a step fails, which says why and what helps.
    """
    from app.commands.registered.databases import try_database as run  # noqa: PLC0415

    _run(run(_store(data_dir, owner), database, as_json=as_json))


@databases.command("change")
def change_database(
    database: DatabaseName,
    name: Annotated[str | None, typer.Option(help="Name for users.")] = None,
    description: Annotated[str | None, typer.Option(help="Description for users.")] = None,
    schema: SchemaPatterns = None,
    all_schemas: Annotated[
        bool, typer.Option("--all-schemas", help="Read all schemas that the account may use.")
    ] = False,
    shared: Annotated[
        bool | None,
        typer.Option("--shared/--private", help="All users may ask about it, or its owner alone."),
    ] = None,
    url: Annotated[str | None, typer.Option(help="New address; it is tested first.")] = None,
    ask_above_rows: Annotated[
        int | None, typer.Option(min=0, help="Estimated rows above which a statement waits; 0 for none.")
    ] = None,
    refuse_above_rows: Annotated[
        int | None, typer.Option(min=0, help="Estimated rows above which it is refused; 0 for none.")
    ] = None,
    owner: DatabaseOwner = "local",
    data_dir: DataDir = None,
) -> None:
    """Change a database: its name, the schemas that are read, its address, what a statement may read."""
    from app.commands.registered.databases import change_database as run  # noqa: PLC0415
    from app.modules.database_connection.model import ConnectionEdit  # noqa: PLC0415

    if schema and all_schemas:
        _fail("--schema and --all-schemas do not go together.", _MISUSED)
    edit = ConnectionEdit()
    if name is not None:
        edit["name"] = name
    if description is not None:
        edit["description"] = description
    if shared is not None:
        edit["shared"] = shared
    if schema or all_schemas:
        edit["schemas"] = schema or []
    if ask_above_rows is not None:
        edit["ask_above_rows"] = ask_above_rows
    if refuse_above_rows is not None:
        edit["refuse_above_rows"] = refuse_above_rows
    _run(run(_store(data_dir, owner), database, edit, url=url))


@databases.command("schemas")
def list_schemas(
    database: DatabaseName, as_json: AsJson = False, owner: DatabaseOwner = "local", data_dir: DataDir = None
) -> None:
    """List the schemas that the account may use, which of them are read, and their numbers of tables."""
    from app.commands.registered.databases import list_schemas as run  # noqa: PLC0415

    _run(run(_store(data_dir, owner), database, as_json=as_json))


@databases.command("remove")
def remove_database(
    database: DatabaseName,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask first.")] = False,
    owner: DatabaseOwner = "local",
    data_dir: DataDir = None,
) -> None:
    """Remove a database with its descriptions, examples and glossary. The database itself is not touched."""
    from app.commands.registered.databases import remove_database as run  # noqa: PLC0415

    _run(run(_store(data_dir, owner), database, yes=yes))


@app.command()
def scan(
    database: Annotated[
        str | None,
        typer.Argument(help="Id or name; left out, the only one.", metavar="DATABASE"),
    ] = None,
    owner: DatabaseOwner = "local",
    data_dir: DataDir = None,
) -> None:
    """Read the tables and values of a database again, with its progress, and say what has changed.

    Ctrl-C stops it: what was read is kept, and the next scan begins with the rest.
    """
    from app.commands.registered.databases import scan_database  # noqa: PLC0415

    _run(scan_database(_store(data_dir, owner), database))


policies = typer.Typer(
    help="Rows and columns of a database that each person may see: a file of them, and what they do.",
    no_args_is_help=True,
)
app.add_typer(policies, name="policies")

PolicyFileName = Annotated[Path, typer.Argument(help="YAML file of policies.", metavar="FILE")]
PoliciesOf = Annotated[
    str | None, typer.Option("--database", help="Id or name of the database [default: the only one].")
]


@policies.command("pull")
def pull_policies(
    file: Annotated[
        Path | None, typer.Argument(help="File to write; left out, the terminal.", metavar="FILE")
    ] = None,
    database: PoliciesOf = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that says something else.")] = False,
    owner: DatabaseOwner = "local",
    data_dir: DataDir = None,
) -> None:
    """Write the policies that hold to a YAML file, with the version that they have."""
    from app.commands.registered.policies import pull_policies as run  # noqa: PLC0415

    _run(run(_store(data_dir, owner), database, file, force=force))


@policies.command("push")
def push_policies(
    file: PolicyFileName,
    database: PoliciesOf = None,
    force: Annotated[
        bool, typer.Option("--force", help="Also if the policies that hold are not those that were pulled.")
    ] = False,
    owner: DatabaseOwner = "local",
    data_dir: DataDir = None,
) -> None:
    """Put the policies of a file in the place of those that hold, from the next statement on.

    Exits with 1, and changes nothing, if the database was changed after the file was pulled, or if the
    policies have errors. `default: allow` without policies ends them.
    """
    from app.commands.registered.policies import push_policies as run  # noqa: PLC0415

    _run(run(_store(data_dir, owner), database, file, force=force))


@policies.command("diff")
def compare_policies(
    file: PolicyFileName,
    database: PoliciesOf = None,
    owner: DatabaseOwner = "local",
    data_dir: DataDir = None,
) -> None:
    """Show what push would change. Exits with 1 if the file says something else than what holds."""
    from app.commands.registered.policies import compare_policies as run  # noqa: PLC0415

    _run(run(_store(data_dir, owner), database, file))


@policies.command("check")
def check_policies(
    file: Annotated[
        Path | None, typer.Argument(help="YAML file; left out, the policies that hold.", metavar="FILE")
    ] = None,
    database: PoliciesOf = None,
    as_json: AsJson = False,
    owner: DatabaseOwner = "local",
    data_dir: DataDir = None,
) -> None:
    """Find unknown tables, columns and attributes, conditions that cannot be read, and what may be meant
    otherwise. Exits with 1 if there is an error.
    """
    from app.commands.registered.policies import check_policies as run  # noqa: PLC0415

    _run(run(_store(data_dir, owner), database, file, as_json=as_json))


@policies.command("test")
def try_policies(
    statement: Annotated[
        Path, typer.Argument(help="File with a statement; - reads standard input.", metavar="FILE")
    ],
    person: Annotated[str, typer.Option("--as", help="Person, by the name of their key or token.")],
    attribute: Annotated[
        list[str] | None,
        typer.Option(
            help="What is known of the person, such as region=EMEA; repeatable [default: as their keys say].",
            metavar="NAME=VALUE",
        ),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--policies", help="YAML file to try [default: the policies that hold].")
    ] = None,
    database: PoliciesOf = None,
    as_json: AsJson = False,
    owner: DatabaseOwner = "local",
    data_dir: DataDir = None,
) -> None:
    """Show a statement as it would run for a person, and which policies change it. It does not run."""
    from app.commands.registered.policies import try_policies as run  # noqa: PLC0415

    store = _store(data_dir, owner)
    _run(
        run(store, database, statement, person=person, attributes=attribute or [], file=file, as_json=as_json)
    )


memory = typer.Typer(help="What KAI remembers, and the graph memory beside it.", no_args_is_help=True)
app.add_typer(memory, name="memory")


@memory.command("test")
def check_graph_memory(
    smoke: Annotated[
        bool, typer.Option("--smoke", help="Also write a message, wait until it is kept, and delete it.")
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """Test the connection to the graph memory (KAI_GRAPH_MEMORY__ENDPOINT), step by step."""
    from app.commands.graph_memory import try_connection as run  # noqa: PLC0415

    _run(run(data_dir, "smoke" if smoke else "basic"))


FactOwner = Annotated[str, typer.Option(help="Whose facts. Without a login, all are of this one.")]
FactScope = Literal["session", "workspace", "user", "shared"]


@memory.command("list")
def list_facts(
    words: Annotated[str | None, typer.Argument(help="Only facts with all of these words.")] = None,
    scope: Annotated[FactScope | None, typer.Option(help="Only facts of this scope.")] = None,
    owner: FactOwner = "local",
    data_dir: DataDir = None,
) -> None:
    """List the facts of an owner, and the shared ones that they may read."""
    from app.commands.memory import show_all as run  # noqa: PLC0415

    _run(run(data_dir, owner=owner, scope=scope, words=words))


@memory.command("forget")
def forget_fact(
    fact_id: Annotated[str, typer.Argument(help="As `kai memory list` shows it.", metavar="ID")],
    owner: FactOwner = "local",
    data_dir: DataDir = None,
) -> None:
    """Forget a fact, and all that it has superseded."""
    from app.commands.memory import forget as run  # noqa: PLC0415

    _run(run(data_dir, fact_id, owner=owner))


@memory.command("export")
def export_memory(
    out: Annotated[Path | None, typer.Option(help="File to write to; left out, the terminal.")] = None,
    owner: FactOwner = "local",
    data_dir: DataDir = None,
) -> None:
    """Write everything that KAI remembers of an owner as JSON."""
    from app.commands.memory import export as run  # noqa: PLC0415

    _run(run(data_dir, out, owner=owner))


@memory.command("import")
def import_memory(
    file: Annotated[Path, typer.Argument(help="An export, or Markdown with lists.", metavar="FILE")],
    kind: Annotated[
        Literal["decision", "lesson_learned", "preference", "procedure", "task_update", "terminology"],
        typer.Option(help="Kind of the items of a list that name none."),
    ] = "preference",
    scope: Annotated[FactScope, typer.Option(help="Scope of the items of lists.")] = "user",
    connection: Annotated[
        str | None,
        typer.Option(help="Id of the database connection of the items, and of facts whose own is unknown."),
    ] = None,
    confirm: Annotated[
        bool, typer.Option("--confirm", help="Remember also what reads like an instruction to KAI.")
    ] = False,
    owner: FactOwner = "local",
    data_dir: DataDir = None,
) -> None:
    """Remember the facts of an export, or the items of the lists in a Markdown file."""
    from app.commands.memory import import_file as run  # noqa: PLC0415

    _run(run(data_dir, file, owner=owner, kind=kind, scope=scope, connection_id=connection, confirm=confirm))


def _check_question(question: str) -> None:
    """Ends the command if the question is empty, too long, or cannot be stored."""
    from app.http.routes import storable  # noqa: PLC0415
    from app.modules.records.model import MAX_QUERY_CHARACTERS  # noqa: PLC0415

    if not question.strip():
        _fail("The question is empty.", _MISUSED)
    if len(question) > MAX_QUERY_CHARACTERS:
        _fail(f"The question is longer than {MAX_QUERY_CHARACTERS:,} characters.", _MISUSED)
    try:
        storable(question)
    except ValueError as error:
        _fail(f"The question cannot be asked: {error}.", _MISUSED)


def main() -> None:
    """Entry point. Every expected error is one line on stderr. The exit code is 2 for a wrong command line
    or setting, and 1 for other failures.
    """
    gc.disable()  # Imports make a million objects that stay; collections would take a fifth of the start.
    try:
        code = app(prog_name="kai", standalone_mode=False)
    except typer.TyperException as error:
        _explain(error)
        code = _MISUSED
    except typer.Abort:
        code = 1
    finally:
        gc.enable()
    sys.exit(code)


def _explain(error: typer.TyperException) -> None:
    """Prints nothing if the help was requested, which is shown already."""
    said = " ".join(error.format_message().split()).replace("Value error, ", "")
    command = getattr(getattr(error, "ctx", None), "command_path", "kai")
    if said:
        sys.stderr.write(f"kai: {said}{'' if said.endswith(('.', '?')) else '.'} See {command} --help\n")


def _run(command: Coroutine[None, None, int | None], *, is_server: bool = False) -> None:
    from pydantic import ValidationError  # noqa: PLC0415
    from pydantic_settings import SettingsError  # noqa: PLC0415

    from app.core.errors import CannotRun, Problem, file_error_text  # noqa: PLC0415
    from app.core.variables import (  # noqa: PLC0415
        UnknownVariable,
        value_error_text,
        variable_error_text,
    )
    from graph.errors import CheckpointsUnavailable, CheckpointUnreadable  # noqa: PLC0415

    code: int | None = 130
    gc.freeze()
    gc.enable()
    try:
        if getsignal(SIGINT) is SIG_DFL:
            signal(SIGINT, default_int_handler)
        with asyncio.Runner(loop_factory=_fast_loop() if is_server else None) as runner:
            code = runner.run(command)
    except KeyboardInterrupt:
        pass
    except ValidationError as error:
        _fail(value_error_text(error), _MISUSED)
    except SettingsError as error:
        _fail(variable_error_text(error), _MISUSED)
    except UnknownVariable as error:
        _fail(str(error), _MISUSED)
    except CannotRun as error:
        _fail(str(error))
    except OSError as error:
        _fail(file_error_text(error))
    except Problem as error:
        _fail(error.detail)
    except CheckpointUnreadable as error:
        _fail(error.detail)
    except CheckpointsUnavailable:
        _fail("The store of the checkpoints does not answer. Run this again; what is done stays done.")
    raise typer.Exit(code or 0)


def _fast_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Returns uvloop's event loop, or None where there is none (Windows, PyPy)."""
    try:
        import uvloop  # noqa: PLC0415
    except ImportError:
        return None
    return uvloop.new_event_loop


def _fail(message: str, code: int = 1) -> NoReturn:
    sys.stderr.write(f"kai: {message}\n")
    raise typer.Exit(code)
