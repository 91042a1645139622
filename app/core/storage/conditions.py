"""Exact check of a condition on a document, for stores whose own filters are not exact."""

from app.core.storage.port import AnyOf, Collection, Condition, Document, Equals, Range


def meets(document: Document, condition: Condition, collection: Collection) -> bool:
    field = collection.compared(condition)
    value = document.get(field.name)
    match condition:
        case Equals(value=wanted):
            return field.holds(wanted) and value == wanted
        case AnyOf(values=values):
            return isinstance(value, str) and value in values
        case Range(at_least=at_least, below=below):
            if not isinstance(value, int):
                return False
            return (at_least is None or value >= at_least) and (below is None or value < below)
