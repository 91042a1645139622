"""The small words that give a mention its role, and the numbers among them."""

import re
from calendar import day_name
from collections.abc import Callable, Sequence

from app.modules.sql_generation.builtin.plan import Operator
from app.modules.sql_generation.builtin.question import items as said
from app.modules.sql_generation.builtin.question.units import DEGREES, UNITS

_OFTEN: tuple[tuple[str, Operator], ...] = (
    ("(?:only |just |exactly )?", "="),
    ("more than ", ">"),
    ("at least ", ">="),
)
OF_GROUPS = "ofgroups"
"""The word that `rephrase` puts before a comparison of groups."""
_PRICE = ("price", "cost")
AGE = ("age",)
SIZE = ("length", "duration", "millisecond", "height", "minute", "second")
DATE = ("date",)
BIRTH = ("birth",)
_SUPERLATIVES: dict[str, said.Rank] = {
    "(?:best|top) selling|bestselling|most sold": said.Rank(True, about="sales"),
    "(?:worst|least) selling|least sold": said.Rank(False, about="sales"),
    "busiest|most (?:popular|active|common|frequent)|commonest": said.Rank(True, about="rows"),
    "quietest|slowest|least (?:busy|popular|active|common|frequent)": said.Rank(False, about="rows"),
    "most expensive|priciest|dearest": said.Rank(True, _PRICE),
    "cheapest|least expensive": said.Rank(False, _PRICE),
    "most recent|latest|newest|last": said.Rank(True, DATE),
    "earliest|first": said.Rank(False, DATE),
    "oldest": said.Rank(True, AGE),
    "youngest": said.Rank(False, AGE),
    "longest|tallest": said.Rank(True, SIZE),
    "shortest": said.Rank(False, SIZE),
    "heaviest": said.Rank(True, ("weight",)),
    "lightest": said.Rank(False, ("weight",)),
    "(?:most|highest|largest|greatest|maximum|biggest|most) number of|most": said.Rank(True, about="count"),
    "(?:least|lowest|smallest|minimum) number of|least|fewest": said.Rank(False, about="count"),
    "highest|largest|biggest|greatest|best|top": said.Rank(True),
    "lowest|smallest|worst|bottom": said.Rank(False),
}
_OPERATORS: tuple[tuple[str, Operator], ...] = (
    (
        r"(?:at least|(?:no|not) (?:less|fewer) than|>=|≥|(?:greater|more|higher|larger) than or equal to)",
        ">=",
    ),
    (r"(?:at most|(?:no|not) (?:more|higher) than|up to|<=|≤|(?:less|fewer|lower) than or equal to)", "<="),
    (r"(?:more|greater|higher|larger|bigger|longer|heavier|older|more expensive) than", ">"),
    (r"over|above|exceed(?:ing|s)?|beyond|>", ">"),
    (r"(?:less|fewer|lower|smaller|shorter|lighter|younger|cheaper|less expensive) than|under|below|<", "<"),
    (r"=|is|are|equal to|equals|exactly|precisely", "="),
    (r"(?:only|just)(?! (?:19|20)\d\d(?: |$))", "="),
)
COMPARED = "|".join(words for words, operator in _OPERATORS if operator != "=") + "|between"
_COMPARATIVES = {
    "older": AGE,
    "younger": AGE,
    "cheaper": _PRICE,
    "expensive": _PRICE,
    "longer": SIZE,
    "shorter": SIZE,
    "heavier": ("weight",),
    "lighter": ("weight",),
}
_QUALITIES = {
    "long|short": SIZE,
    "expensive|costly|cheap": _PRICE,
    "heavy": ("weight",),
    "old": AGE,
    "tall|high": ("height",),
}
_NUMBER = r"(\d+(?:\.\d+)?)"
_UNIT = rf"(?: ({'|'.join([*UNITS, *DEGREES])})(?: long)?)?"
_Make = Callable[[re.Match[str]], tuple[said.QuestionItem, ...]]
_Rule = tuple[re.Pattern[str], _Make]


def _constant(*items: said.QuestionItem) -> _Make:
    return lambda _: items


