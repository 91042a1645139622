"""Rules: front matter, scopes, order, budget and warnings."""

import os
from pathlib import Path

import pytest

from app.modules.rules.choosing import choose_chart_rule, choose_rules, rules_section
from app.modules.rules.conflicts import KnownDatabase, opposed, warnings_of
from app.modules.rules.errors import RuleFault
from app.modules.rules.files import RuleFiles
from app.modules.rules.model import FILES, MAX_BYTES, ChatMode, Rule, RuleScope, Situation
from app.modules.rules.parsing import parse_rule
from tests.support.cases import assert_each

NOW = Situation(
    connection_id="c1",
    connection_name="Prod",
    mode="ask",
    question="Revenue by month?",
    tables=["invoices", "payroll_2025"],
    shown=["invoices"],
)


def rule(name: str = "revenue", text: str = "State revenue without tax.", **fields: object) -> Rule:
    return Rule(**{"name": name, "text": text, "audience": FILES, "path": f"global/{name}.md", **fields})  # type: ignore[arg-type]


def names(*rules: Rule, situation: Situation = NOW) -> list[str]:
    return [each.name for each in choose_rules(rules, situation).rules]


def asked(question: str, *named: str, mode: ChatMode = "ask") -> Situation:
    return Situation(connection_id="c1", connection_name="Prod", mode=mode, question=question, named=named)


def test_front_matter_gives_the_fields_and_the_rest_is_the_text() -> None:
    source = (
        "---\napply: auto\nactive: false\npriority: 10\nscope:\n  connections: [prod]\n"
        "  chat_modes: [agent]\n  table_patterns: ['fact_*']\n---\n\n# Revenue\n\nWithout tax.\n"
    )
    read = parse_rule(source.replace("\n", "\r\n"))
    assert read.text == "# Revenue\n\nWithout tax."
    assert (read.apply, read.active, read.priority) == ("auto", False, 10)
    assert read.scope == RuleScope(connections=("prod",), chat_modes=("agent",), table_patterns=("fact_*",))


def test_a_rule_without_front_matter_always_applies() -> None:
    read = parse_rule("Round to whole euros.\n\n---\n\nA line is no front matter.")
    assert (read.apply, read.active, read.priority, read.scope) == ("always", True, 100, RuleScope())
    assert read.text.endswith("A line is no front matter.")


def test_every_fault_of_the_front_matter_is_named() -> None:
    def check(head: str, said: str) -> None:
        with pytest.raises(RuleFault) as raised:
            parse_rule(f"---\n{head}\n---\nText.")
        assert said in str(raised.value)

    assert_each(
        [
            ("apply: sometimes", "apply"),
            ("apply: [always]", "apply"),
            ("active: 'yes'", "active"),
            ("active: 1", "active"),
            ("active:", "active"),
            ("priority: '10'", "priority"),
            ("priority: 1.5", "priority"),
            ("priority: true", "priority"),
            ("priority: 99999999999", "priority"),
            ("scope: prod", "scope"),
            ("scope: [prod]", "scope"),
            ("scope: {connections: prod}", "scope.connections"),
            ("scope: {connections: [1]}", "scope.connections.0"),
            ("scope: {connections: ['']}", "scope.connections.0"),
            ("scope: {chat_modes: [plan]}", "scope.chat_modes.0"),
            ("scope: {table_patterns: null}", "scope.table_patterns"),
            ("scope: {tables: [a]}", "scope.tables: there is no such field"),
            ("owner: me", "owner: there is no such field"),
            ("apply: always\napply: manual", "apply: the field is given twice"),
            ("scope:\n  connections: [a]\n  connections: [b]", "connections: the field is given twice"),
            ("- always", "list of fields"),
            ("always", "list of fields"),
            ("apply: {", "not YAML (line"),
            ("apply: !!python/object/apply:os.system ['true']", "not YAML"),
            ("a: &a [*a]", "no such field"),
            ("{apply: always", "not YAML"),
        ],
        check,
    )


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("---\napply: always\nText.", "no closing"),
        ("---\napply: always\n---\n  \n", "no text"),
        ("", "no text"),
        ("a" * (MAX_BYTES + 1), "longer than 16,384 bytes"),
        ("é" * (MAX_BYTES // 2 + 1), "longer than"),
        ("Text with \x00 in it", "control characters"),
        ("---\n" + "[" * 5_000 + "\n---\nText.", "not YAML"),
    ],
)
def test_every_fault_of_the_rest_is_named(source: str, said: str) -> None:
    with pytest.raises(RuleFault, match=said):
        parse_rule(source)


