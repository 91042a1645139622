"""Which form of the instructions a model gets."""

import pytest

from app.core.llm.capabilities import InstructionForm, analysis_form_for, instruction_for
from tests.support.cases import assert_each


def test_a_small_model_gets_the_short_form() -> None:
    def check(model: str) -> None:
        assert instruction_for(model) == "short"

    assert_each(
        [
            "qwen2.5-coder-1.5b-instruct-q4_k_m",
            "Qwen/Qwen2.5-Coder-7B-Instruct",
            "llama3.2:1b",
            "llama-3.1-8b-instant",
            "gemma-3-270m-it",
            "gemma-3n-e4b-it",
            "qwen3-30b-a3b",
            "gpt-4.1-mini",
            "gpt-4o-mini-2024-07-18",
            "gpt-5-nano",
            "claude-3-5-haiku-latest",
            "gemini-2.5-flash-lite",
            "phi-3-mini-128k-instruct",
            "TinyLlama/TinyLlama-chat",
            "HuggingFaceTB/SmolLM2",
            "moonshot-v1-8k",
            "llama-2-70b-4k",
            "gpt-3.5-turbo",
        ],
        check,
    )


def test_a_large_model_and_one_of_unknown_size_get_the_long_form() -> None:
    def check(model: str) -> None:
        assert instruction_for(model) == "long"

    assert_each(
        [
            "gpt-4.1",
            "gpt-4o-2024-08-06",
            "claude-sonnet-4-20250514",
            "gemini-2.5-pro",
            "deepseek-chat",
            "deepseek-r1-distill-llama-70b",
            "Qwen2.5-72B-Instruct-AWQ-4bit",
            "qwen3-235b-a22b",
            "mixtral-8x7b-32768",
            "open-mixtral-8x22b",
            "gpt-oss-120b",
            "moonshot-v1-128k",
            "mistral-small-24b",
            "something-new",
            "",
        ],
        check,
    )


@pytest.mark.parametrize("form", ["short", "long"])
def test_what_was_measured_goes_before_the_name_and_what_is_set_before_both(form: InstructionForm) -> None:
    other: InstructionForm = "long" if form == "short" else "short"
    assert {instruction_for(name, measured=form) for name in ("llama-1b", "gpt-4.1")} == {form}
    assert instruction_for("llama-1b", form, measured=other) == form


@pytest.mark.parametrize(
    "model",
    [
        "qwen2.5-coder:1.5b",
        "Qwen2.5-Coder-1.5B-Instruct-Q4_K_M",
        "llama-3.1-8b",
        "gemma3:12b",
        "phi-3.5-mini-instruct",
        "microsoft/phi-4",
        "qwen3-30b-a3b",
        "SmolLM2",
        "TinyLlama/TinyLlama-chat",
    ],
)
def test_a_model_of_less_than_15_billion_parameters_is_not_asked_for_a_choice(model: str) -> None:
    assert analysis_form_for(model) == "builtin"


@pytest.mark.parametrize(
    "model",
    ["gpt-4.1-mini", "claude-haiku-4-5", "qwen2.5-72b", "gpt-oss-20b", "something-new", "scripted", ""],
)
def test_a_large_model_and_one_of_unknown_size_choose(model: str) -> None:
    assert analysis_form_for(model) == "choose"


def test_the_setting_of_the_form_goes_before_the_name() -> None:
    assert analysis_form_for("llama-3.1-8b", "choose") == "choose"
    assert analysis_form_for("something-new", "builtin") == "builtin"
