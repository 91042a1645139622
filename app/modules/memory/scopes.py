"""Scopes of facts, and the groups that keep them apart."""

import hashlib
import hmac
import json
from typing import NewType

from graph import state

Scope = state.FactScope

GroupId = NewType("GroupId", str)
"""Letters, digits, `_` and `-` only. Made by `Groups` alone."""

_LETTERS = {"session": "s", "workspace": "w", "user": "u", "shared": "c"}
_DIGITS = 32


class Groups:
    """Names groups by an HMAC of KAI's key: its owner can neither be read nor guessed."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def session(self, owner: str, session_id: str) -> GroupId:
        return self._group("session", owner, session_id)

    def workspace(self, owner: str, connection_id: str) -> GroupId:
        return self._group("workspace", owner, connection_id)

    def user(self, owner: str) -> GroupId:
        return self._group("user", owner, "")

    def shared(self, connection_id: str) -> GroupId:
        """The group of a connection, which has no owner."""
        return self._group("shared", "", connection_id)

    def trial(self, name: str) -> GroupId:
        """A group for tests of a connection, in which nothing of anyone is kept."""
        return GroupId(f"kai_t_{self._digest(['trial', name])}")

    def _group(self, scope: Scope, owner: str, key: str) -> GroupId:
        return GroupId(f"kai_{_LETTERS[scope]}_{self._digest([scope, owner, key])}")

    def _digest(self, parts: list[str]) -> str:
        named = json.dumps(parts).encode()
        return hmac.new(self._key, named, hashlib.sha256).hexdigest()[:_DIGITS]