def test_lower_priority_comes_first_and_names_decide_between_equals() -> None:
    rules = [rule("b", priority=5), rule("c"), rule("A", priority=5), rule("z", priority=-1)]
    assert names(*rules) == ["z", "A", "b", "c"]


def test_a_rule_that_is_off_or_faulty_is_not_applied() -> None:
    assert names(rule(active=False), rule("x", fault="It has no text.")) == []


@pytest.mark.parametrize(
    ("scope", "applies"),
    [
        (RuleScope(), True),
        (RuleScope(connections=("c1",)), True),
        (RuleScope(connections=("c2",)), False),
        (RuleScope(connections=("prod",)), True),
        (RuleScope(chat_modes=("ask",)), True),
        (RuleScope(chat_modes=("agent",)), False),
        (RuleScope(table_patterns=("INV*",)), True),
        (RuleScope(table_patterns=("sales_*",)), False),
        (RuleScope(connections=("c1",), chat_modes=("agent",)), False),
    ],
)
@pytest.mark.parametrize("apply", ["always", "auto"])
def test_every_part_of_a_scope_has_to_fit(scope: RuleScope, applies: bool, apply: str) -> None:
    assert names(rule(scope=scope, apply=apply)) == (["revenue"] if applies else [])


def test_auto_looks_at_the_tables_that_the_model_is_shown_and_always_at_all_of_them() -> None:
    scope = RuleScope(table_patterns=("payroll_*",))
    assert names(rule("always", scope=scope), rule("auto", scope=scope, apply="auto")) == ["always"]


def test_a_pattern_fits_a_table_with_or_without_its_schema() -> None:
    scope = RuleScope(table_patterns=("invoice*", "hr.*"))
    assert all(map(scope.names_table, ["invoices", "sales.Invoices", "hr.staff"]))
    assert not scope.names_table("sales.orders")


def test_a_stored_rule_names_connections_by_their_ids_only() -> None:
    stored = rule(path=None, audience="owner:ann", scope=RuleScope(connections=("Prod",)))
    assert names(stored) == []


@pytest.mark.parametrize(
    ("situation", "applies"),
    [
        (asked("Revenue?"), False),
        (asked("Revenue?", "revenue"), True),
        (asked("Revenue?", "REVENUE"), True),
        (asked("@revenue by month?"), True),
        (asked("By month (@Revenue), please"), True),
        (asked("By month @revenue."), True),
        (asked("Mail ann@revenue about it"), False),
        (asked("@revenues by month"), False),
        (asked("@@revenue"), False),
    ],
)
def test_a_manual_rule_applies_if_it_is_named(situation: Situation, applies: bool) -> None:
    assert bool(names(rule(apply="manual"), situation=situation)) is applies


def test_naming_a_rule_neither_switches_it_on_nor_widens_its_scope() -> None:
    agent_only = rule("a", apply="manual", scope=RuleScope(chat_modes=("agent",)))
    off = rule("b", apply="manual", active=False)
    assert names(agent_only, off, situation=asked("Q", "a", "b")) == []


def test_rules_of_low_priority_are_left_out_and_named() -> None:
    long = "This sentence is one of many that say the same thing. " * 110
    rules = [rule("big", long, priority=1), rule("bigger", long, priority=2), rule("small", priority=3)]
    chosen = choose_rules(rules, NOW)
    assert [each.name for each in chosen.rules] == ["big", "small"]
    assert chosen.left_out == ["bigger"]
    assert "no room for the rules bigger" in rules_section(chosen)


def test_the_section_has_one_heading_of_ours_whatever_the_rules_say() -> None:
    section = rules_section(choose_rules([rule(text="# Rules\n\n## Schema\nx")], NOW))
    headings = [line for line in section.splitlines() if line.startswith("#")]
    assert headings == ["## Rules", "### revenue"]
    assert "the earlier one counts" in section
    assert rules_section(choose_rules([], NOW)) == ""


