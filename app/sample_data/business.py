"""Tarn & Trail, an invented shop for outdoor equipment: its people, its products and two years of sales.

The data depend on `today` only: one seed, lists in fixed order, and dates relative to `today`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from itertools import accumulate
from random import Random
from typing import TypeVar

from app.sample_data import names

SampleRow = tuple[str | int | float | None, ...]

Thing = TypeVar("Thing")

DAYS = 730
_SEED = 20_240_229
_ORDERS = 20_200
_CUSTOMERS = 2_400
_EMPLOYEES = 42
_DUPLICATED_CUSTOMERS = 18
_DUPLICATED_ORDERS = 4
_GROWTH = 0.28
_WEEKDAYS = (1.05, 0.95, 0.95, 1.0, 1.15, 1.3, 0.8)
_MONTHS = (0.75, 0.7, 0.85, 0.95, 1.1, 1.15, 1.1, 1.0, 0.9, 0.95, 1.45, 1.75)
_RETURN_RATES = {"Footwear": 0.14, "Clothing": 0.08}
_USUAL_RETURN_RATE = 0.02


@dataclass(kw_only=True)
class SampleBusiness:
    """The rows of every table, in the order of the tables' columns."""

    regions: list[SampleRow] = field(default_factory=list)
    employees: list[SampleRow] = field(default_factory=list)
    customers: list[SampleRow] = field(default_factory=list)
    products: list[SampleRow] = field(default_factory=list)
    orders: list[SampleRow] = field(default_factory=list)
    order_lines: list[SampleRow] = field(default_factory=list)
    returns: list[SampleRow] = field(default_factory=list)


@dataclass(frozen=True)
class _Employee:
    id: int
    region: str
    hired: date


@dataclass(frozen=True)
class _Customer:
    id: int
    region: str
    discount: float
    signed_up: date


@dataclass(frozen=True)
class _Product:
    id: int
    category: str
    price: float
    launched: date


def invent_business(today: date) -> SampleBusiness:
    """Returns the data of the two years up to and including `today`."""
    chance = Random(_SEED)
    business = SampleBusiness(regions=[(at, name) for at, name in enumerate(names.PLACES, 1)])
    start = today - timedelta(days=DAYS)
    employees = _employ(business, chance, start)
    customers = _sign_up(business, chance, start)
    products = _launch(business, chance, start)
    _sell(business, chance, start, today=today, employees=employees, customers=customers, products=products)
    return business


def _employ(business: SampleBusiness, chance: Random, start: date) -> list[_Employee]:
    regions, employees = list(names.PLACES), list[_Employee]()
    for number in range(1, _EMPLOYEES + 1):
        region = regions[number % len(regions)]
        leads = number <= len(regions) + 1
        hired = start + timedelta(days=chance.randint(-2_000, -60) if leads else chance.randint(-1_500, 600))
        manager = None if number == 1 else 1 if leads else 2 + (number - 2) % len(regions)
        title = (
            "Head of Sales" if number == 1 else "Region Lead" if leads else chance.choice(names.JOB_TITLES)
        )
        business.employees.append(
            (number, _person(chance), title, manager, regions.index(region) + 1, hired.isoformat())
        )
        employees.append(_Employee(number, region, hired))
    return employees


def _sign_up(business: SampleBusiness, chance: Random, start: date) -> list[_Customer]:
    customers: list[_Customer] = []
    regions = list(names.PLACES)
    for number in range(1, _CUSTOMERS + 1):
        region = _pick(chance, names.REGION_WEIGHTS)
        country = chance.choice(list(names.PLACES[region]))
        segment = _pick(chance, {name: share for name, (share, _) in names.SEGMENTS.items()})
        signed_up = start + timedelta(days=int(chance.triangular(-900, DAYS - 10, -200)))
        person = _person(chance)
        name = person if segment == "consumer" else f"{person.split()[1]} {chance.choice(names.COMPANIES)}"
        email = f"{name.lower().replace(' ', '.')}.{number}@example.com" if chance.random() > 0.04 else None
        phone = f"+00 555 {chance.randint(100_000, 999_999)}" if chance.random() > 0.3 else None
        known_segment = segment if chance.random() > 0.02 else None
        city = chance.choice(names.PLACES[region][country])
        place = (city, country, regions.index(region) + 1)
        business.customers.append((number, name, email, phone, *place, known_segment, signed_up.isoformat()))
        customers.append(_Customer(number, region, names.SEGMENTS[segment][1], signed_up))
    for copy in range(_DUPLICATED_CUSTOMERS):
        twin = len(business.customers) + 1
        _, known_as, *others = business.customers[copy * 97]
        business.customers.append((twin, str(known_as).upper() if copy % 2 else f"{known_as} ", *others))
        customers.append(replace(customers[copy * 97], id=twin))
    return customers


