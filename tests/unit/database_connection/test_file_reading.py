"""The reading of uploaded files, in this process; `test_uploads.py` has the child with its limits."""

import tracemalloc
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path, PurePath

import pytest
from openpyxl import Workbook

from app.modules.database_connection.uploads.child import result_of
from app.modules.database_connection.uploads.errors import FileNotReadable
from app.modules.database_connection.uploads.formats import base_name, read_format
from app.modules.database_connection.uploads.model import (
    MAX_NAME_CHARACTERS,
    ImportRequest,
    ImportResult,
    TableCorrection,
)
from app.modules.database_connection.uploads.names import column_names, sql_name
from tests.support.hostile_files import HOSTILE, MB, bomb, lying_workbook


def read(
    folder: Path, content: bytes, name: str = "sales.csv", corrections: Sequence[TableCorrection] = ()
) -> ImportResult:
    name = base_name(name)
    (folder / "source").write_bytes(content)
    return result_of(
        ImportRequest(
            source=str(folder / "source"),
            target=str(folder / "made.duckdb"),
            folder=str(folder),
            title=PurePath(name).stem,
            format=read_format(name, content[:16]),
            max_file_bytes=40 * MB,
            max_unpacked_bytes=40 * MB,
            memory_bytes=1024 * MB,
            corrections=corrections,
        )
    )


def types_of(folder: Path, content: bytes) -> list[tuple[str, str | None]]:
    reading = read(folder, content).reading
    assert reading is not None
    return [(each.type, each.written) for each in reading.tables[0].columns]


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_a_hostile_file_is_refused_with_the_reason(tmp_path: Path, name: str) -> None:
    content, said = HOSTILE[name]
    try:
        refused = read(tmp_path, content, name).refused
    except FileNotReadable as error:
        refused = error.detail
    assert refused is not None
    assert said in refused


def test_a_workbook_that_unpacks_to_more_than_it_declares_is_never_unpacked_whole(tmp_path: Path) -> None:
    content = lying_workbook()
    tracemalloc.start()
    try:
        refused = read(tmp_path, content, "lying.xlsx").refused
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert refused is not None
    assert "damaged" in refused
    assert peak < 20 * MB


def test_a_workbook_that_unpacks_to_a_hundred_times_its_size_is_refused(tmp_path: Path) -> None:
    refused = read(tmp_path, bomb(30 * MB), "bomb.xlsx").refused
    assert refused is not None
    assert "unpacks to more than 10,485,760 bytes" in refused


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (["1", "-2", "+3", ""], ("integer", "point")),
        (["1.5", "2", ".5", "1e3"], ("number", "point")),
        (["1,234.50", "12"], ("number", "point")),
        (["1.234,50", "12"], ("number", "comma")),
        (["01234", "99999"], ("text", None)),
        (["12345678901234567890"], ("number", "point")),
        (["true", "FALSE", "yes"], ("boolean", None)),
        (["2026-01-31", "2026/02/01"], ("date", "ymd")),
        (["31.01.2026", "01.02.2026"], ("date", "dmy")),
        (["01/31/2026"], ("date", "mdy")),
        (["2026-02-30"], ("text", None)),
        (["2026-01-31 10:00", "2026-01-31T10:00:00.5Z"], ("datetime", "ymd")),
        (["31.01.2026 10:00:01"], ("datetime", "dmy")),
        (["1", "two"], ("text", None)),
        (["N/A", "null"], ("text", None)),
        (["N/A", "7"], ("integer", "point")),
        (["12 %", "3 %"], ("text", None)),
        (["+4915112345678", "+390612345678"], ("text", None)),
        (["#DIV/0!", "0.5"], ("number", "point")),
    ],
    ids=str,
)
def test_the_type_of_a_column_is_one_that_all_cells_fit(
    tmp_path: Path, cells: list[str], found: tuple[str, str | None]
) -> None:
    lines = "\n".join(f'x,"{cell}"' for cell in cells)
    assert types_of(tmp_path, f"name,value\n{lines}\n".encode())[1] == found


