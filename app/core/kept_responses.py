"""Requests with an `Idempotency-Key`, and their responses, which are kept for a day."""

from dataclasses import dataclass, replace
from types import MappingProxyType

from pydantic import JsonValue

from app.core.clock import now_ms
from app.core.errors import Conflict, Invalid
from app.core.secrets import SecretBox
from app.core.storage.documents import Documents
from app.core.storage.port import Equals, Range, Storage

KEPT_DAYS = 1
LEASE_MS = 6_000
"""Time after which another try takes over, unless the first one renews its lease."""
_RUNS = Range("leased_until", at_least=1)
_KEPT_MS = KEPT_DAYS * 24 * 60 * 60 * 1000


class KeyOfAnother(Invalid):
    """The key came back with another request."""

    problem = "idempotency-key-reused"
    sentence = (
        "This Idempotency-Key was used for another request to this route, or by you with other attributes. "
        "Use a new key."
    )


class KeyInUse(Conflict):
    """The first request with the key is not over."""

    problem = "idempotency-key-in-use"
    title = "The first request runs"
    sentence = "The first request with this Idempotency-Key is not over. Send this one again in a second."
    headers = MappingProxyType({"Retry-After": "1"})
    retryable = True


@dataclass(frozen=True, kw_only=True)
class KeyedRequest:
    """A request with a key. Times are epoch milliseconds."""

    id: str
    owner: str
    request_hash: str
    created_at: int
    leased_until: int
    """0 once a try is over."""
    response: str | None = None
    """Its response, encrypted. None while it is not over."""
    file_hash: str | None = None
    """Of the file that it sent. None if it sent none, or if its route has not read all of it."""

    @property
    def is_over(self) -> bool:
        return self.response is not None


class KeptResponses:
    """Keyed requests and their responses."""

    def __init__(self, storage: Storage, box: SecretBox) -> None:
        self._requests = Documents(storage, "keyed_requests", KeyedRequest)
        self._box = box

    async def begin(self, request: KeyedRequest) -> tuple[KeyedRequest, bool]:
        """Returns the request that has the key, and True if that is a new try of it.

        Raises `KeyOfAnother`, and `KeyInUse` while another try has the lease.
        """
        while not await self._requests.add(request):
            known = await self._requests.get(request.id)
            if known is None:
                continue
            now = request.created_at
            if known.created_at <= now - _KEPT_MS:
                await self._requests.delete(Equals("id", known.id), Equals("created_at", known.created_at))
                continue
            if known.request_hash != request.request_hash:
                raise KeyOfAnother
            if known.is_over:
                return known, False
            if known.leased_until > now:
                raise KeyInUse
            leased = {"leased_until": request.leased_until}
            same_lease = Equals("leased_until", known.leased_until)
            taken = await self._requests.change(known.id, leased, [same_lease])
            if taken is not None:
                return taken, True
        return request, True

    async def renew(self, request: KeyedRequest) -> None:
        """Does nothing once a try is over."""
        await self._requests.change(request.id, {"leased_until": now_ms() + LEASE_MS}, [_RUNS])

    async def keep(self, request: KeyedRequest, response: str, *, file_hash: str | None) -> None:
        """Keep the text of a response, encrypted. The first one stays if another try took over meanwhile."""
        encrypted = self._box.encrypt(response)
        if now_ms() < request.leased_until:
            await self._requests.put(
                replace(request, leased_until=0, response=encrypted, file_hash=file_hash)
            )
            return
        changes: dict[str, JsonValue] = {"leased_until": 0, "response": encrypted, "file_hash": file_hash}
        await self._requests.change(request.id, changes, [_RUNS])

    async def release(self, request: KeyedRequest) -> None:
        """Let the next request with the key be another try, with the same ids: what this one was to create
        may be there although it has failed.
        """
        await self._requests.change(request.id, {"leased_until": 0})

    async def drop(self, request: KeyedRequest) -> None:
        """Let the next request with the key be the first one. This one has created nothing."""
        await self._requests.delete(Equals("id", request.id))

    def read(self, request: KeyedRequest) -> str:
        """Returns the text of the kept response. Raises `SecretUnreadable`."""
        return self._box.decrypt(request.response or "")

    async def delete_old(self, before: int) -> int:
        return await self._requests.delete(Range("created_at", below=before))

    async def delete_all(self, owner: str) -> None:
        await self._requests.delete(Equals("owner", owner))
