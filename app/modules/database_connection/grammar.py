"""What a question about data may be made of. A node of the parse tree that is not named here is refused."""

from sqlglot import exp

QUERIES = (exp.Select, exp.SetOperation, exp.Subquery, exp.Values)

_PARTS = (
    *QUERIES,
    exp.Alias,
    exp.Aliases,
    exp.AtTimeZone,
    exp.CTE,
    exp.Condition,  # columns, literals, operators, windows and all functions
    exp.Cube,
    exp.DataType,
    exp.DataTypeParam,
    exp.Distinct,
    exp.Fetch,
    exp.Filter,
    exp.From,
    exp.Group,
    exp.GroupingSets,
    exp.Having,
    exp.Identifier,
    exp.IndexTableHint,
    exp.Interval,
    exp.IntervalSpan,
    exp.JSON,
    exp.JSONKeyValue,
    exp.JSONPath,
    exp.JSONPathPart,
    exp.Join,
    exp.Lateral,
    exp.Limit,
    exp.LimitOptions,
    exp.Offset,
    exp.Order,
    exp.Ordered,
    exp.PseudoType,
    exp.Rollup,
    exp.Slice,
    exp.Star,
    exp.Table,
    exp.TableAlias,
    exp.TableSample,
    exp.Tuple,
    exp.Var,
    exp.Where,
    exp.WindowSpec,
    exp.With,
    exp.WithinGroup,
)
_PLACEHOLDERS = (exp.Parameter, exp.Placeholder, exp.SessionParameter)


def is_allowed(node: exp.Expr) -> bool:
    return isinstance(node, _PARTS) and not isinstance(node, _PLACEHOLDERS)


def has_placeholder(node: exp.Expr) -> bool:
    return isinstance(node, _PLACEHOLDERS)
