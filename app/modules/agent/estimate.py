"""What an investigation will cost, before it begins, and the question that accepts it."""

from app.modules.records.model import MAX_QUERY_CHARACTERS

_TOKENS_OF_RESULTS = 1_500
"""What the calls of a step add to the prompts after it."""
_TOKENS_OF_REPLY = 300
_ACCEPTED = "Go on: "


def plan_tokens(plan: str, *, prompt_tokens: int, max_steps: int, max_tokens: int) -> int:
    """Returns about the tokens of an investigation. Each line of the plan is a step; the last one concludes.

    `prompt_tokens` are those of the first prompt, which each later one repeats.
    """
    lines = sum(bool(line.strip()) for line in plan.splitlines())
    steps = min(max(lines, 1) + 1, max_steps + 1)
    results = _TOKENS_OF_RESULTS * steps * (steps - 1) // 2
    return min(steps * (prompt_tokens + _TOKENS_OF_REPLY) + results, max_tokens)


def estimate_text(plan: str, tokens: int) -> str:
    """Returns a question to the user."""
    return (
        f"This needs an investigation of about {tokens:,} tokens, more than a third of what is left of "
        f"today's. The plan:\n\n{plan.strip()}\n\nGo on?"
    )


def accepting(question: str) -> str:
    """Returns the question that begins the investigation without an estimate."""
    return f"{_ACCEPTED}{question}"[:MAX_QUERY_CHARACTERS]


def is_accepted(question: str) -> bool:
    return question.startswith(_ACCEPTED)
