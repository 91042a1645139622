"""Callers of routes that are tested without the door."""

from app.core.auth.caller import SCOPES_OF_ROLE, Caller


def admin(owner: str) -> Caller:
    return Caller(owner=owner, role="admin", scopes=SCOPES_OF_ROLE["admin"], signed_in_by="api_key")
