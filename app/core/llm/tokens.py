"""Token counts without a vocabulary, which would have to come over the network."""

_CHARACTERS_PER_TOKEN = 4


def approximate_tokens(text: str) -> int:
    """About how many tokens a text has: OpenAI's rule of thumb of four characters each, rounded up."""
    return -(-len(text) // _CHARACTERS_PER_TOKEN)
