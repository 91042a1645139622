"""German statements of facts. `app.modules.analysis.facts.wording` documents the templates."""

from collections.abc import Mapping

TABLE: Mapping[str, str] = {
    # Things that are counted
    "day": "{count|# Tag|# Tage}",
    "day.dative": "{count|# Tag|# Tagen}",
    "week": "{count|# Woche|# Wochen}",
    "week.dative": "{count|# Woche|# Wochen}",
    "month": "{count|# Monat|# Monate}",
    "month.dative": "{count|# Monat|# Monaten}",
    "quarter": "{count|# Quartal|# Quartale}",
    "quarter.dative": "{count|# Quartal|# Quartalen}",
    "year": "{count|# Jahr|# Jahre}",
    "year.dative": "{count|# Jahr|# Jahren}",
    "row": "{count|# Zeile|# Zeilen}",
    "row.dative": "{count|# Zeile|# Zeilen}",
    "column": "{count|# Spalte|# Spalten}",
    "column.dative": "{count|# Spalte|# Spalten}",
    "value": "{count|# Wert|# Werte}",
    "value.dative": "{count|# Wert|# Werten}",
    "point": "{count|# Prozentpunkt|# Prozentpunkte}",
    "point.dative": "{count|# Prozentpunkt|# Prozentpunkten}",
}
