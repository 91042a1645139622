"""The `kai` command. Imports are inside the commands: help comes at once, and servers load only their own."""

import asyncio
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Literal

import typer

app = typer.Typer(
    help="Ask questions of your SQL databases in plain language.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)

Port = Annotated[int | None, typer.Option(help="Port to listen on [env KAI_PORT, default 8000].")]
Host = Annotated[str | None, typer.Option(help="Address to listen on [env KAI_HOST, default 127.0.0.1].")]
DataDir = Annotated[
    Path | None, typer.Option(help="Folder for everything KAI keeps [env KAI_DATA_DIR, default ~/.kai].")
]

ModeOption = Annotated[
    Literal["exact", "subset", "bird"],
    typer.Option(help="What is right: the gold's columns exactly, more columns too, or BIRD's set of rows."),
]
Split = Literal["tune", "report"]


@app.command()
def serve(host: Host = None, port: Port = None, data_dir: DataDir = None) -> None:
    """Serve the HTTP API."""
    from app.serving import serve as run  # noqa: PLC0415

    _run(run(host=host, port=port, data_dir=data_dir))


@app.command()
def demo(host: Host = None, port: Port = None, data_dir: DataDir = None) -> None:
    """Serve the HTTP API with a sample business to ask about; needs no model, no key and no database."""
    from app.serving import demo as run  # noqa: PLC0415

    _run(run(host=host, port=port, data_dir=data_dir))


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="For example: 'Top 5 customers by revenue'.")],
    db: Annotated[str, typer.Option(envvar="KAI_DB", help="Database URL, or the path of a SQLite file.")],
) -> None:
    """Ask one question of a database and show the steps, the SQL, the rows and the analysis."""
    from app.asking import ask as run  # noqa: PLC0415

    _run(run(question, db))


@app.command("eval")
def evaluate(
    questions: Annotated[Path, typer.Argument(help="Question set: a JSON object a line.", metavar="FILE")],
    db: Annotated[
        str, typer.Option(help="Database URL or SQLite file; {db} stands for a question's own db.")
    ],
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
) -> None:
    """Measure execution accuracy: ask every question of a set and score the rows against its gold SQL."""
    from app.evaluation.run import Evaluation  # noqa: PLC0415
    from app.evaluation.run import evaluate as run  # noqa: PLC0415
    from app.evaluation.selection import Selection  # noqa: PLC0415

    selection = Selection(split, tag or (), limit, seed)
    _run(run(Evaluation(questions, db, output, selection, mode, jobs, fresh)))


@app.command()
def eval_compare(
    first: Annotated[Path, typer.Argument(help="Results of kai eval.", metavar="A")],
    second: Annotated[Path, typer.Argument(help="Other results on the same set.", metavar="B")],
    mode: ModeOption = "exact",
) -> None:
    """Compare two evaluations: what B lost and won against A, and whether that may be chance."""
    from app.evaluation.run import compare_results as run  # noqa: PLC0415

    _run(run(first, second, mode))


def main() -> None:
    """Entry point: every expected error is one line on stderr."""
    app()


def _run(command: Coroutine[None, None, int | None]) -> None:
    from pydantic import ValidationError  # noqa: PLC0415

    from app.core.errors import Problem  # noqa: PLC0415
    from app.core.exclusive import FolderInUse  # noqa: PLC0415
    from app.core.storage.port import StorageUnavailable  # noqa: PLC0415
    from migrations.runner import StoreTooNew  # noqa: PLC0415

    code: int | None = 130
    try:
        code = asyncio.run(command)
    except KeyboardInterrupt:
        pass
    except ValidationError as error:
        first = error.errors()[0]
        name = "__".join(str(part).upper() for part in first["loc"])
        _fail(f"KAI_{name}: {first['msg']}")
    except (FolderInUse, StorageUnavailable, StoreTooNew, OSError) as error:
        _fail(str(error))
    except Problem as error:
        _fail(error.detail)
    raise typer.Exit(code or 0)


def _fail(message: str) -> None:
    sys.stderr.write(f"kai: {message}\n")
    raise typer.Exit(1)
