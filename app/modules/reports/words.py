"""Texts of reports in the languages of the page."""

from collections.abc import Mapping
from datetime import date, tzinfo
from typing import Literal

from app.core.values.dates import format_date, format_moment
from app.modules.database_connection.results import cut_sentence
from graph.state import Cut, Rows

ReportLanguage = Literal["en", "de"]

_TEXTS: Mapping[ReportLanguage, Mapping[str, str]] = {
    "en": {
        "made": "Made {time} by KAI.",
        "times": "The figures are those of the times given with each answer.",
        "question": "Question",
        "explanation": "Understood as",
        "database": "Database",
        "answered": "Answered",
        "chart": "Chart",
        "chart_of": "Chart of {heading}.",
        "rows_of": "Rows of {heading}",
        "row": "1 row.",
        "rows": "{count} rows.",
        "first": "The first {shown} of {count} rows.",
        "report": "Report",
        "stopped": "The answer was stopped.",
        "rows_gone": "The rows of this answer are no longer stored. Ask the question again.",
        "no_database": "The database of this pin cannot be used any more.",
        "not_run": "The statement has not run yet.",
        "not_by_period": "Not by the period of the board. {reason}",
        "period": "{since} to {until}, by {column}.",
        "unknown": "unknown",
    },
    "de": {
        "made": "Erstellt am {time} von KAI.",
        "times": "Die Zahlen gelten für die Zeiten, die bei den Antworten stehen.",
        "question": "Frage",
        "explanation": "Verstanden als",
        "database": "Datenbank",
        "answered": "Beantwortet",
        "chart": "Diagramm",
        "chart_of": "Diagramm zu {heading}.",
        "rows_of": "Zeilen zu {heading}",
        "row": "1 Zeile.",
        "rows": "{count} Zeilen.",
        "first": "Die ersten {shown} von {count} Zeilen.",
        "report": "Bericht",
        "stopped": "Die Antwort wurde angehalten.",
        "rows_gone": "Die Zeilen dieser Antwort sind nicht mehr gespeichert. Stellen Sie die Frage erneut.",
        "no_database": "Die Datenbank dieser Kachel kann nicht mehr benutzt werden.",
        "not_run": "Die Abfrage ist noch nicht gelaufen.",
        "not_by_period": "Nicht nach dem Zeitraum der Pinnwand. {reason}",
        "period": "{since} bis {until}, nach {column}.",
        "unknown": "unbekannt",
    },
}
_GERMAN_CUTS: Mapping[Cut, str] = {
    "values": "Manche Werte sind zu lang, um ganz behalten zu werden: Ihr Ende fehlt.",
    "bytes": "Nur die ersten {kept} Zeilen sind behalten, weil das Ergebnis zu groß ist; es gibt mehr.",
    "rows": "Nur die ersten {kept} Zeilen sind behalten, so viele wie ein Ergebnis hat; es gibt mehr.",
}


class ReportWords:
    """Texts, counts and times of a language and a time zone."""

    def __init__(self, language: ReportLanguage, zone: tzinfo) -> None:
        self.language = language
        self._zone = zone
        self._texts = _TEXTS[language]

    def say(self, name: str, **values: str) -> str:
        return self._texts[name].format(**values)

    def count(self, number: int) -> str:
        written = f"{number:,}"
        return written.replace(",", ".") if self.language == "de" else written

    def moment(self, epoch_ms: int) -> str:
        """Writes a time with the name of its zone."""
        return f"{format_moment(epoch_ms, self.language, self._zone)} ({self._zone})"

    def day(self, iso: str) -> str:
        return format_date(date.fromisoformat(iso), "day", self.language)

    def coverage(self, shown: int, rows: Rows) -> str:
        """Sentences on which of the rows are shown."""
        count = rows["row_count"]
        if shown < count:
            text = self.say("first", shown=self.count(shown), count=self.count(count))
        else:
            text = self.say("row") if count == 1 else self.say("rows", count=self.count(count))
        return f"{text} {self._cut(rows)}".strip()

    def _cut(self, rows: Rows) -> str:
        if self.language == "en" or not rows["truncated"]:
            return cut_sentence(rows)
        return _GERMAN_CUTS[rows.get("cut_by") or "rows"].format(kept=self.count(rows["row_count"]))
