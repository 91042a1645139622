"""Looks up the findings of an investigation in the results that they name."""

import asyncio
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import JsonValue

from app.modules.analysis.figures import figures
from app.modules.tools.results import NamedResult, ResultUnknown, TurnResults
from app.modules.tools.toolsets.control import GivenFinding
from graph.state import Claim, ClaimStatus, Finding

if TYPE_CHECKING:
    from app.modules.analysis.claims.numbers import WrittenNumber

logger = logging.getLogger(__name__)

_MIDNIGHT = " 00:00:00"
_WHAT_HELPS = (
    "Name the right result and the value as it stands there, run the statement that shows it, or leave the "
    "finding out. Then call finish again."
)


async def look_up(given: Sequence[GivenFinding], results: TurnResults, question: str) -> list[Finding]:
    """Returns the findings with what their results say of them."""
    return [await _look_up(each, results, question) for each in given]


def objections(found: Sequence[Finding]) -> str:
    """Returns what the results say against findings, in words for the model. Empty if there is nothing."""
    lines = [f'- "{each["claim"]}": {_objection(each)}' for each in found if each["status"] != "checked"]
    if not lines:
        return ""
    return "\n".join(["These findings are not in the results that they name:", *lines, _WHAT_HELPS])


def _objection(finding: Finding) -> str:
    if finding["result_id"] is None:
        return "there is no such result"
    if finding["status"] == "contradicted":
        return f"the result says otherwise ({finding['how']})"
    return "nothing in it shows this" if finding["value"] is None else f"it does not hold {finding['value']}"


async def _look_up(given: GivenFinding, results: TurnResults, question: str) -> Finding:
    finding = Finding(
        claim=given.claim,
        value=given.value,
        result_id=None,
        where=given.where,
        status="not_found",
        how=None,
    )
    try:
        result = await results.read(given.result)
    except ResultUnknown:
        return finding
    status, how = await asyncio.to_thread(_judge, given, result, question)
    return Finding(**{**finding, "result_id": result.id, "status": status, "how": how})


def _judge(given: GivenFinding, result: NamedResult, question: str) -> tuple[ClaimStatus, str | None]:
    """A value that is in the result is checked, unless the row that the claim names has another one."""
    claims = _claims(given.claim, result, question)
    about = claims if given.value is None else [each for each in claims if _is_about(each, given.value)]
    wrong = next((each for each in about if each["status"] == "contradicted"), None)
    if wrong is not None:
        return "contradicted", wrong["from"]["how"] if wrong["from"] else None
    if given.value is not None and (place := _place(given.value, result)) is not None:
        return "checked", place
    right = [each for each in about if each["status"] == "checked"]
    if right and len(right) == len(about):
        source = right[0]["from"]
        return "checked", source["how"] if source else None
    return "not_found", None


def _claims(text: str, result: NamedResult, question: str) -> list[Claim]:
    from app.modules.analysis.claims.check import claims_in  # noqa: PLC0415  (numpy loads slowly)
    from app.modules.analysis.claims.table import ClaimTable  # noqa: PLC0415

    sql = result.kept["sql"]
    found = figures(question, sql, result.kept["dialect"], rows=result.rows) if sql else None
    return claims_in(text, ClaimTable(result.rows, question, sql, found=found))


def _is_about(claim: Claim, value: str) -> bool:
    return claim["text"].strip() in value or value.strip() in claim["text"]


def _place(value: str, result: NamedResult) -> str | None:
    """Returns the first cell that holds the value, in words. Returns None if no cell does."""
    from app.modules.analysis.claims.numbers import written_numbers  # noqa: PLC0415  (its patterns load slowly)

    numbers = list(written_numbers(value))
    number = numbers[0] if len(numbers) == 1 else None
    text = _folded(value)
    for at, row in enumerate(result.rows["rows"]):
        for column, cell in zip(result.kept["columns"], row, strict=True):
            if _holds(cell, text, number):
                return f"{column['name']} of row {at + 1}"
    if number is not None and number.fits(result.kept["row_count"]):
        return "number of rows"
    return None


def _holds(cell: JsonValue, text: str, number: "WrittenNumber | None") -> bool:
    match cell:
        case bool() | None:
            return False
        case int() | float():
            return number is not None and number.fits(float(cell))
        case str():
            return _folded(cell) == text
        case _:
            return False


def _folded(text: str) -> str:
    return " ".join(text.split()).removesuffix(_MIDNIGHT).casefold()
