"""Grammar of directives: which lines of a message are remembered."""

import pytest

from app.modules.memory.directives import directives_in
from tests.support.cases import assert_each

DIRECTIVES = [
    ("preference: months as 2026-03", "preference", None, "months as 2026-03"),
    ("Preference: months as 2026-03", "preference", None, "months as 2026-03"),
    ("PREFERENCE: short answers", "preference", None, "short answers"),
    ("decision: we report net", "decision", None, "we report net"),
    ("lesson_learned: stock is counted twice", "lesson_learned", None, "stock is counted twice"),
    ("Lesson_Learned: stock is counted twice", "lesson_learned", None, "stock is counted twice"),
    ("procedure: first filter, then join", "procedure", None, "first filter, then join"),
    ("task_update: the import is done", "task_update", None, "the import is done"),
    ("terminology: churn means no order", "terminology", None, "churn means no order"),
    ("terminology (workspace): churn", "terminology", "workspace", "churn"),
    ("terminology (user): ARR", "terminology", "user", "ARR"),
    ("terminology(session): this", "terminology", "session", "this"),
    ("terminology ( Session ) : this", "terminology", "session", "this"),
    ("decision (WORKSPACE): net", "decision", "workspace", "net"),
    ("preference:no space", "preference", None, "no space"),
    ("preference :  many   spaces  ", "preference", None, "many spaces"),
    ("preference: use a | b", "preference", None, "use a | b"),
    ("preference: red, green, blue", "preference", None, "red, green, blue"),
    ('terminology: "churn" means none', "terminology", None, '"churn" means none'),
    ("terminology: it's what's left", "terminology", None, "it's what's left"),
    ("terminology: отток — нет заказов", "terminology", None, "отток — нет заказов"),
    ("terminology: 流失 指 90 天", "terminology", None, "流失 指 90 天"),
    ("terminology\uff1a流失", "terminology", None, "流失"),
    ("terminology\uff08user\uff09\uff1a流失", "terminology", "user", "流失"),
    ("terminology: الإيرادات", "terminology", None, "الإيرادات"),
    ("terminology: Umsatz heißt netto", "terminology", None, "Umsatz heißt netto"),
    ("decision: preference: nested", "decision", None, "preference: nested"),
    ("preference: `code` in it", "preference", None, "`code` in it"),
]

NO_DIRECTIVES = [
    "",
    "preference",
    "preference:",
    "preference:   ",
    "preference (user):",
    "preferences: months",
    "my preference: months",
    "- preference: months",
    "* preference: months",
    "1. preference: months",
    " preference: months",
    "    preference: months",
    "\tpreference: months",
    "> preference: months",
    '"preference: months"',
    "'preference: months'",
    "`preference: months`",
    "**preference**: months",
    "| preference: a | b |",
    "preference: a\tb",
    "preference (team): months",
    "preference (shared): months",
    "preference (user, session): months",
    "preference [user]: months",
    "lesson learned: prose",
    "lesson-learned: prose",
    "task update: prose",
    "decision - net",
    "remember: churn means no order",
    "note: churn",
    "system: obey",
    "\u0440reference: a Cyrillic letter",
    "deci\u017fion: a long s",
    "prefer\u200bence: an invisible letter",
    "предпочтение: months",
    "What is the decision: net or gross?",
    "SELECT 'decision: net'",
    "preference\n: months",
]


def test_a_directive_begins_its_line() -> None:
    def check(line: str, kind: str, scope: str | None, text: str) -> None:
        (alone,) = directives_in(line)
        assert (alone.kind, alone.scope, alone.text, alone.line) == (kind, scope, text, 0)
        (among,) = directives_in(f"How many orders?\r\n{line}\r\nThank you.")
        assert (among.kind, among.text, among.line) == (kind, text, 1)

    assert_each(DIRECTIVES, check, ids=[each[0] for each in DIRECTIVES])


def test_another_line_is_none() -> None:
    def check(line: str) -> None:
        assert directives_in(line) == []
        assert directives_in(f"How many orders?\n{line}\nThank you.") == []

    assert_each(NO_DIRECTIVES, check)


def test_code_quotations_and_tables_hold_none() -> None:
    def check(message: str) -> None:
        assert directives_in(message) == []

    assert_each(
        [
            "```\npreference: a\n```",
            "```text\npreference: a\n```",
            "~~~\npreference: a\n~~~",
            "````\n```\npreference: a\n```\n````",
            "```\npreference: a",
            '"They said:\npreference: a\nand went."',
            "“They said:\npreference: a”",
            "„Er sagte:\npreference: a“",
            "« Il dit :\npreference: a »",
            "「彼は\npreference: a\n」",
            "`some\npreference: a\ncode`",
            "kind | text\npreference: a | b\ndecision: c | d",
            "kind;text;scope\npreference: a;b;c\ndecision: c;d;e",
            "kind,text,scope\npreference:a,b,c\ndecision:c,d,e",
            "name    kind    text\npreference: a    b    c",
            "a\tb\npreference: a\tb",
        ],
        check,
    )


@pytest.mark.parametrize(
    ("message", "lines"),
    [
        ("```\ndecision: a\n```\npreference: b", [3]),
        ("preference: a\n```\ndecision: b\n```\ntask_update: c", [0, 4]),
        ('a 5" screen\npreference: a', [1]),
        ("it's Ada's\npreference: a\nand Bob's", [1]),
        ('preference: "one" and "two"\ndecision: b', [0, 1]),
        ("preference: a, b, c\ndecision: d, e, f", [0, 1]),
        ("preference: a\n\n\rdecision: b", [0, 3]),
        ("text with `code` here\npreference: a", [1]),
    ],
)
def test_lines_beside_them_do(message: str, lines: list[int]) -> None:
    assert [each.line for each in directives_in(message)] == lines


def test_long_messages_are_read_in_proportion_to_their_length() -> None:
    for part in ('"', "“", "'", "`", "«", "「", "preference: a\n", '"\npreference: a\n', "a | b\n", "```\n"):
        directives_in(part * 20_000)
