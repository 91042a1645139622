"""Changes of a chart in a reader's words, in English and German."""

from app.modules.analysis.chart.words.reading import ReadWords, read_words, set_fields

__all__ = ["ReadWords", "read_words", "set_fields"]
