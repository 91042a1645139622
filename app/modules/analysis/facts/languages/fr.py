"""Statements in French."""

from collections.abc import Mapping

STATEMENTS: Mapping[str, str] = {}

NOUNS: Mapping[str, str] = {
    "day": "jour|jours",
    "week": "semaine|semaines",
    "month": "mois|mois",
    "quarter": "trimestre|trimestres",
    "year": "an|ans",
    "row": "ligne|lignes",
    "column": "colonne|colonnes",
    "value": "valeur|valeurs",
    "point": "point|points",
}
