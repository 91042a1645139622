"""Question sets: one shape, and every mistake in them named with its line."""

from pathlib import Path

import pytest

from app.core.errors import Invalid
from app.evaluation.question_set import (
    BenchmarkConversation,
    QuestionSelection,
    QuestionSetInvalid,
    read_question_set,
)

ONE = '{"id": "1", "question": "How many?", "gold_sql": "select 1"}'


def write(folder: Path, *lines: str) -> Path:
    path = folder / "set.jsonl"
    path.write_text("\n".join(lines))
    return path


def test_a_gold_statement_may_stand_alone_or_have_alternatives(tmp_path: Path) -> None:
    other = '{"id": "2", "question": "Who?", "sql": ["select 1", "select 2"], "db": "shop", "tags": "easy"}'
    read = read_question_set(write(tmp_path, ONE, "", other))
    (first,), (second,) = read.conversations
    assert (first.gold_sql, second.gold_sql) == (("select 1",), ("select 1", "select 2"))
    assert (second.db, second.tags) == ("shop", ("easy",))


def test_only_a_newline_ends_a_line(tmp_path: Path) -> None:
    read = read_question_set(write(tmp_path, ONE.replace("How", "\u2028\x85How") + "\r"))
    assert read.conversations[0][0].question == "\u2028\x85How many?"


def test_turns_of_a_conversation_are_asked_in_their_order(tmp_path: Path) -> None:
    def line(turn: int) -> str:
        said = f'"question": "q{turn}", "gold_sql": "select 1", "conversation_id": "c", "turn": {turn}'
        return f'{{"id": "{turn}", {said}}}'

    read = read_question_set(write(tmp_path, line(2), ONE.replace('"1"', '"x"'), line(0), line(1)))
    assert [[each.id for each in asked] for asked in read.conversations] == [["0", "1", "2"], ["x"]]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["{"], "line 1: Invalid JSON"),
        (['{"id": "1", "question": "?"}'], "line 1: gold_sql: Field required"),
        ([ONE, ONE.replace("}", ', "tag": "x"}')], "line 2: tag: Extra"),
        ([ONE.replace("}", ', "db": "../etc/passwd"}')], "line 1: db"),
        ([ONE, ONE], "the id 1 is given twice"),
        ([""], "holds no question"),
        ([ONE.replace('"select 1"', "[]")], "line 1: gold_sql"),
    ],
)
def test_a_mistake_is_named_with_its_place(lines: list[str], words: str, tmp_path: Path) -> None:
    with pytest.raises(QuestionSetInvalid) as caught:
        read_question_set(write(tmp_path, *lines))
    assert words in caught.value.detail


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "set.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(QuestionSetInvalid, match="UTF-8"):
        read_question_set(tmp_path / "set.jsonl")


@pytest.fixture
def hundred(tmp_path: Path) -> list[BenchmarkConversation]:
    lines = [
        f'{{"id": "{at}", "question": "?", "gold_sql": "x", "tags": ["t{at % 2}"]}}' for at in range(100)
    ]
    return list(read_question_set(write(tmp_path, *lines)).conversations)


def ids(conversations: list[BenchmarkConversation]) -> set[str]:
    return {each[0].id for each in conversations}


def test_the_halves_are_about_equal_share_nothing_and_leave_nothing_out(
    hundred: list[BenchmarkConversation],
) -> None:
    tune, report = (ids(QuestionSelection(split=half).of(hundred)) for half in ("tune", "report"))
    assert not tune & report
    assert len(tune | report) == 100
    assert 35 <= len(tune) <= 65


def test_a_question_stays_in_its_half_when_the_set_changes(hundred: list[BenchmarkConversation]) -> None:
    whole = ids(QuestionSelection(split="tune").of(hundred))
    assert ids(QuestionSelection(split="tune").of(hundred[:50])) == {each for each in whole if int(each) < 50}


def test_another_seed_draws_other_halves_and_another_sample(hundred: list[BenchmarkConversation]) -> None:
    for chosen in (QuestionSelection(limit=10), QuestionSelection(split="tune")):
        other = QuestionSelection(split=chosen.split, limit=chosen.limit, seed=1)
        assert ids(chosen.of(hundred)) != ids(other.of(hundred))
        assert ids(chosen.of(hundred)) == ids(chosen.of(hundred))


def test_a_sample_by_tag_has_only_that_tag(hundred: list[BenchmarkConversation]) -> None:
    found = QuestionSelection(tags=["t1"], limit=5).of(hundred)
    assert len(found) == 5
    assert all(each[0].tags == ("t1",) for each in found)
    with pytest.raises(Invalid, match="--tag"):
        QuestionSelection(tags=["t3"]).of(hundred)
