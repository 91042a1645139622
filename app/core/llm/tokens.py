"""Token counts without a vocabulary, which would have to come over the network."""

_BYTES_PER_TOKEN = 4


def approximate_tokens(text: str) -> int:
    """About how many tokens a text has: a token for every four bytes of UTF-8, rounded up.

    That is OpenAI's rule of thumb for English, and near the truth for scripts with fewer letters a token.
    """
    return -(-len(text.encode(errors="replace")) // _BYTES_PER_TOKEN)
