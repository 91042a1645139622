"""All recipes, and the task sets that are made of them."""

from dataclasses import replace

from app.core.errors import Invalid
from kai_analyst_tasks.planting import defects, differing, moved, schemas
from kai_analyst_tasks.planting.planted import Planted
from kai_analyst_tasks.task_set import AgentTask, TaskFamily, TaskLimits

_PLANT = {
    "moved": moved.plant,
    "differing": differing.plant,
    "document": schemas.plant,
    "defects": defects.plant,
}
_RECIPES: dict[TaskFamily, list[str]] = {
    "moved": list(moved.RECIPES),
    "differing": list(differing.RECIPES),
    "document": list(schemas.RECIPES),
    "defects": list(defects.RECIPES),
}
_LIMITS = TaskLimits(steps=12, calls=24, tokens=200_000)
COUNTS: dict[TaskFamily, int] = {"moved": 16, "differing": 10, "document": 10, "defects": 12}
"""Tasks of a set, by family."""


def planted(recipe: str, seed: int) -> Planted:
    """Returns the task and the databases of a recipe. Raises `Invalid` for an unknown recipe."""
    family = recipe.partition(".")[0]
    if family not in _PLANT or recipe not in {name for names in _RECIPES.values() for name in names}:
        raise Invalid(f"There is no recipe {recipe!r} for databases.")
    found = _PLANT[family](recipe, seed)
    return replace(found, task=found.task.model_copy(update={"limits": _LIMITS}))


def task_set(seed: int) -> list[AgentTask]:
    """Returns the tasks of a seed. No other seed below 10,000 makes one of the same databases."""
    return [
        planted(names[at % len(names)], 100 * seed + at).task
        for family, names in _RECIPES.items()
        for at in range(COUNTS[family])
    ]
