"""What Ollama says of its models, also to those who use it by OpenAI's protocol."""

import re
from collections.abc import Sequence

from pydantic import JsonValue

from app.core.llm.capabilities import ListedModel, ModelTraits
from app.core.llm.errors import Cures
from app.core.llm.providers.plain_http import get_json, positive, post_json
from app.core.llm.settings import ModelSettings

DEFAULT_URL = "http://127.0.0.1:11434"
CURES = Cures(has_version=True)

_VERSION = re.compile(r"/v1/?$")
_SET_WINDOW = re.compile(r"^num_ctx\s+(\d+)\s*$", re.MULTILINE)


def url_of(settings: ModelSettings) -> str:
    """Returns the address of Ollama's own API."""
    return _VERSION.sub("", settings.base_url or DEFAULT_URL).rstrip("/")


def headers_of(settings: ModelSettings) -> dict[str, str]:
    """Returns the headers of requests. Ollama itself needs no key, a proxy before it may."""
    key = settings.api_key
    return {} if key is None else {"Authorization": f"Bearer {key.get_secret_value()}"}


async def list_models(settings: ModelSettings) -> Sequence[ListedModel]:
    """Returns the models that Ollama has. Raises `ModelUnavailable` or `ModelRejected`."""
    body = await get_json(settings, f"{url_of(settings)}/api/tags", headers=headers_of(settings), cures=CURES)
    entries = body.get("models") if isinstance(body, dict) else None
    names = (
        [each.get("name") for each in entries if isinstance(each, dict)] if isinstance(entries, list) else []
    )
    return [ListedModel(name=name, is_of_ollama=True) for name in names if isinstance(name, str)]


async def describe(settings: ModelSettings, model: str) -> ModelTraits:
    """Returns the window and the support of tools of a model.

    A window that the model's file sets counts before the longest that the model was trained for. Raises
    `ModelUnavailable` or `ModelRejected`.
    """
    url = f"{url_of(settings)}/api/show"
    body = await post_json(settings, url, {"model": model}, headers=headers_of(settings), cures=CURES)
    if not isinstance(body, dict):
        return ModelTraits()
    abilities = body.get("capabilities")
    takes_tools = "tools" in abilities if isinstance(abilities, list) else None
    return ModelTraits(context_window=_window(body), takes_tools=takes_tools)


def _window(body: dict[str, JsonValue]) -> int | None:
    parameters = body.get("parameters")
    set_to = _SET_WINDOW.search(parameters) if isinstance(parameters, str) else None
    if set_to is not None:
        return int(set_to[1])
    facts = body.get("model_info")
    if not isinstance(facts, dict):
        return None
    return next((positive(facts[key]) for key in facts if key.endswith(".context_length")), None)
