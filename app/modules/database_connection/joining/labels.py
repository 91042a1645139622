"""Names that differ in more than case."""

from collections.abc import Sequence


def labels_of(names: Sequence[str]) -> list[str]:
    """Returns the names in one line, with a number where one is there already."""
    labels: list[str] = []
    for name in (" ".join(each.splitlines()) for each in names):
        label = name
        number = 2
        while label.casefold() in {each.casefold() for each in labels}:
            label = f"{name} ({number})"
            number += 1
        labels.append(label)
    return labels
