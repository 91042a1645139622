"""Files that no table can be read from, and a workbook that can be read."""

import io
import zipfile
import zlib
from collections.abc import Mapping
from datetime import date, datetime
from struct import pack

import openpyxl

MB = 1024 * 1024


def workbook() -> bytes:
    book = openpyxl.Workbook()
    first = book.active
    assert first is not None
    first.title = "Orders 2026"
    first.append(["Day", "Amount", "Paid", "Twice"])
    first.append([date(2026, 1, 2), 1.5, True, "=B2*2"])
    first.append([datetime(2026, 1, 3, 4, 5), 2, False, "=B3*2"])  # noqa: DTZ001 - as Excel has it
    book.create_sheet("Empty")
    book.create_sheet("People").append(["name"])
    book["People"].append(["=cmd|' /C calc'!A0"])
    book["People"]["A2"].data_type = "s"
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def bomb(size: int = 60 * MB) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/worksheets/sheet1.xml", b" " * size)
    return file.getvalue()


def lying_workbook() -> bytes:
    """The part that is read first declares ten bytes and holds sixty million; its checksum is that of ten."""
    file = io.BytesIO()
    content = b" " * (60 * MB)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
        archive.writestr("[Content_Types].xml", content)
    true = pack("<I", zlib.crc32(content)), pack("<I", len(content))
    said = pack("<I", zlib.crc32(content[:10])), pack("<I", 10)
    written = file.getvalue()
    for one, other in zip(true, said, strict=True):
        written = written.replace(one, other)
    return written


def plain_zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.csv", "a,b\n")
    return file.getvalue()


HOSTILE: Mapping[str, tuple[bytes, str]] = {
    "empty.csv": (b"", "is empty"),
    "blank.csv": (b"\n\n , \n", "is empty"),
    "header.csv": (b"a,b\n", "no rows"),
    "binary.csv": (bytes(range(256)), "not text"),
    "wide.csv": (b",".join(b"c" for _ in range(10_000)) + b"\n1\n", "10,000 columns"),
    "huge.csv": (b"a,b\n1," + b"x" * (2 * MB) + b"\n", "more than 1,000,000 characters"),
    "open.csv": (b'a,b\n1,"x\n2,3\n', "quotation marks"),
    "ragged.csv": (b"a,b\n1,2,3\n", "Row 2 has 3 cells"),
    "excel.csv": (workbook(), "Excel workbook"),
    "text.xlsx": (b"a,b\n1,2\n", "not what the file's name says"),
    "text.parquet": (b"a,b\n1,2\n", "not what the file's name says"),
    "cut.parquet": (b"PAR1" + b"\x00" * 100, "damaged"),
    "cut.xlsx": (workbook()[:500], "damaged"),
    "zip.xlsx": (plain_zip(), "ZIP archive"),
    "bomb.xlsx": (bomb(), "unpacks to more than"),
    "old.xls": (b"\xd0\xcf\x11\xe0" + b"\x00" * 600, "ends in"),
    "locked.xlsx": (b"\xd0\xcf\x11\xe0" + b"\x00" * 600, "password-protected"),
    "shop.csv": (b"SQLite format 3\x00" + b"\x00" * 100, "SQLite"),
    "utf16.csv": (b"\xff\xfea\x00,\x00b", "UTF-16"),
    "neither.csv": (b"a,b\n\x81\x8d,\xff\n", "UTF-8"),
    "evil.sh": (b"a,b\n1,2\n", "ends in"),
}
"""Contents by file name, and part of the reason why each is refused."""
