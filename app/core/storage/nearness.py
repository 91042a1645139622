"""Nearest vectors by cosine. All vectors are compared, so the result is exact."""

from collections.abc import Sequence

import numpy as np


def nearest(
    candidates: Sequence[tuple[int, bytes]], vector: Sequence[float], limit: int
) -> list[tuple[int, float]]:
    """Returns the keys and cosines of the nearest candidates, nearest first.

    Each candidate is a key and a vector of 32-bit floats, as long as `vector`.
    """
    if not candidates:
        return []
    vectors = np.frombuffer(b"".join(stored for _, stored in candidates), np.float32)
    vectors = vectors.reshape(len(candidates), len(vector))
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    # Not by `@`, whose threads wait for each other longer than one thread takes.
    products = np.einsum("ij,j->i", vectors, np.asarray(vector, np.float32))
    cosines = products / np.where(lengths == 0, 1, lengths)
    order = np.argsort(-cosines, kind="stable")[:limit]
    length = float(np.linalg.norm(np.asarray(vector, np.float32))) or 1.0
    return [(candidates[index][0], float(cosines[index]) / length) for index in order]
