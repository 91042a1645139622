"""Registered databases, and what of them may be edited."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from app.modules.database_connection.roles import Roles


@dataclass(frozen=True)
class Upload:
    """The file that a connection was made of."""

    file_name: str
    bytes: int
    """Size of the file as it was sent."""


@dataclass(frozen=True, kw_only=True)
class Connection:
    """A registered database. `encrypted_url` holds its secrets; times are epoch milliseconds.

    `warnings`: what its account could do beyond reading when it was registered. `shared`: all users may see
    and ask it; only its owner may change it.
    """

    id: str
    owner: str
    name: str
    description: str
    dialect: str
    masked_url: str
    encrypted_url: str = field(repr=False)
    created_at: int
    scanned_at: int | None = None
    table_count: int | None = None
    warnings: tuple[str, ...] = ()
    shared: bool = False
    external_memory: bool = False
    """A memory service outside of KAI may remember questions about it, if the user consents, too."""
    roles: Roles | None = None
    """Roles of people that statements run as. Values are then not scanned: every role sees others."""
    policies: str | None = None
    """Which rows and columns people may see (`Policies` as JSON). None: all that the account may see."""
    policies_found_at: int = 0
    """The latest `found_at` of the tables that the policies were written for."""
    policies_at: int = 0
    """Time of the latest change of the policies, in epoch milliseconds."""
    encrypted_hash_key: str | None = field(default=None, repr=False)
    """Key of the hashes that policies show in place of values. It stays when the policies change."""
    schemas: tuple[str, ...] = ()
    """Patterns of the schemas that are read, `!` before one that is not. Empty for all that the account may
    use."""
    ask_above_rows: int | None = None
    """A statement that the database expects to read more rows for waits for an approval. None: none does."""
    refuse_above_rows: int | None = None
    """A statement that the database expects to read more rows for is refused. None: none is."""
    starters: tuple[str, ...] = ()
    """Questions to begin with, as the owner wrote them."""
    upload: Upload | None = None
    """The uploaded file whose copy this database is. None for a database that was registered by its URL."""
    version: int = 0
    """Number of edits, those of its file included. Scans are none."""

    @property
    def file_name(self) -> str | None:
        return None if self.upload is None else self.upload.file_name

    @property
    def per_user_roles(self) -> bool:
        return self.roles is not None

    @property
    def has_external_memory(self) -> bool:
        """True if a memory service may remember questions about it: of rows that belong to people, none."""
        return self.external_memory and self.policies is None

    @property
    def is_per_person(self) -> bool:
        """True if people see different rows: by roles of the database, or by policies."""
        return self.roles is not None or self.policies is not None


class ConnectionEdit(TypedDict, total=False):
    """Fields of a connection to change."""

    name: str
    description: str
    shared: bool
    external_memory: bool
    roles: Roles
    policies: str | None
    policies_found_at: int
    encrypted_hash_key: str
    starters: Sequence[str]
    schemas: Sequence[str]
    ask_above_rows: int | None
    refuse_above_rows: int | None
    address: "Address"


@dataclass(frozen=True, kw_only=True)
class Address:
    """An address that was tested, and the warnings of its account."""

    masked_url: str
    encrypted_url: str = field(repr=False)
    warnings: tuple[str, ...]
