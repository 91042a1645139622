"""PostgreSQL roles that a connection's statements run as, so that row-level security follows the person."""

from dataclasses import dataclass
from typing import Literal

from graph.errors import TurnError

MAX_ROLE_BYTES = 63
"""PostgreSQL cuts longer names, and the rest may name another role."""


class DatabaseRoleMissing(TurnError):
    """The person has no role in the database, or KAI's account may not take it."""

    problem = "database-role"
    title = "There is no role for you in this database"
    status = 403
    cure = "Ask the operator of the database for a role of your name, and let KAI's account take it."


@dataclass(frozen=True)
class Roles:
    """Roles by owner, or by the claim of tokens that `KAI_AUTH__OIDC__DATABASE_CLAIM` names.

    `names` are pairs of an owner or claim value and a role. `default` is the role of everyone else.
    """

    by: Literal["owner", "claim"]
    names: tuple[tuple[str, str], ...]
    default: str | None = None

    @property
    def all(self) -> frozenset[str]:
        roles = {role for _, role in self.names}
        return frozenset(roles if self.default is None else roles | {self.default})

    def role_of(self, owner: str, claim: str | None) -> str:
        """Raises `DatabaseRoleMissing`."""
        known = owner if self.by == "owner" else claim
        role = self.default if known is None else dict(self.names).get(known, self.default)
        if role is None:
            cure = "Ask its owner to add you." if self.by == "owner" else "Ask who issues your token for one."
            raise DatabaseRoleMissing(f"Questions to this database run as a role of the person. {cure}")
        return role


def checked_role(name: str) -> str:
    """Returns the name. Raises `ValueError` for one that cannot be a person's role.

    `SET ROLE none` takes the account's own rights back, also with quotes; roles that begin with `pg_` are
    the server's.
    """
    if name.lower() == "none" or name.startswith("pg_") or not name.isprintable():
        raise ValueError("this name cannot be a role of a user")
    if len(name.encode()) > MAX_ROLE_BYTES:
        raise ValueError(f"a role has at most {MAX_ROLE_BYTES} bytes")
    return name