def _comparison(operator: Operator, *, of_groups: bool = False) -> _Make:
    def make(match: re.Match[str]) -> tuple[said.QuestionItem, ...]:
        hints = [hint for word, hint in _COMPARATIVES.items() if word in match[0]]
        numbers = match.groups()[: 1 + (operator == "between")]
        unit = match[len(numbers) + 1] if len(numbers) < len(match.groups()) else ""
        hint = hints[0] if hints else ()
        return (said.NumberComparison(operator, numbers, hint, unit=unit or "", of_groups=of_groups),)

    return make


def _repeated(operator: Operator) -> _Make:
    return lambda match: (said.NumberComparison(operator, match.groups(), times=True),)


def _rule(pattern: str, make: _Make) -> _Rule:
    return re.compile(rf"(?:{pattern})(?= |$)"), make


def _so_many(rank: said.Rank) -> _Make:
    return lambda match: (said.Limit(int(float(match[1]))), rank)


_AUXILIARY = "do|does|did|is|are|was|were|has|have|had|be|been"
_SUPERIOR = "managers?|boss(?:es)?|supervisors?|superiors?"
RELATIONS = (
    _rule(
        rf"(?:without|(?:with|have|has|having) no|(?:{_AUXILIARY}) not have)(?: an?| any)? (?:{_SUPERIOR})",
        _constant(said.Unrelated()),
    ),
    _rule(
        r"(?:(?:(?:do|does|did) )?not )?report(?:s|ed|ing)? to (?:nobody|none|no 1|noone|anyone|anybody)",
        _constant(said.Unrelated()),
    ),
    _rule(
        r"(?:(?:is|are|who|that) )*(?:directly )?report(?:s|ed|ing)?(?: directly)? to",
        _constant(said.Relation(above=False, noun=False)),
    ),
    _rule(
        r"(?:directly )?(?:managed|supervised|led|overseen) by|(?:work|working|works) (?:for|under)",
        _constant(said.Relation(above=False, noun=False)),
    ),
    _rule(
        r"(?:direct )?(?:reports|subordinates?|reportees)(?: (?:of|to))?|direct report(?: of)?",
        _constant(said.Relation(above=False, noun=True)),
    ),
    _rule(rf"whose (?:{_SUPERIOR})(?: (?:is|was))?", _constant(said.Relation(above=False, noun=False))),
    _rule(r"manages?|supervises?|oversees?", _constant(said.Relation(above=True, noun=False))),
    _rule(rf"(?:{_SUPERIOR})(?: (?:of|for))?", _constant(said.Relation(above=True, noun=True))),
)
_LARGEST = (
    "most|least|fastest|quickest|slowest|strongest|biggest|largest|highest|greatest|best|smallest|lowest"
)
_RISING = (
    r"gr(?:e|o)w(?:s|n|ing)?|increas(?:e|es|ed|ing)|ris(?:e|es|en|ing)|rose|improv(?:e|es|ed|ing)|gained"
)
_FALLING = (
    "declin(?:e|es|ed|ing)|decreas(?:e|es|ed|ing)|f[ae]ll(?:s|en|ing)?|dropp?(?:s|ed|ing)?|shr[aiu]nk(?:s|ing)?"
    "|los(?:t|ses|s)"
)


def _growth(*, falls: bool = False) -> _Make:
    def make(match: re.Match[str]) -> tuple[said.QuestionItem, ...]:
        least = any(word in match[0] for word in ("least", "slowest", "smallest", "lowest"))
        relative = any(word in match[0] for word in ("fast", "quick", "slow", " rate", "percent"))
        return (said.Growth(falls == least, relative, of=match[0].endswith((" in", " of"))),)

    return make


