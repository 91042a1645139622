"""KAI: a server that answers questions about SQL databases."""

__version__ = "0.2.0"
