"""Fakes of servers, each a program in a process of its own."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


@contextmanager
def run_fake(command: Sequence[str]) -> Iterator[None]:
    """Run a program, which writes `ready` once it listens, as long as the block lasts."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield
        finally:
            process.kill()


def statements_of(script: str) -> list[str]:
    """Returns the statements of a script, each of which ends a line with a semicolon."""
    return [each for each in script.split(";\n") if each.strip()]
