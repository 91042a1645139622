"""Entry point of the `kai` command."""

from app.commands.command_line import main

__all__ = ["main"]
