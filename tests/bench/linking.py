"""How much of the right schema linking finds: `python -m tests.bench.linking FOLDER...`.

A folder holds SQLite databases, and questions about them as JSON lines: `db`, `question`, `gold_sql`
(a list) and, for dialogues, `conversation_id` and `turn`. All databases are pooled into one schema.
"""

import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.core.llm.tokens import approximate_tokens
from app.modules.database_connection.engines.sqlite.database import SqliteDatabase
from app.modules.database_connection.limits import ConnectionLimits
from app.modules.database_connection.scan.read import scan
from app.modules.database_connection.scan.scanned import ScannedSchema
from app.modules.database_connection.schema import ForeignKey, Schema, TableProfile
from app.modules.database_connection.threads import Stop
from app.modules.sql_generation.linking.mentions import mentions
from app.modules.sql_generation.schema_index import SchemaIndex
from app.modules.sql_generation.schema_linking import link, rank

BUDGETS = (1_500, 3_000, 6_000)


@dataclass(frozen=True)
class Asked:
    """A question with the lines before it, and what its right answer reads."""

    conversation: list[str]
    tables: set[str]
    literals: set[str]


class Pool:
    """The databases of some folders as one schema; tables of the same name are numbered."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.names: dict[tuple[str, str], str] = {}
        profiles: list[TableProfile] = []
        for path in sorted(each for folder in folders for each in databases(folder)):
            profiles += self._profiles(path)
        self.scanned = ScannedSchema(
            Schema("sqlite", [each.table for each in profiles]),
            {each.table.name: each.texts for each in profiles},
        )
        self.index = SchemaIndex(self.scanned)

    def _profiles(self, path: Path) -> list[TableProfile]:
        found: list[TableProfile] = []
        scan(SqliteDatabase(path.resolve()), ConnectionLimits(), Stop(), tell=found.extend)
        profiles = found[len(found) // 2 :]  # reported twice: first without their values
        taken = {name.lower() for name in self.names.values()}
        for profile in profiles:
            name, number = profile.table.name, 1
            while name.lower() in taken:
                number += 1
                name = f"{profile.table.name}_{number}"
            self.names[path.stem, profile.table.name.lower()] = name
        return [self._renamed(path.stem, each) for each in profiles]

    def _renamed(self, database: str, profile: TableProfile) -> TableProfile:
        keys = [
            ForeignKey(key.columns, self.names[database, key.referred_table.lower()], key.referred_columns)
            for key in profile.table.foreign_keys
            if (database, key.referred_table.lower()) in self.names
        ]
        name = self.names[database, profile.table.name.lower()]
        return TableProfile(replace(profile.table, name=name, foreign_keys=keys), profile.texts)

    def asked(self, database: str, conversation: Sequence[str], gold: str) -> Asked | None:
        """None for a statement that reads no known table of the pool."""
        try:
            tree = sqlglot.parse_one(gold, dialect="sqlite")
        except SqlglotError:
            return None
        own = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
        read = {table.name.lower() for table in tree.find_all(exp.Table)} - own
        if not read or any((database, name) not in self.names for name in read):
            return None
        tables = {self.names[database, name] for name in read}
        return Asked(list(conversation), tables, self._stored_literals(tree, tables))

    def _stored_literals(self, tree: exp.Expr, tables: set[str]) -> set[str]:
        stored = {
            text
            for name in tables
            for texts in self.scanned.texts.get(name, {}).values()
            for text in texts
            if any(map(str.isalpha, text))
        }
        said = {each.this for each in tree.find_all(exp.Literal) if each.is_string}
        said |= {each.this for each in tree.find_all(exp.Identifier) if each.quoted}
        return said & stored


def databases(place: Path) -> Iterable[Path]:
    """A SQLite file itself, or those of a folder."""
    return [place] if place.is_file() else place.glob("*.sqlite")


def read(pool: Pool, path: Path) -> dict[str, list[Asked]]:
    """Single questions, first turns, and later turns with and without what was said before."""
    sets: defaultdict[str, list[Asked]] = defaultdict(list)
    said: defaultdict[str, list[str]] = defaultdict(list)
    for line in path.read_text().splitlines():
        row = json.loads(line)
        conversation = [row["question"]]
        if dialogue := row.get("conversation_id"):
            conversation = said[dialogue] = [*said[dialogue], row["question"]]
        asked = pool.asked(row["db"], conversation, row["gold_sql"][0])
        if asked is None:
            continue
        if len(conversation) > 1:
            sets["follow-up, with the conversation"].append(asked)
            sets["follow-up, its own line only"].append(replace(asked, conversation=conversation[-1:]))
        else:
            sets["single questions"].append(asked)
    return sets


def share(hits: Iterable[bool]) -> str:
    found = list(hits)
    return f"{sum(found) / len(found):.3f}" if found else "-"


def ranked(pool: Pool, asked: Asked, count: int) -> tuple[set[str], set[str]]:
    """The best tables, and these with their neighbours."""
    mentioned = mentions(asked.conversation, pool.index.stored, pool.index.columns)
    best = rank(pool.index, asked.conversation, [], mentioned=mentioned)[:count]
    return set(best), {*best, *pool.index.foreign_keys.neighbours(best)}


def report(pool: Pool, name: str, questions: Sequence[Asked]) -> None:
    print(f"{name} ({len(questions)})")
    for count in (5, 10):
        found = [ranked(pool, asked, count) for asked in questions]
        plain = share(asked.tables <= best for asked, (best, _) in zip(questions, found, strict=True))
        wider = share(asked.tables <= more for asked, (_, more) in zip(questions, found, strict=True))
        size = sum(len(more) for _, more in found) / len(found)
        print(f"  all right tables @{count} {plain}, with neighbours {wider} ({size:.1f} tables)")
    for budget in BUDGETS:
        begun = time.perf_counter()
        linked = [link(pool.index, asked.conversation, [], budget_tokens=budget) for asked in questions]
        took = (time.perf_counter() - begun) / len(questions) * 1_000
        hit = share(asked.tables <= set(each.tables) for asked, each in zip(questions, linked, strict=True))
        tokens = sum(approximate_tokens(each.cards) for each in linked) / len(linked)
        print(f"  within {budget} tokens {hit} ({tokens:.0f} tokens, {took:.1f} ms a question)")
    print(f"  literals resolved as stored {literals(pool, questions)}")


def literals(pool: Pool, questions: Sequence[Asked]) -> str:
    hits: list[bool] = []
    for asked in questions:
        if asked.literals:
            mentioned = mentions(asked.conversation, pool.index.stored, pool.index.columns)
            offered = {place.text for mention in mentioned for place in mention.places}
            hits += [literal in offered for literal in asked.literals]
    return f"{share(hits)} of {len(hits)}"


def main() -> None:
    folders = [Path(each) for each in sys.argv[1:]]
    if not folders:
        sys.exit(__doc__)
    pool = Pool(folders)
    print(f"{len(pool.names)} tables, {pool.index.tokens} tokens of cards")
    for path in sorted(each for folder in folders for each in folder.glob("*.jsonl")):
        for name, questions in read(pool, path).items():
            report(pool, f"{path.stem}: {name}", questions)


if __name__ == "__main__":
    main()