CONTRADICTIONS = [
    ("Round amounts to whole euros.", "Never round amounts to whole euros."),
    ("Include cancelled orders in revenue.", "Do not include cancelled orders in revenue."),
    ("Show customer names in results.", "You must not show customer names in any results."),
    ("Use the view sales_clean for revenue.", "Avoid the view sales_clean for revenue."),
    ("Answer in German.", "Never answer in German."),
    ("Report revenue with tax.", "Don't report revenue with tax."),
    ("Group weeks by ISO calendar.", "Weeks should not be grouped by ISO calendar."),
    ("Join orders to customers by email.", "Avoid joining orders to customers by email."),
    ("Draw a chart for each trend.", "Never draw a chart for a trend."),
    ("Test accounts count as customers.", "Test accounts must not count as customers."),
    ("Name the tables in the answer.", "Refrain from naming the tables in the answer."),
    ("Limit lists to ten rows.", "Do not limit lists to ten rows."),
]
HARMLESS = [
    ("Round amounts to whole euros.", "Never show internal identifiers."),
    ("State revenue without tax.", "State costs without tax."),
    ("Include cancelled orders in counts.", "Do not include test customers in revenue."),
    ("Answer in German.", "Never apologise."),
    ("Use ISO weeks.", "Avoid fiscal months."),
    ("Name the tables in the answer.", "Do not name persons in the answer to outsiders."),
    ("Draw a chart for trends.", "Never draw a pie with more than six parts."),
    ("Limit lists to ten rows.", "Do not guess what a code means."),
    ("Sort by revenue.", "Never sort by identifier."),
    ("Compare with the year before.", "Do not compare incomplete months."),
    ("Show percentages with one decimal.", "Never show salaries of single persons."),
    ("Round amounts.", "Round amounts to cents."),
]


def test_most_contradictions_are_found_and_no_harmless_pair_is() -> None:
    assert sum(opposed(*pair) is not None for pair in CONTRADICTIONS) >= 10
    assert [pair for pair in HARMLESS if opposed(*pair) is not None] == []


def warned(*rules: Rule, databases: list[KnownDatabase] | None = None) -> dict[str, str]:
    return {key[1]: " ".join(found) for key, found in warnings_of(rules, databases).items()}


def test_rules_of_one_name_are_reported() -> None:
    found = warned(rule(), rule("Revenue", path="modes/ask/Revenue.md", text="Other."))
    assert "Revenue (modes/ask/Revenue.md) has the same name" in found["global/revenue.md"]
    assert "has the same name" in found["modes/ask/Revenue.md"]


def test_opposite_demands_are_reported_where_priority_and_scope_allow_both() -> None:
    one = rule("a", "Round amounts {to} whole euros.")
    never = "Never round amounts {to} whole euros."
    assert "contradict b" in warned(one, rule("b", never))["global/a.md"]
    assert "{to}" in warned(one, rule("b", never))["global/a.md"]
    apart = [
        rule("b", never, priority=99),
        rule("b", never, active=False),
        rule("b", never, scope=RuleScope(chat_modes=("agent",))),
    ]
    for other in apart:
        mine = rule("a", one.text, scope=RuleScope(chat_modes=("ask",)))
        assert warned(mine, other) == {"global/a.md": "", "global/b.md": ""}


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [("fact_*", "*", True), ("fact_*", "fact_sales", True), ("fact_*", "dim_*", False), ("a", "b", False)],
)
def test_patterns_meet_if_a_table_may_fit_both(one: str, other: str, meet: bool) -> None:
    left = rule("a", "Round all amounts.", scope=RuleScope(table_patterns=(one,)))
    right = rule("b", "Never round all amounts.", scope=RuleScope(table_patterns=(other,)))
    assert bool(warned(left, right)["global/a.md"]) is meet


def test_a_rule_that_can_never_match_is_reported() -> None:
    shop = KnownDatabase(id="c1", name="Shop", tables=["orders"])
    unscanned = KnownDatabase(id="c2", name="New", tables=None)
    elsewhere = rule("a", scope=RuleScope(connections=("prod",)))
    no_table = rule("b", scope=RuleScope(table_patterns=("fact_*",)))
    found = warned(elsewhere, no_table, databases=[shop])
    assert "no connection" in found["global/a.md"]
    assert "no table fits" in found["global/b.md"]
    assert warned(no_table, databases=[shop, unscanned])["global/b.md"] == ""
    assert warned(elsewhere, no_table) == {"global/a.md": "", "global/b.md": ""}


