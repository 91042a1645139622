"""Rules in a folder: `global/`, `modes/ask/`, `modes/agent/`, and a plain `AGENTS.md`."""

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias

from app.core.errors import reason
from app.modules.rules.errors import RuleFault
from app.modules.rules.model import FILES, MAX_BYTES, NAME, ChatMode, Rule, RuleScope

logger = logging.getLogger(__name__)

_MOST_FILES = 500
_FOLDERS: dict[str, ChatMode | None] = {"global": None, "modes/ask": "ask", "modes/agent": "agent"}
_AGENTS: Final = "AGENTS.md"

_Signature: TypeAlias = tuple[tuple[str, int, int], ...]


class RuleFiles:
    """The rules of a folder. A changed file counts from the next question on, without a restart."""

    def __init__(self, folder: Path | None) -> None:
        """None for no folder."""
        self._folder = folder
        self._signature: _Signature | None = None
        self._rules: Sequence[Rule] = ()

    @property
    def has_folder(self) -> bool:
        return self._folder is not None

    def read(self) -> Sequence[Rule]:
        """Returns the rules; those with a `fault` are not applied. Reads the disk: call it in a thread.

        Each fault is logged as a warning when the folder has changed.
        """
        if self._folder is None:
            return ()
        files = list(self._files(self._folder))
        signature = tuple(_signed(self._folder, file) for file in files)
        if signature != self._signature:
            self._rules = [_rule(self._folder, file) for file in files]
            self._signature = signature
            for rule in self._rules:
                if rule.fault:
                    logger.warning("rule %s is not applied: %s", rule.path, rule.fault)
            if not self._folder.is_dir():
                logger.warning("there are no rules: KAI_RULES__PATH names no folder that can be read")
        return self._rules

    def _files(self, folder: Path) -> Iterator[Path]:
        """Yields every Markdown file, also one that is in no place for rules."""
        found = sorted(file for file in folder.rglob("*.md") if not _is_hidden(file.relative_to(folder)))
        if len(found) > _MOST_FILES:
            logger.warning("only %d of %d files of rules are read", _MOST_FILES, len(found))
        yield from found[:_MOST_FILES]


def _is_hidden(path: Path) -> bool:
    """Kubernetes mounts a folder `..data` beside links to its files."""
    return any(part.startswith(".") for part in path.parts)


def _signed(folder: Path, file: Path) -> tuple[str, int, int]:
    try:
        found = file.stat()
    except OSError:
        return str(file.relative_to(folder)), 0, 0
    return str(file.relative_to(folder)), found.st_mtime_ns, found.st_size


def _rule(folder: Path, file: Path) -> Rule:
    path = file.relative_to(folder).as_posix()
    name = "agents" if path == _AGENTS else file.stem
    rule = Rule(name=name, audience=FILES, path=path, text="")
    place = file.relative_to(folder).parent.as_posix()
    if path != _AGENTS and place not in _FOLDERS:
        return replace(rule, fault=f"Rules are in {', '.join(_FOLDERS)}, or the file {_AGENTS} beside them.")
    if re.fullmatch(NAME, name) is None:
        return replace(
            rule, fault="Its name may have letters, digits, - and _ only, and at most 64 characters."
        )
    from app.modules.rules.parsing import parse_rule  # noqa: PLC0415  (YAML: few have a folder)

    try:
        written = parse_rule(_text_of(folder, file))
    except RuleFault as fault:
        return replace(rule, fault=str(fault))
    except OSError as error:
        return replace(rule, fault=f"It cannot be read ({reason(error)}).")
    mode = _FOLDERS.get(place)
    scope = written.scope if mode is None else _within(written.scope, mode)
    if scope is None:
        return replace(
            rule, fault=f"It can never apply: it is in {place}, and its chat_modes leave that out."
        )
    return replace(
        rule,
        text=written.text,
        apply=written.apply,
        active=written.active,
        priority=written.priority,
        scope=scope,
    )


def _within(scope: RuleScope, mode: ChatMode) -> RuleScope | None:
    """Returns the scope within a mode. Returns None if nothing is left of it."""
    if scope.chat_modes and mode not in scope.chat_modes:
        return None
    return replace(scope, chat_modes=(mode,))


def _text_of(folder: Path, file: Path) -> str:
    """Raises `OSError`, or `RuleFault`."""
    if not file.resolve(strict=True).is_relative_to(folder.resolve(strict=True)):
        raise RuleFault("It is a link to a place outside of the folder.")
    with file.open("rb") as opened:
        content = opened.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise RuleFault(f"It is longer than {MAX_BYTES:,} bytes.")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise RuleFault("It is not UTF-8.") from None
