"""Groups keep owners apart, and do not tell whose they are."""

import re
from itertools import combinations
from typing import get_args

from app.commands import command_line
from app.modules.memory.model import FactKind
from app.modules.memory.scopes import Groups, Scope
from kai_analyst_client import routes

GROUPS = Groups(b"a key")


def test_every_group_is_legal_for_services_that_allow_few_characters() -> None:
    for group in (
        GROUPS.session("Zoë <zoe@example.com>", "s/1"),
        GROUPS.workspace("ann", "db"),
        GROUPS.user("名前"),
        GROUPS.shared("db"),
        GROUPS.trial("x/y"),
    ):
        assert re.fullmatch(r"kai_[swuct]_[0-9a-f]{32}", group)


def test_a_group_is_the_same_each_time_and_another_with_another_key() -> None:
    assert GROUPS.user("ann") == Groups(b"a key").user("ann") != Groups(b"other").user("ann")


def test_names_that_differ_by_case_accents_or_punctuation_have_groups_of_their_own() -> None:
    owners = ["zoe", "Zoe", "zoé", "zoe\u0301", "zoe.", "zo e", "zoe,", "zoe\x00"]
    assert all(GROUPS.user(one) != GROUPS.user(other) for one, other in combinations(owners, 2))


def test_owner_and_key_are_not_mixed_up() -> None:
    assert GROUPS.workspace("ann", "x") != GROUPS.workspace("annx", "")
    assert GROUPS.workspace("ann", "x") != GROUPS.session("ann", "x")
    assert GROUPS.workspace('a", "b', "c") != GROUPS.workspace("a", 'b", "c')


def test_the_command_line_and_the_client_name_the_same_scopes_and_kinds() -> None:
    """They declare them themselves: the command has no time to import more, the client stands alone."""
    assert get_args(command_line.FactScope) == get_args(Scope) == get_args(routes.FactScope)
    assert get_args(routes.FactKind) == get_args(FactKind)
