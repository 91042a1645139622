"""Every word of a question has its part in the answer, on the sample business and on Chinook, or is named."""

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from app.modules.database_connection.schema import Schema
from app.modules.sql_generation.builtin import Statement, write
from app.modules.sql_generation.linking.stored_texts import StoredTexts
from tests.unit.builtin.databases import CHINOOK, SAMPLE_DAY, chinook, rows, sample, schema_of, stored_in

CORPUS = Path(__file__).parents[2] / "corpus"


def golds(name: str) -> dict[str, str]:
    """Questions, and a statement with the rows that each asks for."""
    lines = (CORPUS / f"questions_{name}.tsv").read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines)


SAMPLE = golds("sample")
MUSIC = golds("chinook")


@cache
def known_of_sample() -> tuple[Schema, StoredTexts]:
    return schema_of(sample()), stored_in(sample())


@cache
def known_of_chinook() -> tuple[Schema, StoredTexts]:
    return schema_of(chinook()), stored_in(chinook())


def answered(question: str, known: tuple[Schema, StoredTexts]) -> Statement:
    schema, stored = known
    answer = write(question, schema, stored=stored, previous=None, today=SAMPLE_DAY)
    assert isinstance(answer, Statement), answer
    return answer


def holds(found: list[tuple[object, ...]], gold: list[tuple[object, ...]]) -> bool:
    """As many rows, and every column of the gold, or one column of it that tells its rows apart."""
    if len(found) != len(gold):
        return False
    columns = [Counter(map(str, column)) for column in zip(*found, strict=True)]
    wanted = [Counter(map(str, column)) for column in zip(*gold, strict=True)]
    telling = [column for column in wanted if len(column) == len(gold)] or wanted
    return not gold or any(column in columns for column in telling)


@pytest.mark.parametrize("question", SAMPLE)
def test_a_question_about_the_sample_business_gets_the_rows_it_asks_for(question: str) -> None:
    answer = answered(question, known_of_sample())
    assert holds(rows(sample(), answer.sql), rows(sample(), SAMPLE[question])), answer.sql


@pytest.mark.skipif(not CHINOOK.exists(), reason="needs the Chinook database")
@pytest.mark.parametrize("question", MUSIC)
def test_a_question_about_chinook_gets_the_rows_it_asks_for(question: str) -> None:
    answer = answered(question, known_of_chinook())
    assert holds(rows(chinook(), answer.sql), rows(chinook(), MUSIC[question])), answer.sql
