"""Task and dialogue sets for `kai eval`: they are generated, asked of KAI, and scored."""

__version__ = "0.2.0"
