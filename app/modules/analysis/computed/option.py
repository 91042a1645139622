"""Kinds of what is computed for a chart over time."""

from typing import Annotated, Literal

from pydantic import Field

OptionKind = Literal["moving_average", "change", "outliers", "projection"]
"""`moving_average`: the mean of each period and those before it. `change`: the change to the period before.
`outliers`: periods far above or below what the same weekday or month, the trend and other years lead to
expect. `projection`: the next periods, with a band.
"""
ColumnIndex = Annotated[int, Field(strict=True, ge=0, le=10_000)]


class NotComputable(Exception):
    """The rows do not allow the option. The message says why, and what helps."""
