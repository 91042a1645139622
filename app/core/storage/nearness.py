"""Which vectors point most in the same direction: all are compared, so the answer is exact."""

from collections.abc import Sequence

import numpy as np


def nearest(candidates: Sequence[tuple[int, bytes]], vector: Sequence[float], limit: int) -> list[int]:
    """The keys of the vectors (of 32-bit floats) with the greatest cosine, the nearest first."""
    if not candidates:
        return []
    vectors = np.frombuffer(b"".join(stored for _, stored in candidates), np.float32)
    vectors = vectors.reshape(len(candidates), len(vector))
    lengths = np.linalg.norm(vectors, axis=1)
    cosines = vectors @ np.asarray(vector, np.float32) / np.where(lengths == 0, 1, lengths)
    return [candidates[index][0] for index in np.argsort(-cosines, kind="stable")[:limit]]
