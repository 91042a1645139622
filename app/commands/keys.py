"""`kai keys`: manage the API keys of the configured store. A server may be running."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from cryptography.fernet import Fernet
from pydantic import ValidationError
from rich.table import Table
from rich.text import Text

from app.bootstrap import open_store
from app.bootstrap.encryption import encrypt_again
from app.bootstrap.store import bring_up_to_date, encryption_keys, key_file, session_ids
from app.core.auth.api_keys import ApiKey, ApiKeys
from app.core.auth.caller import Role
from app.core.clock import rfc3339
from app.core.errors import Invalid
from app.core.exclusive import exclusive_folder, make_folder
from app.core.secrets import CheckpointCipher, SecretBox, SecretUnreadable, load_or_create_keys, replace_keys
from app.core.settings import Settings
from app.core.storage.documents import read_pages
from app.core.storage.listing import ListRequest
from app.modules.identity.schemas import NewApiKey
from app.terminal.console import check_store_exists, command_settings, make_inert, say
from app.terminal.tables import print_table
from graph.checkpoints import translated_errors

_PAGE = 200
_NONE = "There are no keys. Make one: kai keys create --owner YOU --role admin"


async def create(
    data_dir: Path | None,
    *,
    owner: str,
    name: str,
    role: Role,
    scopes: Sequence[str],
    days: int | None,
    attributes: Sequence[str] = (),
) -> None:
    """Create a key and show it once. Raises `Invalid`."""
    given = {
        "owner": owner,
        "name": name,
        "role": role,
        "scopes": set(scopes),
        "days": days,
        "attributes": read_attributes(attributes),
    }
    try:
        wanted = NewApiKey.model_validate(given).wanted()
    except ValidationError as error:
        first = error.errors()[0]
        said = first["msg"].removeprefix("Value error, ")
        raise Invalid(f"The key cannot be created: its {first['loc'][0]} is not valid: {said}.") from error
    async with _keys(data_dir) as keys:
        key, text = await keys.create(wanted)
    until = "does not expire" if key.expires_at is None else f"expires at {rfc3339(key.expires_at)}"
    say(f"{text}\n\nThe key is shown only now. It speaks for {owner} as {role} and {until}.")


def read_attributes(texts: Sequence[str]) -> dict[str, str | list[str]]:
    """Returns attributes of `name=value`; a repeated name has a list of values. Raises `Invalid`."""
    found: dict[str, str | list[str]] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise Invalid(f"The attribute {text!r} is not of the form name=value.")
        before = found.get(name.strip(), [])
        values = [before] if isinstance(before, str) else before
        found[name.strip()] = [*values, value] if values else value
    return found


async def show_all(data_dir: Path | None) -> None:
    table = Table("ID", "Key", "Owner", "Name", "Role", "Scopes", "Created", "Expires", "Last used", "State")
    async with _keys(data_dir) as keys:
        async for key in read_pages(keys.page, ListRequest(limit=_PAGE)):
            table.add_row(*(Text(cell) for cell in _cells(key)))
    if not table.row_count:
        say(_NONE)
        return
    print_table(table)


async def revoke(data_dir: Path | None, key_id: str) -> None:
    """Raises `KeyUnknown`."""
    async with _keys(data_dir) as keys:
        key = await keys.revoke(key_id)
    say(f"The key {key.prefix} of {key.owner} is revoked. Servers stop accepting it within seconds.")


async def rotate_encryption(data_dir: Path | None) -> None:
    """Encrypt what the store holds with the first key. Raises `Invalid` if there is no second key."""
    settings = command_settings(data_dir)
    if settings.encryption_key is None:
        with exclusive_folder(settings.data_dir):
            check_store_exists(settings)
            file = key_file(settings)
            keys = load_or_create_keys(file)
            if len(keys) == 1:  # else a rotation was interrupted
                keys = [Fernet.generate_key(), *keys]
                replace_keys(file, keys)
            await _encrypt_again(settings)
            replace_keys(file, keys[:1])
        say(f"Everything is encrypted with a new key, the only one in {file} now. Back it up.")
        return
    if len(encryption_keys(settings)) == 1:
        raise Invalid(
            "KAI_ENCRYPTION_KEY has one key. Put the new one before it, with a comma between them, start all "
            "processes with both, and repeat this command; then remove the old one."
        )
    await _encrypt_again(settings)
    say("Everything is encrypted with the first key. Remove the others from KAI_ENCRYPTION_KEY.")


async def _encrypt_again(settings: Settings) -> None:
    """Raises `Invalid` if something cannot be read: then the old keys are still needed."""
    keys = encryption_keys(settings)
    cipher = CheckpointCipher(*keys)
    async with open_store(settings) as (storage, checkpointer):
        await bring_up_to_date(settings, storage, checkpointer)
        found = await encrypt_again(storage, SecretBox(*keys))
        unreadable = found.unreadable
        async for session_id in session_ids(storage):
            try:
                with translated_errors(checkpointer):
                    await checkpointer.aencrypt_again(session_id, cipher.rotate)
            except SecretUnreadable:
                unreadable += 1
    if unreadable:
        raise Invalid(
            f"{unreadable} secrets and conversations were encrypted with another key and stay as they are; "
            "the rest is encrypted with the first key. Keep all keys, add the missing one, and repeat this."
        )


@asynccontextmanager
async def _keys(data_dir: Path | None) -> AsyncGenerator[ApiKeys]:
    """Opens the store without the lock of the data folder, which a running server holds. Both may write."""
    settings = command_settings(data_dir)
    make_folder(settings.data_dir)
    async with open_store(settings) as (storage, checkpointer):
        await bring_up_to_date(settings, storage, checkpointer)
        yield ApiKeys(storage)


def _cells(key: ApiKey) -> list[str]:
    """Returns text that is safe for a terminal: names are written by users."""
    inert = (make_inert(key.owner), make_inert(key.name))
    times = (key.created_at, key.expires_at, key.last_used_at)
    shown = ("-" if each is None else rfc3339(each)[:16].replace("T", " ") for each in times)
    state = "revoked" if key.revoked_at else ("usable" if key.usable() else "expired")
    return [key.id, f"kai_{key.prefix}_…", *inert, key.role, " ".join(key.scopes), *shown, state]
