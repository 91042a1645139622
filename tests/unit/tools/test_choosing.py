"""Which tools a step offers when there are many."""

from app.core.llm.model import OfferedTool
from app.modules.tools.choosing import FIND_TOOLS, MOST_TOOLS, choose_tools, find_for_model
from app.modules.tools.policy import ToolPolicy
from app.modules.tools.registry import BUILTIN, ToolRegistry

NEEDED = {"ask_user", "finish"}


def offer(name: str, description: str) -> OfferedTool:
    return OfferedTool(name, description, {"type": "object", "properties": {}})


OURS = [tool.offer for tool in ToolRegistry(BUILTIN, ToolPolicy()).offered("ask").values()]
CRM = [offer(f"crm__read_{number}", f"Read record {number} of the customer system.") for number in range(30)]
WEATHER = offer("weather__rain", "Look up the rain and temperature of a town.")


def names(offers: list[OfferedTool]) -> list[str]:
    return [each.name for each in offers]


def test_few_tools_are_all_offered_without_one_that_finds_others() -> None:
    chosen = choose_tools(OURS, "Why?", needed=NEEDED, window_tokens=128_000)
    assert names(chosen) == [each.name for each in OURS if each.name != FIND_TOOLS]


def test_of_many_tools_those_of_the_question_and_the_needed_ones_stay() -> None:
    said = "Did the rain keep customers away?"
    chosen = names(choose_tools([*CRM, *OURS, WEATHER], said, needed=NEEDED, window_tokens=None))
    assert len(chosen) == MOST_TOOLS
    assert {"weather__rain", FIND_TOOLS, *NEEDED} <= set(chosen)


def test_a_tool_that_was_found_is_offered_however_little_the_question_says_of_it() -> None:
    everything = [*CRM, *OURS, WEATHER]
    found = names(find_for_model(everything, "temperature"))
    assert found == ["weather__rain"]
    said = "customer record of the system"
    without = choose_tools(everything, said, needed=NEEDED, window_tokens=None)
    assert "weather__rain" not in names(without)
    chosen = choose_tools(everything, said, needed={*NEEDED, *found}, window_tokens=None)
    assert "weather__rain" in names(chosen)


def test_tools_that_would_fill_a_quarter_of_the_window_are_cut() -> None:
    chosen = names(choose_tools(OURS, "Compare two results", needed=NEEDED, window_tokens=8_192))
    assert {"compare_results", FIND_TOOLS, *NEEDED} <= set(chosen)
    assert len(chosen) < len(OURS)


def test_the_finder_never_finds_itself() -> None:
    assert FIND_TOOLS not in names(find_for_model(OURS, "find tools"))
