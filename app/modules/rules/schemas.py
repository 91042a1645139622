"""Request and response bodies of rules. Fields left out of a change stay unchanged."""

from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, StrictBool, StringConstraints, field_validator

from app.http.routes import Body, Text, Time, VersionedBody, not_null, storable
from app.modules.rules.errors import RuleFault, RuleNotReadable
from app.modules.rules.model import (
    DEFAULT_PRIORITY,
    MAX_BYTES,
    MAX_CHART_WORDS,
    MAX_PRIORITY,
    NAME,
    Apply,
    ChatMode,
    Rule,
    RuleScope,
    RuleText,
)
from app.modules.rules.parsing import has_front_matter, parse_rule
from app.modules.rules.service import JudgedRule

RuleName = Annotated[Text, StringConstraints(pattern=rf"^{NAME}$")]
RuleSource = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_BYTES),
    AfterValidator(storable),
]
Priority = Annotated[int, Field(strict=True, ge=-MAX_PRIORITY, le=MAX_PRIORITY)]
_Entry = Annotated[Text, Field(min_length=1, max_length=200)]
_Entries = Annotated[list[_Entry], Field(max_length=100)]
ChartWords = Annotated[Text, Field(min_length=1, max_length=MAX_CHART_WORDS)]
_ID = "019ab1c2-0000-7000-8000-000000000000"


class RuleScopeBody(Body):
    """Where a rule may apply. An empty list means everywhere."""

    model_config = ConfigDict(from_attributes=True)

    connections: _Entries = Field(default_factory=list)
    """Ids of database connections; in files also names."""
    chat_modes: Annotated[list[ChatMode], Field(max_length=2)] = Field(default_factory=list)
    """Modes of the session."""
    table_patterns: _Entries = Field(default_factory=list)
    """Globs of names of tables, such as `payroll_*`."""

    def scope(self) -> RuleScope:
        return RuleScope(
            connections=tuple(self.connections),
            chat_modes=tuple(self.chat_modes),
            table_patterns=tuple(self.table_patterns),
        )


class NewRule(Body):
    """A rule to store."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "revenue",
                    "text": "State revenue without tax, in euros.",
                    "apply": "auto",
                    "priority": 10,
                    "scope": {"connections": [_ID], "table_patterns": ["invoice*"]},
                }
            ]
        }
    )

    name: RuleName
    """Name of the rule. A question names it as `@name`."""
    text: RuleSource
    """Markdown, at most 16 KiB. It may begin with front matter, whose fields count where the body has
    none.
    """
    apply: Apply | None = None
    """`always` in every turn within the scope, `auto` if the model is shown a table of `table_patterns`,
    `manual` if the question names the rule. Default: `always`.
    """
    active: StrictBool | None = None
    """Whether the rule is on. Default: true."""
    priority: Priority | None = None
    """Rules with a lower priority come first, and count where two disagree. Default: 100."""
    scope: RuleScopeBody | None = None
    """Where the rule may apply. Without connections it is for all, which only administrators may say."""
    chart: ChartWords | None = None
    """How charts are drawn, in the words that change a chart, such as "as an area, per month"."""
    chart_of: _Entries | None = None
    """Names of columns that a result has if its chart is drawn so, such as `revenue` and `month`. Default:
    every result within the scope.
    """

    def written(self) -> RuleText:
        """Raises `RuleNotReadable`."""
        return _written(self, RuleText(text="", priority=DEFAULT_PRIORITY))


class RuleChange(Body):
    """Changes of a rule. Fields that are left out stay unchanged."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"active": False}]})

    text: RuleSource | None = None
    """The new Markdown. Front matter replaces all fields that the body does not have."""
    apply: Apply | None = None
    """When the rule applies."""
    active: StrictBool | None = None
    """Switch the rule on or off. The file or the text of the rule stays as it is."""
    priority: Priority | None = None
    """The new priority."""
    scope: RuleScopeBody | None = None
    """The new scope, which replaces the old."""
    chart: ChartWords | None = None
    """The new words about charts."""
    chart_of: _Entries | None = None
    """The new names of columns, which replace the old."""

    _given = field_validator(
        *("text", "apply", "active", "priority", "scope", "chart", "chart_of"), mode="before"
    )(not_null)

    @property
    def changes_text(self) -> bool:
        """True if the rule itself changes, and not only its toggle."""
        own = (self.text, self.apply, self.priority, self.scope, self.chart, self.chart_of)
        return any(each is not None for each in own)

    def changed(self, rule: Rule) -> RuleText:
        """Raises `RuleNotReadable`."""
        return _written(self, rule)


def _written(body: NewRule | RuleChange, before: RuleText) -> RuleText:
    base = before
    if body.text is not None:
        try:
            parsed = parse_rule(body.text)
        except RuleFault as fault:
            raise RuleNotReadable(f"The rule cannot be read. {fault}") from None
        base = parsed if has_front_matter(body.text) else _with_text(before, parsed.text)
    return RuleText(
        text=base.text,
        apply=body.apply or base.apply,
        active=base.active if body.active is None else body.active,
        priority=base.priority if body.priority is None else body.priority,
        scope=base.scope if body.scope is None else body.scope.scope(),
        chart=body.chart or base.chart,
        chart_of=base.chart_of if body.chart_of is None else tuple(body.chart_of),
    )


def _with_text(rule: RuleText, text: str) -> RuleText:
    return RuleText(
        text=text,
        apply=rule.apply,
        active=rule.active,
        priority=rule.priority,
        scope=rule.scope,
        chart=rule.chart,
        chart_of=rule.chart_of,
    )


class RuleBody(VersionedBody):
    """A rule."""

    name: str
    """Name of the rule."""
    source: Literal["stored", "file"]
    """`stored` by a route, or a `file` of the folder of rules."""
    path: str | None
    """Path of the file within the folder of rules. Null for a stored rule."""
    owner: str | None
    """The owner who stored the rule. Null for a file."""
    apply: Apply
    """When the rule applies, within its scope."""
    active: bool
    """The rule is on."""
    priority: int
    """Rules with a lower priority come first, and count where two disagree."""
    scope: RuleScopeBody
    """Where the rule may apply."""
    chart: str | None
    """How charts are drawn, in the words that change a chart. Null for a rule that is not about charts."""
    chart_of: list[str]
    """Names of columns that a result has if its chart is drawn so. Empty: every result within the scope."""
    text: str
    """The rule in Markdown, without front matter. Empty if its file cannot be read."""
    applied: bool
    """False for a file that cannot be read: `warnings` say why, and the rule is not applied."""
    warnings: list[str]
    """What is wrong with the rule, or between it and others."""
    created_at: Time | None
    """Time of creation. Null for a file."""
    updated_at: Time | None
    """Time of the latest change. Null for a file."""

    @classmethod
    def of(cls, judged: JudgedRule) -> "RuleBody":
        rule = judged.rule
        return cls.model_validate(
            {
                **vars(rule),
                "source": "stored" if rule.path is None else "file",
                "scope": RuleScopeBody.model_validate(
                    {
                        "connections": list(rule.scope.connections),
                        "chat_modes": list(rule.scope.chat_modes),
                        "table_patterns": list(rule.scope.table_patterns),
                    }
                ),
                "chart_of": list(rule.chart_of),
                "applied": rule.fault is None,
                "warnings": list(judged.warnings),
            }
        )
