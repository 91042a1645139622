"""What a run says, as a terminal shows it."""

import pytest

from app.terminal import event_of
from app.transcript import Transcript


def test_the_options_of_a_question_back_are_numbered(capsys: pytest.CaptureFixture[str]) -> None:
    option = '{"label": "amount", "question": "Biggest order, by amount"}'
    options = f'"options": [{option}, {option}]'
    chunk = f'{{"event": "chunk", "type": "clarification", "content": "By what?", {options}}}'
    with Transcript() as transcript:
        transcript.show(event_of(chunk))
    shown = capsys.readouterr().out
    assert "By what?" in shown
    assert "1. amount: Biggest order, by amount" in shown
    assert "2. amount" in shown


def test_what_was_corrected_stands_below_the_statement(capsys: pytest.CaptureFixture[str]) -> None:
    chunk = (
        '{"event": "chunk", "type": "sql", "content": "SELECT 1", "dialect": "sqlite",'
        ' "corrections": ["Joined `visit`."]}'
    )
    with Transcript() as transcript:
        transcript.show(event_of(chunk))
    shown = capsys.readouterr().out
    assert shown.index("SELECT 1") < shown.index("Corrected: Joined `visit`.")


def test_a_headline_stands_above_the_statements_and_what_was_left_out_below(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = "The total of n is 3.\\n\\n*Reading:* That seems few."
    with Transcript() as transcript:
        transcript.show(event_of('{"event": "chunk", "type": "headline", "content": "n is **3**"}'))
        transcript.show(event_of(f'{{"event": "chunk", "type": "analysis", "content": "{text}"}}'))
        transcript.show(event_of('{"event": "chunk", "type": "left_out", "content": ["No fact is f9."]}'))
    shown = [line.strip() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert shown == ["n is 3", "The total of n is 3.", "Reading: That seems few.", "Left out: No fact is f9."]
