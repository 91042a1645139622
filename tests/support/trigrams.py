"""Vectors of texts by their runs of three letters, so that "procure" is near "procurement"."""

import re
from zlib import crc32


def vector_of(text: str, dimensions: int) -> list[float]:
    """How often each bucket of trigrams occurs; never all zero."""
    vector = [0.0] * dimensions
    for word in re.findall(r"[^\W_]+", text.lower()) or ["-"]:
        padded = f"^{word}$"
        for start in range(max(1, len(padded) - 2)):
            vector[crc32(padded[start : start + 3].encode()) % dimensions] += 1.0
    return vector
