"""The items that a question is read into."""

from dataclasses import dataclass
from datetime import date
from typing import Literal

from app.modules.sql_generation.builtin.periods import CalendarUnit, DateRange
from app.modules.sql_generation.builtin.plan import Definition, Function, Operator
from app.modules.sql_generation.builtin.question.lexicon import LexiconEntry


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

    `of`: the rows that the money is of, as in "order value". No money are words with `hint`, words for the
    column of a quality, as in "how long", and with `between`, two dates that lie days apart.
    """

    text: str
    definition: Definition | None = None
    of: SchemaMention | None = None
    hint: tuple[str, ...] = ()
    between: tuple[SchemaMention, SchemaMention] | None = None


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
class PartBegins:
    """A verb between the whole and its part: "what share of invoices in Germany is from 2024"."""


@dataclass(frozen=True)
class Rate:
    """The share of rows with a state or an event: "cancellation rate". `state` is the word for it."""

    state: SchemaMention


@dataclass(frozen=True)
class Growth:
    """Words for a change from one period to another. `ranks`: those with the largest change are meant, in
    percent if `relative`. `of`: the next mention is what changes. `today` is the day that is asked on.
    """

    descending: bool = True
    relative: bool = False
    ranks: bool = True
    of: bool = False
    today: date = date.min


@dataclass(frozen=True)
class NewRows:
    """Words for rows that are new in a period. `first`: new by the first event that they have part in.
    `won`: new only if they are people, as games and firms can be won otherwise. `listed`: the words before
    them ask which they are.
    """

    first: bool = False
    won: bool = False
    listed: bool = False


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
    of the rows that something has ("busiest store"), or of its sales.
    """

    descending: bool
    hint: tuple[str, ...] = ()
    about: Literal["value", "count", "rows", "sales"] = "value"


@dataclass(frozen=True)
class Limit:
    """A number of rows. `first`: written as "the first", so that a later sort or date decides the order."""

    count: int
    first: bool = False


@dataclass(frozen=True)
class NumberComparison:
    """A comparison with numbers, which may be in a unit such as "minutes". `of_groups`: the number of each
    group is compared, as in "only those above 100".
    """

    operator: Operator
    numbers: tuple[str, ...]
    hint: tuple[str, ...] = ()
    times: bool = False
    unit: str = ""
    of_groups: bool = False


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
class WeekdayMention:
    """Days of the week on which something happened: "on weekends". `bare`: without a preposition."""

    days: tuple[str, ...]
    bare: bool = False


@dataclass(frozen=True)
class Conjunction:
    either: bool


QuestionItem = (
    SchemaMention
    | Revenue
    | Count
    | Distinct
    | PartOfWhole
    | PartBegins
    | Rate
    | Growth
    | NewRows
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
    | WeekdayMention
    | Conjunction
)
