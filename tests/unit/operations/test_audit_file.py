"""The audit log's file, when it cannot be written."""

import logging
from pathlib import Path

import pytest

from app.core.logs.audit_file import AuditFile, AuditFileClosed


def statement(sha256: str) -> logging.LogRecord:
    record = logging.LogRecord("kai.audit", logging.INFO, "", 0, "statement", (), None)
    record.statement_sha256 = sha256
    return record


def test_what_cannot_be_recorded_in_it_goes_into_the_ordinary_log_with_an_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "audit"
    folder.mkdir()
    file = AuditFile(folder / "audit.jsonl")
    file.handle(statement("first"))
    (folder / "audit.jsonl").unlink()
    folder.rmdir()
    file.handle(statement("second"))
    assert [record.getMessage() for record in caplog.records] == [
        "the audit log cannot be written",
        "statement",
    ]
    assert vars(caplog.records[1])["statement_sha256"] == "second"


def test_a_folder_that_may_not_be_written_is_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(AuditFileClosed, match="KAI_AUDIT__FILE"):
        AuditFile(tmp_path / "none" / "audit.jsonl")
