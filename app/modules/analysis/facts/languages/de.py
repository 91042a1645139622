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
    # Facts over two results
    "across.more": "Das sind {amount} mehr[ ({percent})].",
    "across.less": "Das sind {amount} weniger[ ({percent})].",
    "across.same": "Beide sind gleich.",
    "across.how": "berechnet aus {left} und {right}",
}
