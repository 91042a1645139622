"""Messages as mail, over the SMTP server of the settings."""

import re
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from html import escape

import aiosmtplib

from app.core.clock import as_datetime, now_ms
from app.core.ids import id_of
from app.core.settings import MailSettings
from app.modules.schedules.errors import TargetRefused
from app.modules.schedules.messages import NoticeMessage
from app.modules.webhooks.retries import DeliveryFailed

_SECONDS = 20.0
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ADDRESS = re.compile(rf"[A-Za-z0-9.!#$%&'*+/=?^_`{{|}}~-]{{1,64}}@{_LABEL}(?:\.{_LABEL})*")
"""As browsers read an address of a form: no quotes, comments, names or line breaks."""
_LONGEST = 254
_REFUSED_FROM = 500


class Mail:
    """Sends messages, each to one address."""

    def __init__(self, settings: MailSettings) -> None:
        self._settings = settings

    def check(self, address: str) -> str:
        """Returns the address as it is stored. Raises `TargetRefused`."""
        settings = self._settings
        address = address.strip()
        if settings.host is None:
            raise TargetRefused("This KAI sends no mail: KAI_MAIL__HOST is not set.")
        if len(address) > _LONGEST or _ADDRESS.fullmatch(address) is None:
            raise TargetRefused("This is no mail address. Name one, like ada@example.com.")
        domain = address.rpartition("@")[2].lower()
        if settings.domains and domain not in settings.domains:
            named = ", ".join(settings.domains)
            raise TargetRefused(f"This KAI sends mail to addresses of these domains only: {named}.")
        return address

    async def send(self, address: str, message: NoticeMessage, picture: bytes | None) -> None:
        """Raises `DeliveryFailed`."""
        settings = self._settings
        try:
            self.check(address)
        except TargetRefused as error:
            raise DeliveryFailed(error.detail, again=False) from None
        password = settings.password
        try:
            await aiosmtplib.send(
                mail_of(message, picture, sender=settings.sender, recipient=address),
                hostname=settings.host,
                port=settings.server_port,
                local_hostname=settings.sender.rpartition("@")[2],
                username=settings.user,
                password=None if password is None else password.get_secret_value(),
                use_tls=settings.tls == "tls",
                start_tls=settings.tls == "starttls",
                timeout=_SECONDS,
            )
        except (aiosmtplib.SMTPRecipientsRefused, aiosmtplib.SMTPDataError) as error:
            code = _code(error)
            raise DeliveryFailed(
                f"The mail server does not take it ({code}).", again=code < _REFUSED_FROM
            ) from None
        except aiosmtplib.SMTPAuthenticationError:
            raise DeliveryFailed("The mail server refuses the login of KAI_MAIL__USER.", again=True) from None
        except aiosmtplib.SMTPTimeoutError:
            raise DeliveryFailed("The mail server does not answer in time.", again=True) from None
        except aiosmtplib.SMTPResponseException as error:
            raise DeliveryFailed(f"The mail server answers {error.code}.", again=True) from None
        except (aiosmtplib.SMTPException, OSError):
            raise DeliveryFailed("The mail server cannot be reached as it is set.", again=True) from None


def _code(error: aiosmtplib.SMTPRecipientsRefused | aiosmtplib.SMTPDataError) -> int:
    if isinstance(error, aiosmtplib.SMTPDataError):
        return error.code
    return max((each.code for each in error.recipients), default=_REFUSED_FROM)


def mail_of(message: NoticeMessage, picture: bytes | None, *, sender: str, recipient: str) -> EmailMessage:
    """Returns the mail. Its id follows from notice and recipient, so that a second copy can be recognized."""
    mail = EmailMessage(policy=SMTP)
    mail["Subject"] = message.headline
    mail["From"] = sender
    mail["To"] = recipient
    mail["Date"] = format_datetime(as_datetime(now_ms()))
    own_id, domain = id_of(message.notice_id, recipient), sender.rpartition("@")[2]
    mail["Message-ID"] = f"<{own_id}@{domain}>"
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content(_text(message))
    image = f"picture-{own_id}@{domain}"
    mail.add_alternative(_html(message, None if picture is None else image), subtype="html")
    if picture is not None:
        html = mail.get_body(("html",))
        if isinstance(html, EmailMessage):
            html.add_related(
                picture, "image", "png", cid=f"<{image}>", filename="chart.png", disposition="inline"
            )
    return mail


def _text(message: NoticeMessage) -> str:
    link = [] if message.link is None else ["", f"{message.link_text}: {message.link}"]
    return "\n".join([message.headline, "", *message.lines, *link]) + "\n"


def _html(message: NoticeMessage, image: str | None) -> str:
    parts = [f'<h1 style="font-size: 1.2em">{escape(message.headline)}</h1>']
    parts += [f"<p>{escape(line)}</p>" for line in message.lines]
    if image is not None:
        alt = escape(message.headline)
        parts.append(f'<p><img src="cid:{image}" alt="{alt}" style="max-width: 100%"></p>')
    if message.link is not None:
        parts.append(f'<p><a href="{escape(message.link)}">{escape(message.link_text)}</a></p>')
    body = "\n".join(parts)
    return f'<!doctype html>\n<html><body style="font-family: sans-serif">\n{body}\n</body></html>\n'
