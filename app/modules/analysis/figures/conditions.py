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
    """Read the conditions that compare a column with constants, joined by AND; at most four.

    Others are left out.
    """
    where = select.args.get("where")
    if where is None:
        return []
    parts = where.this.flatten() if isinstance(where.this, exp.And) else [where.this]
    read = [text for part in parts if (text := _condition(part)) is not None]
    return read[:_MOST]


def _condition(part: exp.Expr) -> str | None:
    match part:
        case exp.Paren():
            return _condition(part.this)
        case exp.In() if part.expressions and isinstance(part.this, exp.Column):
            values = [_constant(each) for each in part.expressions]
            return _short(part.this, "=", " / ".join(filter(None, values))) if all(values) else None
        case exp.Between() if isinstance(part.this, exp.Column):
            low = _constant(part.args["low"])
            high = _constant(part.args["high"])
            return _short(part.this, "=", f"{low} – {high}") if low and high else None
    sign = _SIGNS.get(type(part))
    if sign is None or not isinstance(part, exp.Binary):
        return None
    if isinstance(part.left, exp.Column):
        return _short(part.left, sign, _constant(part.right))
    if isinstance(part.right, exp.Column):
        return _short(part.right, _MIRRORED[sign], _constant(part.left))
    return None


def _short(column: exp.Column, sign: str, value: str | None) -> str | None:
    if not value or len(value) > _LONGEST:
        return None
    return f"{title(column.name)} {sign} {value}"


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
