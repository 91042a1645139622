"""Entry point of the `kai` command."""

from signal import SIG_DFL, SIGINT, default_int_handler, getsignal, signal


def main() -> None:
    """Runs the command. While it is being imported Ctrl-C ends the process at once, without a traceback."""
    if getsignal(SIGINT) is default_int_handler:
        signal(SIGINT, SIG_DFL)
    from app.commands.command_line import main as run  # noqa: PLC0415 - slow

    run()
