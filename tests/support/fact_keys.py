"""Keys of the facts that stand below the rows of a result, as a scripted model reads them."""

import re

_KEY = re.compile(r"^- (\w+): ", re.MULTILINE)


def fact_keys(returned: str) -> list[str]:
    """Returns the keys in what a tool has returned, the most relevant first. Empty if it has no facts."""
    return _KEY.findall(returned.rpartition("\nFacts, ")[2])
