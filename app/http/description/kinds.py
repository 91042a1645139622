"""Kinds of problems, from the classes of errors, and the routes that explain them."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Path, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import Field

from app.core.errors import Conflict, Forbidden, Invalid, NotFound, Problem, problem_type
from app.http.router import Router
from app.http.routes import API_PREFIX, ResponseBody
from graph.errors import TurnError

if TYPE_CHECKING:
    from jinja2 import Template

PROBLEMS = f"{API_PREFIX}/problems"
router = Router(prefix="/problems", tags=["problems"])

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_OWN = ("app.", "graph.")
_FACT = re.compile(r"(?<!{){(\w+)(?:![rsa])?(?::[^}]*)?}")
_BASES = (Forbidden, NotFound, Conflict, Invalid)
_NUMBERS = ("limit", "most", "unused_days", "version")


class ProblemExample(ResponseBody):
    """A problem object, as it is answered. Facts of a case are in angle brackets."""

    type: str
    """The kind."""
    title: str
    """Short name of the error, for users."""
    status: int
    """The HTTP status."""
    detail: str
    """The cause of a case, and its cure."""


class ProblemKind(ResponseBody):
    """A kind of problem."""

    kind: str
    """Its name, such as `session-busy`."""
    type: str
    """`type` of problem objects of this kind."""
    title: str
    """Short name of the error, for users."""
    status: Annotated[list[int], Field(min_length=1)]
    """Its HTTP statuses."""
    causes: Annotated[list[str], Field(min_length=1)]
    """When it is answered."""
    cure: str
    """What helps."""
    retryable: bool
    """True if the same request may succeed later."""
    example: ProblemExample
    """A problem object of this kind."""


class ProblemKinds(ResponseBody):
    """All kinds of problems."""

    items: list[ProblemKind]
    """The kinds, by name."""


class KindUnknown(NotFound):
    """There is no problem of this kind."""

    sentence = f"There is no problem of this kind. GET {PROBLEMS} lists all kinds."


@cache
def problem_kinds() -> Sequence[ProblemKind]:
    """All kinds of problems that routes answer and streams end with, by name."""
    import_module("app.core.auth.signing_keys")  # which is loaded late, with an issuer
    classes: dict[str, list[Any]] = {}
    for each in _classes():
        classes.setdefault(each.problem, []).append(each)
    return [_kind(name, found) for name, found in sorted(classes.items())]


def _classes() -> Iterator[type[Problem | TurnError]]:
    waiting: list[Any] = [Problem, TurnError]
    while waiting:
        each = waiting.pop(0)
        if each.__module__.startswith(_OWN) and not each.__module__.startswith("app.evaluation."):
            yield each
        waiting += each.__subclasses__()


def _kind(name: str, classes: Sequence[Any]) -> ProblemKind:
    first = classes[0]
    causes = [" ".join(each.__doc__.split()) for each in classes if each not in (Problem, TurnError)]
    sentence = _FACT.sub(_fact, getattr(first, "sentence", "")).replace("{{", "{").replace("}}", "}")
    detail = sentence or [*causes, first.cure][0]
    example = ProblemExample(type=problem_type(name), title=first.title, status=first.status, detail=detail)
    return ProblemKind(
        kind=name,
        type=problem_type(name),
        title=first.title,
        status=list(dict.fromkeys(each.status for each in classes)),
        causes=[*dict.fromkeys(causes)] or [f"{first.title}."],
        cure=_cure(first, sentence),
        retryable=any(each.retryable for each in classes),
        example=example,
    )


def _cure(error: Any, sentence: str) -> str:
    """What a class says by itself, at the end of its sentence, or as others of its status."""
    said = sentence.partition(". ")[2]
    if "cure" in vars(error) or not (said or error.cure == Problem.cure):
        return str(error.cure)
    return said or next((each.cure for each in _BASES if each.status == error.status), Problem.cure)


@cache
def _template() -> "Template":
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 - few ask for a page

    text = (FilePath(__file__).parent / "kind.html.jinja").read_text(encoding="utf-8")
    return Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True).from_string(text)


def _fact(name: re.Match[str]) -> str:
    return "20" if name[1] in _NUMBERS else f"<{name[1]}>"


@router.get("", summary="List the kinds of problems")
async def list_problems() -> ProblemKinds:
    """Lists every kind of problem with its cause, its cure and an example. Needs no credential."""
    return ProblemKinds(items=[*problem_kinds()])


@router.get(
    "/{kind}",
    summary="Explain a kind of problem",
    response_model=ProblemKind,
    responses={200: {"content": {"text/html": {"schema": {"type": "string"}}}}},
)
async def read_problem(
    kind: Annotated[str, Path(max_length=100, description="Kind of the problem, such as `session-busy`.")],
    request: Request,
) -> Response | ProblemKind:
    """Says what causes a kind of problem, what helps, and whether the same request may succeed later. As HTML
    for a browser. Needs no credential.
    """
    found = next((each for each in problem_kinds() if each.kind == kind), None)
    if found is None:
        raise KindUnknown
    if "text/html" in request.headers.get("accept", ""):
        return HTMLResponse(_template().render(kind=found), headers={"Content-Security-Policy": _POLICY})
    return found
