"""The digest of a session's questions, by which a client without ids finds it."""

import hashlib
import json
from collections.abc import Iterable

_DIGEST_CHARACTERS = 32


def extended_transcript(transcript: str | None, question: str) -> str:
    """Returns the digest of a session's questions after one more. None: it has no question yet."""
    text = json.dumps([transcript, question])
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_CHARACTERS]


def transcript_of(questions: Iterable[str]) -> str | None:
    """Returns the digest of questions in their order. None for no question."""
    transcript: str | None = None
    for question in questions:
        transcript = extended_transcript(transcript, question)
    return transcript