def test_semicolons_mean_a_decimal_comma_where_both_are_possible(tmp_path: Path) -> None:
    assert types_of(tmp_path, b"a;b\n1,234;x\n")[0] == ("number", "comma")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings_are_found_out(tmp_path: Path, encoding: str) -> None:
    result = read(tmp_path, "Größe;Ort\n1;Köln\n".encode(encoding))
    assert result.reading is not None
    (table,) = result.reading.tables
    assert [each.name for each in table.columns] == ["Größe", "Ort"]
    assert table.columns[1].samples == ["Köln"]
    assert len(result.reading.notes) == (encoding == "cp1252")


def test_rows_with_fewer_cells_are_filled_and_counted(tmp_path: Path) -> None:
    result = read(tmp_path, b"a,b\n1,2\n3\n")
    assert result.reading is not None
    assert result.reading.tables[0].columns[1].empty == 1
    assert "1 of 2 rows" in result.reading.notes[0]


def test_a_header_can_be_a_row_if_the_owner_says_so(tmp_path: Path) -> None:
    result = read(
        tmp_path, b"ann,bob\ncy,dee\n", corrections=[TableCorrection(name="sales", has_header=False)]
    )
    assert result.reading is not None
    assert result.reading.tables[0].row_count == 2


def test_names_are_those_of_sql() -> None:
    assert sql_name("2026 sales", "file") == "_2026_sales"
    assert sql_name("../..", "file") == "file"
    assert column_names(["Größe", "größe", "", "a\x00b"]) == ["Größe", "größe_2", "column_3", "a_b"]


def test_long_headers_are_cut(tmp_path: Path) -> None:
    content = b"%s,b\n1,2\n" % (b"a" * 900_000)
    reading = read(tmp_path, content).reading
    assert reading is not None
    assert [each.source_name for each in reading.tables[0].columns] == ["a" * MAX_NAME_CHARACTERS, "b"]


def test_a_sheet_whose_title_is_no_sql_name_is_read_again_without_a_header(tmp_path: Path) -> None:
    workbook = Workbook()
    sheet = workbook.create_sheet("My staff")
    for row in (["ann", "bob"], ["cy", "dee"]):
        sheet.append(row)
    file = BytesIO()
    workbook.save(file)
    corrections = [TableCorrection(name="My_staff", has_header=False)]
    reading = read(tmp_path, file.getvalue(), "people.xlsx", corrections).reading
    assert reading is not None
    (table,) = reading.tables
    assert (table.name, table.has_header, table.row_count) == ("My_staff", False, 2)


def test_what_stands_above_a_table_is_left_out_and_said(tmp_path: Path) -> None:
    reading = read(tmp_path, b"sep=;\nSales of May;;\n;;\nday;units;price\n2026-05-01;2;1,5\n").reading
    assert reading is not None
    (table,) = reading.tables
    assert [each.name for each in table.columns] == ["day", "units", "price"]
    assert table.row_count == 1
    assert ["sep=" in reading.notes[0], "Sales of May" in reading.notes[1]] == [True, True]


def test_a_comma_in_one_line_of_text_makes_no_table_of_it(tmp_path: Path) -> None:
    assert "Row 3 has 2 cells" in (read(tmp_path, b"comment\nhello\nhello, world\nbye\n").refused or "")


def test_sheets_may_have_titles_merged_headers_or_no_rows(tmp_path: Path) -> None:
    workbook = Workbook()
    sales = workbook.create_sheet("Sales")
    for row in (["Sales 2026"], ["region", "units", None], ["north", 1, 2], ["south", 3, 4]):
        sales.append(row)
    sales.merge_cells("B2:C2")
    workbook.create_sheet("Empty").append(["a", "b"])
    file = BytesIO()
    workbook.save(file)
    reading = read(tmp_path, file.getvalue(), "all.xlsx").reading
    assert reading is not None
    (table,) = reading.tables
    assert [(each.name, each.type) for each in table.columns] == [
        ("region", "text"),
        ("units", "integer"),
        ("column_3", "integer"),
    ]
    said = " ".join(reading.notes)
    assert all(part in said for part in ("“Sales 2026”", "names 2 of 3 columns", "Empty has a header"))
