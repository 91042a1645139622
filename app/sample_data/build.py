"""Writes the sample business to a SQLite file."""

import sqlite3
from contextlib import closing
from dataclasses import fields
from datetime import date
from pathlib import Path

from app.sample_data.business import invent_business

_TABLES = (Path(__file__).parent / "tables.sql").read_text(encoding="utf-8")


def build_sample(path: Path, today: date) -> None:
    """Write the business as of `today`. Replaces the file atomically."""
    draft = path.with_name(f".{path.name}.draft")
    draft.unlink(missing_ok=True)
    business = invent_business(today)
    with closing(sqlite3.connect(draft)) as connection, connection:
        connection.executescript(_TABLES)
        for table in fields(business):
            rows = getattr(business, table.name)
            marks = ", ".join("?" * len(rows[0]))
            connection.executemany(f"INSERT INTO {table.name} VALUES ({marks})", rows)  # noqa: S608
    draft.replace(path)
