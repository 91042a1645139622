"""Keys of text that are the same in two databases but for case and spaces: they join no rows."""

from sqlglot import exp

from app.modules.database_connection.joining.plan import DIALECT, TextKeys


def unlike_keys_query(keys: TextKeys) -> str:
    """Returns the statement that counts the values of the left column which the right one has with other case
    or other spaces around them, and not as they are.
    """
    left, right = (_distinct(*end) for end in (keys.left, keys.right))
    same = exp.select("*").from_(right.subquery("other")).where("other.v = one.v")
    alike = exp.select("*").from_(right.subquery("other")).where("LOWER(TRIM(other.v)) = LOWER(TRIM(one.v))")
    counted = exp.select("COUNT(*)").from_(left.subquery("one"))
    return counted.where(exp.not_(exp.Exists(this=same)), exp.Exists(this=alike)).sql(DIALECT)


def unlike_keys_note(keys: TextKeys, count: int) -> str:
    """Returns what is said of so many keys."""
    left, right = (".".join(end) for end in (keys.left, keys.right))
    values = "1 value" if count == 1 else f"{count:,} values"
    verb = "is" if count == 1 else "are"
    return (
        f"{values} of {left} {verb} in {right} only with other case or other spaces, and so joined with "
        "nothing. Compare lower(trim(...)) of both if they mean the same."
    )


def _distinct(table: str, column: str) -> exp.Select:
    named = exp.column(exp.to_identifier(column, quoted=True))
    source = exp.Table(this=exp.to_identifier(table, quoted=True))
    return exp.select(named.as_("v")).from_(source).distinct()
