"""The models that a service lists and those that tasks use, with what is known of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from app.core.llm.capabilities import ListedModel, ToolMode, ToolSource, WindowSource
from app.core.llm.catalog import ModelCatalog
from app.core.llm.errors import ModelRejected, ModelUnavailable
from app.core.llm.model import LanguageModel
from app.core.llm.settings import Provider

ModelTask = Literal["sql", "agent", "analysis", "summary", "embedding"]


@dataclass(frozen=True, kw_only=True)
class KnownModel:
    """A model. What is not known is None."""

    name: str
    tasks: Sequence[ModelTask] = ()
    """Tasks that use it."""
    is_listed: bool
    context_window: int | None = None
    window_source: WindowSource | None = None
    tools: ToolMode | None = None
    tools_source: ToolSource | None = None


@dataclass(frozen=True, kw_only=True)
class ModelList:
    """Models by tasks, then as the service lists them. `problem` says why the service lists none."""

    models: Sequence[KnownModel]
    problem: str | None


class ModelOverview:
    """What one process knows of its models and of the service that runs them."""

    def __init__(
        self,
        provider: Provider,
        catalog: ModelCatalog,
        tasks: Mapping[ModelTask, LanguageModel],
        *,
        embedding: str | None,
    ) -> None:
        """`tasks` has the model of each, `embedding` is the name of the embedding model."""
        self.provider = provider
        self._catalog = catalog
        self.tasks = tasks
        self._embedding = embedding

    async def read(self) -> ModelList:
        """Returns the models. Asks the service for a few seconds at most."""
        listed: Sequence[ListedModel] = ()
        problem: str | None = None
        try:
            listed = await self._catalog.listed()
        except (ModelUnavailable, ModelRejected) as error:
            problem = str(error)
        names = {each.name for each in listed}
        used = [await self._used(name, is_listed=_is_in(names, name)) for name in self._used_names()]
        shown = {name for each in used for name in (each.name, f"{each.name}:latest")}
        others = [_as_known(each) for each in listed if each.name not in shown]
        return ModelList(models=[*used, *others], problem=problem)

    def _used_names(self) -> list[str]:
        names = [model.name for model in self.tasks.values()]
        return list(dict.fromkeys([*names, *([self._embedding] if self._embedding else [])]))

    async def _used(self, name: str, *, is_listed: bool) -> KnownModel:
        tasks: list[ModelTask] = [task for task, model in self.tasks.items() if model.name == name]
        if not tasks:
            return KnownModel(name=name, tasks=["embedding"], is_listed=is_listed)
        model = self.tasks[tasks[0]]
        if name == self._embedding:
            tasks.append("embedding")
        try:
            known = await model.capabilities()
        except (ModelUnavailable, ModelRejected):
            return KnownModel(name=name, tasks=tasks, is_listed=is_listed)
        return KnownModel(
            name=name,
            tasks=tasks,
            is_listed=is_listed,
            context_window=known.context_window,
            window_source=known.window_source,
            tools=known.tools,
            tools_source=known.tools_source,
        )


def _is_in(names: set[str], name: str) -> bool:
    return name in names or f"{name}:latest" in names


def _as_known(each: ListedModel) -> KnownModel:
    traits = each.traits
    mode: ToolMode | None = None
    if traits.takes_tools is not None:
        mode = "native" if traits.takes_tools else "text"
    return KnownModel(
        name=each.name,
        is_listed=True,
        context_window=traits.context_window,
        window_source=None if traits.context_window is None else "service",
        tools=mode,
        tools_source=None if mode is None else "service",
    )
