"""Dates and times that people read are written in one place of the server and one of the page."""

import re
import subprocess
from datetime import date
from pathlib import Path
from zoneinfo import ZoneInfo

from app.core.language import LANGUAGES
from app.core.values.dates import format_date, format_moment

_ROOT = Path(__file__).parents[2]
_PAGE = re.compile(r"DateTimeFormat|toLocale(?:Date|Time)?String")
_SERVER = re.compile(r"\bfrom babel import .*dates|\.strftime\(|at:%[dmbBjaAy]|start:%[dmbBjaAy]|\.ctime\(")
_TECHNICAL = {
    "app/modules/analysis/chart/gaps.py": "RFC 3339 of a specification",
    "app/modules/analysis/figures/calendar.py": "numbers of weeks",
}


def test_a_date_is_written_by_the_reader_s_language_and_zone() -> None:
    day = date(2026, 11, 24)
    assert [format_date(day, "day", each) for each in LANGUAGES] == [
        "24 Nov 2026",
        "24. Nov. 2026",
        "24 nov 2026",
        "24 nov. 2026",
    ]
    late = 1_795_561_530_000  # 23:05:30 UTC
    assert format_moment(late, "en", ZoneInfo("UTC")) == "24 Nov 2026, 23:05"
    assert format_moment(late, "de", ZoneInfo("Europe/Berlin")) == "25. Nov. 2026, 00:05"


def test_no_other_file_writes_dates_for_readers() -> None:
    files = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "app/*.py", "ui/src/*.ts", "ui/src/*.tsx"],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert len(files) > 500
    writers = {
        file
        for file in files
        if (_SERVER if file.endswith(".py") else _PAGE).search((_ROOT / file).read_text(encoding="utf-8"))
    }
    assert writers - set(_TECHNICAL) == {"app/core/values/dates.py", "ui/src/shared/time.ts"}
