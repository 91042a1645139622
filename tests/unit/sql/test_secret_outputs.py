"""Columns of a result that are made of a column `password`, under whatever name."""

import pytest
from sqlglot import parse_one

from app.modules.sql.provenance.secret_outputs import SecretOutputs, secret_outputs
from tests.support.declared import declared

TABLES = {
    "users": ["id", "name", "city", "password", "created_at"],
    "orders": ["id", "user_id", "amount"],
    "notes": ["tags", "value"],
}


def found(sql: str, dialect: str = "postgres") -> SecretOutputs | None:
    return secret_outputs(parse_one(sql, dialect=dialect), declared(dialect, TABLES))


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT id, password AS p, name FROM users", "-x-"),
        ("SELECT upper(password), md5(password), substr(password, 1, 3) || '' AS q FROM users", "xxx"),
        ("SELECT ascii(substr(password, 1, 1)) FROM users", "x"),
        ("SELECT max(password) OVER () AS m, string_agg(password, ',') OVER () AS s, city FROM users", "xx-"),
        ("SELECT coalesce(nullif(password, ''), 'none') FROM users", "x"),
        ("SELECT CASE WHEN id = 1 THEN password ELSE 'b' END FROM users", "x"),
        ("SELECT a.* FROM users a", "---x-"),
        ("SELECT u.password, v.password FROM users u JOIN users v ON u.id = v.id", "xx"),
        ("SELECT u.n FROM users AS u(a, b, c, n, d)", "x"),
        ("SELECT (SELECT password FROM users LIMIT 1) AS z", "x"),
        ("SELECT x.q FROM (SELECT password q FROM users) x", "x"),
        ("WITH c(a, b) AS (SELECT id, password FROM users) SELECT a, b AS city FROM c", "-x"),
        ("WITH t(a, b, c, d, e) AS (SELECT * FROM users) SELECT d, a FROM t", "x-"),
        (
            "WITH RECURSIVE r AS (SELECT password p, 1 n FROM users UNION ALL SELECT p, 2 FROM r) TABLE r",
            "x-",
        ),
        ("SELECT name FROM users UNION SELECT password FROM users", "x"),
        ("SELECT u.name, l.p FROM users u, LATERAL (SELECT u.password AS p) l", "-x"),
        ("SELECT x FROM (SELECT array_agg(password) a FROM users) t, unnest(t.a) AS x", "x"),
        ("SELECT to_json(u), row_to_json(users) FROM users u, users", "xx"),
        ("SELECT to_json(u.*), o.id FROM users u, LATERAL (SELECT id, u.* FROM orders) o", "x-"),
        (
            "SELECT (SELECT json_agg(u.*) FROM orders) AS j, jsonb_build_array(o.*) FROM users u, orders o",
            "x-",
        ),
        ("WITH x AS (SELECT to_json(u) AS city FROM users u) SELECT city FROM x", "x"),
        ("SELECT u.n FROM (VALUES ((SELECT password FROM users LIMIT 1))) u(n)", "x"),
    ],
)
def test_what_is_made_of_a_secret_is_one(sql: str, expected: str) -> None:
    secret = found(sql)
    assert secret is not None
    names = [f"c{at}" for at in range(len(expected))]
    assert "".join("x" if each else "-" for each in secret.among(names)) == expected


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("postgres", "SELECT u.name FROM users CROSS JOIN LATERAL unnest(users.password) AS u(name)"),
        (
            "postgres",
            "SELECT u.name FROM users v, LATERAL unnest(string_to_array(v.password, ',')) AS u(name)",
        ),
        ("postgres", "SELECT name FROM orders, (SELECT password p FROM users) x, unnest(ARRAY[x.p]) AS name"),
        (
            "postgres",
            "SELECT name FROM (SELECT password p FROM users) x, regexp_split_to_table(x.p, ',') AS name",
        ),
        ("postgres", "SELECT city.value FROM users, json_each_text(users.password::json) AS city"),
        ("postgres", "SELECT j.value FROM users u, jsonb_each(u.password::jsonb) AS j(key, value)"),
        ("postgres", "SELECT city FROM (SELECT password FROM users) AS city"),
        ("postgres", "SELECT v.city FROM users u CROSS JOIN LATERAL (VALUES (u.password)) v(city)"),
        ("postgres", "SELECT unnest(string_to_array(password, ',')) AS name FROM users"),
        (
            "postgres",
            "SELECT x.city FROM users u, ROWS FROM (unnest(array[u.password]), unnest(array[1])) x(city, n)",
        ),
        (
            "postgres",
            "SELECT c.name FROM (SELECT u.name FROM users v, unnest(array[v.password]) AS u(name)) c",
        ),
        (
            "postgres",
            "SELECT t.name FROM users u, unnest(array[u.password]) s(city), unnest(array[s.city]) t(name)",
        ),
        ("duckdb", "SELECT u.name FROM users CROSS JOIN LATERAL unnest([users.password]) AS u(name)"),
        (
            "duckdb",
            "SELECT name FROM (SELECT password p FROM users) x, unnest(string_split(x.p, ',')) AS u(name)",
        ),
        ("duckdb", "SELECT unnest(string_split(password, ',')) AS name FROM users"),
        ("duckdb", "SELECT j.value AS name FROM users, json_each(users.password) AS j"),
        ("sqlite", "SELECT value FROM orders, json_each((SELECT password FROM users)) AS j"),
        ("sqlite", "SELECT j.value AS name FROM users, json_each(users.password) AS j"),
        (
            "sqlite",
            "SELECT value AS name FROM (SELECT password p FROM users) u, json_each('[' || u.p || ']')",
        ),
        (
            "sqlite",
            "SELECT value FROM (SELECT password p FROM users) u, json_tree(u.p) AS a, json_each('[1]') AS b",
        ),
        (
            "mysql",
            "SELECT j.name FROM users u, JSON_TABLE(u.password, '$[*]' COLUMNS(name INT PATH '$')) j",
        ),
        (
            "postgres",
            "WITH t AS (SELECT u.name FROM users v, unnest(array[v.password]) u(name)) SELECT name FROM t",
        ),
        ("postgres", "SELECT (SELECT x FROM unnest(array[u.password]) AS x LIMIT 1) AS name FROM users u"),
    ],
)
def test_a_function_that_gives_rows_makes_them_of_its_arguments(dialect: str, sql: str) -> None:
    secret = found(sql, dialect)
    assert secret is not None
    assert secret.outputs == [True]


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("postgres", "SELECT u.tag FROM notes CROSS JOIN LATERAL unnest(notes.tags) AS u(tag)"),
        (
            "postgres",
            "SELECT tag, count(*) FROM notes, unnest(string_to_array(tags, ',')) AS tag GROUP BY tag",
        ),
        ("sqlite", "SELECT j.value, j.key FROM notes, json_each(notes.tags) AS j"),
        ("duckdb", "SELECT t.x FROM notes, unnest([notes.tags]) AS t(x)"),
        ("postgres", "SELECT v.label FROM users u CROSS JOIN LATERAL (VALUES (u.city)) v(label)"),
        ("postgres", "SELECT d FROM generate_series(1, 10) AS d"),
        (
            "postgres",
            "SELECT t.name FROM users u, unnest(array[u.city]) AS s(c), unnest(array[s.c]) AS t(name)",
        ),
        (
            "mysql",
            "SELECT j.n FROM notes, JSON_TABLE(notes.tags, '$[*]' COLUMNS(n VARCHAR(9) PATH '$')) AS j",
        ),
        ("postgres", "SELECT city FROM users u, unnest(array[u.password]) AS city(x)"),
    ],
)
def test_rows_of_a_function_of_plain_columns_are_no_secret(dialect: str, sql: str) -> None:
    assert found(sql, dialect) is None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(password), count(DISTINCT password), avg(length(password)) FROM users",
        "SELECT password IS NULL AS missing, CASE WHEN password = 'x' THEN 'a' ELSE 'b' END FROM users",
        "SELECT u.name, o.amount FROM users u JOIN orders o ON o.user_id = u.id WHERE u.password LIKE 'a%'",
        "SELECT id FROM users WHERE EXISTS (SELECT 1 FROM users WHERE password = 'x') ORDER BY password",
        "SELECT d, count(*) FROM users JOIN generate_series(1, 10) AS d ON d = id GROUP BY d",
        "SELECT v.label, count(*) FROM users JOIN (VALUES (1, 'a')) v(id, label) USING (id) GROUP BY 1",
        "SELECT name AS n, 'password' AS kind FROM (SELECT u.* FROM users u) s",
    ],
)
def test_what_tells_no_value_of_a_secret_is_none(sql: str) -> None:
    assert found(sql) is None


@pytest.mark.parametrize(
    ("sql", "names", "expected"),
    [
        ("SELECT * EXCLUDE (city) FROM users", ["id", "name", "password"], "--x"),
        ("SELECT * RENAME (password AS city) FROM users", ["id", "name", "city"], "--x"),
        ("SELECT * REPLACE (password AS city) FROM users", ["id", "city"], "-x"),
        ("SELECT COLUMNS('pass(.*)') AS '\\1' FROM users", ["word"], "x"),
        (
            "WITH x AS (SELECT * EXCLUDE (name) FROM users) SELECT city, password AS p FROM x",
            ["a", "b"],
            "-x",
        ),
        ("UNPIVOT users ON name, password INTO NAME k VALUE v", ["id", "k", "v"], "-xx"),
    ],
)
def test_of_columns_that_the_statement_does_not_tell_known_names_are_no_secrets(
    sql: str, names: list[str], expected: str
) -> None:
    secret = found(sql, "duckdb")
    assert secret is not None
    assert "".join("x" if each else "-" for each in secret.among(names)) == expected
