"""The composition root: from settings to opened services, and their closing. Names every concrete class."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
