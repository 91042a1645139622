"""The language of short questions, many with names of other languages."""

from pathlib import Path

import pytest

from app.core.language import LANGUAGES, Language, language_of
from app.modules.analysis.facts.wording import wording_for

_LINES = (Path(__file__).parents[1] / "corpus" / "questions_by_language.tsv").read_text(encoding="utf-8")
QUESTIONS = [line.split("\t") for line in _LINES.splitlines()]
_MOST_MISSED = 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_of_forty_questions_at_most_one_falls_back_to_english(language: Language) -> None:
    questions = [question for written_in, question in QUESTIONS if written_in == language]
    found = {question: language_of(question) for question in questions}
    missed = {question: other for question, other in found.items() if other != language}
    assert len(questions) == 40
    assert len(missed) <= (0 if language == "en" else _MOST_MISSED), missed
    assert set(missed.values()) <= {"en"}


@pytest.mark.parametrize(
    "question", ["", "2026", "Müller & Söhne", "top clients", "Umsatz sales", "articles"]
)
def test_undecided_questions_are_answered_in_english(question: str) -> None:
    assert wording_for(question).language == "en"
