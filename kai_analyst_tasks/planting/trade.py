"""An invented business: orders of several months, which are alike but for what is planted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from kai_analyst_tasks.planting.planted import Cell, Dice, Month, PlantedTable

Dimension = Literal["region", "product", "customer", "channel", "kind"]
DIMENSIONS: tuple[Dimension, ...] = ("region", "product", "customer", "channel", "kind")

_CHURN = 0.04
"""Share of the orders that are drawn again each month: the noise."""
_MOST_QUANTITY = 6


@dataclass(frozen=True, kw_only=True)
class TradeWording:
    """The names of one business."""

    table: str
    measure: str
    amount: str
    day: str
    number: str
    price: str
    quantity: str
    columns: dict[Dimension, str]
    """Names of the dimensions: tables for region, product and customer, columns for the rest."""
    sale: str
    refund: str


WORDINGS = (
    TradeWording(
        table="orders",
        measure="Revenue",
        amount="amount",
        day="ordered_on",
        number="order_number",
        price="unit_price",
        quantity="quantity",
        columns={
            "region": "regions",
            "product": "products",
            "customer": "customers",
            "channel": "channel",
            "kind": "kind",
        },
        sale="sale",
        refund="refund",
    ),
    TradeWording(
        table="bookings",
        measure="Turnover",
        amount="total",
        day="booked_on",
        number="booking_code",
        price="seat_price",
        quantity="seats",
        columns={
            "region": "cities",
            "product": "tours",
            "customer": "agencies",
            "channel": "source",
            "kind": "entry",
        },
        sale="booking",
        refund="reversal",
    ),
    TradeWording(
        table="invoice_lines",
        measure="Sales",
        amount="net_value",
        day="invoiced_on",
        number="invoice_number",
        price="rate",
        quantity="units",
        columns={
            "region": "branches",
            "product": "services",
            "customer": "clients",
            "channel": "desk",
            "kind": "line_type",
        },
        sale="charge",
        refund="credit",
    ),
)


@dataclass(frozen=True, kw_only=True)
class TradeOrder:
    """One order of one product. `members` are its dimensions."""

    number: int
    day: date
    members: dict[Dimension, str]
    quantity: int
    price: float

    @property
    def amount(self) -> float:
        return round(self.quantity * self.price, 2)


class Trade:
    """The orders of some months, month by month."""

    def __init__(self, dice: Dice, months: Sequence[Month], wording: TradeWording) -> None:
        self.dice = dice
        self.months = months
        self.wording = wording
        self.members: dict[Dimension, list[str]] = {
            "region": dice.names(5),
            "product": dice.names(7),
            "customer": dice.names(24),
            "channel": dice.names(4),
            "kind": [wording.sale, wording.refund],
        }
        self.prices = {name: round(dice.draw.uniform(20, 60), 2) for name in self.members["product"]}
        self._number = dice.draw.randrange(10_000, 20_000)
        template = [self._drawn(months[0]) for _ in range(dice.draw.randrange(220, 280))]
        self.orders: list[TradeOrder] = []
        for month in months:
            template = [self._drawn(month) if dice.draw.random() < _CHURN else each for each in template]
            self.orders += self._placed(template, month)

    def _drawn(self, month: Month) -> TradeOrder:
        pick = self.dice.draw
        product = pick.choices(self.members["product"], weights=[5, 5, 4, 4, 3, 2, 2])[0]
        members: dict[Dimension, str] = {
            "region": pick.choices(self.members["region"], weights=[5, 5, 4, 4, 4])[0],
            "product": product,
            "customer": pick.choices(self.members["customer"], weights=[14, 13, 12, 12] + [2] * 20)[0],
            "channel": pick.choices(self.members["channel"], weights=[5, 5, 4, 4])[0],
            "kind": self.wording.sale,
        }
        return TradeOrder(
            number=0,
            day=month.first,
            members=members,
            quantity=pick.randrange(1, _MOST_QUANTITY),
            price=self.prices[product],
        )

    def _placed(self, template: Sequence[TradeOrder], month: Month) -> list[TradeOrder]:
        """Returns the orders of a month: the same on each of its days, so that no day is without one."""
        days = [at % month.days for at in range(len(template))]
        self.dice.draw.shuffle(days)
        return [
            replace(each, number=self.next_number(), day=month.day(day))
            for each, day in zip(template, days, strict=True)
        ]

    def next_number(self) -> int:
        self._number += 1
        return self._number

    def of(self, month: Month, dimension: Dimension | None = None, member: str = "") -> list[TradeOrder]:
        """Returns the orders of a month, or of one member in it."""
        return [
            each
            for each in self.orders
            if month.first <= each.day < month.next.first
            and (dimension is None or each.members[dimension] == member)
        ]

    def revenue(self, month: Month, dimension: Dimension | None = None, member: str = "") -> float:
        return sum(each.amount for each in self.of(month, dimension, member))

    def drop(self, gone: Sequence[TradeOrder]) -> None:
        numbers = {each.number for each in gone}
        self.orders = [each for each in self.orders if each.number not in numbers]

    def change(self, some: Sequence[TradeOrder], changed: Callable[[TradeOrder], TradeOrder]) -> None:
        numbers = {each.number for each in some}
        self.orders = [changed(each) if each.number in numbers else each for each in self.orders]

    def add_copies(self, of: Sequence[TradeOrder], worth: float, *, sign: int = 1) -> float:
        """Add copies of orders until they are worth this much. Returns what they are worth.

        With a negative sign they are refunds.
        """
        added = 0.0
        pool: list[TradeOrder] = []
        while added < worth:
            if not pool:
                pool = list(of)
                self.dice.draw.shuffle(pool)
            chosen = pool.pop()
            members = dict(chosen.members)
            if sign < 0:
                members["kind"] = self.wording.refund
            copy = replace(
                chosen, number=self.next_number(), members=members, quantity=sign * chosen.quantity
            )
            self.orders.append(copy)
            added += chosen.amount
        return added

    def drop_share(self, of: Sequence[TradeOrder], worth: float) -> float:
        """Drop orders until they are worth this much. Returns what they were worth."""
        pool = list(of)
        self.dice.draw.shuffle(pool)
        gone: list[TradeOrder] = []
        while pool and sum(each.amount for each in gone) < worth:
            gone.append(pool.pop())
        self.drop(gone)
        return sum(each.amount for each in gone)

    def tables(self) -> list[PlantedTable]:
        """Returns the tables: one of orders, and one for each of three dimensions."""
        w = self.wording
        kinds: tuple[Dimension, ...] = ("region", "product", "customer")
        ids = {kind: {name: at for at, name in enumerate(self.members[kind], 1)} for kind in kinds}
        looked_up = [
            PlantedTable(
                name=w.columns[kind],
                ddl=f"CREATE TABLE {w.columns[kind]} (id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
                rows=[(at, name) for name, at in ids[kind].items()],
            )
            for kind in kinds
        ]
        references = ", ".join(
            f"{kind}_id INTEGER NOT NULL REFERENCES {w.columns[kind]} (id)" for kind in kinds
        )
        ordered = sorted(self.orders, key=lambda each: (each.day, each.number))
        rows: list[Sequence[Cell]] = [
            (
                at,
                f"N{each.number}",
                each.day.isoformat(),
                *(ids[kind][each.members[kind]] for kind in kinds),
                each.members["channel"],
                each.members["kind"],
                each.quantity,
                each.price,
                each.amount,
            )
            for at, each in enumerate(ordered, 1)
        ]
        return [
            *looked_up,
            PlantedTable(
                name=w.table,
                ddl=f"CREATE TABLE {w.table} (id INTEGER PRIMARY KEY, {w.number} TEXT NOT NULL, "
                f"{w.day} DATE NOT NULL, {references}, {w.columns['channel']} TEXT NOT NULL, "
                f"{w.columns['kind']} TEXT NOT NULL, {w.quantity} INTEGER NOT NULL, "
                f"{w.price} NUMERIC NOT NULL, {w.amount} NUMERIC NOT NULL)",
                rows=rows,
            ),
        ]

    def condition(self, dimension: Dimension, member: str) -> str:
        """Returns the condition, in SQL, that an order is of a member."""
        if dimension in ("channel", "kind"):
            return f"{self.wording.columns[dimension]} = '{member}'"
        at = self.members[dimension].index(member) + 1
        return f"{dimension}_id = {at}"
