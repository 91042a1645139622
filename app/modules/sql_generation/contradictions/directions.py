"""Contradictions of direction: the lowest is asked for, and the statement keeps the highest."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from app.modules.sql_generation.contradictions.asked import NUMBER, is_turned, number_of
from app.modules.sql_generation.sentences import WarningPhrase

_FEW = (
    rf"(?:{NUMBER} (?:\w+ )?)?(?:order|purchase|sale|invoice|customer|employee|hire|payment|visit"
    rf"|booking)s?"
)
_WORDS = {
    "highest": r"highest|(?<!at )most(?! of (?:them|these|those|all)\b| recent)|largest|biggest|greatest"
    r"|maximum|max|best[- ]selling|bestsellers?|heaviest|priciest|longest|top \d+|top",
    "lowest": r"lowest|(?<!at )least(?! recent)|fewest|smallest|minimum|min|cheapest|lightest|shortest"
    r"|bottom|worst[- ]selling",
    "latest": rf"latest|newest|most recent(?:ly)?|last {_FEW}",
    "earliest": rf"earliest|least recent(?:ly)?|first {_FEW}",
    "oldest": r"oldest|eldest",
    "youngest": r"youngest",
}
_SUPERLATIVES = {end: re.compile(rf"(?<![\w-])(?:{words})(?![\w-])") for end, words in _WORDS.items()}
_BOTH = re.compile(
    r"\b(?:best(?![- ]sell)|worst(?![- ]sell)|fastest|slowest|closest|nearest|furthest|farthest|range"
    r"|spread)\b"
)
_PLAIN = (
    "expensive|valuable|profitable|productive|active|frequent|recent|recently|ordered|listed|sold|used|bought|purchased|viewed|"
    "visited|played|rated|requested|searched|money|inventory|quantity|salary|energy|activity|memory|experienced"
)
_OPEN = re.compile(
    r"\b(?:declin\w*|decreas\w*|dropp?\w*|loss\w*|lost|lose\w*|losing|fell|fall\w*|shrank|shrink\w*|reduc\w*"
    r"|discount\w*|negative|worse\w*|deficits?|downturn|cuts?)\b"
    rf"|\b(?:most|least) (?!(?:{_PLAIN})\b)\w+(?:al|ful|ous|ive|able|ible|ic|less|ant|ent|ed|ing|y|ior|ure)\b"
    r"|\b(?:most|least) (?:at|likely|secure|remote)\b"
)
"""The largest loss is the smallest number, what is most affordable has the lowest price, and so on."""
_RANK = re.compile(
    r"rank|position|place|priority|grade|level|class|score_?board|seed|tier|order_?(?:no"
    r"|num)",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"date|time|year|month|day|week|created|updated|hired|_at$|_on$|^id$|id$|since|start|end", re.IGNORECASE
)
_AGE = re.compile(r"(?:^|_)age(?:$|_)|age$|years_?old", re.IGNORECASE)
_BIRTH = re.compile(r"birth|born|dob|date|year|founded|opened|hire|start|since|created", re.IGNORECASE)

_DESCENDING = re.compile(
    r"\b(?:descending|decreasing|(?:highest|largest|most|biggest|newest|latest) (?:ones? )?first|"
    r"from (?:the )?(?:high|highest|largest|biggest|most|greatest|newest|latest"
    r"|oldest)\b[^.?]*? to (?:the )?"
    r"(?:low|lowest|smallest|least|fewest|oldest|earliest|youngest)|reverse alphabetical)\b"
)
_ASCENDING = re.compile(
    r"\b(?:ascending|increasing|(?:lowest|smallest|least|fewest|oldest|earliest) (?:ones? )?first|"
    r"from (?:the )?(?:low|lowest|smallest|least|fewest|earliest|oldest|youngest)\b[^.?]*? to (?:the )?"
    r"(?:high|highest|largest|most|biggest|latest|newest|oldest)|alphabetical(?:ly)?|alphabetic)\b"
)
_AGES = re.compile(r"\b(?:oldest|youngest)\b")

_OF = r"(?: (?!recent|affordable|economical|efficient)\w+)?"
_MORE = (
    rf"(?:(?:more|greater|higher|larger|bigger|longer|heavier|older){_OF} than|over|above|exceed(?:s"
    rf"|ing)?|at least"
    rf"|no less than|not less than|no fewer than|a minimum of) (?:the )?(?:age "
    rf"|[$€£] ?)?(?P<more>{NUMBER})(?!\w|\.\d)"
    rf"|(?P<or_more>{NUMBER}) or (?:more|greater|higher|over|above)"
)
_LESS = (
    rf"(?:(?:less|fewer|lower|smaller|shorter|younger|lighter|cheaper){_OF} than|under|below|at most"
    rf"|no more than"
    rf"|not more than|up to|a maximum of) (?:the )?(?:age |[$€£] ?)?(?P<less>{NUMBER})(?!\w|\.\d)"
    rf"|(?P<or_less>{NUMBER}) or (?:less|fewer|lower|under|below)"
)
_COMPARED = re.compile(rf"(?<!no )(?<!not )\b(?:{_MORE}|{_LESS})")
_STRICT = re.compile(r"(?!no |not )(?:\w+ )+than\b|over|above|under|below|exceed")
_TURNED = re.compile(
    r"\b(?:not|never|no|none|without|don't|doesn't|didn't|isn't|aren't|except|nor|neither|rank\w*)\b"
)

End = Literal["highest", "lowest", "latest", "earliest", "oldest", "youngest"]
_OPPOSITE = {
    "highest": "lowest",
    "lowest": "highest",
    "latest": "earliest",
    "earliest": "latest",
    "oldest": "youngest",
    "youngest": "oldest",
}


def find_opposite_ends(asked: str, tree: exp.Expr) -> Iterator[WarningPhrase]:
    """Yields a sentence if the question asks for one end of a scale and the statement keeps the other."""
    end = _end_of(asked, tree)
    if end is not None:
        kept = [_kept(each, end) for each in _picks(tree)]
        if kept and all(each == _OPPOSITE[end] for each in kept):
            yield WarningPhrase(f"keeps the {_OPPOSITE[end]}")
            return
    yield from _opposite_order(asked, tree)


def find_opposite_comparisons(asked: str, tree: exp.Expr) -> Iterator[WarningPhrase]:
    """Yields a sentence for a number that is compared the other way round."""
    if _TURNED.search(re.sub(r"\b(?:no|not) (?:more|less|fewer) than\b", "", asked)):
        return
    for found in _COMPARED.finditer(asked):
        is_more = bool(found["more"] or found["or_more"])
        over = " than" if _STRICT.match(found[0]) else ""
        number = number_of(found["more"] or found["or_more"] or found["less"] or found["or_less"])
        sides = list(_sides(tree, number))
        if sides and all(side is not None and side != is_more for side in sides):
            yield WarningPhrase(f"keeps what is {'less' if is_more else 'more'}{over}", (number,))


def _end_of(asked: str, tree: exp.Expr) -> End | None:
    """Returns the only end that is asked for. A word that is a column's name does not count."""
    if _BOTH.search(asked) or _OPEN.search(asked):
        return None
    columns = {
        part for each in tree.find_all(exp.Column) for part in re.findall(r"[a-z]+", each.name.casefold())
    }
    ends: list[End] = [
        end  # type: ignore[misc]
        for end, pattern in _SUPERLATIVES.items()
        if any(found[0].split()[-1] not in columns for found in pattern.finditer(asked))
    ]
    return ends[0] if len(ends) == 1 else None


