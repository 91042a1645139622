"""Kinds of what a prompt shows of databases and conversations."""

from typing import Literal, get_args

ContextKind = Literal["schema", "values", "rows", "history", "knowledge", "memory", "tool_results"]
"""`schema`: names, types and keys. `values`: stored values. `rows`: results. `history`: earlier questions and
answers. `knowledge`: examples, glossary and instructions. `memory`: what is remembered. `tool_results`: what
tools return."""

ALL_CONTEXT: tuple[ContextKind, ...] = get_args(ContextKind)
