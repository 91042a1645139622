"""Nearest vectors by cosine. All vectors are compared, so the result is exact."""

from collections.abc import Sequence

import numpy as np


def nearest(candidates: Sequence[tuple[int, bytes]], vector: Sequence[float], limit: int) -> list[int]:
    """Returns the keys of the nearest candidates, nearest first.

    Each candidate is a key and a vector of 32-bit floats, as long as `vector`.
    """
    if not candidates:
        return []
    vectors = np.frombuffer(b"".join(stored for _, stored in candidates), np.float32)
    vectors = vectors.reshape(len(candidates), len(vector))
    lengths = np.linalg.norm(vectors, axis=1)
    cosines = vectors @ np.asarray(vector, np.float32) / np.where(lengths == 0, 1, lengths)
    return [candidates[index][0] for index in np.argsort(-cosines, kind="stable")[:limit]]
