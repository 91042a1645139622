"""Joins the first and last names of people in two columns to one name."""

from app.modules.analysis.words import title
from graph.state import Column, Rows


def with_whole_names(rows: Rows) -> Rows:
    """The same rows with a first and a last name made one column; others as they are."""
    named = {title(column["name"]): index for index, column in enumerate(rows["columns"])}
    first, last = named.get("first name"), named.get("last name")
    if first is None or last is None:
        return rows
    kept = [index for index in range(len(rows["columns"])) if index not in (first, last)]
    whole = [
        " ".join(str(part) for part in (row[first], row[last]) if part is not None) for row in rows["rows"]
    ]
    return Rows(
        **{
            **rows,
            "columns": [Column(name="name", type="text"), *(rows["columns"][index] for index in kept)],
            "rows": [
                [name, *(row[index] for index in kept)] for name, row in zip(whole, rows["rows"], strict=True)
            ],
        }
    )
