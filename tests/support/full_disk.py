"""The `kai` command on a disk with room for files of so many bytes: `ROOM`."""

import os
import resource

from app.cli import main as run_command


def main() -> None:
    room = int(os.environ["ROOM"])
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    run_command()
