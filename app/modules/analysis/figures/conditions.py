"""Simple conditions of a statement, as people read them."""

from collections.abc import Mapping

from sqlglot import exp

from app.modules.analysis.words import plain_label, title

_MOST = 4
_LONGEST = 60
_SIGNS: Mapping[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "≠",
    exp.GT: ">",
    exp.GTE: "≥",
    exp.LT: "<",
    exp.LTE: "≤",
}
_MIRRORED = {"=": "=", "≠": "≠", ">": "<", "≥": "≤", "<": ">", "≤": "≥"}


def simple_conditions(select: exp.Select) -> list[str]:
    """Read the conditions of WHERE and HAVING that compare two columns, or a column with constants, joined by
    AND; at most four.

    Others are left out.
    """
    read = list[str]()
    for clause in filter(None, (select.args.get("where"), select.args.get("having"))):
        parts = clause.this.flatten() if isinstance(clause.this, exp.And) else [clause.this]
        read += [text for part in parts if (text := _condition(part)) is not None]
    return read[:_MOST]


def _condition(part: exp.Expr) -> str | None:
    match part:
        case exp.Paren():
            return _condition(part.this)
        case exp.In() if part.expressions and (name := _name(part.this)):
            values = [_constant(each) for each in part.expressions]
            return _short(f"{name} =", " / ".join(filter(None, values))) if all(values) else None
        case exp.Between() if name := _name(part.this):
            low = _constant(part.args["low"])
            high = _constant(part.args["high"])
            return _short(f"{name}:", f"{low} – {high}") if low and high else None
    sign = _SIGNS.get(type(part))
    if sign is None or not isinstance(part, exp.Binary):
        return None
    left, right = _name(part.left), _name(part.right)
    if left:
        return _short(f"{left} {sign}", right or _constant(part.right))
    return _short(f"{right} {_MIRRORED[sign]}", _constant(part.left)) if right else None


def _name(node: exp.Expr) -> str | None:
    """A column in words, or a function over one or over all rows, such as "total amount"."""
    match node:
        case exp.Column():
            return title(node.name)
        case exp.Count(this=exp.Star()):
            return title("count(*)")
        case exp.Count() | exp.Sum() | exp.Avg() | exp.Min() | exp.Max() if isinstance(node.this, exp.Column):
            return title(f"{node.key}({node.this.name})")
    return None


def _short(compared: str, value: str | None) -> str | None:
    return f"{compared} {value}" if value and len(value) <= _LONGEST else None


def _constant(node: exp.Expr) -> str | None:
    match node:
        case exp.Literal():
            return plain_label(node.this, _LONGEST + 1)
        case exp.Neg() if isinstance(node.this, exp.Literal):
            return f"-{node.this.this}"
        case exp.Boolean():
            return plain_label(bool(node.this), _LONGEST)
        case exp.Cast() | exp.Date() | exp.TsOrDsToDate() if isinstance(node.this, exp.Literal):
            return plain_label(node.this.this, _LONGEST + 1)
    return None
