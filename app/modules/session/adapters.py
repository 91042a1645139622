"""Binds the graph's ports for one run: to its session's database, its owner and its message."""

from dataclasses import dataclass
from datetime import UTC, datetime

from app.core.llm.model import LanguageModel
from app.modules.analysis.analyst import FiguresAnalyst, ModelAnalyst
from app.modules.database_connection.execution import Limits
from app.modules.database_connection.service import Connection, DatabaseConnections
from app.modules.session.model import Run, Session
from app.modules.session.rows import RowStore
from app.modules.session.service import HEAD_ROWS
from app.modules.session.summary import DigestSummarizer, ModelSummarizer
from app.modules.sql_generation.linking import schema_cards
from app.modules.sql_generation.writer import BuiltinWriter, ModelWriter
from graph import Ports
from graph.ports import Question
from graph.state import Rows
