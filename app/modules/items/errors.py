"""Refusals of items. Each names the cure."""

from app.core.errors import Forbidden, Invalid


class NamespaceReserved(Forbidden):
    """The namespace is KAI's own."""

    sentence = "The namespace {label!r} is KAI's own. Choose another first label."


class TooManyItems(Invalid):
    """The owner has as many items as an owner may have."""

    problem = "too-many-items"
    title = "Too many items"
    sentence = "You have {most} items, as many as an owner may have. Delete some."
