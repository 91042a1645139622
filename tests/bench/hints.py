"""How many of the hints at stored values are of use: `python -m tests.bench.hints FOLDER...`.

A folder holds SQLite databases and question sets as `tests.bench.linking` reads them; here each question is
linked to its own database. Recall counts the stored values of right statements that hints, cards or the
values of named columns offer; noise the hint lines of which no right statement uses a value. Both by the
half that `kai eval --split` takes a question for. `-20` lists the twenty most frequent useless lines of each.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.evaluation.question_set import (
    BenchmarkConversation,
    BenchmarkQuestion,
    QuestionSelection,
    Split,
    read_question_set,
)
from app.modules.sql_generation.linking.cards import named_samples, quoted
from app.modules.sql_generation.linking.mentions import StoredTextMention
from app.modules.sql_generation.linking.words import words_of
from app.modules.sql_generation.schema_index import SchemaIndex
from app.modules.sql_generation.schema_linking import link
from tests.bench.linking import Pool

_BUDGET_TOKENS = 6_000


@dataclass
class Tally:
    """`missed`: questions with a value that no hint offers; `noise`: what useless hints said."""

    values: int = 0
    offered: int = 0
    lines: int = 0
    useless: int = 0
    missed: list[str] = field(default_factory=list)
    noise: Counter[str] = field(default_factory=Counter)

    def add(
        self, question: BenchmarkQuestion, index: SchemaIndex, hints: Sequence[StoredTextMention]
    ) -> None:
        first, *others = [literals(gold) for gold in question.gold_sql]
        stored = {
            text for columns in index.scanned.texts.values() for texts in columns.values() for text in texts
        }
        needed = {each for each in first & stored if any(map(str.isalpha, each))}
        asked = frozenset(words_of(question.question))
        named = named_samples(index.scanned.schema.tables, index.stored.texts, asked)
        shown = "\n".join([*index.cards.values(), *named])
        offered = {place.text for hint in hints for place in hint.places}
        offered |= {each for each in needed if quoted([each]) in shown}
        useful = {each.casefold() for each in first.union(*others)}
        self.values += len(needed)
        self.offered += len(needed & offered)
        self.missed += [f"{question.db}: {question.question} -> {each}" for each in sorted(needed - offered)]
        self.lines += len(hints)
        for hint in hints:
            if not any(place.text.casefold() in useful for place in hint.places):
                self.useless += 1
                places = ", ".join(f"{each.table}.{each.column} = {each.text!r}" for each in hint.places)
                self.noise[f"{question.db}: {hint.said!r}: {'' if hint.exact else 'perhaps '}{places}"] += 1


def literals(sql: str) -> set[str]:
    """Texts in quotes, without the marks of a pattern; empty for what cannot be parsed."""
    try:
        tree = sqlglot.parse_one(sql, dialect="sqlite")
    except SqlglotError:
        return set()
    said = {each.this.strip("%") for each in tree.find_all(exp.Literal) if each.is_string}
    return said | {each.this for each in tree.find_all(exp.Identifier) if each.quoted}


def linked(
    conversation: BenchmarkConversation, index: SchemaIndex
) -> Iterator[tuple[BenchmarkQuestion, Sequence[StoredTextMention]]]:
    said: list[str] = []
    for question in conversation:
        said.append(question.question)
        yield question, link(index, said, [], budget_tokens=_BUDGET_TOKENS).mentions


def report(path: Path, folders: Sequence[Path]) -> None:
    conversations = read_question_set(path).conversations
    files = {each.stem: each for folder in folders for each in folder.glob("*.sqlite")}
    asked = {each[0].db or "" for each in conversations}
    indexes = {name: Pool([files[name]]).index for name in sorted(asked & files.keys())}
    for split in get_args(Split):
        tally = Tally()
        for conversation in QuestionSelection(split=split).of(conversations):
            with suppress(KeyError):
                for question, hints in linked(conversation, indexes[conversation[0].db or ""]):
                    tally.add(question, indexes[question.db or ""], hints)
        share = tally.useless / max(1, tally.lines)
        print(
            f"{path.stem}, {split}: {tally.offered} of {tally.values} values offered;"
            f" {tally.lines} hint lines, {tally.useless} of no use ({share:.0%})"
        )
        for missed in tally.missed:
            print(f"  missed: {missed}")
        for noise, count in tally.noise.most_common(int(sys.argv[1][1:]) if sys.argv[1][0] == "-" else 0):
            print(f"  {count} {noise}")


def main() -> None:
    folders = [Path(each) for each in sys.argv[1:] if not each.startswith("-")]
    if not folders:
        sys.exit(__doc__)
    for path in sorted(each for folder in folders for each in folder.glob("*.jsonl")):
        report(path, folders)


if __name__ == "__main__":
    main()
