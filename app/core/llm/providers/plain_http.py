"""Small requests to services of models, other than for replies."""

from collections.abc import Mapping

import httpx
from pydantic import JsonValue

from app.core.llm.errors import Cures, ModelRejected, ServiceRefusal, ended_early, not_connected, refused
from app.core.llm.settings import ModelSettings


async def get_json(
    settings: ModelSettings, url: str, *, headers: Mapping[str, str], cures: Cures
) -> JsonValue:
    """Returns the body of an answer. Raises `ModelUnavailable` or `ModelRejected`."""
    return await _json(settings, httpx.Request("GET", url, headers=dict(headers)), cures)


async def post_json(
    settings: ModelSettings, url: str, body: JsonValue, *, headers: Mapping[str, str], cures: Cures
) -> JsonValue:
    """Returns the body of an answer. Raises `ModelUnavailable` or `ModelRejected`."""
    return await _json(settings, httpx.Request("POST", url, headers=dict(headers), json=body), cures)


def positive(value: JsonValue) -> int | None:
    """Returns the value if it is a positive whole number."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


async def _json(settings: ModelSettings, request: httpx.Request, cures: Cures) -> JsonValue:
    timeout = httpx.Timeout(settings.total_timeout_seconds, connect=settings.connect_timeout_seconds)
    try:
        async with httpx.AsyncClient(timeout=timeout) as client:
            response = await client.send(request)
        if response.status_code == 404:
            raise ModelRejected(f"The model's service has no such address (404). Check {cures.address}.")
        if not response.is_success:
            refusal = ServiceRefusal(
                status=response.status_code,
                message=response.text,
                path=request.url.path,
                headers=response.headers,
                cures=cures,
            )
            raise refused(refusal, settings.model)
        body: JsonValue = response.json()
    except httpx.HTTPError:
        raise not_connected(cures) from None
    except (ValueError, RecursionError):
        raise ended_early(settings.model, cures=cures) from None
    return body
