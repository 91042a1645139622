"""Nodes of the parse tree that a query may have. All others are refused."""

from sqlglot import exp

_QUERIES = (exp.Select, exp.SetOperation, exp.Subquery, exp.Values)

_CONDITIONS = (
    exp.Adjacent,
    exp.All,
    exp.Any,
    exp.Between,
    exp.Binary,  # operators between two values
    exp.BitString,
    exp.Boolean,
    exp.Bracket,
    exp.ByteString,
    exp.Column,
    exp.Func,  # each is looked up by name
    exp.HexString,
    exp.In,
    exp.Kwarg,
    exp.Literal,
    exp.National,
    exp.Null,
    exp.Paren,
    exp.RawString,
    exp.SubqueryPredicate,
    exp.Unary,
    exp.Window,
)
_PARTS = (
    *_QUERIES,
    *_CONDITIONS,
    exp.Alias,
    exp.Aliases,
    exp.AtTimeZone,
    exp.CTE,
    exp.ColumnDef,  # of a record's or JSON table's columns
    exp.Comprehension,
    exp.Cube,
    exp.DataType,
    exp.DataTypeParam,
    exp.Distinct,
    exp.Fetch,
    exp.Filter,
    exp.Final,
    exp.From,
    exp.Group,
    exp.GroupingSets,
    exp.Having,
    exp.HavingMax,
    exp.Hint,  # checked in `spelling`
    exp.Identifier,
    exp.IgnoreNulls,
    exp.IndexTableHint,
    exp.Interval,
    exp.IntervalSpan,
    exp.Introducer,
    exp.JSON,
    exp.JSONColumnDef,
    exp.JSONKeyValue,
    exp.JSONPath,
    exp.JSONPathPart,
    exp.JSONSchema,
    exp.JSONValue,
    exp.Join,
    exp.Lambda,
    exp.Lateral,
    exp.Limit,
    exp.LimitOptions,
    exp.Offset,
    exp.Order,
    exp.Ordered,
    exp.Pivot,
    exp.PivotAlias,
    exp.PreWhere,
    exp.PropertyEQ,
    exp.PseudoType,
    exp.Qualify,
    exp.RespectNulls,
    exp.Rollup,
    exp.Slice,
    exp.Star,
    exp.Table,
    exp.TableAlias,
    exp.TableSample,
    exp.Tuple,
    exp.UnpivotColumns,
    exp.Var,
    exp.Where,
    exp.WindowSpec,
    exp.With,
    exp.WithOperator,
    exp.WithinGroup,
)
_REFUSED = (exp.Operator, exp.Parameter, exp.Placeholder, exp.SessionParameter)
_PLACEHOLDERS = (exp.Parameter, exp.Placeholder, exp.SessionParameter)


def is_query(statement: exp.Expr, dialect: str) -> bool:
    """True if a whole statement is a query; in DuckDB also PIVOT."""
    return isinstance(statement, _QUERIES) or (dialect == "duckdb" and isinstance(statement, exp.Pivot))


def is_allowed(node: exp.Expr) -> bool:
    return isinstance(node, _PARTS) and not isinstance(node, _REFUSED)


def refused_clause(node: exp.Expr, dialect: str) -> str:
    """Returns the name of a clause of ClickHouse that changes settings, writes the answer elsewhere, or names
    columns by a pattern or a table in place of a value. Empty if the node has none.
    """
    if dialect != "clickhouse":
        return ""
    match node:
        case exp.Columns():
            return "COLUMNS"
        case exp.CTE() if isinstance(node.this.unnest(), exp.Column):
            return "A column in WITH"
        case exp.From(this=exp.Column()):
            return "A query in ARRAY JOIN"  # whose tables are columns to the parser
        case exp.Query():
            pass
        case _:
            return ""
    return next((name.upper() for name in ("settings", "format", "into") if node.args.get(name)), "")


def has_placeholder(node: exp.Expr) -> bool:
    return isinstance(node, _PLACEHOLDERS)
