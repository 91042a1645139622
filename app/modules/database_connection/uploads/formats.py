"""Format of a file, by its name; the content must agree."""

from collections.abc import Mapping
from pathlib import PurePath, PureWindowsPath

from app.modules.database_connection.uploads.errors import FileNotReadable
from app.modules.database_connection.uploads.model import FileFormat

HEAD_BYTES = 16
_BY_ENDING: Mapping[str, FileFormat] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".xlsx": "xlsx",
    ".parquet": "parquet",
}
_KINDS: Mapping[bytes, tuple[FileFormat | None, str]] = {
    b"PK\x03\x04": ("xlsx", "an Excel workbook (.xlsx) or a ZIP archive"),
    b"PAR1": ("parquet", "a Parquet file (.parquet)"),
    b"\xd0\xcf\x11\xe0": (None, "an old or password-protected Excel workbook: save it as .xlsx, open to all"),
    b"SQLite format 3": (None, "a SQLite database: register it by its URL"),
    b"\x1f\x8b": (None, "compressed: unpack it first"),
    b"%PDF": (None, "a PDF: export the table as CSV"),
}
_ENDINGS = "Upload a file that ends in .csv, .tsv, .txt, .xlsx or .parquet."


def has_file_ending(name: str) -> bool:
    """Returns True for names of files that can be imported."""
    return PurePath(name).suffix.lower() in _BY_ENDING


def base_name(file_name: str) -> str:
    """Returns the name without folders. Raises `FileNotReadable` for another ending."""
    name = PurePath(PureWindowsPath(file_name).name).name
    if not has_file_ending(name):
        raise FileNotReadable(_ENDINGS)
    return name


def read_format(file_name: str, head: bytes) -> FileFormat:
    """`head` are the first `HEAD_BYTES`. Raises `FileNotReadable` if name and content disagree."""
    wanted = _BY_ENDING[PurePath(file_name).suffix.lower()]
    found, kind = next((known for mark, known in _KINDS.items() if head.startswith(mark)), ("csv", ""))
    if not head:
        raise FileNotReadable("The file is empty.")
    if found == wanted:
        return wanted
    if kind:
        raise FileNotReadable(f"The name ends as that of another kind of file; the content is {kind}.")
    raise FileNotReadable(
        "The content is not what the file's name says. If it is text with separators, name it .csv."
    )