@dataclass(frozen=True)
class _Pick:
    """The rows with the greatest or smallest value of an expression are kept."""

    key: exp.Expr
    greatest: bool


def _picks(tree: exp.Expr) -> Iterator[_Pick]:
    for select in tree.find_all(exp.Select):
        order = select.args.get("order")
        if select.args.get("limit") is not None and isinstance(order, exp.Order):
            yield _pick(order.expressions[0], select)
    for window in tree.find_all(exp.Window):
        order = window.args.get("order")
        if isinstance(window.this, exp.RowNumber | exp.Rank | exp.DenseRank) and isinstance(order, exp.Order):
            yield _pick(order.expressions[0], window.find_ancestor(exp.Select))
    for extreme in tree.find_all(exp.Max, exp.Min):
        if not extreme.expressions:
            yield _Pick(extreme.this, isinstance(extreme, exp.Max))


def _pick(ordered: exp.Expr, select: exp.Select | None) -> _Pick:
    key = ordered.this if isinstance(ordered, exp.Ordered) else ordered
    greatest = bool(ordered.args.get("desc"))
    items = select.selects if select is not None else []
    if isinstance(key, exp.Literal) and key.is_int and 0 < int(key.this) <= len(items):
        key = items[int(key.this) - 1]
    for item in items:
        if (
            isinstance(item, exp.Alias)
            and isinstance(key, exp.Column)
            and not key.table
            and item.alias == key.name
        ):
            return _Pick(item, greatest)
    while isinstance(key, exp.Neg | exp.Paren):
        greatest = greatest != isinstance(key, exp.Neg)
        key = key.this
    return _Pick(key, greatest)


