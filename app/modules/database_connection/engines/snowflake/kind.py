"""URLs of Snowflake."""

from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path

from cryptography.hazmat.primitives.serialization import load_pem_private_key
from sqlalchemy import URL

from app.modules.database_connection.engines.databases import Database
from app.modules.database_connection.engines.kinds import (
    AskedField,
    EngineKind,
    database_of,
    driver_missing,
    parameters,
)
from app.modules.database_connection.errors import UrlNotSupported
from app.modules.database_connection.network import Access

PORT = 443
_DOMAINS = (".snowflakecomputing.com", ".snowflakecomputing.cn")
_SECRETS = ("private_key", "token")


def _read(url: URL, access: Access) -> Database:
    try:
        from app.modules.database_connection.engines.snowflake.database import SnowflakeDatabase  # noqa: PLC0415 - an extra
    except ModuleNotFoundError:
        raise driver_missing("Snowflake") from None

    if not (url.host and url.username and url.database):
        raise UrlNotSupported("The URL must name a user, an account and a database.")
    options = parameters(url, allowed=("warehouse", "role", *_SECRETS))
    given = [bool(url.password), *(bool(options.get(each)) for each in _SECRETS)]
    if sum(given) != 1:
        raise UrlNotSupported("Snowflake needs one of a password, private_key and token.")
    _check_key(options.get("private_key", ""))
    return SnowflakeDatabase(
        account=url.host,
        host=_host(url.host),
        port=url.port or PORT,
        user=url.username,
        name=url.database,
        warehouse=options.get("warehouse", ""),
        role=options.get("role", ""),
        password=url.password or "",
        private_key=options.get("private_key", ""),
        token=options.get("token", ""),
        access=access,
    )


def _host(account: str) -> str:
    """Returns the host of an account: a name under Snowflake's own domains, or an address of this machine.

    The driver reads large results from where the server says, so no other server is connected to.
    """
    if _is_loopback(account):
        return account
    host = account if account.endswith(_DOMAINS) else f"{account}{_DOMAINS[0]}"
    name = host.removesuffix(_DOMAINS[0]).removesuffix(_DOMAINS[1])
    if not all(part.replace("-", "").replace("_", "").isalnum() for part in name.split(".")):
        raise UrlNotSupported("The account is its identifier, such as myorg-account1, or its host.")
    return host.replace("_", "-").lower()


def _is_loopback(account: str) -> bool:
    try:
        return ip_address(account).is_loopback
    except ValueError:
        return False


def _check_key(pem: str) -> None:
    """Raises `UrlNotSupported` unless the text is empty or a key that the driver can read."""
    if not pem:
        return
    try:
        load_pem_private_key(pem.encode(), password=None)
    except (ValueError, TypeError):
        raise UrlNotSupported(
            "private_key is the text of an unencrypted PEM file, percent-encoded, from BEGIN to END."
        ) from None


def _write(answers: Mapping[str, str]) -> str:
    options = {name: answers[name] for name in ("warehouse", "role", "token") if answers[name]}
    if answers["key_file"]:
        try:
            options["private_key"] = Path(answers["key_file"]).expanduser().read_text(encoding="ascii")
        except (OSError, ValueError):
            raise UrlNotSupported("The file of the private key cannot be read.") from None
    return URL.create(
        "snowflake",
        username=answers["user"],
        password=answers["password"] or None,
        host=answers["account"],
        database=answers["database"],
        query=options,
    ).render_as_string(hide_password=False)


KINDS = [
    EngineKind(
        schemes=["snowflake"],
        form="snowflake://user:password@account/database?warehouse=name&role=name",
        dialect="snowflake",
        port=PORT,
        read=_read,
        name_in_sql=database_of,
        fields=[
            AskedField("account", "Account, such as myorg-account1"),
            AskedField("database", "Database"),
            AskedField("warehouse", "Warehouse (empty for the user's own)", ""),
            AskedField("role", "Role (empty for the user's own)", ""),
            AskedField("user", "User"),
            AskedField("key_file", "File of the private key (empty for a token or a password)", ""),
            AskedField("token", "Access token (empty for none)", is_secret=True),
            AskedField("password", "Password (empty for none)", is_secret=True),
        ],
        write=_write,
        secret_parameters=_SECRETS,
    )
]
