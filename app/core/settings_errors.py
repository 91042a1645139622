"""Describes an invalid setting in one line that names its variable."""

from pydantic import ValidationError
from pydantic_settings import SettingsError

_LIST = 'it has to be a JSON list, such as ["..."]'
_WORDS = {"tuple_type": _LIST, "list_type": _LIST, "extra_forbidden": "there is no such setting"}


def value_error_text(error: ValidationError) -> str:
    """Describes the first invalid value without showing it, because it may be secret."""
    first = error.errors(include_input=False, include_url=False)[0]
    prefix = "KAI" if error.title == "Settings" else "OPENAI"
    name = "__".join(part.upper() for part in first["loc"] if isinstance(part, str))
    wrong = _WORDS.get(first["type"], first["msg"])
    return f"{prefix}_{name}: {wrong.removeprefix('Value error, ')}"


def variable_error_text(error: SettingsError) -> str:
    """Describes a value that is no JSON; pydantic-settings names only its group."""
    group = str(error).split('"')[1].upper()
    return f'One of the variables KAI_{group}__... has to be JSON, such as ["..."] for a list.'
