"""Sets the logs of a process up, once, before it does anything else."""

import logging
import sys

from app.core.logs.audit_file import AuditFile
from app.core.logs.lines import JsonLines, TextLines
from app.core.settings import AuditSettings, LogSettings

OURS = ("app", "graph", "migrations", "typesense_checkpoint", "kai")
AUDIT = "kai.audit"


def start_logs(log: LogSettings, audit: AuditSettings) -> None:
    """Lines on stderr. Raises `AuditFileClosed`.

    The level is for KAI's own loggers: of libraries only warnings are heard, for below that some of them
    repeat requests, prompts included.
    """
    terminal = sys.stderr.isatty()
    lines = logging.StreamHandler()
    lines.setFormatter(
        TextLines() if (log.format or ("text" if terminal else "json")) == "text" else JsonLines()
    )
    logging.basicConfig(level=logging.WARNING, handlers=[lines], force=True)
    logging.captureWarnings(True)
    for name in OURS:
        logging.getLogger(name).setLevel((log.level or ("warning" if terminal else "info")).upper())
    if audit.file is not None:
        audited = logging.getLogger(AUDIT)
        audited.addHandler(AuditFile(audit.file))
        audited.setLevel(logging.INFO)
        audited.propagate = False
