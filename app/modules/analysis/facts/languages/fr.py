"""French statements of facts. `app.modules.analysis.facts.wording` documents the templates."""

from collections.abc import Mapping

TABLE: Mapping[str, str] = {
    # Things that are counted
    "day": "{count|# jour|# jours}",
    "week": "{count|# semaine|# semaines}",
    "month": "{count|# mois|# mois}",
    "quarter": "{count|# trimestre|# trimestres}",
    "year": "{count|# an|# ans}",
    "row": "{count|# ligne|# lignes}",
    "column": "{count|# colonne|# colonnes}",
    "value": "{count|# valeur|# valeurs}",
    "point": "{count|# point|# points}",
}