def _kept(pick: _Pick, end: End) -> End | None:
    """Returns the end that a pick keeps, on the scale of `end`; None if it is of another scale."""
    if pick.key.find(exp.Case, exp.If, exp.Neg):
        return None
    value = pick.key.unalias()
    names = [each.name for each in pick.key.find_all(exp.Column)] + [pick.key.alias_or_name]
    is_count = value.find(exp.Count, exp.Sum, exp.Avg) is not None
    is_date = not is_count and any(map(_DATE.search, names))
    if end in ("highest", "lowest"):
        if is_date or any(map(_RANK.search, names)):
            return None
        return "highest" if pick.greatest else "lowest"
    if end in ("latest", "earliest"):
        if not is_date:
            return None
        return "latest" if pick.greatest else "earliest"
    if not is_count and any(map(_AGE.search, names)):
        return "oldest" if pick.greatest else "youngest"
    if not is_count and any(map(_BIRTH.search, names)):
        return "youngest" if pick.greatest else "oldest"
    return None


def _opposite_order(asked: str, tree: exp.Expr) -> Iterator[WarningPhrase]:
    order = tree.args.get("order")
    if not isinstance(order, exp.Order):
        return
    falling = bool(_DESCENDING.search(asked))
    rising = bool(_ASCENDING.search(asked)) and not falling
    if falling == rising or (_AGES.search(asked) and not _DESCENDING_WORD.search(asked)):
        return
    descends = [bool(each.args.get("desc")) for each in order.expressions]
    if falling not in descends:
        yield WarningPhrase("sorts ascending" if falling else "sorts descending")


_DESCENDING_WORD = re.compile(r"\b(?:de|a)scending\b")


def _sides(tree: exp.Expr, number: int) -> Iterator[bool | None]:
    """Yields for each comparison with a number whether it keeps what is more; None where it is unknown."""
    for literal in tree.find_all(exp.Literal):
        if not _equals(literal, number):
            continue
        compared = literal.parent
        if isinstance(compared, exp.GT | exp.GTE | exp.LT | exp.LTE) and not is_turned(compared):
            is_left = compared.this is literal
            names = [each.name for each in compared.find_all(exp.Column)]
            if any(map(_RANK.search, names)) or any(map(_BIRTH.search, names)):
                yield None
            else:
                yield isinstance(compared, exp.GT | exp.GTE) != is_left
        else:
            yield None


def _equals(literal: exp.Literal, number: int) -> bool:
    try:
        return float(literal.this) == number
    except ValueError:
        return False
