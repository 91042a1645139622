"""Bodies of language models on the wire."""

from typing import Literal

from app.core.llm.settings import Provider
from app.http.routes import PageOf, ResponseBody


class ModelBody(ResponseBody):
    """A language model."""

    name: str
    """Name by which it is requested. For Azure OpenAI, the name of a deployment."""
    tasks: list[Literal["sql", "agent", "analysis", "summary", "embedding"]]
    """Tasks that use it. Empty for a model that the service only lists."""
    is_listed: bool
    """The service lists it. Not every service lists its models, and Azure OpenAI lists none."""
    context_window: int | None
    """Tokens that prompt and reply may take together. Null if unknown."""
    window_source: Literal["setting", "service", "profile", "default"] | None
    """Where the window is known from: `KAI_LLM__CONTEXT_WINDOW`, the service, LangChain's data on the model,
    or the default.
    """
    tools: Literal["native", "text", "off"] | None
    """How it calls tools: by the service's protocol, by a block in its reply, or not at all. Null if
    unknown.
    """
    tools_source: Literal["setting", "service", "profile", "refusal", "default"] | None
    """Where that is known from, as for the window. `refusal`: the service refused a request with tools since
    this process started.
    """


class ModelPage(PageOf[ModelBody]):
    """A page of models."""

    provider: Provider
    """The service that runs them (`KAI_LLM__PROVIDER`)."""
    problem: str | None
    """Why the service lists no models. Null if it answered."""
