"""A question read from left to right into items: what it mentions and the small words that give it a role."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from app.modules.sql_generation.builtin.linking import Lexicon, Link
from app.modules.sql_generation.builtin.periods import Period, Unit, read_period, unit_of
from app.modules.sql_generation.builtin.plan import Beyond, Function, Operator
from app.modules.sql_generation.builtin.words import REVENUE, Token

LONGEST_QUESTION = 60


@dataclass(frozen=True)
class Mention:
    """Words that name something in the schema; `links` is empty for a quoted text that is not stored."""

    text: str
    links: tuple[Link, ...]
    lead: str = ""
    plural: bool = False


@dataclass(frozen=True)
class Revenue:
    """A word for money earned, to be found in the schema later."""

    text: str


@dataclass(frozen=True)
class Count:
    pass


@dataclass(frozen=True)
class Distinct:
    pass


@dataclass(frozen=True)
class Aggregate:
    function: Function


@dataclass(frozen=True)
class Group:
    """`each` tells "per" and "each" from "by", which may also name a value: "written by Ann"."""

    each: bool = True


@dataclass(frozen=True)
class Calendar:
    unit: Unit


@dataclass(frozen=True)
class Sort:
    """`descending` is None where the question leaves it open."""

    descending: bool | None


@dataclass(frozen=True)
class Rank:
    """A superlative, of a value ("highest", `hint` being words for its column) or a count ("most orders")."""

    descending: bool
    hint: tuple[str, ...] = ()
    about: Literal["value", "count"] = "value"


@dataclass(frozen=True)
class Limit:
    count: int


@dataclass(frozen=True)
class Comparison:
    operator: Operator
    numbers: tuple[str, ...]
    hint: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lacking:
    pass


@dataclass(frozen=True)
class Time:
    period: Period


@dataclass(frozen=True)
class Conjunction:
    either: bool


Item = (
    Mention
    | Revenue
    | Count
    | Distinct
    | Aggregate
    | Group
    | Calendar
    | Sort
    | Rank
    | Limit
    | Comparison
    | Lacking
    | Time
    | Conjunction
)


_PRICE, _AGE = ("price", "cost"), ("age",)
_SIZE, _DATE = ("length", "duration", "millisecond", "height"), ("date",)
_SUPERLATIVES: dict[str, Rank] = {
    "most expensive|priciest|dearest": Rank(True, _PRICE),
    "cheapest|least expensive": Rank(False, _PRICE),
    "most recent|latest|newest|last": Rank(True, _DATE),
    "earliest|first": Rank(False, _DATE),
    "oldest": Rank(True, _AGE),
    "youngest": Rank(False, _AGE),
    "longest|tallest": Rank(True, _SIZE),
    "shortest": Rank(False, _SIZE),
    "heaviest": Rank(True, ("weight",)),
    "lightest": Rank(False, ("weight",)),
    "(?:most|highest|largest|greatest|maximum) number of|most": Rank(True, about="count"),
    "(?:least|lowest|smallest|minimum) number of|least|fewest": Rank(False, about="count"),
    "highest|largest|biggest|greatest|best|top": Rank(True),
    "lowest|smallest|worst|bottom": Rank(False),
}
_OPERATORS: tuple[tuple[str, Operator], ...] = (
    (r"(?:at least|no less than|not less than|>=|≥)", ">="),
    (r"(?:at most|no more than|not more than|<=|≤)", "<="),
    (r"(?:more|greater|higher|larger|bigger|longer|heavier|older) than|over|above|exceeding|>", ">"),
    (r"(?:less|fewer|lower|smaller|shorter|lighter|younger|cheaper) than|under|below|<", "<"),
    (r"=|is|are|equal to|equals|exactly", "="),
)
_COMPARATIVES = {
    "older": _AGE,
    "younger": _AGE,
    "cheaper": _PRICE,
    "longer": _SIZE,
    "shorter": _SIZE,
    "heavier": ("weight",),
    "lighter": ("weight",),
}
_NUMBER = r"(\d+(?:\.\d+)?)"
_Make = Callable[[re.Match[str]], tuple[Item, ...]]


def _constant(*items: Item) -> _Make:
    return lambda _: items


def _comparison(operator: Operator) -> _Make:
    def make(match: re.Match[str]) -> tuple[Item, ...]:
        hints = [hint for word, hint in _COMPARATIVES.items() if word in match[0]]
        return (Comparison(operator, match.groups(), *hints[:1]),)

    return make


def _rule(pattern: str, make: _Make) -> tuple[re.Pattern[str], _Make]:
    return re.compile(rf"(?:{pattern})(?= |$)"), make


_RULES = (
    _rule(rf"(?:top|best|highest) {_NUMBER}", lambda match: (Limit(int(float(match[1]))), Rank(True))),
    _rule(rf"(?:bottom|worst|lowest) {_NUMBER}", lambda match: (Limit(int(float(match[1]))), Rank(False))),
    _rule(rf"(?:the )?first {_NUMBER}", lambda match: (Limit(int(float(match[1]))),)),
    _rule(rf"(?:is |are |was |be )?between {_NUMBER} and {_NUMBER}", _comparison("between")),
    *(
        _rule(rf"(?:(?:is|are|was|were|be|of) )?(?:{words}) {_NUMBER}", _comparison(operator))
        for words, operator in _OPERATORS
    ),
    _rule(
        r"(?:high|highest|largest) to (?:low|lowest|smallest)|(?:highest|largest|most|newest|latest) first"
        r"|(?:in )?(?:descending|decreasing)(?: order)?(?: of| by)?|desc",
        _constant(Sort(descending=True)),
    ),
    _rule(
        r"(?:low|lowest|smallest) to (?:high|highest|largest)|(?:lowest|smallest|oldest|least) first"
        r"|(?:in )?(?:ascending|increasing|alphabetical)(?: order)?(?: of| by)?|alphabetically|asc",
        _constant(Sort(descending=False)),
    ),
    _rule(
        r"(?:and )?(?:sorted|ordered|sort|order|rank|ranked)(?: them| it| these| the results?)?"
        r"(?: in)?(?: (?:by|descending by|ascending by))",
        _constant(Sort(None)),
    ),
    *(_rule(words, _constant(rank)) for words, rank in _SUPERLATIVES.items()),
    _rule(r"how many|(?:the )?(?:total )?(?:number|count) of|count(?: of| the)?", _constant(Count())),
    _rule(r"how much|(?:the )?amount of|(?:what|how) about", _constant()),
    _rule(r"average|mean|avg", _constant(Aggregate("avg"))),
    _rule(r"maximum|max", _constant(Aggregate("max"))),
    _rule(r"minimum|min", _constant(Aggregate("min"))),
    _rule(r"total|sum|sum of|total of", _constant(Aggregate("sum"))),
    _rule(r"(?:distinct|different|unique)", _constant(Distinct())),
    _rule(r"(?:daily)", _constant(Group(), Calendar("day"))),
    _rule(r"(?:monthly)", _constant(Group(), Calendar("month"))),
    _rule(r"(?:yearly|annual|annually)", _constant(Group(), Calendar("year"))),
    _rule(r"(?:owned|used|made|placed|given|shown|found) by", _constant()),
    _rule(r"by", _constant(Group(each=False))),
    _rule(
        r"(?:grouped|group|broken down|split) by|per|(?:(?:for|in|of|from|at|to|on|with) )?(?:each|every)",
        _constant(Group()),
    ),
    _rule(
        r"without(?: an?| any)?|(?:with|have|has|having|had|are|is) no|missing|lacking|no",
        _constant(Lacking()),
    ),
    _rule(r"and|,|as well as|along with", _constant(Conjunction(either=False))),
    _rule(r"or", _constant(Conjunction(either=True))),
)


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_HAVING = frozenset(("with", "have", "has", "had", "having"))
_PASSED_OVER = _set(
    "a an the of in on at for from to with is are was were be been being do does did has have had having"
    " their its our your my me i we you please show list display give get find return tell see want need"
    " would like can could all any what which who whose that name named called us each together"
    " placed place made make live located based exist exists where dollar dollars euro euros usd eur"
    " database data table listed information details only also just now then instead about"
    " use uses used using own owns owned occurred happened across given some either there"
)
_EXCLUDING = _set(
    "not except excluding exclude never neither nor besides but unless other than both same nobody none"
)
_WRITING = _set("delete drop update insert remove create alter truncate add set")
_CALCULATING = _set(
    "why predict forecast growth grow grew growing increase increased decrease decreased change changed trend"
    " compare compared comparison versus vs percentage percent % share ratio proportion rate correlation"
    " correlate median cumulative running moving difference change impact cause if half double twice when"
    " how reason should recommend"
)


def read(question: Sequence[Token], lexicon: Lexicon, today: date) -> tuple[Item, ...]:
    """Raises `Beyond` when a word is not understood that could change the answer."""
    if len(question) > LONGEST_QUESTION:
        raise Beyond("The question is too long for me.")
    items: list[Item] = []
    at = 0
    while at < len(question):
        said, found = _next(question, at, items, lexicon, today)
        items += found
        if not said:
            _pass_over(question[at], at, lexicon)
        at += max(said, 1)
    return tuple(items)


def _next(
    question: Sequence[Token], at: int, items: list[Item], lexicon: Lexicon, today: date
) -> tuple[int, tuple[Item, ...]]:
    """How many tokens from `at` say something, and what; 0 when they say nothing known."""
    tokens, raws = question[at : at + 12], [token.raw for token in question[at : at + 12]]
    rule = _first_rule(" ".join(raws))
    length, links = lexicon.find(tokens)
    lead = question[at - 1].raw if at else ""
    mention = Mention(
        " ".join(token.text for token in tokens[:length]), links, lead, tokens[length - 1].plural
    )
    if tokens[0].kind == "quoted" or length > 1:
        return length, (mention,)
    if rule and (tokens[0].kind == "number" or (raws[0] == "between" and _on_number(items))):
        return rule
    if period := read_period(raws, today):
        return period[1], (Time(period[0]),)
    if length and isinstance(items[-1] if items else None, Aggregate):
        return length, (mention,)
    if rule:
        return rule
    if length:
        return length, (mention,)
    if unit := unit_of(tokens[0].word):
        return 1, (Calendar(unit),)
    if tokens[0].word in REVENUE:
        return 1, (Revenue(tokens[0].text),)
    if tokens[0].kind == "number":
        return _counted(tokens, lead, lexicon)
    return 0, ()


def _on_number(items: Sequence[Item]) -> bool:
    last = items[-1] if items else None
    return isinstance(last, Mention) and any(link.is_number for link in last.links)


def _first_rule(text: str) -> tuple[int, tuple[Item, ...]] | None:
    for pattern, make in _RULES:
        if match := pattern.match(text):
            return len(match[0].split()), make(match)
    return None


def _counted(tokens: Sequence[Token], lead: str, lexicon: Lexicon) -> tuple[int, tuple[Item, ...]]:
    """A bare number says how many to show ("the 10 customers with ...") or to have ("with 4 cylinders")."""
    _, links = lexicon.find(tokens[1:])
    rule = _first_rule(" ".join(token.raw for token in tokens[1:]))
    if (lead in _HAVING and links) or any(link.is_number for link in links):
        return 1, (Comparison("=", (tokens[0].raw,)),)
    if any(link.is_table for link in links) or (rule and _ranks(rule[1])):
        return 1, (Limit(int(float(tokens[0].raw))),)
    return 0, ()


def _ranks(items: Sequence[Item]) -> bool:
    return any(isinstance(item, Rank) for item in items)


def _pass_over(token: Token, at: int, lexicon: Lexicon) -> None:
    """Raises `Beyond` unless the word means nothing."""
    if token.raw in _EXCLUDING:
        raise Beyond(f"“{token.text}” excludes or combines in a way that I cannot express safely.")
    if token.raw in _WRITING:
        raise Beyond("I only read data, I never change it.")
    if token.raw in _CALCULATING or (at == 0 and token.raw == "where"):
        raise Beyond(f"“{token.text}” asks for a comparison, calculation or reason that I cannot work out.")
    if token.raw in _PASSED_OVER:
        return
    guess = lexicon.close_to(token.word) if token.kind == "word" else None
    hint = f" Did you mean “{guess}”?" if guess else ""
    raise Beyond(f"I find nothing in this database for “{token.text}”.{hint}")
