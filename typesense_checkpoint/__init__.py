"""LangGraph checkpoints in Typesense.

Imports LangGraph's checkpoint package and the Typesense client only. See README.md.
"""

from typesense_checkpoint.copying import ThreadDiffers, copy_thread
from typesense_checkpoint.records import CheckpointRecord
from typesense_checkpoint.saver import CheckpointIncomplete, TypesenseCheckpointer

__all__ = [
    "CheckpointIncomplete",
    "CheckpointRecord",
    "ThreadDiffers",
    "TypesenseCheckpointer",
    "copy_thread",
]
__version__ = "0.2.0"
