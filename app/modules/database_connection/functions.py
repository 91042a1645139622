"""Functions that a question about data never needs and that reach outside the data.

Names are shell patterns in lower case, without a schema.
"""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from sqlglot import exp

_DENIED: Mapping[str, Sequence[str]] = {
    "sqlite": (
        "dbstat",
        "edit",
        "eval",
        "fts3_tokenizer",
        "load_extension",
        "pragma_*",
        "randomblob",
        "readfile",
        "sqlite_*",
        "writefile",
        "zeroblob",
    ),
    "postgres": (
        "*advisory*",
        "aws_*",
        "binary_upgrade_*",
        "brin_*",
        "connectby*",
        "crosstab*",
        "current_setting",
        "currval",
        "cursor_to_xml*",
        "database_to_xml*",
        "dblink*",
        "gin_clean_pending_list",
        "http",
        "http_*",
        "lastval",
        "lo_*",
        "loread",
        "lowrite",
        "nextval",
        "pg_*",
        "postgres_fdw_*",
        "query_to_xml*",
        "schema_to_xml*",
        "set_config",
        "setval",
        "table_to_xml*",
        "ts_rewrite",
        "ts_stat",
        "txid_*",
    ),
}
_HARMLESS = frozenset({"pg_column_size", "pg_size_pretty", "pg_typeof"})

# Only these may stand where a table stands.
_TABLE_FUNCTIONS: Mapping[str, frozenset[str]] = {
    "sqlite": frozenset({"json_each", "json_tree", "generate_series"}),
    "postgres": frozenset(
        {
            "exploding_generate_series",  # sqlglot's word for generate_series after FROM
            "generate_series",
            "generate_subscripts",
            "json_array_elements",
            "json_array_elements_text",
            "json_each",
            "json_each_text",
            "json_object_keys",
            "json_to_record",
            "json_to_recordset",
            "jsonb_array_elements",
            "jsonb_array_elements_text",
            "jsonb_each",
            "jsonb_each_text",
            "jsonb_object_keys",
            "jsonb_path_query",
            "jsonb_to_record",
            "jsonb_to_recordset",
            "regexp_matches",
            "regexp_split_to_table",
            "string_to_table",
            "unnest",
        }
    ),
}


def is_denied(name: str, dialect: str) -> bool:
    """Whether a function of this name, in whatever case, may not be called."""
    folded = name.lower()
    return folded not in _HARMLESS and any(fnmatchcase(folded, pattern) for pattern in _DENIED[dialect])


def is_table_function(name: str, dialect: str) -> bool:
    """Whether a function of this name may stand after FROM."""
    return name.lower() in _TABLE_FUNCTIONS[dialect]


def names_of(function: exp.Func) -> set[str]:
    """The names, in lower case, by which a function in a parse tree may be called."""
    if isinstance(function, exp.Anonymous | exp.AnonymousAggFunc):
        return {function.name.lower()}
    return {name.lower() for name in function.sql_names()}
