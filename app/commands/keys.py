"""`kai keys`: manage the API keys of the configured store. A server may be running."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import ValidationError
from rich.console import Console
from rich.table import Table
from rich.text import Text

from app.bootstrap import open_store
from app.bootstrap.store import bring_up_to_date
from app.core.auth.api_keys import ApiKey, ApiKeys
from app.core.auth.caller import Role
from app.core.clock import rfc3339
from app.core.errors import Invalid
from app.core.exclusive import make_folder
from app.modules.identity.schemas import NewApiKey
from app.terminal import command_settings, say

_PAGE = 200
_WIDEST = 10_000
_NONE = "There are no keys. Make one: kai keys create --owner YOU --role admin"


async def create(
    data_dir: Path | None, *, owner: str, name: str, role: Role, scopes: Sequence[str], days: int | None
) -> None:
    """Create a key and show it once. Raises `Invalid`."""
    given = {"owner": owner, "name": name, "role": role, "scopes": set(scopes), "days": days}
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


async def show_all(data_dir: Path | None) -> None:
    table = Table("ID", "Key", "Owner", "Name", "Role", "Scopes", "Created", "Expires", "Last used", "State")
    async with _keys(data_dir) as keys:
        cursor: str | None = None
        while True:
            page, cursor = await keys.page(_PAGE, cursor)
            for key in page:
                table.add_row(*(Text(cell) for cell in _cells(key)))
            if cursor is None:
                break
    if not table.row_count:
        say(_NONE)
        return
    console = Console(highlight=False)
    # Never narrower than its words: half an id revokes nothing.
    everything = console.options.update(max_width=_WIDEST)
    console.width = max(console.width, console.measure(table, options=everything).maximum)
    console.print(table)


async def revoke(data_dir: Path | None, key_id: str) -> None:
    """Raises `KeyUnknown`."""
    async with _keys(data_dir) as keys:
        key = await keys.revoke(key_id)
    say(f"The key {key.prefix} of {key.owner} is revoked. Servers stop accepting it within seconds.")


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
    inert = ("".join(each if each.isprintable() else " " for each in text) for text in (key.owner, key.name))
    times = (key.created_at, key.expires_at, key.last_used_at)
    shown = ("-" if each is None else rfc3339(each)[:16].replace("T", " ") for each in times)
    state = "revoked" if key.revoked_at else ("usable" if key.usable() else "expired")
    return [key.id, f"kai_{key.prefix}_…", *inert, key.role, " ".join(key.scopes), *shown, state]
