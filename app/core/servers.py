"""What the servers that KAI starts for itself have in common."""

import ctypes
import signal
import socket


def end_with_starter() -> None:
    """Run in a child before its program: it ends with the thread that has started it. Linux alone can."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def free_port() -> int:
    """A port of the loopback address that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
