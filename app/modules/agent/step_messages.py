"""The steps of an investigation as messages of a prompt, whole or cut to the room that there is."""

import json
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from pydantic import JsonValue

from app.core.llm.model import PromptMessage, ToolCall
from app.core.llm.tokens import approximate_tokens
from app.core.values.text import text_of
from app.modules.agent.sheets import keys_below
from app.modules.prompts.budget import cut, prompt_tokens
from app.modules.prompts.sections import fenced
from app.modules.records.steps import CallRecord, StepRecord
from app.modules.tools.results import result_name

_MAX_TOKENS = 12_000
"""Tokens of the results in a prompt. Older ones are cut when it is exceeded."""
_OLD_CHARACTERS = 300
_SHORT_CHARACTERS: Sequence[int] = (300, 60)
"""Of text and arguments, if a step does not fit: first the one, then the other."""
_MOST_NAMES = 8
_EARLIER_TOKENS = 3_000
_EARLIER_CHARACTERS = 1_200
"""Of each argument and result of an earlier investigation."""
_LEAST_OF_RESULT = 40


@dataclass(frozen=True)
class MadeStep:
    """A step with its calls."""

    step: StepRecord
    calls: Sequence[CallRecord]

    def messages(self, whole: Set[str], mark: str) -> list[PromptMessage]:
        """Returns what was said and returned. `whole` are the ids of the calls whose results are not cut."""
        return list(_said(self.step, self.calls, whole, mark=mark))


@dataclass(frozen=True)
class ShownSteps:
    """The latest steps, as far as there is room."""

    older: Sequence[MadeStep]
    newest: Sequence[PromptMessage]
    left_out: str
    """The line that names the steps that are left out. Empty if none are."""
    mark: str

    @property
    def messages(self) -> list[PromptMessage]:
        """The steps, with the older results cut."""
        return self._messages(set())

    def grown(self, spare: int, may_be_whole: Set[str]) -> list[PromptMessage]:
        """Returns the steps with older results whole, the newest first, for as many tokens as there are."""
        whole: set[str] = set()
        for made in reversed(self.older):
            for call in made.calls:
                shown = [approximate_tokens(_returned(call, each, self.mark)) for each in (True, False)]
                spare -= shown[0] - shown[1]
                if spare >= 0 and call.id in may_be_whole:
                    whole.add(call.id)
        return self._messages(whole)

    def _messages(self, whole: Set[str]) -> list[PromptMessage]:
        older = [message for made in self.older for message in made.messages(whole, self.mark)]
        return [*older, *self.newest]


def newest_results(made: Sequence[MadeStep]) -> set[str]:
    """Returns the ids of the calls whose results are shown whole: the newest within 12,000 tokens."""
    whole: set[str] = set()
    spent = 0
    for each in reversed(made):
        for call in each.calls:
            spent += approximate_tokens(call.text)
            if spent <= _MAX_TOKENS:
                whole.add(call.id)
    return whole


def shortest_tokens(made: Sequence[MadeStep], mark: str) -> int:
    """Returns the tokens of the newest step whole and the others with their results cut."""
    older = [message for each in made[:-1] for message in each.messages(set(), mark)]
    newest = [message for each in made[-1:] for message in each.messages(newest_results(made), mark)]
    return prompt_tokens([*older, *newest])


def fit_steps(made: Sequence[MadeStep], room: int, mark: str) -> ShownSteps:
    """Returns the latest steps that fit: the newest whole, if it fits, and the results of the others cut."""
    shown = _latest(made, room, mark)
    count = len(shown.older) + bool(shown.newest)
    if count == len(made):
        return shown
    reserved = approximate_tokens(_left_out(made)) + _MOST_NAMES
    shown = _latest(made, room - reserved, mark)
    count = len(shown.older) + bool(shown.newest)
    return replace(shown, left_out=_left_out(made[: len(made) - count]))


def _latest(made: Sequence[MadeStep], room: int, mark: str) -> ShownSteps:
    newest = [message for each in made[-1:] for message in each.messages(newest_results(made), mark)]
    if prompt_tokens(newest) > room:
        newest = _squeezed(made[-1], room, mark)
    left = room - prompt_tokens(newest)
    older: list[MadeStep] = []
    for each in reversed(made[:-1] if newest else ()):
        left -= prompt_tokens(each.messages(set(), mark))
        if left < 0:
            break
        older.insert(0, each)
    return ShownSteps(older=older, newest=newest, left_out="", mark=mark)


