"""A scripted writer that obeys whatever facts its prompt holds, for dialogues of `kai eval --memory`."""

from collections.abc import Sequence

from kai_analyst_tasks.dialogues.dialogue_set import Dialogue
from tests.support.model_script import Asked, Scripted


class ObeyingWriter:
    """A policy of a scripted model. `prompts` are those that asked for a statement."""

    def __init__(self, dialogues: Sequence[Dialogue]) -> None:
        self._asides = {each.aside.question: each.aside.sql for each in dialogues}
        self._dialogues = {each.question: each for each in dialogues}
        self.prompts: list[str] = []

    def __call__(self, asked: Asked) -> Scripted | None:
        if "SQL writer" not in asked.text:
            return None
        self.prompts.append(asked.text)
        question = asked.messages[-1]["content"]
        for aside, sql in self._asides.items():
            if aside in question:
                return _statement(sql)
        dialogue = next(each for text, each in self._dialogues.items() if text in question)
        meanings = [dialogue.fact, dialogue.foreign, *([dialogue.later] if dialogue.later else [])]
        shown = [each.sql for each in meanings if f") {each.text}\n" in f"{asked.text}\n"]
        return _statement(shown[-1] if shown else dialogue.plain_sql)


def _statement(sql: str) -> Scripted:
    return Scripted(f"```sql\n{sql}\n```")
