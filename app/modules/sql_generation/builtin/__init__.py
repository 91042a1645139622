"""SQL for simple questions without a model: for a first try, and as a fallback."""

from app.modules.sql_generation.builtin.plan import AsksForChange, Beyond, read_plan, write_plan
from app.modules.sql_generation.builtin.question.options import Choice, chosen
from app.modules.sql_generation.builtin.writer import (
    BuiltinAnswer,
    Clarification,
    FromRows,
    Previous,
    SmallTalk,
    WrittenSql,
    nearest_questions,
    write,
)

__all__ = [
    "AsksForChange",
    "Beyond",
    "BuiltinAnswer",
    "Choice",
    "Clarification",
    "FromRows",
    "Previous",
    "SmallTalk",
    "WrittenSql",
    "chosen",
    "nearest_questions",
    "read_plan",
    "write",
    "write_plan",
]
