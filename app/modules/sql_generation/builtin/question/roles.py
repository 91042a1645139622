"""The role of each mention in a question: measured, grouped by, filtered on, sorted by or shown."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from app.modules.sql_generation.builtin.periods import DateRange
from app.modules.sql_generation.builtin.plan import Beyond, Function
from app.modules.sql_generation.builtin.question import items as said
from app.modules.sql_generation.builtin.question.items import Revenue, SchemaMention
from app.modules.sql_generation.builtin.question.lexicon import EXACT, EXACT_TABLE, LexiconEntry
from app.modules.sql_generation.builtin.question.reading import POSSESSIVE
from app.modules.sql_generation.builtin.question.rules import DATE
from app.modules.sql_generation.builtin.question.words import QUOTED

Measured = SchemaMention | Revenue
RoleItem = (
    said.Count
    | said.PartOfWhole
    | said.Growth
    | said.Aggregate
    | said.Group
    | said.Sort
    | said.Rank
    | said.Lacking
    | said.Holding
    | said.Relation
)


@dataclass(frozen=True)
class Valued:
    """A stored value that was mentioned.

    `owner` is the table named before it, or right after it ("Rock tracks"). `named`: so was its column.
    """

    mention: SchemaMention
    owner: SchemaMention | None
    negated: bool
    named: bool


@dataclass(frozen=True)
class ReportingLine:
    """A reporting relation. `people` are the values that name the manager; empty for "no one"."""

    above: bool
    people: tuple[SchemaMention, ...] = ()


@dataclass(kw_only=True)
class QuestionRoles:
    """The roles in a question, filled item by item. Each list keeps the order of the question."""

    counts: bool = False
    counted: SchemaMention | None = None
    distinct: bool = False
    measured: list[tuple[Function | None, Measured]] = field(default_factory=list)
    grouped: list[SchemaMention | said.Calendar] = field(default_factory=list)
    rank: said.Rank | None = None
    ranked: SchemaMention | None = None
    ranked_unit: said.Calendar | None = None
    ranked_by: Measured | None = None
    sorted_by: list[Measured] = field(default_factory=list)
    sort: said.Sort | None = None
    limit: int | None = None
    first: bool = False
    free: list[SchemaMention] = field(default_factory=list)
    values: list[Valued] = field(default_factory=list)
    joined: list[tuple[str, str, bool]] = field(default_factory=list)
    times: list[tuple[DateRange, SchemaMention | None]] = field(default_factory=list)
    weekdays: tuple[tuple[str, ...], SchemaMention | None] | None = None
    compared: list[tuple[said.NumberComparison, Measured | None, SchemaMention | None]] = field(
        default_factory=list
    )
    having: list[tuple[Function | None, Measured | None, said.NumberComparison]] = field(default_factory=list)
    """Comparisons of the aggregate of each group; without a function and measure, of the one asked for."""
    absent: list[DateRange] = field(default_factory=list)
    """Periods in which nothing may have happened: "ordered in 2025 but not in 2026"."""
    lacking: list[SchemaMention] = field(default_factory=list)
    present: list[SchemaMention] = field(default_factory=list)
    flags: list[tuple[SchemaMention, bool]] = field(default_factory=list)
    reports: ReportingLine | None = None
    share: bool = False
    restricting: "QuestionRoles | None" = None
    """The roles of what is before the verb of a share: the whole, not the part."""
    rate: said.Rate | None = None
    growth: said.Growth | None = None
    new: said.NewRows | None = None
    new_rows: SchemaMention | None = None
    """The table whose rows are called new: customers in "orders of new customers"."""
    compares: bool = False
    several: bool = False
    """The question names two tables side by side: "customers and orders"."""

    @property
    def is_fragment(self) -> bool:
        """True if the question has only filters, groups, an order or a limit, and nothing to show."""
        return not (
            self.counts
            or self.measured
            or self.ranked_by
            or self.free
            or self.reports
            or self.rate
            or self.growth
            or self.new
            or (self.rank and self.rank.hint)
        )

    def mentions(self) -> list[SchemaMention]:
        several = (
            *self.free,
            *(valued.mention for valued in self.values),
            *self.grouped,
            *self.sorted_by,
            self.counted,
            self.ranked_by,
            self.rate and self.rate.state,
        )
        return [
            mention
            for mention in (*several, *(measured for _, measured in self.measured))
            if isinstance(mention, SchemaMention)
        ] + [of.of for _, of in self.measured if isinstance(of, Revenue) and of.of]


def assign(items: Sequence[said.QuestionItem]) -> QuestionRoles:
    """Returns the roles of the items. Raises `Beyond` when the items do not fit together."""
    return _Walk(items).roles()


def is_value(mention: SchemaMention) -> bool:
    return all(link.value is not None for link in mention.links)


def is_number(measured: Measured | None) -> bool:
    return isinstance(measured, SchemaMention) and any(link.is_number for link in measured.links)


def is_flag(measured: Measured | None) -> bool:
    return isinstance(measured, SchemaMention) and any(link.flag for link in measured.links)


def is_event(measured: Measured | None) -> bool:
    """True if a date is named by its verb: "shipped"."""
    return isinstance(measured, SchemaMention) and any(link.verb and link.is_date for link in measured.links)


def is_verb(mention: SchemaMention) -> bool:
    return all(link.verb for link in mention.links if link.is_table)


def is_table(measured: Measured | None) -> bool:
    return isinstance(measured, SchemaMention) and any(link.is_table for link in measured.links)


_NAMING = (said.Group, said.Sort, said.Aggregate)


def is_dated(measured: Measured) -> bool:
    return isinstance(measured, SchemaMention) and any(link.is_date for link in measured.links)


class _Parts:
    """Values, flags, comparisons and periods among the items; `_role` is the role of the next mention."""

    def __init__(self, items: Sequence[said.QuestionItem]) -> None:
        self._items = items
        self._roles = QuestionRoles()
        self._role: RoleItem | None = None
        self._last_role: RoleItem | None = None
        self._last_table: SchemaMention | None = None
        self._functions: list[Function] = []
        self._taken: set[int] = set()
        self._related: said.Relation | None = None

    def _names_column_of(self, item: SchemaMention, before: said.QuestionItem | None) -> bool:
        """True if a column follows its value: "Tents category"."""
        values = self._roles.values
        if not (isinstance(before, SchemaMention) and values and values[-1].mention is before) or is_table(
            item
        ):
            return False
        columns = [link.field for link in item.links if link.is_column]
        there = tuple(link for link in before.links if link.field in columns)
        if there and item.lead == before.text.split()[-1].lower():
            values[-1] = replace(values[-1], mention=replace(before, links=there), named=True)
            return True
        return False

    def _names_makers(self, item: SchemaMention, at: int) -> bool:
        """True for "orders by customers from Berlin": rows of orders are meant, not numbers per customer."""
        after = self._items[at + 1] if at + 1 < len(self._items) else None
        by = isinstance(self._role, said.Group) and not self._role.each
        described = isinstance(after, SchemaMention) and (is_value(after) or is_event(after))
        return by and item.plural and is_table(item) and described

    def _give_flag(self, item: SchemaMention, at: int) -> None:
        """Takes a flag as an adjective of the rows, or as one of several columns to show."""
        if self._lists_columns(at):
            self._roles.free.append(item)
            return
        self._roles.flags.append((item, not isinstance(self._role, said.Lacking)))
        if isinstance(self._role, said.Lacking | said.Holding):
            self._last_role = self._role
            self._role = None

    def _lists_columns(self, at: int) -> bool:
        if self._describes(at):
            return False
        pairs = (self._items[max(at - 2, 0) : at][::-1], self._items[at + 1 : at + 3])
        return any(
            isinstance(joint, said.Conjunction)
            and isinstance(item, SchemaMention)
            and not (is_table(item) or is_value(item) or is_flag(item))
            for joint, item in (pair for pair in pairs if len(pair) == 2)
        )

    def _describes(self, at: int) -> bool:
        """True if a flag is right before a table: "discontinued products"."""
        item = self._items[at]
        after = self._items[at + 1] if at + 1 < len(self._items) else None
        if not isinstance(item, SchemaMention) or not isinstance(after, SchemaMention) or not is_table(after):
            return False
        return after.lead == item.text.split()[-1].lower()

    def _give_value(self, item: SchemaMention, before: said.QuestionItem | None, at: int) -> None:
        """Takes a value. Right after its column ("category Tents") it is looked up in that column only."""
        if isinstance(self._role, said.Relation) and self._related is not None:
            self._roles.reports = ReportingLine(self._related.above, (item,))
            self._last_role = self._role
            self._role = None
            return
        if self._roles.reports and isinstance(before, SchemaMention) and before in self._roles.reports.people:
            raise Beyond("I can look for one person only.")
        if isinstance(self._role, said.Group):
            if self._role.each:
                raise Beyond("I cannot group by a single value.")
            self._role = None
        negated = isinstance(self._role, said.Lacking)
        if isinstance(before, said.Lacking) and at > 1:
            before = self._items[at - 2]
        if negated:
            self._last_role = self._role
            self._role = None
        columns = (
            [link.field for link in before.links if link.is_column]
            if isinstance(before, SchemaMention)
            else []
        )
        there = tuple(link for link in item.links if link.field in columns)
        if there and isinstance(before, SchemaMention):
            negated = negated or before in self._roles.lacking
            self._roles.lacking = [mention for mention in self._roles.lacking if mention is not before]
            self._unfree(before)
            self._keep_owner(before)
            item = replace(item, links=there)
        named = bool(there)
        if isinstance(before, SchemaMention) and _is_apposed(before, item):
            tables = {link.table for link in before.links if link.is_table}
            held = tuple(link for link in item.links if link.table in tables)
            item, named = (replace(item, links=held), True) if held else (item, named)
        after = self._items[at + 1] if at + 1 < len(self._items) else None
        follows = isinstance(after, SchemaMention) and is_table(after) and not is_verb(after)
        follows = follows and _is_right_after(item, after)
        owner = after if follows and isinstance(after, SchemaMention) else self._last_table
        self._roles.values.append(Valued(item, owner, negated, named=named))

    def _keep_owner(self, column: SchemaMention) -> None:
        """Keeps the table of a column that its value replaces: "cartoons directed by Ben Jones"."""
        owners = (
            LexiconEntry(table=link.table, score=EXACT_TABLE)
            for link in column.links
            if link.score == EXACT_TABLE
        )
        if links := tuple(dict.fromkeys(owners)):
            self._roles.free.append(
                SchemaMention(text=column.text, links=links, lead=column.lead, plural=column.plural)
            )

    def _unfree(self, item: Measured) -> None:
        self._roles.free = [mention for mention in self._roles.free if mention is not item]
        self._roles.present = [mention for mention in self._roles.present if mention is not item]
        self._roles.measured = [pair for pair in self._roles.measured if pair != (None, item)]

    def _aggregate(self, item: Measured) -> None:
        if (
            is_table(item)
            and isinstance(item, SchemaMention)
            and self._functions == ["sum"]
            and not _is_number_of_itself(item)
        ):
            if item.lead == "of" or is_verb(item):
                raise Beyond("I cannot tell whether a number of rows or an amount is meant.")
            self._roles.counts = True
            self._roles.counted = item
        else:
            self._roles.measured += [(function, item) for function in self._functions]
        self._functions = []

    def _aggregate_before(self, function: Function) -> bool:
        """Applies "on average" to the number before it; False if there is none."""
        roles = self._roles
        if roles.measured and isinstance(of := roles.measured[-1][1], Revenue) and (of.hint or of.between):
            roles.measured[-1] = (function, of)
            return True
        numbers = [mention for mention in roles.free if is_number(mention) and not is_table(mention)]
        if len(numbers) == 1:
            self._unfree(numbers[0])
            roles.measured.append((function, numbers[0]))
        return len(numbers) == 1

    def _compare(self, at: int, comparison: said.NumberComparison) -> None:
        before = self._items[at - 1] if at else None
        after = self._items[at + 1] if at + 1 < len(self._items) else None
        place = at + 1
        if (
            isinstance(after, SchemaMention)
            and (is_flag(after) or is_value(after))
            and self._describes(place)
        ):
            place += 1
            after = self._items[place]
        if self._compare_groups(at, before, comparison):
            return
        if comparison.times:
            if not (isinstance(before, SchemaMention) and is_table(before)):
                raise Beyond("I do not see what should have happened so many times.")
            self._roles.compared.append((comparison, before, self._last_table))
            self._unfree(before)
        elif isinstance(before, Revenue) or (isinstance(before, SchemaMention) and is_number(before)):
            self._roles.compared.append((comparison, before, self._last_table))
            self._unfree(before)
        elif isinstance(after, SchemaMention) and (
            is_number(after) or (not comparison.hint and is_table(after))
        ):
            self._roles.compared.append((comparison, after, self._last_table))
            self._taken.add(place)
        else:
            self._roles.compared.append((comparison, None, self._last_table))

    def _compare_groups(
        self, at: int, before: said.QuestionItem | None, comparison: said.NumberComparison
    ) -> bool:
        """Takes a comparison of groups: "an average salary over 3000", "orders per city with 4 or more"."""
        roles = self._roles
        if comparison.of_groups and comparison.hint:
            raise Beyond("I cannot tell whether each row is compared, or the number of each group.")
        if comparison.of_groups:
            roles.having.append((None, None, comparison))
            self._role = None
            return True
        if isinstance(before, said.Aggregate) and self._functions:
            named = self._items[at - 2] if at > 1 else None
            if not (isinstance(named, SchemaMention) and is_number(named) and named in roles.free):
                return False
            self._unfree(named)
            self._aggregate(named)
            before = named
        named = self._items[at - 2] if at > 1 else None
        is_owner = isinstance(before, SchemaMention) and before.lead == "of" and is_table(before)
        if before and is_owner and any(of is named for function, of in roles.measured if function):
            roles.free = [mention for mention in roles.free if mention is not before]
            before = named  # the average age of singers is over 40
        after = self._items[at + 1] if at + 1 < len(self._items) else None
        measured = [(function, of) for function, of in roles.measured if of is before and function]
        if measured:
            if isinstance(after, SchemaMention) and is_number(after):
                self._taken.add(at + 1)  # its unit
            roles.having.append((*measured[-1], comparison))
            self._role = None
            return True
        names_number = isinstance(after, SchemaMention) and (is_number(after) or is_table(after))
        grouped = any(
            one is before for one in roles.grouped if isinstance(one, said.Calendar) or not is_number(one)
        )
        if grouped and not (names_number or comparison.hint or comparison.times):
            roles.having.append((None, None, comparison))
            return True
        return False

    def _time(self, period: DateRange, before: said.QuestionItem | None) -> None:
        self._role = None if isinstance(self._role, said.Growth) else self._role
        self._roles.times.append((period, self._take_dated(before)))

    def _take_dated(self, before: said.QuestionItem | None) -> SchemaMention | None:
        """Returns the mention that days are said of, which is then no part of the answer if it is a date."""
        if isinstance(before, said.WeekdayMention) and self._roles.weekdays:
            return self._roles.weekdays[1]  # shipped on Fridays in March
        mention = before if isinstance(before, SchemaMention) else None
        if mention and is_flag(mention) and not is_dated(mention) and not is_table(mention):
            raise Beyond(f"I find no date that says when something was {mention.text}.")
        if mention in self._roles.lacking and not is_table(mention):
            raise Beyond("I cannot express what did not happen within a period.")
        if mention and any(link.is_date for link in mention.links):
            self._unfree(mention)
            self._keep_owner(mention)
        return mention

    def _join(self, at: int, conjunction: said.Conjunction) -> None:
        around = (*self._items[max(at - 1, 0) : at], *self._items[at + 1 : at + 2])
        values = [item.text for item in around if isinstance(item, SchemaMention) and is_value(item)]
        if conjunction.either and len(values) < 2:
            raise Beyond("I can offer a choice between stored values only.")
        tables = [item.text for item in around if isinstance(item, SchemaMention) and is_table(item)]
        beside = [item for item in around if isinstance(item, SchemaMention) and item.lead in POSSESSIVE]
        if len(tables) == 2 and not beside and not isinstance(self._last_role, said.Group | said.Sort):
            self._roles.several = True
        counted = [by for _, by, _ in self._roles.compared if is_table(by)]
        beside_it = [item for item in around if isinstance(item, SchemaMention) and item.lead == "and"]
        if values and around[0] in counted and any(map(is_value, beside_it)):
            raise Beyond("I cannot tell which of them are counted.")
        if len(values) == 2:
            self._roles.joined.append((values[0], values[1], conjunction.either))
        after = self._items[at + 1] if at + 1 < len(self._items) else None
        if isinstance(self._last_role, said.Relation):
            raise Beyond("I can look for one person only.")
        if isinstance(self._last_role, said.Group | said.Sort | said.Lacking | said.Holding) and isinstance(
            after, SchemaMention | said.Calendar
        ):
            self._role = self._last_role


class _Walk(_Parts):
    """One pass over the items."""

    def roles(self) -> QuestionRoles:
        for at, item in enumerate(self._items):
            self._take(at, item)
        self._close_lacking()
        if isinstance(self._role, said.PartOfWhole):
            raise Beyond("I do not see what the share should be of.")
        if isinstance(self._role, said.Group | said.Lacking | said.Holding):
            raise Beyond("I do not see what should be grouped by or be missing.")
        self._close_relation()
        if self._roles.ranked_unit and self._roles.lacking and not self._roles.rank:
            raise Beyond(
                f"A {self._roles.ranked_unit.unit} without rows stands in no table, so I can list each "
                f"{self._roles.ranked_unit.unit} that has rows, not those that have none."
            )
        if self._roles.ranked_unit and not self._roles.rank:
            raise Beyond(f"I cannot tell which {self._roles.ranked_unit.unit} is meant.")
        if self._functions:
            raise Beyond(f"I do not see what the {' and '.join(self._functions)} should be of.")
        return self._roles

    def _take(self, at: int, item: said.QuestionItem) -> None:
        roles = self._roles
        before = self._items[at - 1] if at else None
        if isinstance(self._role, said.Lacking) and not isinstance(item, SchemaMention | said.Conjunction):
            self._refuse_period(item)
            return
        match item:
            case SchemaMention():
                if at not in self._taken and not self._names_column_of(item, before):
                    self._give(item, before, at)
                    return
            case Revenue() | said.Calendar():
                self._give(item, before, at)
                return
            case said.Count():
                if isinstance(self._role, said.Sort):
                    raise Beyond("I can sort by a column, not by a count; ask for the number of each.")
                self._refuse_group()
                roles.counts = True
                self._role = item
            case said.Aggregate(function, after=True) if self._aggregate_before(function):
                pass
            case said.Aggregate(function):
                self._refuse_group()
                self._functions.append(function)
                self._role = item
            case said.Rank():
                self._rank(item)
            case said.Sort(descending):
                roles.sort = item if descending is not None or roles.sort is None else roles.sort
                self._role = roles.sort
            case said.Group() | said.Lacking() | said.Holding():
                self._role = item
            case said.PartOfWhole(after):
                roles.share = True
                self._role = self._role if after else item
            case said.PartBegins():
                with suppress(Beyond):
                    roles.restricting = assign(self._items[:at])
                return
            case said.Rate() | said.NewRows() | said.Growth() | said.Distinct() | said.WeekdayMention():
                self._compute(at, item)
            case said.SideBySide():
                roles.compares = True
                if 0 < at < len(self._items) - 1:
                    self._join(at, said.Conjunction(either=False))
                return
            case said.Relation() | said.Unrelated():
                self._relate(item)
            case said.Limit():
                self._limit(item)
            case said.PeriodMention(period):
                self._time(period, before)
            case said.NumberComparison():
                self._compare(at, item)
            case said.Conjunction():
                self._join(at, item)
                return
        self._last_role = None

    def _give(
        self, item: SchemaMention | Revenue | said.Calendar, before: said.QuestionItem | None, at: int
    ) -> None:
        role = self._role
        if isinstance(item, SchemaMention) and is_table(item):
            self._last_table = item
        if isinstance(item, SchemaMention) and is_value(item):
            self._give_value(item, before, at)
        elif (
            isinstance(item, SchemaMention)
            and is_flag(item)
            and (not isinstance(role, _NAMING) or self._describes(at))
        ):
            self._give_flag(item, at)
        elif (
            isinstance(item, SchemaMention)
            and is_event(item)
            and not is_table(item)
            and not isinstance(role, (*_NAMING, said.Lacking, said.Holding))
        ):
            self._roles.present.append(item)
        elif isinstance(item, said.Calendar):
            self._give_calendar(item)
        else:
            if isinstance(item, SchemaMention) and self._names_makers(item, at):
                role = None
            self._give_named(item, role)
            self._last_role = role
            self._role = None

    def _refuse_period(self, item: said.QuestionItem) -> None:
        """Takes a period in which nothing may have happened that did in another: "but not in 2026"."""
        if not isinstance(item, said.PeriodMention) or not self._roles.times:
            raise Beyond("I do not see what the negation is about.")
        self._roles.absent.append(item.period)
        self._role = None

    def _restrict_to_weekdays(self, at: int, item: said.WeekdayMention) -> None:
        before = self._items[at - 1] if at else None
        if self._roles.weekdays or isinstance(self._role, said.Group):
            raise Beyond("I can restrict to some days of the week, not compare them; group by weekday.")
        counts = item.bare and isinstance(before, said.Count | said.Rank | said.Limit)
        if counts and not self._describes_next(at):
            raise Beyond("I can restrict to some days of the week, not count them or say which one is meant.")
        self._roles.weekdays = (item.days, self._take_dated(before))

    def _describes_next(self, at: int) -> bool:
        """True for "weekend orders"."""
        after = self._items[at + 1] if at + 1 < len(self._items) else None
        return isinstance(after, SchemaMention) and after.lead == "weekend"

    def _limit(self, limit: said.Limit) -> None:
        if self._roles.limit is not None:
            raise Beyond("The question names two numbers of rows.")
        self._roles.limit = limit.count
        self._roles.first = limit.first

    def _compute(
        self,
        at: int,
        item: said.Rate | said.NewRows | said.Growth | said.Distinct | said.WeekdayMention,
    ) -> None:
        match item:
            case said.Rate():
                self._roles.rate = item
            case said.NewRows():
                self._roles.new = item
                by_month = at > 0 and isinstance(self._items[at - 1], said.Calendar)
                rest = [] if by_month else self._items[at + 1 :]  # by month of their first order
                tables = (one for one in rest if isinstance(one, SchemaMention) and is_table(one))
                self._roles.new_rows = next(tables, None)
            case said.Growth():
                self._roles.growth = item
                self._role = item if item.of else None
            case said.Distinct():
                self._roles.distinct = True
            case said.WeekdayMention():
                self._restrict_to_weekdays(at, item)

    def _relate(self, item: said.Relation | said.Unrelated) -> None:
        if self._related is not None or self._roles.reports is not None:
            raise Beyond("I can follow one step of who reports to whom, not several.")
        if isinstance(item, said.Unrelated):
            self._roles.reports = ReportingLine(above=False)
            self._role = None
        else:
            self._related = item
            self._role = item

    def _close_lacking(self) -> None:
        """Applies a final "missing" to the mention before it: "tracks where the composer is missing"."""
        match self._items[-2:]:
            case [SchemaMention() as named, said.Lacking(may_end=True)] if named in self._roles.free:
                if not is_table(named):
                    self._unfree(named)
                    self._roles.lacking.append(named)
                    self._role = None

    def _close_relation(self) -> None:
        """Applies a relation without a name after it to the name before it: "X's manager"."""
        related = self._related
        roles = self._roles
        if related is None or roles.reports is not None:
            return
        if not roles.values or roles.values[-1].negated:
            raise Beyond("I do not see whose manager or reports are meant.")
        above = related.above if related.noun else not related.above
        roles.reports = ReportingLine(above, (roles.values.pop().mention,))

    def _give_calendar(self, item: said.Calendar) -> None:
        if not isinstance(self._role, said.Group):
            if self._roles.ranked_unit is not None:
                raise Beyond("I can rank periods of one kind only.")
            self._roles.ranked_unit = item
            return
        self._roles.grouped.append(item)
        self._last_role = self._role
        self._role = None

    def _give_named(self, item: Measured, role: RoleItem | None) -> None:
        roles = self._roles
        match role:
            case said.Aggregate():
                self._aggregate(item)
            case said.Sort():
                roles.sorted_by.append(item)
            case said.Rank() if _ranks_by(role, item) and roles.ranked_by is None:
                roles.ranked_by = item
            case said.Group() if roles.first and not is_table(item):
                roles.sorted_by.append(item)
                roles.sort = said.Sort(descending=False)
            case said.Group() if roles.rank and roles.rank.hint == DATE and is_dated(item):
                roles.ranked_by = item
            case said.Group() if (
                roles.rank and roles.ranked_by is None and (isinstance(item, Revenue) or is_number(item))
            ):
                roles.ranked_by = item
            case _ if isinstance(item, Revenue):
                roles.measured.append((None, item))
            case said.Count() if roles.counted is None:
                roles.counted = item
            case said.PartOfWhole() | said.Growth() if is_table(item) and not isinstance(item, Revenue):
                roles.counts = True
                roles.counted = item
            case said.PartOfWhole() | said.Growth():
                roles.measured.append(("sum", item))
            case said.Group():
                roles.grouped.append(item)
            case said.Lacking(only_values):
                if only_values:
                    raise Beyond("I can leave out stored values only.")
                roles.lacking.append(item)
            case said.Holding() if not is_table(item):
                roles.present.append(item)
            case said.Rank():
                roles.ranked = item
                roles.free.append(item)
            case _:
                roles.free.append(item)

    def _refuse_group(self) -> None:
        if isinstance(self._role, said.Group) and self._roles.rank is None:
            raise Beyond("I cannot group by a number that is computed.")

    def _rank(self, rank: said.Rank) -> None:
        if self._roles.share:
            raise Beyond("I can tell the share of each, not that of several first ones together.")
        known = self._roles.rank
        if known and known.descending != rank.descending:
            raise Beyond("The question asks for the highest and the lowest at once; ask for one at a time.")
        if known is None or rank.hint or rank.about != "value":
            self._roles.rank = rank
        self._role = rank


def _is_number_of_itself(item: SchemaMention) -> bool:
    """True if a table has a column of numbers with its own name: `Claim_Amount.Claim_Amount`."""
    tables = {link.table for link in item.links if link.is_table and link.score >= EXACT}
    return any(link.is_number and link.score >= EXACT and link.table in tables for link in item.links)


def _is_right_after(value: SchemaMention, item: said.QuestionItem | None) -> bool:
    """True for "Rock tracks", not for "from Berlin with invoices"."""
    return isinstance(item, SchemaMention) and item.lead in (QUOTED, *value.text.lower().split()[-1:])


def _is_apposed(table: SchemaMention, value: SchemaMention) -> bool:
    """True if a table in the singular is right before the name of one row: "the album Facelift"."""
    words = table.text.split()
    return is_table(table) and not table.plural and value.lead == words[-1].lower()


def _ranks_by(rank: said.Rank, item: Measured) -> bool:
    if rank.hint:
        return False
    return isinstance(item, Revenue) or is_number(item) or (rank.about == "count" and is_table(item))
