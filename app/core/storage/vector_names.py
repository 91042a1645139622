"""Collections of vectors: each holds vectors of one length, so there is one a length, made when needed."""

_LETTERS = str.maketrans("0123456789", "abcdefghij")


def sized(name: str, dimensions: int) -> str:
    """Names have no digits, so the number is spelled in letters."""
    return f"{name}_{str(dimensions).translate(_LETTERS)}"
