"""API keys for tests, made as people make them."""

from pathlib import Path

from tests.support.command_line import kai


def made_key(data: Path, owner: str, *options: str, **variables: str) -> str:
    """The text of a new key, made by `kai keys create`, also beside a running server."""
    made = kai("keys", "create", "--owner", owner, *options, data=data, **variables)
    assert made.returncode == 0, made.stderr
    return made.stdout.split("\n", 1)[0]
