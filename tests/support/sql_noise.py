"""Statements that no one would write, by chance: trees of sqlglot's, grafts on the corpus, and noise."""

import logging
from collections.abc import Sequence
from functools import cache
from random import Random

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from tests.support.corpus import attacks, honest

_KINDS: Sequence[type[exp.Expr]] = sorted(
    {each for each in vars(exp).values() if isinstance(each, type) and issubclass(each, exp.Expr)},
    key=lambda kind: kind.__name__,
)
_QUERY_KINDS: Sequence[type[exp.Expr]] = [
    exp.Select,
    exp.Union,
    exp.Subquery,
    exp.With,
    exp.Pivot,
    exp.Values,
]
_WORDS = [
    *(
        "customers",
        "orders",
        "id",
        "name",
        "Zoë",
        "order lines",
        "a.b",
        "x",
        "",
        "public",
        "pg_sleep",
        "main",
    ),
    *("select", "*", "0", "1e999", "-1", "%1000000000d", "{}", "'", '"', "`", "\\", "--", "/*", "*/", ";"),
    *("\0", "\ufeff", "\ud800", "\u200b", "\u2028", "\x1b[31m", "😀", "\\D83D", "YEAR", "JSON", "ROW"),
]
_NOISE = [
    *_WORDS,
    *("(", ")", "((((", ",", "[", "]", "{", "}", ":", "::", "$1", "$$", "@x", "@@x", "?", "U&'", 'U&"', "E'"),
    *(
        "/*!",
        "/*+",
        "#",
        "\n",
        "\t",
        "\r",
        " from ",
        " where ",
        " union ",
        " in ",
        " as ",
        " explain ",
        " not ",
    ),
    *(
        " with x as (",
        " pivot ",
        " on ",
        " using ",
        " group by ",
        " order by ",
        " limit ",
        " into ",
        " interval ",
    ),
]


def statement(random: Random, dialect: str) -> str:
    """One of the three kinds. It may be a query, an attack, or nothing at all."""
    try:
        return random.choice((_tree, _graft, _graft, _noise, _noise))(random, dialect)
    except Exception:  # noqa: BLE001 - a tree that makes no sense may have no text, and sqlglot fails in every way
        return ""


def _tree(random: Random, dialect: str) -> str:
    return _node(random, random.choice([*_QUERY_KINDS, *_KINDS]), random.randint(1, 5)).sql(dialect)


def _graft(random: Random, dialect: str) -> str:
    """A statement of the corpus, some of whose nodes are those of another statement, or made up."""
    grown = random.choice(_trees(dialect)).copy()
    for _ in range(random.randint(1, 3)):
        place = random.choice(list(grown.walk()))
        if random.random() < 0.3:
            new = _node(random, random.choice(_KINDS), 2)
        else:
            new = random.choice(list(random.choice(_trees(dialect)).walk())).copy()
        if place.parent is None:
            grown = new
        else:
            place.replace(new)
    return grown.sql(dialect)


def _noise(random: Random, dialect: str) -> str:
    text = random.choice(_texts(dialect))
    for _ in range(random.randint(1, 6)):
        start, end = sorted(random.randint(0, len(text)) for _ in range(2))
        match random.randint(0, 4):
            case 0:
                text = text[:start] + text[start : start + (end - start) % 12].join(("", text[end:]))
            case 1:
                text = text[:start] + random.choice(_NOISE) + text[start:]
            case 2:
                text = text[:end] + text[start:]
            case 3:
                text = text[:start] + random.choice(_texts(dialect)) + text[end:]
            case _:
                text = text[:start] + chr(random.randint(0, 0x10FFFF)) + text[start:]
    return text if random.random() < 0.98 else text * random.randint(2, 200)


def _node(random: Random, kind: type[exp.Expr], depth: int) -> exp.Expr:
    return kind(
        **{
            name: _argument(random, depth)
            for name, needed in kind.arg_types.items()
            if needed or random.random() < 0.3
        }
    )


def _argument(random: Random, depth: int) -> object:
    chance = random.random()
    if depth == 0 or chance < 0.15:
        return random.choice(_WORDS)
    if chance < 0.25:
        return random.random() < 0.5
    if chance < 0.35:
        return exp.Literal(this=random.choice(_WORDS), is_string=random.random() < 0.7)
    if chance < 0.5:
        return exp.Identifier(this=random.choice(_WORDS), quoted=random.random() < 0.5)
    if chance < 0.65:
        return [_node(random, random.choice(_KINDS), depth - 1) for _ in range(random.randint(0, 3))]
    return _node(random, random.choice(_KINDS), depth - 1)


@cache
def _texts(dialect: str) -> Sequence[str]:
    return [line.sql for line in (*honest(dialect), *honest(dialect), *attacks(dialect))]


@cache
def _trees(dialect: str) -> Sequence[exp.Expr]:
    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    found: list[exp.Expr] = []
    for text in _texts(dialect):
        try:
            found += [each for each in sqlglot.parse(text, dialect=dialect) if each is not None]
        except SqlglotError:
            continue
    return found
