"""Why did a measure move from one month to the next? One cause, and decoys of similar size."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from kai_analyst_tasks.planting.planted import Dice, Month, Planted, month_condition
from kai_analyst_tasks.planting.trade import DIMENSIONS, WORDINGS, Dimension, Trade
from kai_analyst_tasks.task_set import AgentTask, Named, Oracle, TaskDatabase, WantedFact

DATABASE = "business"
_QUESTION = (
    "{measure} (the sum of {table}.{amount}) {moved} from {before} to {after}. Why? There is one cause. Give "
    "three findings: the {measure} of {before}, the {measure} of {after}, and the cause, by name, with one "
    "figure that shows it."
)
_TWICE = ("duplicate", "duplicates", "duplicated", "twice", "repeated", "double", "doubled")
_MISSING = (
    *("missing", "lost", "absent", "gap", "no rows", "no orders", "no bookings", "no invoice lines"),
    *("not imported", "not loaded", "without"),
)


@dataclass(kw_only=True)
class _Plan:
    """A task as it is made."""

    dice: Dice
    trade: Trade
    before: Month
    after: Month
    rises: bool = False
    causes: list[Named]
    decoys: list[Named]
    shows: list[str]
    """Statements any of which shows the cause by a figure."""

    @property
    def earlier(self) -> Month:
        return self.trade.months[self.trade.months.index(self.before) - 1]

    def sum_of(self, month: Month, condition: str = "") -> str:
        w = self.trade.wording
        more = f" AND {condition}" if condition else ""
        return f"SELECT sum({w.amount}) FROM {w.table} WHERE {month_condition(w.day, month)}{more}"


def plant(recipe: str, seed: int) -> Planted:
    """Returns the task of a recipe of `RECIPES`."""
    for attempt in range(20):
        dice = Dice(f"{recipe}.{attempt}", seed)
        plan = _plan(dice)
        RECIPES[recipe](plan)
        if _is_clear(plan):
            return _planted(recipe, seed, plan)
    raise RuntimeError(f"{recipe} {seed}: no attempt has one clear cause")


def _plan(dice: Dice) -> _Plan:
    month = Month(dice.draw.choice((2023, 2024)), dice.draw.randrange(1, 13))
    months = [month]
    for _ in range(4):
        months.append(months[-1].next)
    at = dice.draw.choice((3, 4))
    trade = Trade(dice, months, dice.draw.choice(WORDINGS))
    return _Plan(
        dice=dice, trade=trade, before=months[at - 1], after=months[at], causes=[], decoys=[], shows=[]
    )


def _is_clear(plan: _Plan) -> bool:
    """True if the measure moved as the question says, and far more than it does by itself."""
    moved = plan.trade.revenue(plan.after) - plan.trade.revenue(plan.before)
    return (moved > 0) == plan.rises and abs(moved) > 0.03 * plan.trade.revenue(plan.before)


def _planted(recipe: str, seed: int, plan: _Plan) -> Planted:
    w = plan.trade.wording
    question = _QUESTION.format(
        measure=w.measure,
        table=w.table,
        amount=w.amount,
        moved="rose" if plan.rises else "fell",
        before=plan.before,
        after=plan.after,
    )
    facts = [
        WantedFact(name=f"{w.measure} of {plan.before}", database=DATABASE, sql=(plan.sum_of(plan.before),)),
        WantedFact(name=f"{w.measure} of {plan.after}", database=DATABASE, sql=(plan.sum_of(plan.after),)),
        WantedFact(
            name="the figure of the cause",
            database=DATABASE,
            sql=tuple(plan.shows),
            about=plan.causes[0].groups,
        ),
    ]
    task = AgentTask(
        id=f"{recipe}-{seed}",
        family="moved",
        tags=(recipe,),
        question=question,
        databases=(TaskDatabase(name=DATABASE, recipe=recipe, seed=seed),),
        oracle=Oracle(causes=tuple(plan.causes), decoys=tuple(plan.decoys), facts=tuple(facts)),
    )
    return Planted(task=task, databases={DATABASE: plan.trade.tables()})


# Causes


def _of_member(plan: _Plan, dimension: Dimension, rises: bool) -> None:
    """One member of a dimension lost, or won, most of its orders."""
    plan.rises = rises
    member = _large_member(plan, dimension)
    theirs = plan.trade.of(plan.after, dimension, member)
    worth = sum(each.amount for each in theirs)
    if rises:
        effect = plan.trade.add_copies(theirs, worth * plan.dice.draw.uniform(0.8, 1.2))
    else:
        effect = plan.trade.drop_share(theirs, worth * plan.dice.draw.uniform(0.6, 0.85))
    plan.causes.append(_named("the cause", member))
    _show_part(plan, plan.trade.condition(dimension, member))
    _add_decoys(plan, dimension, member, effect=effect)


def _refunds(plan: _Plan) -> None:
    """Far more was refunded than before."""
    w = plan.trade.wording
    for month in plan.trade.months:
        plan.trade.add_copies(plan.trade.of(month), 0.02 * plan.trade.revenue(month), sign=-1)
    worth = plan.trade.revenue(plan.after) * plan.dice.draw.uniform(0.13, 0.2)
    sold = plan.trade.of(plan.after, "kind", w.sale)
    effect = plan.trade.add_copies(sold, worth, sign=-1)
    plan.causes.append(_named("the cause", w.refund, f"{w.refund}s"))
    _show_part(plan, plan.trade.condition("kind", w.refund))
    _add_decoys(plan, "region", "", effect=effect)


def _price(plan: _Plan) -> None:
    """The price of one product was cut, and as much of it was sold as before."""
    w = plan.trade.wording
    product = _large_member(plan, "product")
    new = round(plan.trade.prices[product] * plan.dice.draw.uniform(0.35, 0.5), 2)
    theirs = plan.trade.of(plan.after, "product", product)
    before = sum(each.amount for each in theirs)
    plan.trade.change(theirs, lambda each: replace(each, price=new))
    effect = before - plan.trade.revenue(plan.after, "product", product)
    plan.causes.append(
        Named(name="the cause", groups=((product,), ("price", "prices", w.price, w.price.replace("_", " "))))
    )
    condition = plan.trade.condition("product", product)
    for month in (plan.after, plan.before):
        plan.shows += [
            f"SELECT {function}({w.price}) FROM {w.table} "
            f"WHERE {month_condition(w.day, month)} AND {condition}"
            for function in ("min", "avg", "max")
        ]
    _show_part(plan, condition)
    _add_decoys(plan, "product", product, effect=effect)


def _lost_import(plan: _Plan) -> None:
    """The orders of some days are not there. The decoy: days whose orders were stored a day later."""
    w = plan.trade.wording
    count = plan.dice.draw.randrange(4, 7)
    start = plan.dice.draw.randrange(3, 18)
    lost = [plan.after.day(start + at) for at in range(count)]
    gone = [each for each in plan.trade.of(plan.after) if each.day in lost]
    effect = sum(each.amount for each in gone)
    plan.trade.drop(gone)
    late_start = plan.dice.draw.randrange(3, 18)
    late = [plan.before.day(late_start + at) for at in range(count)]
    caught_up = plan.before.day(late_start + count)
    delayed = [each for each in plan.trade.of(plan.before) if each.day in late]
    plan.trade.change(delayed, lambda each: replace(each, day=caught_up))
    first = lost[0]
    month = str(plan.after).split()[0]
    days = [day.isoformat() for day in (plan.after.day(start - 1), *lost, plan.after.day(start + count))]
    days += [text for day in lost for text in (f"{day.day} {month}", f"{month} {day.day}")]
    plan.causes.append(Named(name="the cause", groups=(_MISSING, tuple(days))))
    plan.decoys.append(Named(name="days that were made up for", groups=(tuple(map(str, late)),)))
    source = f"FROM {w.table} WHERE {month_condition(w.day, plan.after)}"
    plan.shows += [
        f"SELECT {plan.after.days} - count(DISTINCT {w.day}) {source}",
        f"SELECT count(DISTINCT {w.day}) {source}",
        f"SELECT count(*) {source}",
        f"SELECT max({w.day}) {source} AND {w.day} < '{first}'",
        f"SELECT min({w.day}) {source} AND {w.day} > '{first}'",
        f"SELECT '{first}'",
    ]
    _add_decoys(plan, "region", "", effect=effect)


def _duplicates(plan: _Plan) -> None:
    """The orders of some days are there twice, so the measure rose."""
    w = plan.trade.wording
    plan.rises = True
    start = plan.dice.draw.randrange(2, 14)
    days = {plan.after.day(start + at) for at in range(plan.dice.draw.randrange(7, 10))}
    twice = [each for each in plan.trade.of(plan.after) if each.day in days]
    _add_decoys(plan, "region", "", effect=sum(each.amount for each in twice))
    there = {each.number for each in plan.trade.of(plan.after)}
    repeated = [each for each in twice if each.number in there]
    plan.trade.orders += repeated
    plan.causes.append(Named(name="the cause", groups=(_TWICE,)))
    source = f"FROM {w.table} WHERE {month_condition(w.day, plan.after)}"
    once = f"SELECT sum(a) FROM (SELECT max({w.amount}) AS a {source} GROUP BY {w.number})"
    plan.shows += [
        f"SELECT count(*) - count(DISTINCT {w.number}) {source}",
        f"SELECT count(DISTINCT {w.number}) {source}",
        f"SELECT sum({w.amount}) - ({once}) {source}",
        once,
    ]


RECIPES: Mapping[str, Callable[[_Plan], None]] = {
    "moved.region_fell": partial(_of_member, dimension="region", rises=False),
    "moved.region_rose": partial(_of_member, dimension="region", rises=True),
    "moved.product_fell": partial(_of_member, dimension="product", rises=False),
    "moved.product_rose": partial(_of_member, dimension="product", rises=True),
    "moved.customer_fell": partial(_of_member, dimension="customer", rises=False),
    "moved.customer_rose": partial(_of_member, dimension="customer", rises=True),
    "moved.channel_fell": partial(_of_member, dimension="channel", rises=False),
    "moved.refunds": _refunds,
    "moved.price": _price,
    "moved.lost_import": _lost_import,
    "moved.duplicates": _duplicates,
}


# Decoys


def _add_decoys(plan: _Plan, dimension: Dimension, cause: str, *, effect: float) -> None:
    """Something else moved as much, and is no cause: in the other direction, with nothing lost, or before."""
    others = [each for each in plan.trade.members[dimension] if each != cause]
    _add_opposite(plan, dimension, effect)
    _add_balanced(plan, dimension, others)
    _add_earlier(plan, dimension, others, effect=effect)


def _add_opposite(plan: _Plan, dimension: Dimension, effect: float) -> None:
    """A member of another dimension moved against the cause, by half of it or more."""
    free: Sequence[Dimension] = [each for each in DIMENSIONS[:4] if each != dimension and each != "customer"]
    other = plan.dice.draw.choice(free)
    member = _large_member(plan, other)
    worth = effect * plan.dice.draw.uniform(0.5, 0.65)
    theirs = [each for each in plan.trade.of(plan.after, other, member) if each.quantity > 0]
    if plan.rises:
        plan.trade.drop_share(theirs, min(worth, 0.7 * sum(each.amount for each in theirs)))
    else:
        plan.trade.add_copies(theirs, worth)
    plan.decoys.append(_named("moved the other way", member))


def _add_balanced(plan: _Plan, dimension: Dimension, others: list[str]) -> None:
    """A member had far fewer orders, and larger ones: its part of the measure stayed."""
    member = others.pop(plan.dice.draw.randrange(min(3, len(others))))
    theirs = [each for each in plan.trade.of(plan.after, dimension, member) if each.quantity > 0]
    worth = sum(each.amount for each in theirs)
    plan.trade.drop_share(theirs, 0.4 * worth)
    rest = [each for each in plan.trade.of(plan.after, dimension, member) if each.quantity > 0]
    missing = worth - sum(each.amount for each in rest)
    larger: dict[int, int] = {}
    while missing > min(each.price for each in rest):
        for each in rest:
            if missing >= each.price:
                larger[each.number] = larger.get(each.number, 0) + 1
                missing -= each.price
    plan.trade.change(rest, lambda each: replace(each, quantity=each.quantity + larger.get(each.number, 0)))
    plan.decoys.append(_named("fewer orders, as much worth", member))


def _add_earlier(plan: _Plan, dimension: Dimension, others: list[str], *, effect: float) -> None:
    """A member moved as much a month before."""
    member = others.pop(plan.dice.draw.randrange(min(3, len(others))))
    theirs = plan.trade.of(plan.earlier, dimension, member)
    if plan.rises:
        plan.trade.drop_share(theirs, min(effect, 0.8 * sum(each.amount for each in theirs)))
    else:
        plan.trade.add_copies(theirs, effect * 0.9)
    plan.decoys.append(_named("moved a month before", member))


def _large_member(plan: _Plan, dimension: Dimension) -> str:
    """Returns a member whose part of the measure is large enough to move the whole."""
    taken = {word for each in (*plan.causes, *plan.decoys) for group in each.groups for word in group}
    names = [each for each in plan.trade.members[dimension] if each not in taken]
    ranked = sorted(names, key=lambda each: -plan.trade.revenue(plan.before, dimension, each))
    return plan.dice.draw.choice(ranked[:2])


def _show_part(plan: _Plan, condition: str) -> None:
    before = plan.sum_of(plan.before, condition)
    after = plan.sum_of(plan.after, condition)
    plan.shows += [f"SELECT ({after}) - ({before})", after, before]


def _named(name: str, *words: str) -> Named:
    return Named(name=name, groups=(words,))
