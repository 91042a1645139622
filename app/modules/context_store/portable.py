"""Knowledge of a database as files: the entries that a file holds, and their text as CSV and Markdown.

Both formats hold the same entries and read back what they have written.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from app.core.errors import Invalid

EntryKind = Literal["term", "instruction", "example", "table", "column"]
FileFormat = Literal["csv", "markdown"]

MAX_FILE_ENTRIES = 2_000

_COLUMNS = ("kind", "name", "text", "sql", "table", "column", "unit")
_KINDS: Mapping[str, EntryKind] = {
    "term": "term",
    "instruction": "instruction",
    "example": "example",
    "table": "table",
    "column": "column",
}
_SECTIONS: Mapping[str, EntryKind] = {
    "glossary": "term",
    "instructions": "instruction",
    "examples": "example",
    "tables": "table",
}
_HEADING = re.compile(r"(#{1,3})\s+(.*?)\s*$")
_FENCE = re.compile(r"(`{3,})\s*(?:sql)?\s*$")
_NAMED = re.compile(r"-\s+(`+)(.+?)\1(?!`)(?:\s+in\s+(`+)(.+?)\3(?!`))?(?::\s*(.*))?$")
_CODE = re.compile(r"(`+)(.+?)\1$")
_ITEM = re.compile(r"-\s+(.*)$")
_RESERVED = re.compile(r"\\|#{1,6}\s|`{3}|-\s")
"""What begins a line of Markdown that would not read back as text."""
_LINE_END = re.compile(r"\r\n|\n|\r")
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20", "'")


class FileNotKnowledge(Invalid):
    """A file of knowledge cannot be read as a whole."""

    problem = "file-not-knowledge"
    title = "The file cannot be read"


@dataclass(frozen=True, kw_only=True)
class FileEntry:
    """An entry of a file. `line` is where it begins, counted from 1.

    `name` is a term or a question, `text` a meaning, an instruction or a description. An empty text, SQL or
    unit changes nothing of what is stored.
    """

    line: int = 0
    kind: EntryKind
    name: str = ""
    text: str = ""
    sql: str = ""
    table: str = ""
    column: str = ""
    unit: str = ""

    @property
    def label(self) -> str:
        """What a person calls the entry."""
        if self.kind == "table":
            return self.table
        return f"{self.table}.{self.column}" if self.kind == "column" else self.name or self.text


@dataclass(frozen=True)
class UnreadLine:
    """A line of a file that cannot be read, and why."""

    line: int
    reason: str


FilePart: TypeAlias = FileEntry | UnreadLine


def read_file(text: str, file_format: FileFormat) -> list[FilePart]:
    """Returns the entries of a file in its order, and the lines that cannot be read.

    Raises `FileNotKnowledge` for a file without a readable header or entry, or with too many.
    """
    parts = list(_read_csv(text) if file_format == "csv" else _read_markdown(text))
    if not parts:
        raise FileNotKnowledge(
            "The file holds no entry. An export of the same format shows how to write one."
        )
    if len(parts) > MAX_FILE_ENTRIES:
        raise FileNotKnowledge(
            f"The file holds {len(parts):,} entries; split it into files of {MAX_FILE_ENTRIES:,}."
        )
    return parts


def write_file(entries: Sequence[FileEntry], file_format: FileFormat, title: str) -> str:
    """Returns the text of a file. `title` is the name of the database."""
    return _csv(entries) if file_format == "csv" else _markdown(entries, title)


def _csv(entries: Sequence[FileEntry]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(_COLUMNS)
    writer.writerows([_no_formula(getattr(each, name)) for name in _COLUMNS] for each in entries)
    return text.getvalue()


def _no_formula(cell: str) -> str:
    """Returns a cell that no spreadsheet runs: an apostrophe before it is taken off when it is read."""
    return f"'{cell}" if cell.startswith(_FORMULA_STARTS) else cell


def _read_csv(text: str) -> Iterator[FilePart]:
    # A file of a spreadsheet may begin with a byte order mark.
    lines = csv.reader(io.StringIO(text.removeprefix("\ufeff")), strict=True)
    header: list[str] | None = None
    line = 1
    try:
        for row in lines:
            began, line = line, lines.line_num + 1
            if not any(cell.strip() for cell in row):
                continue
            if header is None:
                header = _header(row)
                continue
            yield _of_row(dict(zip(header, row, strict=False)), began, len(row) - len(header))
    except csv.Error as error:
        yield UnreadLine(line, f"This is no CSV from here on: {error}.")


def _header(row: Sequence[str]) -> list[str]:
    header = [cell.strip().lower() for cell in row]
    if "kind" not in header:
        raise FileNotKnowledge(
            f"The first line must name the columns: {', '.join(_COLUMNS)}. Unused ones may be left out."
        )
    if unknown := sorted(set(header) - set(_COLUMNS)):
        raise FileNotKnowledge(
            f"The file has the unknown column {unknown[0]!r}. Known: {', '.join(_COLUMNS)}."
        )
    return header


def _of_row(cells: Mapping[str, str], line: int, surplus: int) -> FilePart:
    if surplus > 0:
        return UnreadLine(line, "The line has more cells than the header; quote text that has commas.")
    said = {name: cell.strip().removeprefix("'") for name, cell in cells.items()}
    kind = _KINDS.get(said.get("kind", "").lower())
    if kind is None:
        return UnreadLine(line, f"The kind must be one of {', '.join(_KINDS)}.")
    return FileEntry(
        line=line,
        kind=kind,
        name=said.get("name", ""),
        text=said.get("text", ""),
        sql=said.get("sql", ""),
        table=said.get("table", ""),
        column=said.get("column", ""),
        unit=said.get("unit", ""),
    )


def _markdown(entries: Sequence[FileEntry], title: str) -> str:
    of = {kind: [each for each in entries if each.kind == kind] for kind in _KINDS.values()}
    parts = [f"# Knowledge of {_one_line(title)}"]
    if of["term"]:
        parts.append("## Glossary")
        parts += [_section(each.name, each.text, each.sql) for each in of["term"]]
    if of["instruction"]:
        parts.append("## Instructions")
        for scope in sorted({each.table for each in of["instruction"]}):
            parts += [f"### {_code(scope)}"] if scope else []
            parts.append("\n".join(_item(each.text) for each in of["instruction"] if each.table == scope))
    if of["example"]:
        parts.append("## Examples")
        parts += [_section(each.name, "", each.sql) for each in of["example"]]
    if of["table"] or of["column"]:
        parts.append("## Tables")
        described = {each.table: each.text for each in of["table"]}
        for table in dict.fromkeys([*described, *(each.table for each in of["column"])]):
            parts += [f"### {_code(table)}"]
            parts += [_text(described[table])] if described.get(table) else []
            columns = [_column(each) for each in of["column"] if each.table == table]
            parts += ["\n".join(columns)] if columns else []
    return "\n\n".join(parts) + "\n"


def _section(name: str, text: str, sql: str) -> str:
    parts = [f"### {_one_line(name)}"]
    parts += [_text(text)] if text else []
    if sql:
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", sql)), default=0))
        parts.append(f"{fence}sql\n{sql}\n{fence}")
    return "\n\n".join(parts)


def _column(entry: FileEntry) -> str:
    unit = f" in {_code(entry.unit)}" if entry.unit else ""
    said = f": {_indented(entry.text)}" if entry.text else ""
    return f"- {_code(entry.column)}{unit}{said}"


def _item(text: str) -> str:
    return f"- {_indented(text)}"


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


def _text(text: str) -> str:
    return "\n".join(f"\\{line}" if _RESERVED.match(line) else line for line in text.split("\n"))


def _code(name: str) -> str:
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", name)), default=0))
    return f"{fence}{name}{fence}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


class _Reading:
    """The state of reading Markdown: the section, the entry that is open, and the text of its lines."""

    def __init__(self) -> None:
        self.section: EntryKind | None = None
        self.name = ""
        self.entry: FileEntry | None = None
        self.lines: list[str] = []
        self.sql: list[str] | None = None
        self.fence = ""

    def close(self) -> Iterator[FilePart]:
        """Yield the open entry with its text."""
        if self.entry is not None:
            text = "\n".join(self.lines).strip("\n")
            if text or self.entry.kind != "table":
                yield replace(self.entry, text=text, sql="\n".join(self.sql or []))
        self.entry, self.lines, self.sql = None, [], None


def _read_markdown(text: str) -> Iterator[FilePart]:
    now = _Reading()
    for number, line in enumerate(_LINE_END.split(text.removeprefix("\ufeff")), 1):
        if now.fence:
            if line.strip() == now.fence:
                now.fence = ""
            elif now.sql is not None:
                now.sql.append(line)
        elif (heading := _HEADING.match(line)) is not None:
            yield from now.close()
            yield from _begin(now, number, heading)
        elif now.section is not None:
            yield from _take(now, number, line)
    if now.fence and now.entry is not None:
        yield UnreadLine(now.entry.line, "The SQL of this entry has no end: close it with its backticks.")
        return
    yield from now.close()


def _begin(now: _Reading, number: int, heading: re.Match[str]) -> Iterator[FilePart]:
    depth, said = len(heading[1]), heading[2]
    if depth < 3:
        now.section = _SECTIONS.get(said.lower()) if depth == 2 else None
        now.name = ""
        if depth == 2 and now.section is None:
            yield UnreadLine(number, "The heading must be one of Glossary, Instructions, Examples, Tables.")
        return
    coded = _CODE.fullmatch(said)
    now.name = coded[2] if coded is not None else said
    match now.section:
        case "term" | "example":
            now.entry = FileEntry(line=number, kind=now.section, name=said)
        case "table":
            now.entry = FileEntry(line=number, kind="table", table=now.name)
        case "instruction" | "column" | None:
            pass


def _take(now: _Reading, number: int, line: str) -> Iterator[FilePart]:
    if now.section in ("term", "example"):
        fence = _FENCE.match(line)
        if fence is not None and now.entry is not None and now.sql is None:
            now.sql, now.fence = [], fence[1]
        elif now.entry is not None:
            now.lines.append(line.removeprefix("\\"))
        elif line.strip():
            yield UnreadLine(number, "Text before the first ### heading of a section belongs to no entry.")
    elif now.entry is not None and line.startswith("  ") and now.entry.kind in ("instruction", "column"):
        now.lines.append(line.removeprefix("  "))
    elif now.section == "instruction" and (item := _ITEM.match(line)) is not None:
        yield from now.close()
        now.entry = FileEntry(line=number, kind="instruction", table=now.name)
        now.lines = [item[1]]
    elif now.section == "table" and now.name and (named := _NAMED.match(line)) is not None:
        yield from now.close()
        now.entry = FileEntry(
            line=number, kind="column", table=now.name, column=named[2], unit=named[4] or ""
        )
        now.lines = [named[5] or ""]
    elif now.entry is not None and now.entry.kind == "table":
        now.lines.append(line.removeprefix("\\"))
    elif line.strip():
        yield UnreadLine(number, "This line belongs to no entry.")
