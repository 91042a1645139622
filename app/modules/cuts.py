"""Sentence about rows or values that KAI's limits left out of a result."""

from graph.state import Rows


def cut_sentence(rows: Rows) -> str:
    """Returns one sentence, or an empty text if no limit cut the result."""
    if not rows["truncated"]:
        return ""
    kept = f"{rows['row_count']:,}"
    match rows.get("cut_by"):
        case "values":
            return "Some values are too long to be kept whole: their ends are cut."
        case "bytes":
            return f"Only the first {kept} rows are kept, as the result is too large; there are more."
        case "rows" | None:
            return f"Only the first {kept} rows are kept, the limit of a result; there are more."
