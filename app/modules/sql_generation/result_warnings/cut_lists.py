"""Lists that a LIMIT of the statement has cut although the question names no number of rows."""

import re
from collections.abc import Iterator

from sqlglot import exp

from app.modules.sql_generation.result_warnings.model import ResultWarning
from graph.state import Rows

_NUMBER = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|fifty|hundred|"
    r"dozen|couple|few|several|some|half|sample|example|examples|page|limit|"
    r"zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf|zwanzig|hundert|einige|paar|"
    r"deux|trois|quatre|cinq|sept|huit|neuf|dix|vingt|quelques|"
    r"dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|veinte|algunos|algunas)\b",
    re.IGNORECASE,
)


def find_cut_list(statement: exp.Expr, rows: Rows, asked: str) -> Iterator[ResultWarning]:
    """Yields a warning if the LIMIT of the statement cut the list. `asked` is all that was asked so far.

    A limit of one row gives no warning: it answers "which is the largest". Neither does an empty `asked`.
    """
    limit = statement.args.get("limit")
    count = limit.expression if isinstance(limit, exp.Limit) else None
    count = limit.args.get("count") if isinstance(limit, exp.Fetch) else count
    if not isinstance(count, exp.Literal) or count.is_string or not asked or _NUMBER.search(asked):
        return
    if rows["row_count"] == int(count.this) > 1:
        yield ResultWarning("cut list", (rows["row_count"],))