GROWTH = (
    _rule(rf"(?:{_RISING}) (?:by )?(?:the )?(?:{_LARGEST})(?: in percent)?", _growth()),
    _rule(rf"(?:{_FALLING}) (?:by )?(?:the )?(?:{_LARGEST})(?: in percent)?", _growth(falls=True)),
    _rule(rf"(?:{_LARGEST}) (?:{_RISING}|growth)(?: rate)?(?: (?:in|of))?", _growth()),
    _rule(rf"(?:{_LARGEST}) (?:{_FALLING})(?: rate)?(?: (?:in|of))?", _growth(falls=True)),
    _rule(r"growth(?: rate)?(?: (?:in|of))?", _constant(said.Growth(ranks=False, of=True))),
)
_NEW = (
    _rule(r"(?:for the )?first[ -]time", _constant(said.NewRows(first=True))),
    _rule(r"(?:brand )?new", _constant(said.NewRows())),
    _rule(r"(?:newly )?(?:acquired|won|gain(?:ed)?|onboarded)", _constant(said.NewRows(won=True))),
)
RULES = (
    *_NEW,
    _rule(rf"(?:the )?first {_NUMBER}", lambda match: (said.Limit(int(float(match[1])), first=True),)),
    _rule(rf"(?:top|best) {_NUMBER} selling", _so_many(said.Rank(True, about="sales"))),
    *(_rule(rf"(?:{words}) {_NUMBER}", _so_many(rank)) for words, rank in _SUPERLATIVES.items()),
    _rule(
        rf"{_NUMBER} (?:(?:or|and) (?:more|over|above|higher|greater|up|older)|\+)" + _UNIT, _comparison(">=")
    ),
    _rule(rf"{_NUMBER} (?:or|and) (?:fewer|less|under|below|lower|younger)" + _UNIT, _comparison("<=")),
    _rule(r"(?:only |just |exactly )?(?:a|1) single", _constant(said.NumberComparison("=", ("1",)))),
    _rule(r"multiple|more than a single", _constant(said.NumberComparison(">", ("1",)))),
    *(
        _rule(f"{often}{word}", _constant(said.NumberComparison(operator, (number,), times=True)))
        for often, operator in _OFTEN
        for word, number in (("once", "1"), ("twice", "2"))
    ),
    *(
        _rule(rf"{OF_GROUPS} (?:{words}) {_NUMBER}", _comparison(operator, of_groups=True))
        for words, operator in _OPERATORS
    ),
    _rule(rf"{OF_GROUPS} between {_NUMBER} and {_NUMBER}", _comparison("between", of_groups=True)),
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
        _constant(said.Sort(descending=True, by_age=True)),
    ),
    _rule(
        r"(?:from )?(?:the )?(?:youngest|young) to (?:the )?(?:oldest|old)",
        _constant(said.Sort(descending=False, by_age=True)),
    ),
    _rule(
        r"(?:from )?(?:high|highest|largest) to (?:low|lowest|smallest)"
        r"|(?:highest|largest|most|newest|latest) first"
        r"|(?:and )?(?:sorted |ordered )?(?:in )?(?:descending|decreasing)(?: order)?(?: of| by)?|desc",
        _constant(said.Sort(descending=True)),
    ),
    _rule(
        r"(?:from )?(?:low|lowest|smallest) to (?:high|highest|largest)"
        r"|(?:lowest|smallest|oldest|least) first"
        r"|(?:and )?(?:sorted |ordered )?(?:in )?(?:ascending|increasing|alphabetical)(?: order)?(?: of| by)?"
        r"|(?:and )?(?:sorted |ordered )?alphabetically|asc",
        _constant(said.Sort(descending=False)),
    ),
    _rule(
        r"(?:and )?(?:sorted|ordered|sort|order|rank|ranked)(?: them| it| these| the results?)?"
        r"(?: in)?(?: (?:by|descending by|ascending by))",
        _constant(said.Sort(None)),
    ),
    *(_rule(words, _constant(rank)) for words, rank in _SUPERLATIVES.items()),
    _rule(r"how many|(?:the )?(?:total )?(?:number|count) of|count(?: of| the)?", _constant(said.Count())),
    _rule(r"how much|(?:the )?amount of|(?:what|how) about", _constant()),
    *(
        _rule(rf"how (?:{words})", _constant(said.Revenue("quality", hint=hint)))
        for words, hint in _QUALITIES.items()
    ),
    _rule(
        r"(?:the |what )*(?:share|percentage|percent|proportion|fraction|%)(?: of)?"
        r"(?: (?:the|all|our|total)(?= ))*",
        _constant(said.PartOfWhole()),
    ),
    _rule(r"in (?:percent|%)", _constant(said.PartOfWhole(after=True))),
    _rule(
        r"compare|comparison (?:of|between)|(?:compared|in comparison) (?:to|with)|versus|vs",
        _constant(said.SideBySide()),
    ),
    _rule(r"on average", _constant(said.Aggregate("avg", after=True))),
    _rule(r"median", _constant(said.Aggregate("median"))),
    _rule(r"average|mean|avg", _constant(said.Aggregate("avg"))),
    _rule(r"maximum|max", _constant(said.Aggregate("max"))),
    _rule(r"minimum|min", _constant(said.Aggregate("min"))),
    _rule(r"total|sum|sum of|total of", _constant(said.Aggregate("sum"))),
    _rule(r"(?:distinct|different|unique)", _constant(said.Distinct())),
    _rule(r"(?:on|at|during) (?:the )?weekends?", _constant(said.WeekdayMention(tuple(day_name)[5:]))),
    _rule(r"(?:the )?weekends?", _constant(said.WeekdayMention(tuple(day_name)[5:], bare=True))),
    _rule(r"(?:on|during) (?:the )?week ?days", _constant(said.WeekdayMention(tuple(day_name)[:5]))),
    *(
        _rule(
            rf"on (?:an? )?{day.lower()}s|on (?:an?|any) {day.lower()}",
            _constant(said.WeekdayMention((day,))),
        )
        for day in day_name
    ),
    *(_rule(f"{day.lower()}s", _constant(said.WeekdayMention((day,), bare=True))) for day in day_name),
    _rule(r"(?:the )?(?:days?|which day) of (?:the )?week|week ?days?", _constant(said.Calendar("weekday"))),
    _rule(r"hours? of (?:the )?day", _constant(said.Calendar("hour"))),
    *(
        _rule(rf"over the {unit}s", _constant(said.Group(), said.Calendar(unit)))
        for unit in ("day", "week", "month", "quarter", "year")
    ),
    _rule(r"hourly", _constant(said.Group(), said.Calendar("hour"))),
    _rule(r"daily|day by day", _constant(said.Group(), said.Calendar("day"))),
    _rule(r"weekly|week by week", _constant(said.Group(), said.Calendar("week"))),
    _rule(r"monthly|month by month|over time", _constant(said.Group(), said.Calendar("month"))),
    _rule(r"quarterly|quarter by quarter", _constant(said.Group(), said.Calendar("quarter"))),
    _rule(r"yearly|annual|annually|year by year", _constant(said.Group(), said.Calendar("year"))),
    _rule(r"in total|in all|overall|altogether|break(?:ing)? down|break ?down(?: of)?", _constant()),
    _rule(r"(?:owned|used|made|placed|given|shown|found) by", _constant()),
    _rule(r"by", _constant(said.Group(each=False))),
    _rule(
        r"(?:grouped|group|broken down|split) by|per|(?:(?:for|in|of|from|at|to|on|with) )?(?:each|every)",
        _constant(said.Group()),
    ),
    _rule(
        r"(?:all )?(?:except|excluding|other than|but not|apart from|not including)(?: for)?(?: the)?",
        _constant(said.Lacking(only_values=True)),
    ),
    _rule(
        r"without(?: an?| any)?|(?:with|have|has|having|had|are|is|placed|made) no|no",
        _constant(said.Lacking()),
    ),
    _rule(r"missing|lacking", _constant(said.Lacking(may_end=True))),
    _rule(
        rf"(?:(?:{_AUXILIARY}) )?(?:not|never|non|!=|<>)"
        rf"(?: (?:yet|ever|{_AUXILIARY}|any|an?|the|in|from|of|at|by|on|for|to|placed|made|belong))*",
        _constant(said.Lacking()),
    ),
    _rule(r"(?:with|have|has|having|had) (?:an?|any)(?! (?:single|total))", _constant(said.Holding())),
    _rule(r"and|,|as well as|along with", _constant(said.Conjunction(either=False))),
    _rule(r"or", _constant(said.Conjunction(either=True))),
)


def first_rule(text: str, rules: Sequence[_Rule]) -> tuple[int, tuple[said.QuestionItem, ...]] | None:
    for pattern, make in rules:
        if match := pattern.match(text):
            return len(match[0].split()), make(match)
    return None
