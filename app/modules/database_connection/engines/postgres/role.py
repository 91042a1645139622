"""Rights of a PostgreSQL role besides reading, which a read-only session does not remove."""

from collections.abc import Collection, Iterator, Sequence

from sqlalchemy import ColumnElement, Connection, column, exists, func, literal, or_, select, table

_CURE = "Register the database again with a role that may only SELECT (docs/security.md says how)."
_SERVER_ROLES = ("pg_read_server_files", "pg_write_server_files", "pg_execute_server_program")
_TABLES_AND_VIEWS = ("r", "p", "v", "m", "f")
_CHANGES = "INSERT, UPDATE, DELETE, TRUNCATE"


def rights_beyond_reading(connection: Connection) -> Sequence[str]:
    """Returns a sentence for each right, with advice."""
    return [f"{right} {_CURE}" for right in _rights(connection)]


def roles_beyond_policies(connection: Connection, roles: Collection[str]) -> list[str]:
    """Returns those of the roles that bypass row-level security, by name."""
    known = table(
        "pg_roles", column("rolname"), column("rolsuper"), column("rolbypassrls"), schema="pg_catalog"
    )
    unbound = or_(known.c.rolsuper, known.c.rolbypassrls)
    found = select(known.c.rolname).where(known.c.rolname.in_(roles)).where(unbound)
    return sorted(connection.scalars(found))


def missing_right(connection: Connection) -> str:
    """Returns a sentence with the cure if neither the role nor one that it may take reads any table or view,
    although there are some. Empty otherwise. The cure names the schema `public` if that has tables.
    """
    relations = table(
        "pg_class", column("oid"), column("relkind"), column("relnamespace"), schema="pg_catalog"
    )
    schemas = table("pg_namespace", column("oid"), column("nspname"), schema="pg_catalog")
    roles = table("pg_roles", column("oid"), schema="pg_catalog")
    of_users = (
        select(schemas.c.nspname)
        .select_from(relations.join(schemas, schemas.c.oid == relations.c.relnamespace))
        .where(~schemas.c.nspname.startswith("pg_", autoescape=True))
        .where(schemas.c.nspname != "information_schema")
        .where(relations.c.relkind.in_(_TABLES_AND_VIEWS))
    )
    readable = (
        of_users.join(roles, func.pg_has_role(roles.c.oid, "MEMBER"))
        .where(func.has_schema_privilege(roles.c.oid, schemas.c.oid, "USAGE"))
        .where(func.has_any_column_privilege(roles.c.oid, relations.c.oid, "SELECT"))
    )
    if connection.scalar(select(exists(readable))):
        return ""
    there = connection.scalars(of_users.order_by(schemas.c.nspname != "public", schemas.c.nspname).limit(1))
    if (first := there.first()) is None:
        return ""
    quote = connection.dialect.identifier_preparer.quote
    schema, name = quote(str(first)), quote(str(connection.scalar(select(func.current_user()))))
    return (
        f"KAI's account {name} may read no table of this database, although it has some. Their owner allows "
        f"it: GRANT USAGE ON SCHEMA {schema} TO {name}; "
        f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {name}; "
        "Then try again."
    )


def _rights(connection: Connection) -> Iterator[str]:
    if connection.scalar(select(func.current_setting("is_superuser"))) == "on":
        yield "This role is a superuser: it may read the server's files and run its programs."
        return
    memberships = or_(*(func.pg_has_role(role, "MEMBER") for role in _SERVER_ROLES))
    if connection.scalar(select(memberships)):
        yield "This role may read or write the server's files, or run its programs."
    if connection.scalar(select(_may_change_tables())):
        yield "This role may change rows."
    database = func.current_database()
    schema = func.current_schema()
    may_create = (
        func.has_database_privilege(database, "CREATE"),
        func.has_schema_privilege(schema, "CREATE"),
    )
    if connection.scalar(select(or_(*may_create))):
        yield "This role may create tables or schemas."


def _may_change_tables() -> ColumnElement[bool]:
    relations = table(
        "pg_class", column("oid"), column("relkind"), column("relnamespace"), schema="pg_catalog"
    )
    schemas = table("pg_namespace", column("oid"), column("nspname"), schema="pg_catalog")
    of_the_server = select(schemas.c.oid).where(schemas.c.nspname.in_(["pg_catalog", "information_schema"]))
    return exists(
        select(literal(1))
        .select_from(relations)
        .where(relations.c.relkind.in_(["r", "p", "v", "f"]))
        .where(relations.c.relnamespace.not_in(of_the_server))
        .where(func.has_table_privilege(relations.c.oid, _CHANGES))
    )
