"""Problem objects: one base of their types, for HTTP responses and for streams."""

import ast
import importlib
import json
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

import app
from app.core.errors import NotFound, Problem, problem_kind, problem_type
from app.http.problems import problem_answer
from app.modules.language_models.errors import stand_in_notice
from app.modules.records.model import Run
from app.modules.run.messages import failure_of
from graph.errors import ModelCallFailed, ModelCallRejected

ROOT = Path(__file__).parents[2]
RUN = Run(id="r1", owner="ann", session_id="s1", message_id="m1", question="How many?", created_at=0)


def test_kind_and_type_are_inverse() -> None:
    assert problem_type("not-found") == "urn:kai:not-found"
    assert problem_kind(problem_type("not-found")) == "not-found"


@pytest.mark.parametrize("problem", [NotFound("No such session."), Problem("A defect.")])
def test_http_and_stream_name_a_problem_alike(problem: Problem) -> None:
    over_http = json.loads(bytes(problem_answer(problem).body))
    in_stream = failure_of(problem, RUN).model_dump()
    for member in ("type", "title", "status", "detail"):
        assert over_http[member] == in_stream[member]


def test_a_failure_that_the_run_survives_has_a_type_of_the_same_base() -> None:
    notice = stand_in_notice(ModelCallFailed("Away."), "Answered without it.")
    assert notice.type == problem_type("model-unavailable")
    assert notice.detail == "Away. Answered without it. Ask again to have the model try."


def test_a_refusal_that_the_run_survives_does_not_advise_to_ask_again() -> None:
    notice = stand_in_notice(ModelCallRejected("A wrong key."), "Answered without it.")
    assert (notice.retryable, notice.detail) == (False, "A wrong key. Answered without it.")


def test_the_base_is_written_once() -> None:
    sources = [path for package in ("app", "graph") for path in (ROOT / package).rglob("*.py")]
    written = [path.name for path in sources if re.search(r"[\"'{]urn:kai:", path.read_text())]
    assert written == ["errors.py"]


def test_each_refusal_is_raised_with_the_facts_of_its_sentence() -> None:
    seen = 0
    for place, problem, given in refusals():
        facts = {name for _, name, _, _ in Formatter().parse(problem.sentence) if name}
        assert given == facts | set(problem.shows), place
        seen += 1
    assert seen > 90


def refusals() -> Iterator[tuple[str, type[Problem], set[str | None]]]:
    """Yields the place, the class and the names of the facts for each use of a class with a sentence."""
    for found in pkgutil.walk_packages(app.__path__, "app."):
        module = importlib.import_module(found.name)
        known = {
            name: kind
            for name, kind in vars(module).items()
            if isinstance(kind, type) and issubclass(kind, Problem) and kind.sentence
        }
        source = Path(str(module.__file__)).read_text() if known else ""
        for node in ast.walk(ast.parse(source)):
            place = f"{found.name}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Name) and node.exc.id in known:
                yield place, known[node.exc.id], set()
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in known:
                assert not node.args, place
                yield place, known[node.func.id], {each.arg for each in node.keywords}
