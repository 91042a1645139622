"""The address by which a request has reached KAI."""

from starlette.datastructures import Headers
from starlette.types import Scope


def own_address(scope: Scope) -> str:
    """Returns the scheme and host, such as `https://kai.example.com`. Behind a proxy that KAI trusts
    (`FORWARDED_ALLOW_IPS`), the scheme is the client's.
    """
    return f"{scope['scheme']}://{Headers(scope=scope).get('host', '')}"
