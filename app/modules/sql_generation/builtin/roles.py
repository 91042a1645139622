"""What each mention of a question is there for: measured, grouped by, filtered on, sorted by or shown."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from app.modules.sql_generation.builtin.linking import EXACT_TABLE, Link
from app.modules.sql_generation.builtin.periods import Period
from app.modules.sql_generation.builtin.plan import Beyond, Function
from app.modules.sql_generation.builtin.reading import (
    Aggregate,
    Calendar,
    Comparison,
    Conjunction,
    Count,
    Distinct,
    Group,
    Item,
    Lacking,
    Limit,
    Mention,
    Rank,
    Revenue,
    Sort,
    Time,
)

Measured = Mention | Revenue
Role = Count | Aggregate | Group | Sort | Rank | Lacking


@dataclass
class Roles:
    """Filled while the items are walked through; each list keeps the order of the question."""

    counts: bool = False
    counted: Mention | None = None
    distinct: bool = False
    measured: list[tuple[Function | None, Measured]] = field(default_factory=list)
    grouped: list[Mention | Calendar] = field(default_factory=list)
    rank: Rank | None = None
    ranked: Mention | None = None
    ranked_by: Measured | None = None
    sorted_by: list[Measured] = field(default_factory=list)
    sort: Sort | None = None
    limit: int | None = None
    free: list[Mention] = field(default_factory=list)
    values: list[Mention] = field(default_factory=list)
    joined: list[tuple[str, str, bool]] = field(default_factory=list)
    times: list[tuple[Period, Mention | None]] = field(default_factory=list)
    compared: list[tuple[Comparison, Measured | None, Mention | None]] = field(default_factory=list)
    lacking: list[Mention] = field(default_factory=list)

    @property
    def is_fragment(self) -> bool:
        """Whether nothing is asked for by itself: only filters, groups, an order or a limit."""
        return not (
            self.counts or self.measured or self.ranked_by or self.free or (self.rank and self.rank.hint)
        )

    def mentions(self) -> list[Mention]:
        several = (
            *self.free,
            *self.values,
            *self.grouped,
            *self.sorted_by,
            self.counted,
            self.ranked_by,
        )
        return [
            mention
            for mention in (*several, *(measured for _, measured in self.measured))
            if isinstance(mention, Mention)
        ]


def assign(items: Sequence[Item]) -> Roles:
    """Raises `Beyond` when the words do not fit together."""
    return _Walk(items).roles()


def is_value(mention: Mention) -> bool:
    return all(link.value is not None for link in mention.links)


def is_number(measured: Measured | None) -> bool:
    return isinstance(measured, Mention) and any(link.is_number for link in measured.links)


def is_table(measured: Measured | None) -> bool:
    return isinstance(measured, Mention) and any(link.is_table for link in measured.links)


class _Walk:
    """One pass over the items, with the role that the next mention gets."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = items
        self._roles = Roles()
        self._role: Role | None = None
        self._last_role: Role | None = None
        self._last_table: Mention | None = None
        self._functions: list[Function] = []
        self._taken: set[int] = set()

    def roles(self) -> Roles:
        for at, item in enumerate(self._items):
            self._take(at, item)
        if isinstance(self._role, Group | Lacking):
            raise Beyond("I do not see what should be grouped by or be missing.")
        if self._functions:
            raise Beyond(f"I do not see what the {' and '.join(self._functions)} should be of.")
        return self._roles

    def _take(self, at: int, item: Item) -> None:
        roles, before = self._roles, self._items[at - 1] if at else None
        match item:
            case Mention():
                if at not in self._taken:
                    self._give(item, before)
                    return
            case Revenue() | Calendar():
                self._give(item, before)
                return
            case Count():
                self._refuse_group()
                roles.counts, self._role = True, item
            case Aggregate(function):
                self._refuse_group()
                self._functions.append(function)
                self._role = item
            case Rank():
                self._rank(item)
            case Sort(descending):
                roles.sort = self._role = item if descending is not None else roles.sort or item
            case Group() | Lacking():
                self._role = item
            case Distinct():
                roles.distinct = True
            case Limit(count):
                roles.limit = count
            case Time(period):
                self._time(period, before)
            case Comparison():
                self._compare(at, item)
            case Conjunction():
                self._join(at, item)
                return
        self._last_role = None

    def _give(self, item: Mention | Revenue | Calendar, before: Item | None) -> None:
        role = self._role
        if isinstance(item, Mention) and is_table(item):
            self._last_table = item
        if isinstance(item, Mention) and is_value(item):
            self._give_value(item, before)
        elif isinstance(item, Calendar):
            self._give_calendar(item)
        else:
            self._give_named(item, role)
            self._last_role, self._role = role, None

    def _give_value(self, item: Mention, before: Item | None) -> None:
        """A value right after its column ("category Tents") is looked for there only."""
        if isinstance(self._role, Group):
            if self._role.each:
                raise Beyond(f"I cannot group by the single value “{item.text}”.")
            self._role = None
        columns = (
            [link.field for link in before.links if link.is_column] if isinstance(before, Mention) else []
        )
        there = tuple(link for link in item.links if link.field in columns)
        if there and isinstance(before, Mention):
            self._unfree(before)
            self._keep_owner(before)
            item = replace(item, links=there)
        self._roles.values.append(item)

    def _keep_owner(self, column: Mention) -> None:
        """ "cartoons directed by Ben Jones": the column is dropped for its value, the cartoons stay."""
        owners = (Link(link.table, EXACT_TABLE) for link in column.links if link.score == EXACT_TABLE)
        if links := tuple(dict.fromkeys(owners)):
            self._roles.free.append(Mention(column.text, links, column.lead, column.plural))

    def _give_calendar(self, item: Calendar) -> None:
        if not isinstance(self._role, Group):
            raise Beyond(f"I cannot tell which {item.unit} is meant.")
        self._roles.grouped.append(item)
        self._last_role, self._role = self._role, None

    def _give_named(self, item: Measured, role: Role | None) -> None:
        roles = self._roles
        match role:
            case Aggregate():
                self._aggregate(item)
            case Sort():
                roles.sorted_by.append(item)
            case Rank() if _ranks_by(role, item) and roles.ranked_by is None:
                roles.ranked_by = item
            case Group() if (
                roles.rank and roles.ranked_by is None and (isinstance(item, Revenue) or is_number(item))
            ):
                roles.ranked_by = item
            case _ if isinstance(item, Revenue):
                roles.measured.append((None, item))
            case Count() if roles.counted is None:
                roles.counted = item
            case Group():
                roles.grouped.append(item)
            case Lacking():
                roles.lacking.append(item)
            case Rank():
                roles.ranked = item
                roles.free.append(item)
            case _:
                roles.free.append(item)

    def _aggregate(self, item: Measured) -> None:
        if is_table(item) and isinstance(item, Mention) and self._functions == ["sum"]:
            self._roles.counts, self._roles.counted = True, item
        else:
            self._roles.measured += [(function, item) for function in self._functions]
        self._functions = []

    def _refuse_group(self) -> None:
        if isinstance(self._role, Group) and self._roles.rank is None:
            raise Beyond("I cannot group by a number that is computed.")

    def _rank(self, rank: Rank) -> None:
        known = self._roles.rank
        if known and known.descending != rank.descending:
            raise Beyond("The question asks for the highest and the lowest at once; ask for one at a time.")
        if known is None or rank.hint or rank.about != "value":
            self._roles.rank = rank
        self._role = rank

    def _compare(self, at: int, comparison: Comparison) -> None:
        before = self._items[at - 1] if at else None
        after = self._items[at + 1] if at + 1 < len(self._items) else None
        if isinstance(before, Revenue) or (isinstance(before, Mention) and is_number(before)):
            self._roles.compared.append((comparison, before, self._last_table))
            self._unfree(before)
        elif not comparison.hint and isinstance(after, Mention) and (is_number(after) or is_table(after)):
            self._roles.compared.append((comparison, after, self._last_table))
            self._taken.add(at + 1)
        else:
            self._roles.compared.append((comparison, None, self._last_table))

    def _time(self, period: Period, before: Item | None) -> None:
        mention = before if isinstance(before, Mention) else None
        if mention and any(link.is_date for link in mention.links):
            self._unfree(mention)
        self._roles.times.append((period, mention))

    def _unfree(self, item: Measured) -> None:
        self._roles.free = [mention for mention in self._roles.free if mention is not item]
        self._roles.measured = [pair for pair in self._roles.measured if pair != (None, item)]

    def _join(self, at: int, conjunction: Conjunction) -> None:
        around = (*self._items[max(at - 1, 0) : at], *self._items[at + 1 : at + 2])
        values = [item.text for item in around if isinstance(item, Mention) and is_value(item)]
        if conjunction.either and len(values) < 2:
            raise Beyond("I only understand “or” between stored values.")
        if len(values) == 2:
            self._roles.joined.append((values[0], values[1], conjunction.either))
        after = self._items[at + 1] if at + 1 < len(self._items) else None
        if isinstance(self._last_role, Group | Sort | Lacking) and isinstance(after, Mention | Calendar):
            self._role = self._last_role


def _ranks_by(rank: Rank, item: Measured) -> bool:
    if rank.hint:
        return False
    return isinstance(item, Revenue) or is_number(item) or (rank.about == "count" and is_table(item))
