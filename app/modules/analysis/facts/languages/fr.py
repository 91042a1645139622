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
    # Facts over two results
    "across.more": "Cela fait {amount} de plus[ ({percent})].",
    "across.less": "Cela fait {amount} de moins[ ({percent})].",
    "across.same": "Les deux sont identiques.",
    "across.how": "calculé à partir de {left} et {right}",
}
