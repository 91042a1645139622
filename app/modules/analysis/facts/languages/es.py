"""Statements in Spanish."""

from collections.abc import Mapping

STATEMENTS: Mapping[str, str] = {}

NOUNS: Mapping[str, str] = {
    "day": "día|días",
    "week": "semana|semanas",
    "month": "mes|meses",
    "quarter": "trimestre|trimestres",
    "year": "año|años",
    "row": "fila|filas",
    "column": "columna|columnas",
    "value": "valor|valores",
    "point": "punto porcentual|puntos porcentuales",
}
