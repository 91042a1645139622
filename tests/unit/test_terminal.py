"""What a run says, as a terminal shows it."""

import pytest
from pydantic import JsonValue

from app.modules.analysis.chart.plan import Spec
from app.terminal.console import event_of
from app.terminal.text_chart import text_chart
from app.terminal.transcript import Transcript


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


def bars(*points: tuple[str, float | None], **kai: JsonValue) -> Spec:
    return {
        "data": {"values": [{"c0": name, "c1": value} for name, value in points]},
        "encoding": {"x": {"field": "c0", "type": "nominal"}, "y": {"field": "c1", "type": "quantitative"}},
        "usermeta": {"kai": kai},
    }


def test_a_chart_of_a_few_points_is_bars() -> None:
    drawn = text_chart(bars(("Brazil", 20), ("Norway", 10), ("Peru", None), ("x\x1b[31m", 0.1)))
    assert drawn.splitlines() == [
        f"Brazil {'█' * 40}",
        f"Norway {'█' * 20}",
        "Peru",
        "x [31m █",
    ]


def test_a_chart_of_many_points_is_a_line_of_blocks_from_zero() -> None:
    spec = bars(*[(f"d{day}", day) for day in range(29)], across=0, values=[{"column": 1, "how": None}])
    assert text_chart(spec) == "d0 ▁▁▁▂▂▂▃▃▃▃▃▄▄▄▅▅▅▅▅▆▆▆▇▇▇▇▇██ d28"


@pytest.mark.parametrize(
    "spec",
    [
        {},
        bars(("a", -1), ("b", 2)),
        bars(("a", 0), ("b", 0)),
        bars(("a", 1)),
        bars(*[("a", 1.0)] * 500),
        {**bars(("a", 1), ("b", 2)), "encoding": {"color": {"field": "c2"}}},
    ],
)
def test_a_chart_that_a_terminal_would_show_wrongly_is_left_out(spec: Spec) -> None:
    assert text_chart(spec) == ""
