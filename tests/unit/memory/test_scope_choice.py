"""Scopes of a question by its words: 60 phrases a scope, half of them not meant."""

import pytest

from app.modules.memory.scope_choice import AUTO, chosen_scopes, common_words, read_scope_setting
from tests.support.cases import assert_each

ABOUT_THE_DATA = [
    "What do we call a lost customer?",
    "How do we define churn?",
    "Which tables are there?",
    "Describe this database",
    "What is in the data?",
    "Is our data up to date?",
    "What did we decide on refunds?",
    "Have we agreed how to count returns?",
    "Show our revenue by month",
    "How are our customers doing?",
    "What does the team usually exclude?",
    "What are the rules of our company?",
    "Build the numbers of the sales dashboard",
    "Which column holds the gross price?",
    "Explain the schema to me",
    "What is our fiscal year?",
    "Use our definition of active",
    "Report it by our rules",
    "How do we count orders with several parts?",
    "What did we learn about the spring campaign?",
    "Welche Tabellen gibt es?",
    "Was steht in dieser Datenbank?",
    "Wie nennen wir einen verlorenen Kunden?",
    "Zeig unsere Umsätze nach Monat",
    "Wie rechnen wir Rabatte?",
    "Was haben wir vereinbart?",
    "Welche Spalte enthält den Bruttopreis?",
    "Was ist bei uns üblich?",
    "Sind unsere Daten vollständig?",
    "Nutze die Regeln aus unserem Team",
]
NOT_ABOUT_THE_DATA = [
    "Hello",
    "Thanks, that helps",
    "Who are you?",
    "What can you do?",
    "And in March?",
    "Now by month",
    "The second one",
    "Why?",
    "Sort it the other way round",
    "How many sets of table tennis were sold?",
    "The periodic table by weight",
    "What is data protection?",
    "How many company cars are there?",
    "List the insurance companies",
    "Top ten by weight",
    "Only the last quarter",
    "Make it a bar chart",
    "In German, please",
    "What is two and two?",
    "What do I call this?",
    "Hallo",
    "Danke, das hilft",
    "Wer bist du?",
    "Was kannst du?",
    "Und im März?",
    "Jetzt nach Monat",
    "Warum?",
    "Was heißt Datenschutz?",
    "Wer ist Tabellenführer?",
    "Nur das letzte Quartal",
]
ABOUT_THE_PERSON = [
    "Show it as I like it",
    "Use my preferences",
    "Apply my preference for dates",
    "I prefer percentages",
    "I'd prefer a table of months",
    "What do I call a customer without orders?",
    "What did I mean with active, by my terminology?",
    "Use my definition of churn",
    "Write it in my format",
    "Remind me of my setup",
    "Follow my workflow",
    "Run my usual report",
    "What do you know about me?",
    "Is this style mine?",
    "The way I want it",
    "As I asked last week",
    "Round it how I like",
    "What is my role?",
    "Which of my goals does this meet?",
    "Revenue by region, same as last time",
    "Nach meinen Vorlieben",
    "Zeig es, wie ich es mag",
    "Ich bevorzuge Prozente",
    "Wie nenne ich Kunden ohne Bestellung?",
    "Was verstehe ich unter aktiv?",
    "Nimm meine Definition von Umsatz",
    "In meinem Format, bitte",
    "Was weißt du über mich?",
    "Ich interessiere mich für Rückgaben",
    "Folge meinem Ablauf",
]
NOT_ABOUT_THE_PERSON = [
    "Show my orders",
    "How many customers do I have?",
    "Show me the revenue by month",
    "Give me a list of products",
    "Output per mine in tonnes",
    "Which mine has the most workers?",
    "Revenue of each coal mine",
    "How many gold mines are there?",
    "I would like to see sales by region",
    "I need the top ten customers",
    "I want to know who left",
    "Which customers prefer email?",
    "What do customers like most?",
    "Preferred suppliers by volume",
    "Number of preferences per user",
    "How many users have a default address?",
    "What are the goals of each team?",
    "Goals per match",
    "Habitat of each species",
    "What workflow steps are late?",
    "Zeig mir die Umsätze",
    "Wie viele Kunden habe ich?",
    "Ich brauche die Zahl der Bestellungen",
    "Ich möchte die Summe wissen",
    "Welche Kunden mögen Tee?",
    "Bevorzugte Lieferanten nach Menge",
    "Welche Einstellungen haben die Nutzer?",
    "Tore je Spiel und Ziel",
    "Meine Bestellungen im Mai",
    "Gib mir die Liste der Mitglieder",
]
ANY = [
    "Hello",
    "And in March?",
    "As I said above",
    "What did I just ask for?",
    "Jetzt nach Monat",
    "Und im Mai?",
]


def scopes(question: str) -> list[str]:
    return [*chosen_scopes(AUTO, question, names_data=False)]


def test_a_question_about_the_data_reads_the_workspace() -> None:
    def check(question: str) -> None:
        assert "workspace" in scopes(question)

    assert_each(ABOUT_THE_DATA, check)


def test_another_question_does_not_read_the_workspace() -> None:
    def check(question: str) -> None:
        assert "workspace" not in scopes(question)

    assert_each(NOT_ABOUT_THE_DATA, check)


def test_a_question_that_speaks_of_the_person_reads_the_user() -> None:
    def check(question: str) -> None:
        assert "user" in scopes(question)

    assert_each(ABOUT_THE_PERSON, check)


def test_another_question_does_not_read_the_user() -> None:
    def check(question: str) -> None:
        assert "user" not in scopes(question)

    assert_each(NOT_ABOUT_THE_PERSON, check)


def test_the_session_is_always_read() -> None:
    def check(question: str) -> None:
        assert scopes(question)[0] == "session"

    assert_each([*ABOUT_THE_DATA, *ABOUT_THE_PERSON, *ANY], check)


def test_there_are_sixty_different_phrases_a_scope() -> None:
    for meant, not_meant in (
        (ABOUT_THE_DATA, NOT_ABOUT_THE_DATA),
        (ABOUT_THE_PERSON, NOT_ABOUT_THE_PERSON),
    ):
        assert len({*meant}) == len({*not_meant}) == 30
        assert len({*meant, *not_meant}) == 60


def test_a_name_of_the_schema_or_glossary_is_about_the_data() -> None:
    assert chosen_scopes(AUTO, "Churn in May?", names_data=True) == ["session", "workspace", "shared"]


def test_case_accents_and_apostrophes_do_not_matter() -> None:
    assert scopes("USE MY PREFERENCES") == scopes("use my préférences".replace("é", "e"))
    assert "user" in scopes("I’d prefer a list")
    assert "workspace" in scopes("zeig unsere UMSATZE")


def test_the_shared_facts_go_with_the_workspace_in_one_order() -> None:
    every = chosen_scopes(["user", "workspace", "session"], "Hello", names_data=False)
    assert every == ["session", "workspace", "shared", "user"]
    assert chosen_scopes(["user"], "Our data", names_data=True) == ["user"]


def test_a_setting_is_auto_or_a_list() -> None:
    assert read_scope_setting("auto") == AUTO
    assert read_scope_setting("session, user") == ["session", "user"]
    with pytest.raises(ValueError, match="everyone"):
        read_scope_setting("everyone")


def test_words_that_say_nothing_are_known_in_both_languages() -> None:
    assert {"the", "how", "der", "wie", "fur"} <= common_words()
    assert not {"churn", "revenue", "kunde", "umsatz"} & common_words()
