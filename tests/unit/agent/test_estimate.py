"""What an investigation will cost, before it begins."""

from app.modules.agent.estimate import accepting, is_accepted, plan_tokens
from app.modules.records.model import MAX_QUERY_CHARACTERS


def estimated(plan: str, *, prompt_tokens: int = 1_000, max_steps: int = 12) -> int:
    return plan_tokens(plan, prompt_tokens=prompt_tokens, max_steps=max_steps, max_tokens=60_000)


def test_each_line_is_a_step_whose_results_are_in_the_later_prompts() -> None:
    assert estimated("1. Look") == 2 * 1_300 + 1_500
    assert estimated("1. Look\n\n2. Compare") == 3 * 1_300 + 3 * 1_500
    assert estimated("") == estimated("1. Look")


def test_the_limits_of_investigations_bound_an_estimate() -> None:
    assert estimated("1. a\n2. b\n3. c", max_steps=1) == estimated("1. a")
    assert estimated("1. a", prompt_tokens=50_000) == 60_000


def test_the_question_that_accepts_is_as_long_as_a_question_may_be() -> None:
    for question in ("Why?", "x" * MAX_QUERY_CHARACTERS):
        assert is_accepted(accepting(question))
        assert len(accepting(question)) <= MAX_QUERY_CHARACTERS
    assert not is_accepted("Why?")