def _launch(business: SampleBusiness, chance: Random, start: date) -> list[_Product]:
    products: list[_Product] = []
    for category, (kinds, lowest, highest, _) in names.CATEGORIES.items():
        for kind in kinds:
            for series in chance.sample(names.SERIES, 4):
                number = len(products) + 1
                price = round(lowest + (highest - lowest) * chance.random() ** 2.2) - 0.05
                launched = start + timedelta(
                    days=chance.choice((-1_200, -800, -500, -300, -100, 120, 330, 520))
                )
                cost = round(price * chance.uniform(0.45, 0.68), 2)
                row = (
                    f"{series} {kind}",
                    category,
                    price,
                    cost,
                    launched.isoformat(),
                    chance.random() < 0.06,
                )
                business.products.append((number, *row))
                products.append(_Product(number, category, price, launched))
    return products


def _sell(
    business: SampleBusiness,
    chance: Random,
    start: date,
    *,
    today: date,
    employees: Sequence[_Employee],
    customers: Sequence[_Customer],
    products: Sequence[_Product],
) -> None:
    loyal = list(accumulate(1 / (1 + at) ** 0.85 for at in range(len(customers))))
    ranked_customers = chance.sample(customers, len(customers))
    ranked_products = chance.sample(products, len(products))
    fame = {product.id: 1 / (1 + at) ** 0.4 for at, product in enumerate(ranked_products)}
    shelves = {month: _shelf(products, fame, month) for month in range(1, 13)}
    for day in _busy_days(chance, start, today):
        customer = _draw(chance, ranked_customers, loyal, known_from=lambda each: each.signed_up, day=day)
        order = len(business.orders) + 1
        channel = _pick(chance, names.CHANNELS)
        staff = [each for each in employees if each.region == customer.region and each.hired <= day]
        served = channel in ("store", "phone") and chance.random() > 0.05
        employee = chance.choice(staff).id if served and staff else None
        under_way = day > today - timedelta(days=6)
        status = "cancelled" if chance.random() < 0.02 else "open" if under_way else "shipped"
        business.orders.append((order, customer.id, employee, day.isoformat(), status, channel))
        bought, weights = shelves[day.month]
        for _ in range(chance.choices((1, 2, 3, 4, 5, 6), (28, 30, 20, 12, 6, 4))[0]):
            product = _draw(chance, bought, weights, known_from=lambda each: each.launched, day=day)
            _add_line(business, chance, order, product=product, customer=customer, day=day, today=today)
    _order_twice(business)


def _shelf(
    products: Sequence[_Product], fame: Mapping[int, float], month: int
) -> tuple[Sequence[_Product], list[float]]:
    season = {category: curve[month - 1] for category, (*_, curve) in names.CATEGORIES.items()}
    return products, list(accumulate(fame[product.id] * season[product.category] for product in products))


def _busy_days(chance: Random, start: date, today: date) -> list[date]:
    """Returns one day per order, sorted. Days are more frequent each year, before Christmas and on Fridays
    and Saturdays.
    """
    days = [start + timedelta(days=at) for at in range(DAYS + 1)]
    weights = [
        _MONTHS[day.month - 1] * _WEEKDAYS[day.weekday()] * (1 + _GROWTH * at / 365)
        for at, day in enumerate(days)
    ]
    chosen = chance.choices(days, weights, k=_ORDERS - 2)
    return sorted([start, *chosen, today])


def _add_line(
    business: SampleBusiness,
    chance: Random,
    order: int,
    *,
    product: _Product,
    customer: _Customer,
    day: date,
    today: date,
) -> None:
    line = len(business.order_lines) + 1
    quantity = chance.choices(
        (1, 2, 3, 6, 10), (70, 18, 7, 3, 2) if customer.discount == 0 else (30, 30, 20, 12, 8)
    )[0]
    sale = 0.2 if day.month == 11 and day.day >= 22 else 0.0
    discount = max(customer.discount, sale)
    amount = round(quantity * product.price * (1 - discount), 2)
    business.order_lines.append((line, order, product.id, quantity, product.price, discount, amount))
    back = day + timedelta(days=chance.randint(3, 30))
    if chance.random() < _RETURN_RATES.get(product.category, _USUAL_RETURN_RATE) and back <= today:
        number, returned = len(business.returns) + 1, chance.randint(1, quantity)
        refund = round(amount * returned / quantity, 2)
        reason = _pick(chance, names.RETURN_REASONS)
        business.returns.append((number, line, back.isoformat(), returned, reason, refund))


def _order_twice(business: SampleBusiness) -> None:
    """Duplicate a few orders with their lines, as double clicks do."""
    for copy in range(_DUPLICATED_ORDERS):
        number, *order = business.orders[(copy + 1) * 3_001]
        twin = len(business.orders) + 1
        lines = [line for line in business.order_lines if line[1] == number]
        business.orders.append((twin, *order))
        for _, _, *line in lines:
            business.order_lines.append((len(business.order_lines) + 1, twin, *line))


def _person(chance: Random) -> str:
    return f"{chance.choice(names.FIRST)} {chance.choice(names.LAST)}"


def _draw(
    chance: Random,
    things: Sequence[Thing],
    weights: list[float],
    *,
    known_from: Callable[[Thing], date],
    day: date,
) -> Thing:
    """Draw by weight until a thing exists on the day. At least one must."""
    while known_from(thing := chance.choices(things, cum_weights=weights)[0]) > day:
        pass
    return thing


def _pick(chance: Random, shares: Mapping[str, float]) -> str:
    return chance.choices(list(shares), list(shares.values()))[0]
