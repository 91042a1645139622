"""Callers of routes that are tested without the door."""

from app.core.auth.caller import SCOPES_OF_ROLE, Caller


def admin(owner: str) -> Caller:
    return Caller(owner, "admin", SCOPES_OF_ROLE["admin"], "api_key")
