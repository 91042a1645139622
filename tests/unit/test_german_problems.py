"""Every problem has its words in German, and a request says whether its reader wants them."""

import re
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from typing import TypeAlias

import httpx
import pytest
from fastapi import FastAPI

import app
from app.core.errors import Conflict, Problem, Unauthenticated
from app.core.german_problems import KINDS, german_detail, german_title
from app.core.storage.port import StorageStarting
from app.http.problems import answer_problems
from app.http.reader_language import ReaderLanguage
from app.modules.records.errors import RowsGone
from graph.errors import TurnError

_FACT = re.compile(r"\{(\w+)")


Kind: TypeAlias = type[Problem] | type[TurnError]


def subclasses(of: Kind) -> Iterator[Kind]:
    for each in of.__subclasses__():
        yield each
        yield from subclasses(each)


def test_every_kind_has_a_title_and_a_sentence_of_the_same_facts_in_german() -> None:
    for module in walk_packages(app.__path__, "app."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    wrong: list[str] = []
    kinds = {"http", Problem.problem, TurnError.problem}
    for each in [*subclasses(Problem), *subclasses(TurnError)]:
        if not each.__module__.startswith(("app.", "graph.")):
            continue
        kinds.add(each.problem)
        if each.problem not in KINDS:
            wrong.append(f"{each.problem} has no words")
            continue
        known = set(_FACT.findall(each.sentence)) if issubclass(each, Problem) else set()
        facts = dict.fromkeys(known, 7)
        try:
            german_detail(each.problem, "", facts)
        except KeyError as missing:
            wrong.append(f"{each.problem} needs {missing}, which its class has not")
    assert not wrong, "\n".join(wrong)
    assert KINDS - kinds == set()


class NoRoom(Problem):
    problem = "too-many-boards"
    title = "Too many boards"
    status = 409
    sentence = "You have {most} boards."


@pytest.mark.parametrize(
    ("headers", "title", "detail"),
    [
        ({}, "Too many boards", "You have 9 boards."),
        ({"Accept-Language": "fr, en;q=0.5"}, "Too many boards", "You have 9 boards."),
        (
            {"Accept-Language": "de-CH, en;q=0.5"},
            "Zu viele Pinnwände",
            "Sie haben 9 Pinnwände, mehr sind nicht erlaubt. Löschen Sie zuerst eine.",
        ),
        ({"Accept-Language": "de", "Cookie": "kai_language=en"}, "Too many boards", "You have 9 boards."),
    ],
)
async def test_a_problem_is_in_the_language_of_its_reader(
    headers: dict[str, str], title: str, detail: str
) -> None:
    served = FastAPI()
    answer_problems(served)
    served.add_middleware(ReaderLanguage)

    @served.get("/boards")
    async def refuse() -> None:
        raise NoRoom(most=9)

    transport = httpx.ASGITransport(served)
    async with httpx.AsyncClient(transport=transport, base_url="http://kai") as client:
        answer = await client.get("/boards", headers=headers)
    assert (answer.json()["title"], answer.json()["detail"]) == (title, detail)
    assert answer.headers.get("Content-Language", "en") == ("de" if title.startswith("Zu") else "en")


class NothingToCopy(Conflict):
    sentence = "This thread has no answer yet."


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        (NothingToCopy(), "This thread has no answer yet."),
        (RowsGone(), "The rows of this answer are no longer stored. Ask the question again."),
        (
            Unauthenticated("The request has several credentials. Send one."),
            "The request has several credentials. Send one.",
        ),
        (StorageStarting("It reads its data, 40 %."), "It reads its data, 40 %. Nothing is lost."),
    ],
)
async def test_what_only_one_error_of_a_kind_says_stays_behind_the_german_sentence(
    refusal: Exception, said: str
) -> None:
    served = FastAPI()
    answer_problems(served)
    served.add_middleware(ReaderLanguage)

    @served.get("/")
    async def refuse() -> None:
        raise refusal

    transport = httpx.ASGITransport(served)
    async with httpx.AsyncClient(transport=transport, base_url="http://kai") as client:
        answer = await client.get("/", headers={"Accept-Language": "de"})
    assert answer.json()["detail"].endswith(f". Meldung: {said}")


def test_what_a_parser_or_a_database_says_stays_behind_the_german_sentence() -> None:
    said = german_detail("statement-failed", "no such column: revenu", None)
    assert said == "Fragen Sie anders, oder berichtigen Sie das SQL. Meldung: no such column: revenu"
    assert german_title("statement-failed", "The SQL did not run") == "Das SQL läuft nicht"
