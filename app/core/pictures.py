"""Pictures of Vega-Lite specifications, drawn by a child process that is kept, limited and replaced."""

import asyncio
import base64
import json
import logging
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from pydantic import JsonValue

from app.core.errors import Problem

logger = logging.getLogger(__name__)

_CHILD = Path(__file__).parent / "picture_child.py"
_ENVIRONMENT = {"TZ": "UTC"}  # so that times are drawn alike everywhere
_SECONDS = 10
"""Of one picture, the start of the process included (about half a second)."""
_IDLE_SECONDS = 300
_PICTURES_OF_A_PROCESS = 300
"""The process grows by about 0.6 MB with each."""
_MEMORY_BYTES = 1024 * 1024 * 1024
"""Of the process's writable memory. V8 takes 560 MB of it at its start, most of which it never touches."""
_LONGEST_SPEC = 8 * 1024 * 1024
_LONGEST_ANSWER = 48 * 1024 * 1024
_MOST_WAITING = 100
_OPENING = ("url", "href")
"""Names of what would read a file or an address, or be followed by a click."""

Spec = Mapping[str, JsonValue]


class NoPicture(Problem):
    """A chart cannot be drawn as a picture. `detail` says why."""

    problem = "no-picture"
    title = "The picture cannot be drawn"
    status = 422


class PicturesBusy(Problem):
    """Too many pictures wait already."""

    problem = "pictures-busy"
    title = "Too many pictures are being drawn"
    status = 503
    headers: Mapping[str, str] = {"Retry-After": "5"}
    sentence = "Try again in a few seconds."
    cure = "Send the request again after `Retry-After`."
    retryable = True


class Pictures:
    """Draws one picture at a time, in the order of the calls. Methods raise `NoPicture` and `PicturesBusy`.

    The process starts with the first picture, ends after five minutes without one, and is replaced when it
    dies or takes too long. It opens no address.
    """

    def __init__(self, *, seconds: float = _SECONDS) -> None:
        self._seconds = seconds
        self._turn = asyncio.Lock()
        self._waiting = 0
        self._drawn = 0
        self._child: Process | None = None
        self._idle: asyncio.TimerHandle | None = None

    async def svg(self, spec: Spec, config: Spec) -> str:
        """Returns an SVG document. Texts stay texts, in the fonts of the configuration."""
        return (await self._draw(spec, config, scale=None))["svg"]

    async def png(self, spec: Spec, config: Spec, *, scale: float = 2) -> bytes:
        """Returns a PNG with `scale` pixels for each pixel of the specification."""
        return base64.b64decode((await self._draw(spec, config, scale=scale))["png"])

    async def close(self) -> None:
        """End the process. The next picture would start another."""
        async with self._turn:
            await self._end()

    @property
    def process_id(self) -> int | None:
        """Id of the process that draws. None while there is none."""
        return None if self._child is None else self._child.pid

    async def _draw(self, spec: Spec, config: Spec, *, scale: float | None) -> dict[str, str]:
        _refuse_openings(spec)
        line = await asyncio.to_thread(json.dumps, {"spec": spec, "config": config, "scale": scale})
        if len(line) > _LONGEST_SPEC:
            raise NoPicture("The chart has too much data for a picture.")
        if self._waiting >= _MOST_WAITING:
            raise PicturesBusy
        self._waiting += 1
        try:
            async with self._turn:
                answer = await self._answer(line)
        finally:
            self._waiting -= 1
        if "error" in answer:
            logger.warning("A picture could not be drawn: %s", answer["error"])
            raise NoPicture(f"The chart cannot be drawn: {_first_line(answer['error'])}.")
        return answer

    async def _answer(self, line: str) -> dict[str, str]:
        """A process that an earlier picture has left may have died since, so a fresh one tries again."""
        has_drawn = self._child is not None
        answer = await self._exchange(line)
        if answer is None and has_drawn:
            answer = await self._exchange(line)
        if answer is None:
            raise NoPicture("The process that draws it ended; the chart may need too much memory.")
        return answer

    async def _exchange(self, line: str) -> dict[str, str] | None:
        """Returns None if the process has died. An interruption ends the process, because the next caller
        would read its answer.
        """
        answer = None
        try:
            async with asyncio.timeout(self._seconds):
                answer = await _ask(await self._started(), line)
        except TimeoutError:
            raise NoPicture(f"Drawing the chart took more than {self._seconds:g} seconds.") from None
        finally:
            self._drawn += 1
            if answer is None or self._drawn >= _PICTURES_OF_A_PROCESS:
                await self._end()
            else:
                self._idle = asyncio.get_running_loop().call_later(_IDLE_SECONDS, self._kill)
        return answer

    async def _started(self) -> Process:
        if self._idle is not None:
            self._idle.cancel()
        if self._child is not None and self._child.returncode is None:
            return self._child
        self._drawn = 0
        self._child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            str(_CHILD),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            cwd="/",
            env=_ENVIRONMENT,
            limit=_LONGEST_ANSWER,
        )
        opening = {"memory_bytes": _MEMORY_BYTES, "seconds": max(1, round(self._seconds))}
        await _write(self._child, json.dumps(opening))
        return self._child

    def _kill(self) -> None:
        if self._child is not None:
            with suppress(ProcessLookupError):
                self._child.kill()

    async def _end(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        child, self._child = self._child, None
        if child is not None:
            with suppress(ProcessLookupError):
                child.kill()
            await child.wait()


async def _ask(child: Process, line: str) -> dict[str, str] | None:
    """Returns the answer, or None if the process has died."""
    try:
        await _write(child, line)
        said = await _output(child).readline()
    except (BrokenPipeError, ConnectionResetError):
        return None
    if not said.endswith(b"\n"):
        return None
    found: dict[str, str] = json.loads(said)
    return found


async def _write(child: Process, line: str) -> None:
    if child.stdin is not None:
        child.stdin.write(line.encode() + b"\n")
        await child.stdin.drain()


def _output(child: Process) -> asyncio.StreamReader:
    if child.stdout is None:
        raise BrokenPipeError
    return child.stdout


def _refuse_openings(part: JsonValue | Spec) -> None:
    """Raises `NoPicture` for a specification that names an address or an image, outside of its data."""
    match part:
        case Mapping():
            if any(name in part for name in _OPENING) or part.get("type") == "image":
                raise NoPicture("The chart names an address or an image, which KAI does not open.")
            for name, each in part.items():
                if name == "mark" and each == "image":
                    raise NoPicture("The chart names an address or an image, which KAI does not open.")
                if name not in ("values", "datasets", "usermeta"):
                    _refuse_openings(each)
        case list():
            for each in part:
                _refuse_openings(each)


def _first_line(text: str) -> str:
    """The first line that says something, without the library's own prefix."""
    lines = [line.strip() for line in text.splitlines()]
    return next((line for line in reversed(lines) if line and not line.startswith("at ")), "it is not valid")[
        :200
    ].rstrip(".")