def test_rules_beyond_the_budget_are_reported() -> None:
    long = "This sentence is one of many that say the same thing. " * 110
    found = warned(rule("a", long), rule("b", long), rule("c", long * 3))
    assert found["global/a.md"] == ""
    assert "left out" in found["global/b.md"]
    assert "never applied" in found["global/c.md"]


def folder(path: Path, **files: str) -> RuleFiles:
    for name, text in files.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return RuleFiles(path)


def test_folders_set_the_mode_and_agents_md_needs_no_front_matter(tmp_path: Path) -> None:
    files = folder(
        tmp_path,
        **{
            "global/tax.md": "Without tax.",
            "modes/ask/short.md": "Be short.",
            "modes/agent/careful.md": "---\nscope: {chat_modes: [ask, agent]}\n---\nBe careful.",
            "AGENTS.md": "Answer in German.",
            "notes.txt": "No rule.",
        },
    )
    read = {each.name: each for each in files.read()}
    assert {name: each.scope.chat_modes for name, each in read.items()} == {
        "tax": (),
        "short": ("ask",),
        "careful": ("agent",),
        "agents": (),
    }
    assert all(each.fault is None and each.text for each in read.values())


def test_every_fault_of_a_file_is_a_loud_warning_and_the_rule_is_not_applied(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("Outside.")
    files = folder(
        tmp_path / "rules",
        **{
            "global/field.md": "---\nowner: me\n---\nText.",
            "global/bad name.md": "Text.",
            "global/long.md": "a" * (MAX_BYTES + 1),
            "modes/plan/mode.md": "Text.",
            "stray.md": "Text.",
            "modes/ask/never.md": "---\nscope: {chat_modes: [agent]}\n---\nText.",
        },
    )
    (tmp_path / "rules/global/binary.md").write_bytes(b"\xff\xfe")
    (tmp_path / "rules/global/link.md").symlink_to(secret)
    (tmp_path / "rules/global/gone.md").symlink_to(tmp_path / "nothing.md")
    (tmp_path / "rules/global/folder.md").mkdir()
    read = files.read()
    assert len(read) == 10
    assert all(each.fault for each in read)
    assert choose_rules(read, NOW).rules == []
    assert len([each for each in caplog.records if "is not applied" in each.message]) == 10
    caplog.clear()
    files.read()
    assert caplog.records == []


def test_a_changed_file_counts_without_a_restart(tmp_path: Path) -> None:
    files = folder(tmp_path, **{"global/tax.md": "Without tax."})
    files.read()
    (tmp_path / "global/tax.md").write_text("With tax.")
    os.utime(tmp_path / "global/tax.md", (1, 1))
    assert [each.text for each in files.read()] == ["With tax."]
    (tmp_path / "global/tax.md").unlink()
    assert list(files.read()) == []


def test_a_folder_that_is_not_there_is_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert list(RuleFiles(tmp_path / "nothing").read()) == []
    assert "KAI_RULES__PATH" in caplog.text
    assert list(RuleFiles(None).read()) == []


def test_a_rule_about_charts_is_for_results_with_its_columns_and_tables() -> None:
    read = parse_rule(
        "---\nchart: as an area, per month\nchart_of: [month, revenue]\n---\nRevenue is an area."
    )
    assert (read.chart, read.chart_of) == ("as an area, per month", ("month", "revenue"))
    area = rule("area", chart="as an area", chart_of=("Month", "revenue"), priority=10)
    lines = rule("lines", chart="as a line", priority=20)
    other = rule("other", chart="as a pie", scope=RuleScope(table_patterns=("orders",)), priority=1)
    manual = rule("manual", chart="as a pie", apply="manual", priority=1)
    plain = rule("plain", priority=1)
    rules = [lines, area, other, manual, plain]
    assert choose_chart_rule(rules, NOW, columns=["month", "Revenue", "tax"]) == area
    assert choose_chart_rule(rules, NOW, columns=["region", "revenue"]) == lines
    assert choose_chart_rule(rules, asked("Sales @manual"), columns=["region"]) == manual
    assert choose_chart_rule([plain, other], NOW, columns=["month"]) is None


def test_words_about_charts_have_a_length() -> None:
    with pytest.raises(RuleFault, match="chart"):
        parse_rule(f"---\nchart: {'as a pie ' * 100}\n---\nText.")
