"""A question read from left to right into items: what it mentions and the small words that give it a role."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from app.modules.sql_generation.builtin.periods import CalendarUnit, DateRange, read_period, unit_of
from app.modules.sql_generation.builtin.plan import (
    NOT_UNDERSTOOD,
    AsksForChange,
    Beyond,
    Definition,
    Function,
    Operator,
)
from app.modules.sql_generation.builtin.question.lexicon import EXACT, Lexicon, LexiconEntry
from app.modules.sql_generation.builtin.question.units import UNITS
from app.modules.sql_generation.builtin.question.words import ORDERING, REVENUE, Token, tokenise, word_set

LONGEST_QUESTION = 60


@dataclass(frozen=True, kw_only=True)
class SchemaMention:
    """Words that name something in the schema; `links` is empty for a quoted text that is not stored."""

    text: str
    links: tuple[LexiconEntry, ...]
    lead: str = ""
    plural: bool = False
    owns: bool = False


@dataclass(frozen=True)
class Revenue:
    """A word for money earned, to be found in the schema later, or for a number that the glossary defines.

    `of`: the rows that the money is of, as in "order value". `hint`: words for the column of a quality, as in
    "how long", which is no money.
    """

    text: str
    definition: Definition | None = None
    of: SchemaMention | None = None
    hint: tuple[str, ...] = ()


@dataclass(frozen=True)
class Count:
    pass


@dataclass(frozen=True)
class Distinct:
    pass


@dataclass(frozen=True)
class PartOfWhole:
    """Words for a part of a whole: "what percentage of", or with `after` "in percent"."""

    after: bool = False


@dataclass(frozen=True)
class SideBySide:
    """Words that put values or periods side by side: "compare", "versus"."""


@dataclass(frozen=True)
class Aggregate:
    """A function of the number named next, or with `after` of the one named before: "on average"."""

    function: Function
    after: bool = False


@dataclass(frozen=True)
class Group:
    """Words for grouping. `each` is False for "by", which may also name a value: "written by Ann"."""

    each: bool = True


@dataclass(frozen=True)
class Calendar:
    unit: CalendarUnit
    plural: bool = False


@dataclass(frozen=True)
class Sort:
    """Words for sorting. `descending` is None if the question does not say it; with `by_age` a date of birth
    is sorted the other way.
    """

    descending: bool | None
    by_age: bool = False


@dataclass(frozen=True)
class Rank:
    """A superlative, of a value ("highest", `hint` being words for its column), of a count ("most orders"),
    or of the rows that something has ("busiest store").
    """

    descending: bool
    hint: tuple[str, ...] = ()
    about: Literal["value", "count", "rows"] = "value"


@dataclass(frozen=True)
class Limit:
    """A number of rows. `first`: written as "the first", so that a later sort or date decides the order."""

    count: int
    first: bool = False


@dataclass(frozen=True)
class NumberComparison:
    """A comparison with numbers, which may be in a unit such as "minutes"."""

    operator: Operator
    numbers: tuple[str, ...]
    hint: tuple[str, ...] = ()
    times: bool = False
    unit: str = ""


@dataclass(frozen=True)
class Lacking:
    """The next mention must be missing or not hold. `only_values`: it must be a value, as after "except".

    `may_end`: at the end of the question it speaks of the mention before it.
    """

    only_values: bool = False
    may_end: bool = False


@dataclass(frozen=True)
class Holding:
    """Words such as "with a" and "have a": the next mention must exist."""


@dataclass(frozen=True)
class Relation:
    """People who report to a named person; with `above`, the person they report to.

    `noun`: written as a noun such as "manager", not as the verb "report".
    """

    above: bool
    noun: bool


@dataclass(frozen=True)
class Unrelated:
    """People who report to no one."""


@dataclass(frozen=True)
class PeriodMention:
    period: DateRange


@dataclass(frozen=True)
class Conjunction:
    either: bool


QuestionItem = (
    SchemaMention
    | Revenue
    | Count
    | Distinct
    | PartOfWhole
    | SideBySide
    | Aggregate
    | Group
    | Calendar
    | Sort
    | Rank
    | Limit
    | NumberComparison
    | Lacking
    | Holding
    | Relation
    | Unrelated
    | PeriodMention
    | Conjunction
)


_PRICE = ("price", "cost")
AGE = ("age",)
_SIZE = ("length", "duration", "millisecond", "height", "minute", "second")
DATE = ("date",)
BIRTH = ("birth",)
_SUPERLATIVES: dict[str, Rank] = {
    "busiest|(?:best|top) selling|bestselling|most (?:popular|active|common|frequent)|commonest": Rank(
        True, about="rows"
    ),
    "quietest|slowest|least (?:busy|popular|active|common|frequent)": Rank(False, about="rows"),
    "most expensive|priciest|dearest": Rank(True, _PRICE),
    "cheapest|least expensive": Rank(False, _PRICE),
    "most recent|latest|newest|last": Rank(True, DATE),
    "earliest|first": Rank(False, DATE),
    "oldest": Rank(True, AGE),
    "youngest": Rank(False, AGE),
    "longest|tallest": Rank(True, _SIZE),
    "shortest": Rank(False, _SIZE),
    "heaviest": Rank(True, ("weight",)),
    "lightest": Rank(False, ("weight",)),
    "(?:most|highest|largest|greatest|maximum|biggest|most) number of|most": Rank(True, about="count"),
    "(?:least|lowest|smallest|minimum) number of|least|fewest": Rank(False, about="count"),
    "highest|largest|biggest|greatest|best|top": Rank(True),
    "lowest|smallest|worst|bottom": Rank(False),
}
_OPERATORS: tuple[tuple[str, Operator], ...] = (
    (
        r"(?:at least|(?:no|not) (?:less|fewer) than|>=|≥|(?:greater|more|higher|larger) than or equal to)",
        ">=",
    ),
    (
        r"(?:at most|(?:no|not) (?:more|higher) than|up to|<=|≤|(?:less|fewer|lower) than or equal to)",
        "<=",
    ),
    (r"(?:more|greater|higher|larger|bigger|longer|heavier|older|more expensive) than", ">"),
    (r"over|above|exceeding|>", ">"),
    (r"(?:less|fewer|lower|smaller|shorter|lighter|younger|cheaper|less expensive) than|under|below|<", "<"),
    (r"=|is|are|equal to|equals|exactly|precisely", "="),
    (r"(?:only|just)(?! (?:19|20)\d\d(?: |$))", "="),
)
_COMPARATIVES = {
    "older": AGE,
    "younger": AGE,
    "cheaper": _PRICE,
    "expensive": _PRICE,
    "longer": _SIZE,
    "shorter": _SIZE,
    "heavier": ("weight",),
    "lighter": ("weight",),
}
_QUALITIES = {
    "long|short": _SIZE,
    "expensive|costly|cheap": _PRICE,
    "heavy": ("weight",),
    "old": AGE,
    "tall|high": ("height",),
}
_NUMBER = r"(\d+(?:\.\d+)?)"
_UNIT = rf"(?: ({'|'.join(UNITS)})(?: long)?)?"
_Make = Callable[[re.Match[str]], tuple[QuestionItem, ...]]
_Rule = tuple[re.Pattern[str], _Make]


def _constant(*items: QuestionItem) -> _Make:
    return lambda _: items


def _comparison(operator: Operator) -> _Make:
    def make(match: re.Match[str]) -> tuple[QuestionItem, ...]:
        hints = [hint for word, hint in _COMPARATIVES.items() if word in match[0]]
        *numbers, unit = match.groups()
        return (NumberComparison(operator, tuple(numbers), hints[0] if hints else (), unit=unit or ""),)

    return make


def _repeated(operator: Operator) -> _Make:
    return lambda match: (NumberComparison(operator, match.groups(), times=True),)


def _rule(pattern: str, make: _Make) -> _Rule:
    return re.compile(rf"(?:{pattern})(?= |$)"), make


def _so_many(rank: Rank) -> _Make:
    return lambda match: (Limit(int(float(match[1]))), rank)


_AUXILIARY = "do|does|did|is|are|was|were|has|have|had|be|been"
_SUPERIOR = "managers?|boss(?:es)?|supervisors?|superiors?"
_RELATIONS = (
    _rule(
        rf"(?:without|(?:with|have|has|having) no|(?:{_AUXILIARY}) not have)(?: an?| any)? (?:{_SUPERIOR})",
        _constant(Unrelated()),
    ),
    _rule(
        r"(?:(?:(?:do|does|did) )?not )?report(?:s|ed|ing)? to (?:nobody|none|no 1|noone|anyone|anybody)",
        _constant(Unrelated()),
    ),
    _rule(
        r"(?:(?:is|are|who|that) )*(?:directly )?report(?:s|ed|ing)?(?: directly)? to",
        _constant(Relation(above=False, noun=False)),
    ),
    _rule(
        r"(?:directly )?(?:managed|supervised|led|overseen) by|(?:work|working|works) (?:for|under)",
        _constant(Relation(above=False, noun=False)),
    ),
    _rule(
        r"(?:direct )?(?:reports|subordinates?|reportees)(?: (?:of|to))?|direct report(?: of)?",
        _constant(Relation(above=False, noun=True)),
    ),
    _rule(rf"whose (?:{_SUPERIOR})(?: (?:is|was))?", _constant(Relation(above=False, noun=False))),
    _rule(r"manages?|supervises?|oversees?", _constant(Relation(above=True, noun=False))),
    _rule(rf"(?:{_SUPERIOR})(?: (?:of|for))?", _constant(Relation(above=True, noun=True))),
)
_RULES = (
    _rule(rf"(?:the )?first {_NUMBER}", lambda match: (Limit(int(float(match[1])), first=True),)),
    _rule(rf"(?:top|best) {_NUMBER} selling", _so_many(Rank(True, about="rows"))),
    *(_rule(rf"(?:{words}) {_NUMBER}", _so_many(rank)) for words, rank in _SUPERLATIVES.items()),
    _rule(
        rf"{_NUMBER} (?:(?:or|and) (?:more|over|above|higher|greater|up|older)|\+)" + _UNIT, _comparison(">=")
    ),
    _rule(rf"{_NUMBER} (?:or|and) (?:fewer|less|under|below|lower|younger)" + _UNIT, _comparison("<=")),
    _rule(r"(?:only |just |exactly )?(?:a|1) single", _constant(NumberComparison("=", ("1",)))),
    _rule(r"multiple|more than a single", _constant(NumberComparison(">", ("1",)))),
    _rule(r"(?:only |just |exactly )?once", _constant(NumberComparison("=", ("1",), times=True))),
    _rule(r"(?:only |just |exactly )?twice", _constant(NumberComparison("=", ("2",), times=True))),
    _rule(r"more than once", _constant(NumberComparison(">", ("1",), times=True))),
    _rule(r"more than twice", _constant(NumberComparison(">", ("2",), times=True))),
    _rule(r"at least once", _constant(NumberComparison(">=", ("1",), times=True))),
    _rule(r"at least twice", _constant(NumberComparison(">=", ("2",), times=True))),
    *(_rule(rf"(?:{words}) {_NUMBER} times", _repeated(operator)) for words, operator in _OPERATORS),
    _rule(rf"(?:is |are |was |be )?between {_NUMBER} and {_NUMBER}{_UNIT}", _comparison("between")),
    *(
        _rule(
            rf"(?:(?:is|are|was|were|be|of|with|have|has|having|had) )?(?:{words}) {_NUMBER}{_UNIT}",
            _comparison(operator),
        )
        for words, operator in _OPERATORS
    ),
    _rule(
        r"(?:from )?(?:the )?(?:oldest|old) to (?:the )?(?:youngest|young)",
        _constant(Sort(descending=True, by_age=True)),
    ),
    _rule(
        r"(?:from )?(?:the )?(?:youngest|young) to (?:the )?(?:oldest|old)",
        _constant(Sort(descending=False, by_age=True)),
    ),
    _rule(
        r"(?:from )?(?:high|highest|largest) to (?:low|lowest|smallest)"
        r"|(?:highest|largest|most|newest|latest) first"
        r"|(?:and )?(?:sorted |ordered )?(?:in )?(?:descending|decreasing)(?: order)?(?: of| by)?|desc",
        _constant(Sort(descending=True)),
    ),
    _rule(
        r"(?:from )?(?:low|lowest|smallest) to (?:high|highest|largest)"
        r"|(?:lowest|smallest|oldest|least) first"
        r"|(?:and )?(?:sorted |ordered )?(?:in )?(?:ascending|increasing|alphabetical)(?: order)?(?: of| by)?"
        r"|(?:and )?(?:sorted |ordered )?alphabetically|asc",
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
    *(
        _rule(rf"how (?:{words})", _constant(Revenue("quality", hint=hint)))
        for words, hint in _QUALITIES.items()
    ),
    _rule(
        r"(?:the |what )*(?:share|percentage|percent|proportion|fraction|%)(?: of)?"
        r"(?: (?:the|all|our|total)(?= ))*",
        _constant(PartOfWhole()),
    ),
    _rule(r"in (?:percent|%)", _constant(PartOfWhole(after=True))),
    _rule(
        r"compare|comparison (?:of|between)|(?:compared|in comparison) (?:to|with)|versus|vs",
        _constant(SideBySide()),
    ),
    _rule(r"on average", _constant(Aggregate("avg", after=True))),
    _rule(r"average|mean|avg", _constant(Aggregate("avg"))),
    _rule(r"maximum|max", _constant(Aggregate("max"))),
    _rule(r"minimum|min", _constant(Aggregate("min"))),
    _rule(r"total|sum|sum of|total of", _constant(Aggregate("sum"))),
    _rule(r"(?:distinct|different|unique)", _constant(Distinct())),
    _rule(r"(?:the )?(?:days?|which day) of (?:the )?week|week ?days?", _constant(Calendar("weekday"))),
    _rule(r"hours? of (?:the )?day", _constant(Calendar("hour"))),
    *(
        _rule(rf"over the {unit}s", _constant(Group(), Calendar(unit)))
        for unit in ("day", "week", "month", "quarter", "year")
    ),
    _rule(r"hourly", _constant(Group(), Calendar("hour"))),
    _rule(r"daily|day by day", _constant(Group(), Calendar("day"))),
    _rule(r"weekly|week by week", _constant(Group(), Calendar("week"))),
    _rule(r"monthly|month by month|over time", _constant(Group(), Calendar("month"))),
    _rule(r"quarterly|quarter by quarter", _constant(Group(), Calendar("quarter"))),
    _rule(r"yearly|annual|annually|year by year", _constant(Group(), Calendar("year"))),
    _rule(r"in total|in all|overall|altogether|break(?:ing)? down|break ?down(?: of)?", _constant()),
    _rule(r"(?:owned|used|made|placed|given|shown|found) by", _constant()),
    _rule(r"by", _constant(Group(each=False))),
    _rule(
        r"(?:grouped|group|broken down|split) by|per|(?:(?:for|in|of|from|at|to|on|with) )?(?:each|every)",
        _constant(Group()),
    ),
    _rule(
        r"(?:all )?(?:except|excluding|other than|but not|apart from|not including)(?: for)?(?: the)?",
        _constant(Lacking(only_values=True)),
    ),
    _rule(
        r"without(?: an?| any)?|(?:with|have|has|having|had|are|is|placed|made) no|no",
        _constant(Lacking()),
    ),
    _rule(r"missing|lacking", _constant(Lacking(may_end=True))),
    _rule(
        rf"(?:(?:{_AUXILIARY}) )?(?:not|never|non|!=|<>)"
        rf"(?: (?:yet|ever|{_AUXILIARY}|any|an?|the|in|from|of|at|by|on|for|to|placed|made|belong))*",
        _constant(Lacking()),
    ),
    _rule(r"(?:with|have|has|having|had) (?:an?|any)(?! (?:single|total))", _constant(Holding())),
    _rule(r"and|,|as well as|along with", _constant(Conjunction(either=False))),
    _rule(r"or", _constant(Conjunction(either=True))),
)


_WORTH = ("amount", "value", "worth")
_WORTHS = [[word] for word in (*_WORTH, "total")]
_LENGTH = ("length", "duration")
_OF_ROWS = ("of", "per", "for", "each", "an", "a", "the", "all", "our", "single")


class UnknownWord(Beyond):
    """A word of the question means nothing in this database."""

    def __init__(self, token: Token) -> None:
        super().__init__(NOT_UNDERSTOOD)
        self.token = token


POSSESSIVE = word_set("its their his her")
_PEOPLE = word_set("people person persons member members everyone everybody anyone team")
_ASKING_WHETHER = word_set("is are was were do does did have has")
_RELATIVE = word_set("who that which whose with having have has in from")
_EVERY = word_set("all every each")
HAVING = word_set("with have has had having contain contains containing")
INCLUDING = "including"
_PASSED_OVER = word_set(
    "a an the of in on at for from to with is are was were be been being do does did has have had having"
    " their its our your my me i we whom you please show list display give get find return tell see want"
    " need living lives would like can could any what which who whose that name named called us each together"
    " placed place made make live located based exist exists where dollar dollars euro euros usd eur"
    " database data table listed information details also now then instead about anything"
    " use uses used using own owns owned occurred happened across given some either there contain contains"
    " containing belong belongs ever yet already currently still including whats whos wheres hows pls plz"
    " info produced produces produce created built manufactured raised raise titled entitled"
    " offered offer offers working work works employed associated available come comes came appear appears"
    " appeared"
)
_EXCLUDING = word_set(
    "not except excluding exclude never neither nor besides but unless other than both same nobody none"
)
_WRITING = word_set("delete drop update insert remove create alter truncate add set erase wipe purge")
_CALCULATING = word_set(
    "why predict forecast growth grow grew growing increase increased decrease decreased change changed trend"
    " compared comparison ratio rate correlation"
    " correlate median cumulative running moving difference change impact cause if half double twice when"
    " how reason should recommend"
)


def read(question: Sequence[Token], lexicon: Lexicon, today: date) -> tuple[QuestionItem, ...]:
    """Returns the items of a question in order.

    Every word is part of an item or known to be meaningless. Raises `Beyond` for any other word, because it
    could change the answer.
    """
    if len(question) > LONGEST_QUESTION:
        raise Beyond("The question is too long for me.")
    raws = [token.raw for token in question]
    if raws[:1] and raws[0] in _ASKING_WHETHER and not _EVERY.isdisjoint(raws):
        raise Beyond("I can list or count rows, not say whether something is so for all of them.")
    return _Reading(question, lexicon, today).items()


class _Reading:
    """One pass over a question."""

    def __init__(self, question: Sequence[Token], lexicon: Lexicon, today: date) -> None:
        self._question = question
        self._lexicon = lexicon
        self._today = today
        self._read: list[QuestionItem] = []
        raws = [token.raw for token in question]
        self._sorts = raws[:1] in (["sort"], ["order"], ["arrange"], ["rank"]) and "by" in raws[2:]
        """The question is of the form "sort teachers by age"."""
        self._relations = lexicon.reporting and any(
            isinstance(item, Relation | Unrelated)
            for at in range(len(raws))
            for item in (_first_rule(" ".join(raws[at : at + 12]), _RELATIONS) or (0, ()))[1]
        )

    def items(self) -> tuple[QuestionItem, ...]:
        if self._relations and self._question[0].raw in ("is", "was"):
            raise Beyond("I can list who reports to whom, not say whether it is so.")
        at = int(self._sorts)
        while at < len(self._question):
            said, found = self._next(at)
            self._read += found
            if not said:
                self._pass_over(at)
            at += max(said, 1)
        return tuple(self._read)

    def _next(self, at: int) -> tuple[int, tuple[QuestionItem, ...]]:
        """Returns the number of tokens from `at` that form the next items, and these items; 0 if unknown."""
        tokens = self._question[at : at + 12]
        if self._costs(at):
            tokens = [replace(tokens[0], raw="price", word="price"), *tokens[1:]]
        if defined := self._defined(tokens, at):
            return defined
        raws = [token.raw for token in tokens]
        rule = self._rule(" ".join(raws))
        length, links = self._lexicon.find(tokens)
        lead = self._lead(at)
        said = tokens[:length]
        last = tokens[length - 1]
        mention = SchemaMention(
            text=" ".join(token.text for token in said),
            links=links,
            lead=lead,
            plural=last.plural,
            owns=bool(said) and last.owns,
        )
        if rule and isinstance(rule[1][0] if rule[1] else None, Relation | Unrelated):
            return rule
        if tokens[0].kind == "quoted" or length > 1:
            return length, (mention,)
        if tokens[0].word == "name" and self._is_name_of_column(tokens[1:]):
            return 1, ()
        if rule and (tokens[0].kind == "number" or (raws[0] == "between" and self._on_number())):
            return rule
        if period := read_period(raws, self._today):
            compares = not {"vs", "versus"}.isdisjoint(raws[: period[1]])
            return period[1], (PeriodMention(period[0]), *([SideBySide()] if compares else []))
        if isinstance(self._last, Aggregate) and (worth := self._worth(tokens)):
            return worth
        if raws[0] == "amount" and not isinstance(self._last, Rank) and self._worth(tokens):
            raise Beyond("I cannot tell whether a number of rows or an amount is meant.")
        ends_sort = isinstance(self._last, Sort) and at + length == len(self._question)  # "sort by total"
        if length and (
            isinstance(self._last, Aggregate) or ends_sort or self._is_compared(mention, raws[length:])
        ):
            return length, (mention,)
        if not length and (sellers := self._top_sellers(raws)):
            return sellers
        is_share = rule is not None and rule[1][:1] == (PartOfWhole(),)
        if rule and not (is_share and any(link.is_number and link.score >= EXACT for link in links)):
            if lead in POSSESSIVE and _ranks(rule[1]):
                raise Beyond(f"I cannot find the {tokens[0].text} of each of several.")
            return rule
        if compared := self._compared(tokens):
            return compared
        if length:
            return length, (mention,)
        if unit := unit_of(tokens[0].word):
            return 1, (Calendar(unit, tokens[0].plural),)
        if tokens[0].word in REVENUE:
            return 1, (Revenue(tokens[0].text),)
        if tokens[0].raw in _LENGTH and isinstance(self._last, Aggregate):
            return 1, (Revenue(tokens[0].text, hint=_SIZE),)
        if tokens[0].kind == "number":
            if at and self._question[at - 1].kind == "number":
                raise Beyond("I cannot read two numbers beside each other as one.")
            return self._counted(tokens, lead)
        return self._negated(tokens)

    def _worth(self, tokens: Sequence[Token]) -> tuple[int, tuple[QuestionItem, ...]] | None:
        """Reads the money of rows: "order value", "amount of invoices", "value per order"."""
        at = 0
        if tokens[0].raw in _WORTH or tokens[0].word in REVENUE:
            at = 1
            while at < len(tokens) and tokens[at].raw in _OF_ROWS:
                at += 1
            if at == 1:
                return None
        length, links = self._lexicon.find(tokens[at:])
        tables = tuple(link for link in links if link.is_table and not link.verb)
        end = at + length
        if tables and not at and (after := tokens[end : end + 1]) and after[0].raw in _LENGTH:
            rows = SchemaMention(text=tokens[end - 1].text, links=tables, plural=True)
            return end + 1, (Revenue(after[0].text, of=rows, hint=_SIZE),)
        if not tables or (not at and [each.raw for each in tokens[end : end + 1]] not in _WORTHS):
            return None
        last = tokens[end - 1]
        known = self._lexicon.find(tokens[:1])[1] if at else ()
        own = {link.table for link in (*known, *tables) if link.is_table or link.is_number}
        if tokens[0].raw == "amount" and last.word not in ORDERING and known and len(own) > 1:
            raise Beyond("I cannot tell whether a number of rows or an amount is meant.")
        if last.word not in ORDERING and (tokens[0].word in REVENUE or any(link.is_number for link in known)):
            return None
        said = tokens[: end if at else end + 1]
        rows = SchemaMention(text=last.text, links=tables, lead="of", plural=last.plural)
        return len(said), (Revenue(" ".join(each.text for each in said), of=rows),)

    def _top_sellers(self, raws: Sequence[str]) -> tuple[int, tuple[QuestionItem, ...]] | None:
        """Reads "top sellers" as the products that have the most, where there is a table of them."""
        match raws:
            case ["top" | "best", "seller" | "sellers" as noun, *_]:
                said = 2
            case ["bestseller" | "bestsellers" as noun, *_]:
                said = 1
            case _:
                return None
        product = Token(text="products", raw="products", word="product", kind="word")
        links = tuple(link for link in self._lexicon.find([product])[1] if link.is_table)
        if not links:
            return None
        return said, (
            Rank(True, about="rows"),
            SchemaMention(text="products", links=links, plural=noun.endswith("s")),
        )

    def _is_name_of_column(self, after: Sequence[Token]) -> bool:
        """True if a text column follows: "names of makers" are the makers themselves."""
        raws = [token.raw for token in after[:3]]
        if raws[:1] != ["of"]:
            return False
        skipped = next(
            (at for at, raw in enumerate(raws) if raw not in ("of", "the", "all", "each")), len(raws)
        )
        links = self._lexicon.find(after[skipped:])[1]
        return bool(links) and all(
            link.is_column and link.field and link.field.type == "text" for link in links
        )

    def _lead(self, at: int) -> str:
        """Returns the word before a position; an article after "including" does not count."""
        before = [token.raw for token in self._question[max(at - 2, 0) : at]]
        if before[:1] == [INCLUDING] and before[1:] in (["the"], ["a"], ["an"]):
            return INCLUDING
        return before[-1] if before else ""

    def _defined(self, tokens: Sequence[Token], at: int) -> tuple[int, tuple[QuestionItem, ...]] | None:
        """Reads a term of the glossary. "Active customers" names a condition and its table."""
        if tokens[0].kind == "quoted" or (found := self._lexicon.definition(tokens)) is None:
            return None
        length, definition = found
        said = tokens[:length]
        text = " ".join(token.text for token in said)
        if definition.kind != "condition":
            return length, (Revenue(text, definition),)
        field = definition.fields[0]
        link = LexiconEntry(table=field.table, score=EXACT, field=field, flag=True, definition=definition)
        whole = SchemaMention(text=text, links=(link,), lead=self._lead(at))
        tables = tuple(link for link in self._lexicon.find(said[-1:])[1] if link.table == field.table)
        if not any(link.is_table and not link.verb for link in tables):
            return length, (whole,)
        before = said[:-1] or said
        described = replace(whole, text=" ".join(token.text for token in before))
        noun = SchemaMention(text=said[-1].text, links=tables, lead=before[-1].raw, plural=said[-1].plural)
        return length, (described, noun)

    def _costs(self, at: int) -> bool:
        """True if "cost" is a verb here, so that the price is meant: "products that cost more than 300"."""
        if self._question[at].raw not in ("cost", "costs", "costing") or not at:
            return False
        before = self._question[at - 1]
        return self._question[at].raw == "costing" or before.raw in ("that", "which", "who") or before.plural

    def _compared(self, tokens: Sequence[Token]) -> tuple[int, tuple[QuestionItem, ...]] | None:
        """Reads a column between a comparison and its number: "above age 20"."""
        raws = [token.raw for token in tokens]
        for at in range(1, min(4, len(tokens) - 1)):
            length, links = self._lexicon.find(tokens[at:])
            end = at + length
            if not any(link.is_number for link in links) or [t.kind for t in tokens[end : end + 1]] != [
                "number"
            ]:
                continue
            found = _first_rule(" ".join([*raws[:at], raws[end]]), _RULES)
            if found and found[0] == at + 1 and isinstance(found[1][0], NumberComparison):
                text = " ".join(token.text for token in tokens[at:end])
                return end + 1, (SchemaMention(text=text, links=links), found[1][0])
        return None

    def _is_compared(self, mention: SchemaMention, rest: Sequence[str]) -> bool:
        """True if a word like "total" names a column here, because a comparison follows."""
        found = _first_rule(" ".join(rest), _RULES)
        compared = found is not None and isinstance(found[1][0] if found[1] else None, NumberComparison)
        return compared and any(link.is_number and link.score >= EXACT for link in mention.links)

    def _rule(self, text: str) -> tuple[int, tuple[QuestionItem, ...]] | None:
        if self._relations and (found := _first_rule(text, _RELATIONS)):
            return found
        if self._sorts and text.startswith("by "):
            return 1, (Sort(None),)
        found = _first_rule(text, _RULES)
        if found and isinstance(found[1][0] if found[1] else None, NumberComparison):
            found = self._without_unit(found, text)
        if found and text.startswith(("only", "just")) and not self._named:
            so_many = [
                item
                for item in found[1]
                if isinstance(item, NumberComparison) and not (item.times or item.unit)
            ]
            return (found[0], (Limit(int(float(so_many[0].numbers[0]))),)) if so_many else found
        return found

    def _without_unit(
        self, found: tuple[int, tuple[QuestionItem, ...]], text: str
    ) -> tuple[int, tuple[QuestionItem, ...]]:
        """Returns a comparison without its unit if that names a table or column: "with over 5 days"."""
        compared = found[1][0]
        if not isinstance(compared, NumberComparison) or not compared.unit:
            return found
        said = text.split()[: found[0]]
        at = max(place for place, word in enumerate(said) if word == compared.unit)
        if not self._lexicon.find(tokenise(compared.unit))[0]:
            return found
        return at, (replace(compared, unit=""),)

    @property
    def _last(self) -> QuestionItem | None:
        return self._read[-1] if self._read else None

    @property
    def _named(self) -> bool:
        """True if a table, column or value was named before."""
        return any(isinstance(item, SchemaMention | Revenue) for item in self._read)

    @property
    def _named_table(self) -> bool:
        return any(
            isinstance(item, SchemaMention) and any(link.is_table for link in item.links)
            for item in self._read
        )

    def _on_number(self) -> bool:
        last = self._last
        return isinstance(last, SchemaMention) and any(link.is_number for link in last.links)

    def _counted(self, tokens: Sequence[Token], lead: str) -> tuple[int, tuple[QuestionItem, ...]]:
        """Reads a bare number as a limit or as a comparison.

        "The 10 customers with ..." has a limit; "with 4 cylinders" and "who placed 4 orders" compare.
        """
        _, links = self._lexicon.find(tokens[1:])
        rule = self._rule(" ".join(token.raw for token in tokens[1:]))
        equal = NumberComparison("=", (tokens[0].raw,))
        if (lead in HAVING and links) or any(link.is_number for link in links):
            return 1, (equal,)
        if [token.raw for token in tokens[1:2]] == ["times"] and self._named_table:
            return 2, (replace(equal, times=True),)
        length = self._lexicon.find(tokens[1:])[0]
        _, further = self._lexicon.find(tokens[1 + length :])
        if any(link.is_table for link in links) and any(link.is_table and not link.verb for link in further):
            raise Beyond("I cannot tell what the number counts here.")
        if any(link.is_table for link in links) and self._named_table:
            return 1, (equal,)
        if any(link.is_table for link in links) or (rule and _ranks(rule[1])):
            return 1, (Limit(int(float(tokens[0].raw))),)
        return 0, ()

    def _negated(self, tokens: Sequence[Token]) -> tuple[int, tuple[QuestionItem, ...]]:
        """Reads a negating prefix: "unshipped", "inactive"."""
        token = tokens[0]
        for prefix in ("un", "in", "non"):
            rest = token.raw.removeprefix(prefix)
            if token.kind == "word" and rest != token.raw and len(rest) > 3:
                _, links = self._lexicon.find([Token(text=rest, raw=rest, word=rest, kind="word")])
                if links and all(link.verb or link.flag or link.value or link.is_date for link in links):
                    return 1, (Lacking(), SchemaMention(text=rest, links=links))
        return 0, ()

    def _pass_over(self, at: int) -> None:
        """Raises `Beyond` unless the word is meaningless here."""
        token = self._question[at]
        raws = [before.raw for before in self._question[:at]]
        each_of = raws[-1:] in (["of"], ["for"]) and _RELATIVE.isdisjoint(raws)
        leading = {
            "only": self._named,
            "just": self._named,
            "all": self._named_table and not each_of,
        }
        if token.raw in leading:
            if leading[token.raw]:
                raise Beyond("The question restricts the answer in a way that I cannot express.")
            return
        if token.raw == "still" and any(
            link.verb and link.is_table for link in self._lexicon.find(self._question[at + 1 :])[1]
        ):
            raise Beyond("I cannot tell what still goes on.")
        if token.raw == "like" and raws and raws[-1] not in ("would", "i", "we", "d"):
            raise Beyond("I can look for texts as they are stored, not for similar ones.")
        if token.raw in _EXCLUDING:
            raise Beyond("The question excludes or combines in a way that I cannot express safely.")
        if token.raw in _WRITING:
            raise AsksForChange
        if token.raw in _CALCULATING or (at == 0 and token.raw == "where"):
            raise Beyond("The question asks for a comparison, calculation or reason that I cannot work out.")
        if token.raw in _PASSED_OVER or (self._relations and token.raw in _PEOPLE):
            return
        raise UnknownWord(token)


def _first_rule(text: str, rules: Sequence[_Rule]) -> tuple[int, tuple[QuestionItem, ...]] | None:
    for pattern, make in rules:
        if match := pattern.match(text):
            return len(match[0].split()), make(match)
    return None


def _ranks(items: Sequence[QuestionItem]) -> bool:
    return any(isinstance(item, Rank) for item in items)
