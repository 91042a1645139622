"""A real SMTP server that keeps the mails it takes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

from aiosmtpd import smtp
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword, Session


@dataclass
class Mailbox:
    """What the server has taken. `refusals` are answers to recipients, each given once."""

    port: int = 0
    envelopes: list[Envelope] = field(default_factory=list)
    refusals: dict[str, str] = field(default_factory=dict)
    logins: list[tuple[bytes, bytes]] = field(default_factory=list)

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
        return AuthResult(success=True)


@asynccontextmanager
async def mail_server() -> AsyncIterator[Mailbox]:
    """Runs the server in this loop, without TLS."""
    mailbox, loop = Mailbox(), asyncio.get_running_loop()

    def serve() -> smtp.SMTP:
        return smtp.SMTP(mailbox, loop=loop, authenticator=mailbox.authenticate, hostname="mail.example")

    async with await loop.create_server(serve, "127.0.0.1", 0) as server:
        mailbox.port = server.sockets[0].getsockname()[1]
        yield mailbox
