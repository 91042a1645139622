"""Tables of benchmark figures."""

from pathlib import Path

import pytest

from tests.bench.own_time import report
from tests.bench.own_time.report import compared, figure, load, save, table, write_page

SLOW = figure("a turn", [80.0, 70.0, 100.0], "ms", reach="≤ 30", limit="LangGraph alone", floor=4)
FAST = figure("a turn", [26.0, 25.0, 30.0], "ms", reach="≤ 30", limit="LangGraph alone", floor=4)
NEARLY = figure("a turn", [75.0, 71.0, 90.0], "ms")


def test_a_figure_is_the_median_with_its_spread_and_its_ratio() -> None:
    assert "| a turn | 80.0 ms | 70.0 to 100 | ≤ 30 | 20.0 x LangGraph alone |" in table([SLOW])


def test_saved_figures_are_read_as_they_were(tmp_path: Path) -> None:
    save([SLOW, NEARLY], tmp_path / "figures.json")
    assert load(tmp_path / "figures.json") == [SLOW, NEARLY]


def test_a_comparison_marks_what_may_be_chance() -> None:
    assert compared([SLOW], [FAST]).splitlines()[-1] == "| a turn | 80.0 ms | 26.0 ms | 0.33 |  |"
    assert "within the spread" in compared([SLOW], [NEARLY])
    assert len(compared([SLOW], [figure("another", [1.0], "ms")]).splitlines()) == 2


def test_the_page_keeps_what_surrounds_its_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "performance.md"
    page.write_text(report.PAGE.read_text())
    before = page.read_text()
    monkeypatch.setattr(report, "PAGE", page)
    write_page([SLOW], "Once.")
    write_page([FAST], "Again.")
    assert "26.0 ms" in page.read_text()
    assert "80.0 ms" not in page.read_text()
    for part in (
        before.partition("<!-- measured: begin -->")[0],
        before.partition("<!-- measured: end -->")[2],
    ):
        assert part in page.read_text()
