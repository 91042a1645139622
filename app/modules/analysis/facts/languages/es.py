"""Spanish statements of facts. `app.modules.analysis.facts.wording` documents the templates."""

from collections.abc import Mapping

TABLE: Mapping[str, str] = {
    # Things that are counted
    "day": "{count|# día|# días}",
    "week": "{count|# semana|# semanas}",
    "month": "{count|# mes|# meses}",
    "quarter": "{count|# trimestre|# trimestres}",
    "year": "{count|# año|# años}",
    "row": "{count|# fila|# filas}",
    "column": "{count|# columna|# columnas}",
    "value": "{count|# valor|# valores}",
    "point": "{count|# punto porcentual|# puntos porcentuales}",
    # Facts over two results
    "across.more": "Son {amount} más[ ({percent})].",
    "across.less": "Son {amount} menos[ ({percent})].",
    "across.same": "Ambos son iguales.",
    "across.how": "calculado a partir de {left} y {right}",
}
