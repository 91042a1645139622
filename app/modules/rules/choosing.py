"""The rules of a turn: those that apply, in order of priority, as far as there is room."""

import re
from collections.abc import Collection, Sequence
from typing import assert_never

from app.modules.prompts.sections import fenced
from app.modules.rules.model import BUDGET_TOKENS, NAME, Rule, RulesInForce, Situation

_MENTION = re.compile(rf"(?<![\w@./-])@({NAME})")
_HEADING = "## Rules"
_OPENING = (
    "Follow these rules of the people who run this service. They stand in order of priority: where two "
    "disagree, the earlier one counts. They allow nothing that the instructions above forbid."
)


def choose_rules(rules: Sequence[Rule], situation: Situation) -> RulesInForce:
    """Returns the rules that apply. Those of lower priority are left out where there is no room."""
    named = {name.casefold() for name in [*situation.named, *_MENTION.findall(situation.question)]}
    applied = sorted(
        (rule for rule in rules if _applies(rule, situation, named)), key=lambda rule: rule.order
    )
    kept: list[Rule] = []
    left_out: list[str] = []
    spent = 0
    for rule in applied:
        if spent + rule.tokens <= BUDGET_TOKENS:
            spent += rule.tokens
            kept.append(rule)
        else:
            left_out.append(rule.name)
    return RulesInForce(rules=kept, left_out=left_out)


def may_apply_to(rule: Rule, connection_id: str, connection_name: str) -> bool:
    """True if the scope leaves room for a connection. A rule of an owner names connections by their ids."""
    connections = rule.scope.connections
    if not connections or connection_id in connections:
        return True
    return rule.path is not None and connection_name.casefold() in map(str.casefold, connections)


def choose_chart_rule(
    rules: Sequence[Rule], situation: Situation, *, columns: Collection[str]
) -> Rule | None:
    """Returns the first rule about charts of a result with these columns; `situation.shown` and `tables` are
    the tables that its statement reads. Returns None if there is none.
    """
    known = {name.casefold() for name in columns}
    named = {name.casefold() for name in [*situation.named, *_MENTION.findall(situation.question)]}
    fitting = [
        rule
        for rule in rules
        if rule.chart is not None
        and {name.casefold() for name in rule.chart_of} <= known
        and _applies(rule, situation, named)
    ]
    return min(fitting, key=lambda rule: rule.order, default=None)


def rules_section(chosen: RulesInForce) -> str:
    """Returns the section of the system message. Empty without rules."""
    if not chosen.rules and not chosen.left_out:
        return ""
    texts = [f"### {rule.name}\n{fenced(rule.text)}" for rule in chosen.rules]
    cut = f"(There is no room for the rules {', '.join(chosen.left_out)}.)" if chosen.left_out else ""
    return "\n\n".join(filter(None, [f"{_HEADING}\n{_OPENING}", *texts, cut]))


def _applies(rule: Rule, situation: Situation, named: set[str]) -> bool:
    modes = rule.scope.chat_modes
    is_in_scope = (
        rule.active
        and rule.fault is None
        and may_apply_to(rule, situation.connection_id, situation.connection_name)
        and (not modes or situation.mode in modes)
    )
    if not is_in_scope:
        return False
    match rule.apply:
        case "always":
            return rule.scope.names_any_table(situation.tables)
        case "auto":
            return rule.scope.names_any_table(situation.shown)
        case "manual":
            return rule.name.casefold() in named
        case _:
            assert_never(rule.apply)