def _squeezed(made: MadeStep, room: int, mark: str) -> list[PromptMessage]:
    """Returns a step with its text, arguments and results cut. Empty if it does not fit even so."""
    everything = {call.id for call in made.calls}
    for characters in _SHORT_CHARACTERS:
        step = replace(
            made.step,
            text=_head(made.step.text, characters),
            fault=_head(made.step.fault, characters),
        )
        calls = [
            replace(call, text="", arguments=_shortened(call.arguments, characters)) for call in made.calls
        ]
        left = room - prompt_tokens(MadeStep(step, calls).messages(everything, mark))
        if left >= _LEAST_OF_RESULT * len(calls):
            shown: list[CallRecord] = []
            for at, (call, whole) in enumerate(zip(calls, made.calls, strict=True)):
                what = f"this result; read_rows shows rows of {_name(call)}" if call.result else "this result"
                text = cut(unmarked(whole.text, mark), left // (len(calls) - at) - 1, what)
                left -= approximate_tokens(text) + 1
                shown.append(replace(call, text=text))
            return MadeStep(step, shown).messages(everything, mark)
    return []


def _left_out(made: Sequence[MadeStep]) -> str:
    if not made:
        return ""
    names = [_name(call) for each in made for call in each.calls if call.result]
    again = f" read_rows shows rows of their results: {', '.join(names[-_MOST_NAMES:])}." if names else ""
    first = made[0].step.step
    last = made[-1].step.step
    steps = f"step {first}" if first == last else f"steps {first} to {last}"
    return f"(cut: there is no room for {steps}.{again})"


def _head(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[:characters]} (cut)"


def _shortened(arguments: Mapping[str, JsonValue], characters: int) -> dict[str, JsonValue]:
    """Returns arguments whose values, as JSON, have at most so many characters, and of many the first."""
    short: dict[str, JsonValue] = {}
    for name, value in list(arguments.items())[:_MOST_NAMES]:
        text = text_of(value)
        short[name[:characters]] = value if len(text) <= characters else _head(text, characters)
    return short


def earlier_steps(steps: Sequence[tuple[StepRecord, Sequence[CallRecord]]]) -> str:
    """Returns the steps of an investigation without an answer as text, the newest within 3,000 tokens.

    Of an investigation that went on with another one, the steps of that one come first.
    """
    parts = [step.earlier for step, _ in steps if step.earlier]
    parts += [text for step, calls in steps if (text := _as_text(step, calls))]
    kept: list[str] = []
    left = _EARLIER_TOKENS
    for part in reversed(parts):
        left -= approximate_tokens(part)
        if left < 0:
            kept.append("(cut: there is no room for the steps before these)")
            break
        kept.append(part)
    return "\n\n".join(reversed(kept))


def _as_text(step: StepRecord, calls: Sequence[CallRecord]) -> str:
    """Returns a step with what its calls returned. Calls that never ended were not made."""
    lines = [step.text] if calls and step.text else []
    for call in calls:
        if call.has_ended:
            given = json.dumps(_shortened(call.arguments, _EARLIER_CHARACTERS), ensure_ascii=False)
            lines += [f"{call.tool} {given} ({call.status}):", _head(call.text, _EARLIER_CHARACTERS)]
    return "\n".join(lines)


def _said(
    step: StepRecord, calls: Sequence[CallRecord], whole: Set[str], *, mark: str
) -> Iterator[PromptMessage]:
    if calls:
        made = [
            ToolCall(_wire_id(call), call.tool, json.dumps(call.arguments, ensure_ascii=False))
            for call in calls
        ]
        yield PromptMessage("assistant", step.text, calls=made)
        for call in calls:
            yield PromptMessage("tool", _returned(call, call.id in whole, mark), call_id=_wire_id(call))
    else:
        yield PromptMessage("assistant", step.text or "(nothing)")
    if step.fault:
        yield PromptMessage("user", fenced(step.fault))


def _wire_id(call: CallRecord) -> str:
    return f"call_{call.step}_{call.position + 1}"


def _name(call: CallRecord) -> str:
    return result_name(call.step, call.position)


def _returned(call: CallRecord, is_whole: bool, mark: str) -> str:
    text = unmarked(call.text, mark)
    if not is_whole and len(text) > _OLD_CHARACTERS:
        again = f" read_rows shows rows of {_name(call)} again." if call.result else ""
        text = f"{text[:_OLD_CHARACTERS]}\n(cut: this result is older.{again}{keys_below(text)})"
    return f"[{mark}]\n{text}\n[/{mark}]"


def unmarked(text: str, mark: str) -> str:
    """Returns the text without the mark. If it were removed, what stands around it could be another one."""
    return text.replace(mark, "(mark)")
