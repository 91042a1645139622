"""A clock for code that takes its clock as an argument."""


class Clock:
    """Stands still until a test moves it. Seconds."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now
