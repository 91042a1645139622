"""A real SMTP server that keeps the mails it takes."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Literal

from aiosmtpd import smtp
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword, Session

from tests.support.certificates import KeyPair


@dataclass
class Mailbox:
    """What the server has taken. `refusals` are answers to recipients, each given once."""

    port: int = 0
    envelopes: list[Envelope] = field(default_factory=list)
    refusals: dict[str, str] = field(default_factory=dict)
    logins: list[tuple[bytes, bytes]] = field(default_factory=list)
    password: bytes | None = None
    """The only one that it takes; any if None."""

    @property
    def mails(self) -> list[EmailMessage]:
        contents = [each.content for each in self.envelopes]
        return [message_from_bytes(each, policy=default) for each in contents if isinstance(each, bytes)]

    async def handle_RCPT(  # noqa: N802 - aiosmtpd calls it
        self, server: smtp.SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address in self.refusals:
            return self.refusals.pop(address)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: smtp.SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        self.envelopes.append(envelope)
        return "250 OK"

    def authenticate(
        self, server: smtp.SMTP, session: Session, envelope: Envelope, mechanism: str, data: object
    ) -> AuthResult:
        if isinstance(data, LoginPassword):
            self.logins.append((data.login, data.password))
            if self.password not in (None, data.password):
                return AuthResult(success=False, handled=False)
        return AuthResult(success=True)


@asynccontextmanager
async def mail_server(
    identity: KeyPair | None = None, *, tls: Literal["starttls", "tls"] = "starttls"
) -> AsyncIterator[Mailbox]:
    """Runs the server in this loop: with an identity, only under TLS, else without."""
    mailbox, loop = Mailbox(), asyncio.get_running_loop()
    context = None
    if identity is not None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(identity.certificate, identity.key)
    is_later = context is not None and tls == "starttls"

    def serve() -> smtp.SMTP:
        return smtp.SMTP(
            mailbox,
            loop=loop,
            authenticator=mailbox.authenticate,
            hostname="mail.example",
            tls_context=context if is_later else None,
            require_starttls=is_later,
            auth_required=is_later,
            auth_require_tls=context is None or is_later,
        )

    async with await loop.create_server(serve, "127.0.0.1", 0, ssl=None if is_later else context) as server:
        mailbox.port = server.sockets[0].getsockname()[1]
        yield mailbox
