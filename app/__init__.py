"""KAI: a server that answers questions about SQL databases."""

__version__ = "0.1.0"
