"""English statements of facts. `app.modules.analysis.facts.wording` documents the templates."""

from collections.abc import Mapping

TABLE: Mapping[str, str] = {
    # Things that are counted
    "day": "{count|# day|# days}",
    "week": "{count|# week|# weeks}",
    "month": "{count|# month|# months}",
    "quarter": "{count|# quarter|# quarters}",
    "year": "{count|# year|# years}",
    "row": "{count|# row|# rows}",
    "column": "{count|# column|# columns}",
    "value": "{count|# value|# values}",
    "point": "{count|# point|# points}",
}
