"""Forks commands from a process that has imported the application; `kai_process` orders them."""

import asyncio
import ctypes
import gc
import json
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pkgutil import walk_packages

import app
import graph
import migrations
import typesense_checkpoint
from app.core import best_effort_cache, rates, redis_check
from app.core.auth import provider, signing_keys
from app.http.router import build_routes
from app.main import describe_api
from graph import session

ORDER_BYTES = 1 << 17
_DUCKDB = ("app.modules.database_connection.engines.duckdb.", "app.modules.database_connection.uploads.child")
"""Not imported beforehand: DuckDB writes a warning when a process ends whose objects are frozen."""

_CLOCK = """
import time
now, ahead = time.time_ns, {}
time.time_ns = lambda: now() + ahead * 10**9
time.time = lambda: time.time_ns() / 10**9
"""


@dataclass(frozen=True, kw_only=True)
class Order:
    """A command to start; its standard streams and the socket of its status are sent along, in this order."""

    module: str
    """Whose `main` is called, with the arguments of the command line."""
    arguments: list[str]
    environment: dict[str, str]
    folder: str
    clock_ahead_seconds: int


def main(descriptor: int) -> None:
    """Serve the orders that come through a socket until its other end is closed."""
    import_application()
    session._compiled()  # as each server would, like the next line
    asyncio.run(build_routes(describe_api()))
    be_patient()
    gc.freeze()  # a collection in a child would copy what it shares with the others
    order = _fork(socket.socket(fileno=descriptor))
    os.environ.clear()
    os.environ.update(order.environment)
    time.tzset()
    os.chdir(order.folder)
    sys.path[:0] = filter(None, order.environment.get("PYTHONPATH", "").split(os.pathsep))
    sys.argv = ["kai", *order.arguments]
    if order.clock_ahead_seconds:
        exec(_CLOCK.format(order.clock_ahead_seconds), {})  # noqa: S102

    import_module(order.module).main()


def import_application() -> None:
    """Import every module, those too that commands import when they need them."""
    for package in (app, graph, migrations, typesense_checkpoint):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.startswith(_DUCKDB):
                import_module(module.name)


def be_patient() -> None:
    """Let a busy machine make nothing late that KAI soon gives up: commands to Redis, and what an issuer
    publishes.
    """
    best_effort_cache._PATIENCE_SECONDS = rates.PATIENCE_SECONDS = redis_check._PATIENCE_SECONDS = 60.0
    signing_keys._TIMEOUT_SECONDS = provider._TIMEOUT_SECONDS = 60


def _fork(orders: socket.socket) -> Order:
    """Returns in the children only, once for each order."""
    running: dict[int, tuple[int, socket.socket]] = {}
    poll = select.poll()
    poll.register(orders, select.POLLIN)
    while True:
        for descriptor, _ in poll.poll():
            if descriptor in running:
                poll.unregister(descriptor)
                os.close(descriptor)
                _report_end(*running.pop(descriptor))
                continue
            message, descriptors, _, _ = socket.recv_fds(orders, ORDER_BYTES, 4)
            if not message:
                sys.exit()
            *streams, status_descriptor = descriptors
            status = socket.socket(fileno=status_descriptor)
            process_id = os.fork()
            if process_id == 0:
                for each in (orders, status, *(of_other for _, of_other in running.values())):
                    each.close()
                for watched in running:
                    os.close(watched)
                _take_over(streams)
                return Order(**json.loads(message))
            for stream in streams:
                os.close(stream)
            status.send(str(process_id).encode())
            watched = os.pidfd_open(process_id)
            running[watched] = process_id, status
            poll.register(watched, select.POLLIN)


def _report_end(process_id: int, status: socket.socket) -> None:
    _, ended = os.waitpid(process_id, 0)
    with status, suppress(OSError):  # the tests may have ended meanwhile
        status.send(str(os.waitstatus_to_exitcode(ended)).encode())


def _take_over(streams: list[int]) -> None:
    """Make these the standard streams; end with the parent."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
