"""Logging of a process: set up once, before anything else."""

import logging
import os
import sys

from app.core.logs.audit_file import AuditFile
from app.core.logs.lines import JsonLines, TextLines
from app.core.settings import Settings
from app.core.variables import unknown_names

OURS = ("app", "graph", "migrations", "typesense_checkpoint", "kai")
logger = logging.getLogger(__name__)

ACCESS = "kai.access"
AUDIT = "kai.audit"


def start_logs(settings: Settings, *, access_log: bool) -> None:
    """Log to stderr, at first each `KAI_...` variable that is no setting. Raises `AuditFileClosed`.

    The level holds for KAI's own loggers. Libraries log warnings and errors only: below that, some log whole
    requests, prompts included. Without `access_log`, requests are logged only when they fail by a defect.
    """
    as_text = settings.log_format == "text" or (settings.log_format == "auto" and sys.stderr.isatty())
    lines = logging.StreamHandler()
    lines.setFormatter(TextLines() if as_text else JsonLines())
    logging.basicConfig(level=logging.WARNING, handlers=[lines], force=True)
    logging.captureWarnings(True)
    for name in OURS:
        logging.getLogger(name).setLevel(settings.log_level.upper())
    if not access_log:
        logging.getLogger(ACCESS).setLevel(logging.ERROR)
    if settings.audit.file is not None:
        audited = logging.getLogger(AUDIT)
        audited.addHandler(AuditFile(settings.audit.file))
        audited.setLevel(logging.INFO)
        audited.propagate = False
    for unknown in unknown_names(os.environ.items(), Settings):
        logger.error("%s KAI runs without it.", unknown)
