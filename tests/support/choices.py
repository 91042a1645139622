"""Replies of a model that chooses statements, and the statements of the customers per country."""

import json

BRAZIL = "**Brazil** has the most customers: 2, 66.7% of the total of 3."
SHOWN = BRAZIL.replace("**", "")
"""As a page shows it."""
NORWAY = "Norway has the fewest customers: 1."


def choice(*facts: str, reading: str = "") -> str:
    """The reply with numbers of statements, their keys or calls."""
    return json.dumps({"facts": facts, "reading": reading})


FIRST = choice("f1")
"""Chooses the first statement."""
