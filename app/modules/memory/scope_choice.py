"""Choice of the scopes whose facts a question may need, by its words."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias, cast

from pydantic import BaseModel, ConfigDict

from app.core.words import without_accents
from app.modules.memory.scopes import Scope

ChosenScope = Literal["session", "workspace", "user"]
"""A scope that a setting may name. The shared facts of a connection go with `workspace`."""

ScopeSetting: TypeAlias = Literal["auto"] | Sequence[ChosenScope]

ORDER: tuple[Scope, ...] = ("session", "workspace", "shared", "user")
"""The order of scopes in a prompt."""

AUTO: Literal["auto"] = "auto"

_LANGUAGES = Path(__file__).parent / "languages"
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


class _Phrases(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    said: list[str]
    unless: list[str] = []


class _Language(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    common: str
    workspace: _Phrases
    user: _Phrases


@dataclass(frozen=True)
class _Patterns:
    said: re.Pattern[str]
    unless: re.Pattern[str]

    def are_in(self, words: str) -> bool:
        return self.said.search(self.unless.sub(" | ", words)) is not None


def chosen_scopes(setting: ScopeSetting, question: str, *, names_data: bool) -> list[Scope]:
    """Returns the scopes of a question, in the order of `ORDER`.

    `names_data`: a word of the question names a table, a column or a term of the glossary. The words of the
    question decide only for `auto`; the session is then always chosen.
    """
    if setting == AUTO:
        words = _spaced(question)
        is_about_data = names_data or any(each.are_in(words) for each in _patterns()["workspace"])
        is_about_user = any(each.are_in(words) for each in _patterns()["user"])
        setting = ["session"]
        setting += ["workspace"] if is_about_data else []
        setting += ["user"] if is_about_user else []
    chosen = {*setting, *(["shared"] if "workspace" in setting else [])}
    return [scope for scope in ORDER if scope in chosen]


def read_scope_setting(text: str) -> ScopeSetting:
    """Returns the scopes of `auto`, or of a list such as `session,user`. Raises `ValueError`."""
    names = [name.strip() for name in text.split(",")]
    if names == [AUTO]:
        return AUTO
    if unknown := [name for name in names if name not in ("session", "workspace", "user")]:
        raise ValueError(f"{unknown[0]!r} is no scope: auto, or a list of session, workspace and user")
    return [cast("ChosenScope", name) for name in names]


@cache
def common_words() -> frozenset[str]:
    """Words that say nothing of what a question is about."""
    return frozenset(
        without_accents(word).casefold() for each in _languages() for word in each.common.split()
    )


@cache
def _languages() -> Sequence[_Language]:
    files = sorted(_LANGUAGES.glob("*.toml"))
    return [_Language.model_validate(tomllib.loads(each.read_text(encoding="utf-8"))) for each in files]


@cache
def _patterns() -> Mapping[Literal["workspace", "user"], Sequence[_Patterns]]:
    return {
        "workspace": [_compiled(each.workspace) for each in _languages()],
        "user": [_compiled(each.user) for each in _languages()],
    }


def _compiled(phrases: _Phrases) -> _Patterns:
    return _Patterns(_any_of(phrases.said), _any_of(phrases.unless))


def _any_of(phrases: Sequence[str]) -> re.Pattern[str]:
    """A pattern that finds any of the phrases in words with single spaces around them; none of no phrases."""
    choices = "|".join(_pattern(each) for each in phrases)
    return re.compile(rf"(?<= )(?:{choices})(?= )" if choices else r"(?!)")


def _pattern(phrase: str) -> str:
    return re.escape(_spaced(phrase, keep="*").strip()).replace(r"\*", r"[^ |]*").replace(r"\ ", " ")


def _spaced(text: str, keep: str = "") -> str:
    """The words of a text in lower case without accents, with one space around each."""
    text = without_accents(text).casefold().replace("’", "'")
    words = _WORD.findall(text) if not keep else text.split()
    return f" {' '.join(words)} "
