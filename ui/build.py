"""Builds the chat page into app/web/static when its sources have changed; also a hook of `python -m build`.

Needs Node 20.19 or newer on the path, or the one that `make ui` puts into the environment.
"""

import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

UI = Path(__file__).resolve().parent
STATIC = UI.parent / "app" / "web" / "static"
CHARTS = UI.parent / "app" / "modules" / "analysis" / "chart"
SHARED = (CHARTS / "theme.json", CHARTS / "world.json")
"""How charts and maps look, on the page as in files that Python draws."""
STAMP = STATIC / ".sources"
NEEDED = (20, 19)
ROUTE_WEIGHT = 60_000
"""Bytes of compressed JavaScript that a route loads before it is shown; panels are fetched when they are."""
SWAGGER_UI = (
    "swagger-ui-bundle.js",
    "swagger-ui-bundle.js.LICENSE.txt",
    "swagger-ui.css",
    "LICENSE",
    "NOTICE",
)
"""Files of the API's description at /docs, which the page's bundler does not touch."""


class PageBuild(BuildHookInterface[Any]):
    """Puts the page into wheels and source distributions; an editable install leaves it to `make ui`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":
            build()


def build() -> None:
    wanted = fingerprint()
    if STAMP.is_file() and STAMP.read_text() == wanted:
        return
    print("Building the page (about half a minute) ...", flush=True)  # noqa: T201
    install("--omit=dev")
    npm("run", "build")
    weigh(STATIC)
    (STATIC / "docs").mkdir()
    for name in SWAGGER_UI:
        shutil.copy(UI / "node_modules" / "swagger-ui-dist" / name, STATIC / "docs")
    STAMP.write_text(wanted)


def weigh(folder: Path) -> None:
    if heavy := list(too_heavy(folder)):
        sys.exit("The page is too heavy:\n" + "\n".join(heavy))


def too_heavy(folder: Path) -> Iterator[str]:
    """Yields the routes whose scripts, compressed, are beyond what a route may load to be shown."""
    for path in sorted((folder / ".vite").glob("manifest*.json")):
        manifest = json.loads(path.read_text())
        index = next(name for name in manifest if name.endswith(".html"))
        start = closure(manifest, index)
        for name in (index, *manifest[index].get("dynamicImports", ())):
            scripts = start | closure(manifest, name)
            weight = sum(len(gzip.compress((folder / script).read_bytes(), 6)) for script in scripts)
            if weight > ROUTE_WEIGHT:
                yield f"{name} of {index} loads {weight:,} bytes of scripts, more than {ROUTE_WEIGHT:,}"


def closure(manifest: dict[str, Any], name: str) -> set[str]:
    """Returns the files of a chunk and of all that it imports at once."""
    met = {name}
    waiting = [name]
    while waiting:
        new = set(manifest[waiting.pop()].get("imports", ())) - met
        met |= new
        waiting += new
    return {manifest[each]["file"] for each in met}


def check() -> None:
    """Lint, types against the API as it is, and the tests of what needs no browser."""
    install()
    described = subprocess.run([sys.executable, UI / "openapi.py"], capture_output=True, check=True)  # noqa: S603
    (UI / "openapi.json").write_bytes(described.stdout)
    for task in ("types", "check", "test"):
        npm("run", task)


def install(*options: str) -> None:
    """The packages of the lock file, unless they are there; all of them serve for some of them too."""
    lock = hashlib.sha256((UI / "package-lock.json").read_bytes()).hexdigest()
    installed = UI / "node_modules" / ".installed"
    if installed.is_file() and installed.read_text() in (lock, " ".join((lock, *options))):
        return
    npm("ci", *options)
    installed.write_text(" ".join((lock, *options)))


def fingerprint() -> str:
    """Returns a digest of the names and contents of the sources."""
    digest = hashlib.sha256()
    for path in (*sorted(sources()), *SHARED):
        digest.update(path.relative_to(UI.parent).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def sources() -> Iterator[Path]:
    yield from (UI / name for name in ("index.html", "package.json", "package-lock.json", "vite.config.ts"))
    for folder in ("src", "public"):
        built = (path for path in (UI / folder).rglob("*") if path.is_file())
        yield from (path for path in built if ".test." not in path.name and path.name != "schema.ts")


def find_node() -> Path | None:
    """The folder of a Node that is new enough, the environment's own included."""
    for folder in (*os.environ.get("PATH", "").split(os.pathsep), str(Path(sys.executable).parent)):
        node = shutil.which("node", path=folder)
        if node is not None and shutil.which("npm", path=folder) and version_of(node) >= NEEDED:
            return Path(folder)
    return None


def version_of(node: str) -> tuple[int, ...]:
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout  # noqa: S603
    numbers = said.strip().removeprefix("v").split(".")
    return tuple(int(number) for number in numbers if number.isdigit())


def npm(*arguments: str) -> None:
    node = find_node()
    if node is None:
        sys.exit("The page needs Node 20.19 or newer; `make ui` brings one when there is none.")
    environment = {**os.environ, "PATH": f"{node}{os.pathsep}{os.environ.get('PATH', '')}"}
    command = [shutil.which("npm", path=str(node)) or "npm", *arguments, "--loglevel=error"]
    done = subprocess.run(command, cwd=UI, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        sys.exit(f"npm {' '.join(arguments)} failed:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")


def main(task: str, folder: str = str(STATIC)) -> None:
    match task:
        case "build":
            build()
        case "check":
            check()
        case "weigh":
            weigh(Path(folder))
        case "node":
            sys.exit(find_node() is None)
        case _:
            sys.exit("build.py build | check | weigh [FOLDER] | node")


if __name__ == "__main__":
    main(*sys.argv[1:])
