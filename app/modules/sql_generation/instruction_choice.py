"""Result of `kai eval --compare-prompts` for a model: the form of the instructions that it gets."""

from dataclasses import asdict, dataclass
from urllib.parse import urlsplit

from pydantic import TypeAdapter

from app.core.ids import id_of
from app.core.llm.capabilities import InstructionForm
from app.core.llm.settings import Provider
from app.core.storage.port import Document, Storage

_COLLECTION = "model_choices"
_NAMESPACE = "b0a0c4d2-6f0e-5c53-8f0c-2b4b7d0f6a15"


@dataclass(frozen=True, kw_only=True)
class MeasuredForm:
    """Result of one form: right answers of the questions asked, and the cost of a question."""

    right: int
    asked: int
    calls: float
    tokens: float


@dataclass(frozen=True, kw_only=True)
class InstructionChoice:
    """The form for a model of a service, with the figures that decided; `measured_at` is an epoch ms.

    `p_value` is McNemar's: how often chance alone would make such a difference.
    """

    model: str
    host: str
    instruction: InstructionForm
    short: MeasuredForm
    long: MeasuredForm
    p_value: float
    question_set: str
    measured_at: int


_CHOICE = TypeAdapter(InstructionChoice)


class InstructionChoices:
    """One document per model and service. A later measurement replaces it."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def find(self, model: str, host: str) -> InstructionChoice | None:
        found = await self._storage.get(_COLLECTION, _id(model, host))
        return None if found is None else _CHOICE.validate_python(found)

    async def record(self, choice: InstructionChoice) -> None:
        document: Document = {"id": _id(choice.model, choice.host), **asdict(choice)}
        await self._storage.put(_COLLECTION, [document])


def host_of(base_url: str | None, provider: Provider) -> str:
    """Returns the service of a model: its host, with the port if the URL names one, else the provider."""
    if base_url is None:
        return "api.openai.com" if provider == "openai" else provider
    return urlsplit(base_url).netloc.rpartition("@")[2].lower()


def _id(model: str, host: str) -> str:
    return id_of(_NAMESPACE, f"{host}\n{model}")
