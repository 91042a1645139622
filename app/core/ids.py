"""Sortable ids (UUIDv7): later ids are greater, in text order too."""

import re

import uuid_utils

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def new_id() -> str:
    return str(uuid_utils.uuid7())


def is_id(text: str) -> bool:
    """Whether text may be an id of ours; asked before any store sees it."""
    return _UUID.fullmatch(text) is not None
