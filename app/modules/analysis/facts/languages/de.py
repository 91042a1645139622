"""Statements in German."""

from collections.abc import Mapping

STATEMENTS: Mapping[str, str] = {}

NOUNS: Mapping[str, str] = {
    "day": "Tag|Tage",
    "day:dative": "Tag|Tagen",
    "week": "Woche|Wochen",
    "week:dative": "Woche|Wochen",
    "month": "Monat|Monate",
    "month:dative": "Monat|Monaten",
    "quarter": "Quartal|Quartale",
    "quarter:dative": "Quartal|Quartalen",
    "year": "Jahr|Jahre",
    "year:dative": "Jahr|Jahren",
    "row": "Zeile|Zeilen",
    "row:dative": "Zeile|Zeilen",
    "column": "Spalte|Spalten",
    "column:dative": "Spalte|Spalten",
    "value": "Wert|Werte",
    "value:dative": "Wert|Werten",
    "point": "Prozentpunkt|Prozentpunkte",
    "point:dative": "Prozentpunkt|Prozentpunkten",
}
