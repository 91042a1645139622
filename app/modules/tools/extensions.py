"""Extensions: tools of other packages, found by the entry points of group `kai.tools`.

An entry point names a function that takes a `Registrar`. Extensions are off unless `KAI_TOOLS__EXTENSIONS` is
true. What a tool says of its own category does not count: every tool of an extension is of category
`extension`.
"""

import logging
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint, entry_points
from typing import Literal

from app.modules.tools.tool import Tool

logger = logging.getLogger(__name__)

GROUP = "kai.tools"
MAX_DESCRIPTION = 1_000
"""Characters of the description of a tool."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,47}")
_MOST_TOOLS = 40
_MAX_SECONDS = 240
_MAX_ERROR = 500


class ExtensionRefused(Exception):
    """The extension cannot be used. The text says why."""


@dataclass(frozen=True, kw_only=True)
class Extension:
    """An extension that was found, with the names of its tools. One that failed has none."""

    name: str
    package: str
    """Name and version of the package that it belongs to. Empty if unknown."""
    status: Literal["loaded", "failed"]
    error: str | None = None
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Extensions:
    """All extensions that were found, and the tools of those that were loaded."""

    found: Sequence[Extension] = ()
    tools: Sequence[Tool] = ()


class Registrar:
    """Takes the tools of one extension. `extension` is the name of its entry point."""

    def __init__(self, extension: str, taken: Collection[str] = ()) -> None:
        """`taken` are the names of tools that exist already."""
        self.extension = extension
        self._taken = taken
        self._tools: dict[str, Tool] = {}

    @property
    def tools(self) -> list[Tool]:
        """The tools registered so far."""
        return list(self._tools.values())

    def register(self, tool: Tool) -> None:
        """Add a tool. Its toolset becomes the extension's name, and its category `extension`.

        Raises `ExtensionRefused` for a name that exists already, or a description that cannot be used.
        """
        if type(tool) is not Tool:
            raise ExtensionRefused(f"{type(tool).__name__} is no tool: create tools by tool(...).")
        if tool.name in self._taken or tool.name in self._tools:
            raise ExtensionRefused(f"There is a tool {tool.name} already.")
        if "__" in tool.name:
            raise ExtensionRefused(f"{tool.name}: two underscores are for tools of MCP servers.")
        if not 0 < len(tool.description.strip()) <= MAX_DESCRIPTION:
            raise ExtensionRefused(f"{tool.name}: a description has 1 to {MAX_DESCRIPTION} characters.")
        if (tool.timeout_seconds or 0) > _MAX_SECONDS:
            raise ExtensionRefused(f"{tool.name}: a call may take {_MAX_SECONDS} seconds at most.")
        if len(self._tools) >= _MOST_TOOLS:
            raise ExtensionRefused(f"It has more than {_MOST_TOOLS} tools.")
        registered = replace(tool, toolset=self.extension, category="extension", source="extensions")
        _ = registered.offer  # a schema that cannot be made refuses the extension, not a question
        self._tools[tool.name] = registered


Register = Callable[[Registrar], None]
"""The function that an entry point names."""


def load_extensions(builtin: Sequence[Tool], found: Iterable[EntryPoint] | None = None) -> Extensions:
    """Load the extensions of all installed packages, by name. Each is loaded whole or not at all.

    One that fails is a warning in the log, and in `Extensions.found`.
    """
    points = entry_points(group=GROUP) if found is None else found
    extensions: list[Extension] = []
    tools = list(builtin)
    toolsets = {tool.toolset for tool in builtin}
    for point in sorted(points, key=lambda each: (each.name, each.value)):
        loaded, error = _load(point, tools, toolsets)
        if error is not None:
            logger.warning("the extension %s is left out: %s", point.name, error)
        tools += loaded
        toolsets.add(point.name)
        extensions.append(
            Extension(
                name=point.name,
                package=_package_of(point),
                status="loaded" if error is None else "failed",
                error=error,
                tools=tuple(tool.name for tool in loaded),
            )
        )
    return Extensions(found=extensions, tools=tools[len(builtin) :])


def _load(
    point: EntryPoint, tools: Sequence[Tool], toolsets: Collection[str]
) -> tuple[list[Tool], str | None]:
    """Returns the tools, or no tools and what is wrong."""
    if _NAME.fullmatch(point.name) is None or point.name in toolsets:
        return [], "its name is taken, or not of lower-case letters, digits and underscores."
    registrar = Registrar(point.name, {tool.name for tool in tools})
    try:
        register: Register = point.load()
        register(registrar)
    except (Exception, SystemExit) as error:
        if not isinstance(error, ExtensionRefused):
            logger.debug("the extension %s failed", point.name, exc_info=True)
        said = f"{type(error).__name__}: {error}" if not isinstance(error, ExtensionRefused) else str(error)
        return [], said[:_MAX_ERROR]
    if not registrar.tools:
        return [], "it registers no tool."
    return registrar.tools, None


def _package_of(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else ""
