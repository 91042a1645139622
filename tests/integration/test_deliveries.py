"""Notices as messages: to a real mail server, and to chats of a server of the installation."""

import asyncio
import json
import logging
import struct
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal

import pytest
from cryptography.fernet import Fernet
from pydantic import JsonValue, SecretStr

from app.bootstrap.encryption import encrypt_again
from app.core.secrets import SecretBox, load_or_create_keys
from app.core.settings import MailSettings, ScheduleSettings
from app.core.storage.port import Query
from app.modules.boards.repository import BoardRepository
from app.modules.schedules.chats import Chats
from app.modules.schedules.deliveries import Deliveries
from app.modules.schedules.errors import TargetRefused
from app.modules.schedules.mail import Mail
from app.modules.schedules.messages import NoticeMessage
from app.modules.schedules.repository import ScheduleRepository
from app.modules.webhooks.retries import RETRY_SECONDS, DeliveryFailed
from tests.support.boards import LOOPBACK, PER_COUNTRY, BoardKai, Json, kai_with_boards, store_settings
from tests.support.certificates import Authority
from tests.support.mail_server import Mailbox, mail_server
from tests.support.scheduling import (
    COUNT,
    MINUTE,
    MONTHLY,
    Hook,
    notices,
    receiver,
    run_due,
    scheduled,
    time_of,
)

ADDRESS = "ada@example.com"
TOKEN = "hiddentoken123456789abcdefghijkl"
TEAMS = "https://prod-1.westeurope.logic.azure.com:443/workflows/643e69f8/triggers/manual/paths/invoke"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(50)


@pytest.fixture
async def mailbox() -> AsyncIterator[Mailbox]:
    async with mail_server() as running:
        yield running


@pytest.fixture
async def chat() -> AsyncIterator[Hook]:
    async with receiver() as hook:
        yield hook


@pytest.fixture(params=["sqlite", "typesense"])
async def kai(
    request: pytest.FixtureRequest, tmp_path: Path, mailbox: Mailbox, chat: Hook
) -> AsyncIterator[BoardKai]:
    mail = MailSettings(host="127.0.0.1", port=mailbox.port, tls="none", sender="kai@kai.example")
    schedules = ScheduleSettings(webhook_networks=(LOOPBACK,), chat_servers=(f"127.0.0.1:{chat.port}",))
    settings = {"mail": mail, "schedules": schedules, "public_url": "https://kai.example/"}
    async with kai_with_boards({**store_settings(request), **settings}, tmp_path) as opened:
        yield opened


def chat_url(chat: Hook) -> str:
    return f"mmost://127.0.0.1:{chat.port}/{TOKEN}"


def deliveries_of(kai: BoardKai) -> Deliveries:
    return kai.services.schedules._deliveries


def drawing(kai: BoardKai, picture: bytes | None) -> Deliveries:
    """What sends, with a picture of each message."""

    async def draw(message: NoticeMessage) -> bytes | None:
        return picture

    sender = deliveries_of(kai)
    sender._picture = draw
    return sender


async def ran(kai: BoardKai, targets: list[Json], **fields: object) -> int:
    """Run a schedule. Returns the time at which its notice waits."""
    slot = time_of(await scheduled(kai, COUNT, targets=targets, **fields))
    assert await run_due(kai, slot) == 1
    return slot


async def outcomes(kai: BoardKai) -> list[tuple[str, str, str | None]]:
    (notice,) = await notices(kai)
    return [(each["kind"], each["state"], each["error"]) for each in notice["deliveries"]]


async def test_a_notice_is_mailed_in_text_and_html_with_its_picture_and_a_link(
    kai: BoardKai, mailbox: Mailbox
) -> None:
    slot = await ran(kai, targets=[{"address": ADDRESS}])
    await drawing(kai, PNG).deliver_due(slot)
    (mail,) = mailbox.mails
    (envelope,) = mailbox.envelopes
    assert (envelope.mail_from, envelope.rcpt_tos) == ("kai@kai.example", [ADDRESS])
    assert (mail["From"], mail["To"]) == ("kai@kai.example", ADDRESS)
    assert mail["Subject"] == "How many customers?: it ran: 1 row"
    assert mail["Auto-Submitted"] == "auto-generated"
    text, html = mail.get_body(("plain",)), mail.get_body(("html",))
    assert text is not None
    assert html is not None
    board = (await kai.call("GET", "/boards"))["items"][0]["id"]
    assert f"Open it in KAI: https://kai.example/boards/{board}" in text.get_content()
    (picture,) = [part for part in mail.walk() if part.get_content_type() == "image/png"]
    assert picture.get_content() == PNG
    assert f'src="cid:{picture["Content-ID"].strip("<>")}"' in html.get_content()
    assert await outcomes(kai) == [("mail", "delivered", None)]


async def test_the_mail_of_a_pin_with_a_chart_has_its_picture_and_one_of_a_board_has_none(
    kai: BoardKai, mailbox: Mailbox
) -> None:
    made = await scheduled(kai, PER_COUNTRY, targets=[{"address": ADDRESS}])
    slot = time_of(made)
    whole = {"board_id": made["board_id"], "cron": MONTHLY, "targets": [{"address": "bob@example.com"}]}
    await kai.call("POST", "/schedules", 201, **whole)
    assert await run_due(kai, slot) == 2
    await deliveries_of(kai).deliver_due(slot)
    pictures = {
        mail["To"]: [part for part in mail.walk() if part.get_content_type() == "image/png"]
        for mail in mailbox.mails
    }
    assert pictures["bob@example.com"] == []
    (picture,) = pictures[ADDRESS]
    assert picture.get_content_disposition() == "inline"
    image = picture.get_content()
    width, height = struct.unpack(">II", image[16:24])
    assert image.startswith(PNG[:8])
    assert width >= 1_760
    assert height >= 100


async def test_a_message_has_no_picture_of_rows_that_are_newer(kai: BoardKai, mailbox: Mailbox) -> None:
    made = await scheduled(kai, PER_COUNTRY, targets=[{"address": ADDRESS}])
    slot = time_of(made)
    assert await run_due(kai, slot) == 1
    (pin,) = (await kai.services.storage.query("pins", Query())).items
    assert isinstance(pin["result"], dict)
    newer: dict[str, JsonValue] = {**pin["result"], "ran_at": slot + MINUTE}
    await kai.services.storage.patch("pins", made["pin_id"], {"result": newer})
    await deliveries_of(kai).deliver_due(slot)
    (mail,) = mailbox.mails
    assert not any(part.get_content_type() == "image/png" for part in mail.walk())


async def test_a_message_speaks_the_language_of_its_schedule(kai: BoardKai, mailbox: Mailbox) -> None:
    condition = {"kind": "above", "column": "customers", "value": 2}
    slot = await ran(kai, targets=[{"address": ADDRESS}], language="de", condition=condition)
    await deliveries_of(kai).deliver_due(slot)
    (mail,) = mailbox.mails
    assert mail["Subject"] == "How many customers?: customers ist 3"
    text = mail.get_body(("plain",))
    assert text is not None
    assert "Bedingung: customers ist größer als 2." in text.get_content()


async def test_a_title_injects_no_header_and_no_markup(kai: BoardKai, mailbox: Mailbox) -> None:
    made = await scheduled(kai, targets=[{"address": ADDRESS}])
    boards = BoardRepository(kai.services.storage)
    pin = await boards.pin(await boards.get("ann", made["board_id"]), made["pin_id"])
    hostile = 'Sales\r\nBcc: eve@example.com\r\n\r\n<script>x</script><img src="x">'
    await kai.services.storage.patch("pins", pin.id, {"title": hostile})
    slot = time_of(made)
    assert await run_due(kai, slot) == 1
    await deliveries_of(kai).deliver_due(slot)
    (mail,), (envelope,) = mailbox.mails, mailbox.envelopes
    assert envelope.rcpt_tos == [ADDRESS]
    assert mail["Bcc"] is None
    assert mail["Subject"].strip().startswith("Sales Bcc: eve@example.com <script>")
    html = mail.get_body(("html",))
    assert html is not None
    assert "<script>" not in html.get_content()
    assert "<img" not in html.get_content()


async def test_a_mail_that_is_refused_for_now_is_tried_again_and_one_refused_for_good_is_given_up(
    kai: BoardKai, mailbox: Mailbox
) -> None:
    mailbox.refusals = {ADDRESS: "451 later", "bob@example.com": "550 unknown"}
    slot = await ran(kai, targets=[{"address": ADDRESS}, {"address": "bob@example.com"}])
    sender = deliveries_of(kai)
    await asyncio.gather(*(sender.deliver_due(slot) for _ in range(3)))
    assert await outcomes(kai) == [
        ("mail", "waiting", "The mail server does not take it (451)."),
        ("mail", "given_up", "The mail server does not take it (550)."),
    ]
    await sender.deliver_due(slot + 1_000)
    assert mailbox.mails == []
    await sender.deliver_due(slot + RETRY_SECONDS[0] * 1_000)
    await sender.deliver_due(slot + RETRY_SECONDS[1] * 1_000)
    assert [each["To"] for each in mailbox.mails] == [ADDRESS]
    assert [state for _, state, _ in await outcomes(kai)] == ["delivered", "given_up"]


async def test_a_chat_gets_a_message_and_its_url_is_shown_nowhere(
    kai: BoardKai, chat: Hook, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    made = await scheduled(kai, targets=[{"url": chat_url(chat)}])
    slot = time_of(made)
    assert await run_due(kai, slot) == 1
    chat.statuses = [500, 200]
    sender = drawing(kai, PNG)
    await sender.deliver_due(slot)
    assert await outcomes(kai) == [("chat", "waiting", "The chat service has not taken it.")]
    await sender.deliver_due(slot + RETRY_SECONDS[0] * 1_000)
    assert await outcomes(kai) == [("chat", "delivered", None)]
    body = json.loads(chat.requests[-1][1])
    assert "How many customers?: it ran: 1 row" in body["text"]
    assert "https://kai.example/boards/" in body["text"]
    assert made["targets"][0]["label"].startswith("Mattermost …")
    stored = [*(await kai.services.storage.query("schedules", Query())).items]
    kept = await ScheduleRepository(kai.services.storage).find(made["id"])
    assert kept is not None
    shown = json.dumps([await kai.call("GET", "/schedules"), await notices(kai), stored])
    for text in (shown, caplog.text, repr(kept)):
        assert TOKEN not in text


async def test_data_in_a_message_calls_no_one(kai: BoardKai, chat: Hook) -> None:
    made = await scheduled(kai, targets=[{"url": chat_url(chat)}])
    title = "@channel <!here> sales"
    await kai.services.storage.patch("pins", made["pin_id"], {"title": title})
    slot = time_of(made)
    assert await run_due(kai, slot) == 1
    chat.statuses = [200]
    await deliveries_of(kai).deliver_due(slot)
    text = json.loads(chat.requests[-1][1])["text"]
    assert "@channel" not in text
    assert "<!here" not in text


async def test_a_redirect_of_a_chat_server_is_not_followed(kai: BoardKai, chat: Hook) -> None:
    chat.statuses = [302]
    slot = await ran(kai, targets=[{"url": chat_url(chat)}])
    await deliveries_of(kai).deliver_due(slot)
    assert len(chat.requests) == 1
    assert [state for _, state, _ in await outcomes(kai)] == ["waiting"]


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "exec://id",
        "json://127.0.0.1/",
        "jsons://10.0.0.1/",
        "mailto://user:pass@example.com",
        "http://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ",
        "https://127.0.0.1/hooks/abc",
        "mmosts://127.0.0.1/abcdefghijkl",
        "mmosts://metadata.google.internal/abcdefghijkl",
        "rockets://user:pass@10.1.2.3/channel",
        "workflows://10.1.2.3:443/643e69f83c8944/KODuebWbDGYFr0z0eu",
        "workflows://evil.example/643e69f83c8944/KODuebWbDGYFr0z0eu",
        "workflows://prod.logic.azure.com.evil.example/643e69f83c8944/KODuebWbDGYFr0z0eu",
        "discord://123456789/abcdefgh?template=/etc/passwd",
        "discord://123456789/abcdefgh?verify=no",
        "discord://123456789/abcdefgh?redirect=yes",
        "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ?template=file:///etc/passwd",
        "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#a\r\nHost: x",
        "gchat://space/key/tok en",
    ],
)
async def test_a_url_that_leads_elsewhere_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(TargetRefused) as refused:
        Chats(()).label(url)
    assert url not in refused.value.detail


@pytest.mark.parametrize(
    ("url", "service"),
    [
        ("https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ", "Slack …i7FQ"),
        ("https://discord.com/api/webhooks/123456789012345678/abcdefghijklmnopqrst", "Discord …qrst"),
        (
            f"{TEAMS}?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=KODuebWbDGYFr0z0eu",
            "Microsoft Teams …z0eu",
        ),
        ("https://chat.googleapis.com/v1/spaces/AAA/messages?key=kkkkkk&token=tttt", "Google Chat …tttt"),
        ("tgram://123456789:abcdefg_hijklmnop/12315544/", "Telegram …5544"),
        ("discord://123456789/abcdefgh", "Discord"),
    ],
)
async def test_urls_as_services_and_apprise_write_them_are_known(url: str, service: str) -> None:
    assert Chats(()).label(url) == service


async def test_targets_are_checked_kept_by_their_ids_and_removed(kai: BoardKai, chat: Hook) -> None:
    made = await scheduled(kai, targets=[{"address": ADDRESS}, {"url": chat_url(chat)}])
    path, (mail, kept) = f"/schedules/{made['id']}", made["targets"]
    assert (mail["kind"], mail["label"], kept["kind"]) == ("mail", ADDRESS, "chat")
    for wrong in (
        [{"address": "ada@example.com\nBcc: eve@example.com"}],
        [{"address": "Ada <ada@example.com>"}],
        [{"address": "ada@example.com, eve@example.com"}],
        [{"address": "ada@@example.com"}],
        [{"id": "another"}],
        [{"url": "json://127.0.0.1"}],
        [{"address": ADDRESS}, {"address": ADDRESS.upper()}],
    ):
        problem = await kai.call("PATCH", path, 422, targets=wrong)
        assert problem["type"] == "urn:kai:schedule-target", problem
    await kai.call("PATCH", path, 422, targets=[{"address": ADDRESS, "url": "discord://1/2"}])
    await kai.call("PATCH", path, 422, targets=[{"address": f"a{n}@example.com"} for n in range(11)])
    changed = await kai.call("PATCH", path, targets=[{"id": kept["id"]}, {"address": "bob@example.com"}])
    assert [each["label"] for each in changed["targets"]] == [kept["label"], "bob@example.com"]
    assert changed["targets"][0] == kept
    assert (await kai.call("PATCH", path, targets=[]))["targets"] == []


async def test_a_removed_target_gets_nothing_more(kai: BoardKai, mailbox: Mailbox) -> None:
    made = await scheduled(kai, targets=[{"address": ADDRESS}])
    slot = time_of(made)
    assert await run_due(kai, slot) == 1
    await kai.call("PATCH", f"/schedules/{made['id']}", targets=[])
    await deliveries_of(kai).deliver_due(slot)
    assert mailbox.mails == []
    assert await outcomes(kai) == [("mail", "given_up", "The target was removed.")]


async def test_a_test_goes_to_all_targets_once_a_minute_and_says_what_it_is(
    kai: BoardKai, mailbox: Mailbox, chat: Hook
) -> None:
    chat.statuses = [500]
    made = await scheduled(kai, targets=[{"address": ADDRESS}, {"url": chat_url(chat)}])
    path = f"/schedules/{made['id']}/test"
    tried = (await kai.call("POST", path))["items"]
    assert [(each["kind"], each["error"]) for each in tried] == [
        ("mail", None),
        ("chat", "The chat service has not taken it."),
    ]
    text = mailbox.mails[0].get_body(("plain",))
    assert text is not None
    assert "This is a test. The schedule has not run for it." in text.get_content()
    assert await notices(kai) == []
    assert (await kai.call("POST", path, 429))["type"] == "urn:kai:tested-before"
    without = await scheduled(kai)
    await kai.call("POST", f"/schedules/{without['id']}/test", 422)
    kai.become("bob")
    await kai.call("POST", path, 404)


async def test_a_picture_that_is_none_or_fails_holds_no_mail_back(kai: BoardKai, mailbox: Mailbox) -> None:
    async def fail(message: NoticeMessage) -> bytes | None:
        raise ValueError("no chart")

    sender = drawing(kai, b"<svg/>")
    await sender.deliver_due(await ran(kai, targets=[{"address": ADDRESS}]))
    sender._picture = fail
    await sender.deliver_due(await ran(kai, targets=[{"address": ADDRESS}]))
    assert len(mailbox.mails) == 2
    assert not any(part.get_content_type() == "image/png" for mail in mailbox.mails for part in mail.walk())


async def test_a_key_that_rotates_takes_chats_along(kai: BoardKai, chat: Hook, tmp_path: Path) -> None:
    made = await scheduled(kai, targets=[{"address": ADDRESS}, {"url": chat_url(chat)}])
    new, old = Fernet.generate_key(), load_or_create_keys(tmp_path / "data" / "secret.key")
    assert (await encrypt_again(kai.services.storage, SecretBox(new, *old))).unreadable == 0
    kept = await ScheduleRepository(kai.services.storage).find(made["id"])
    assert kept is not None
    assert SecretBox(new).decrypt(kept.targets[1].url or "") == chat_url(chat)
    assert kept.targets[0].label == ADDRESS


async def test_mail_is_off_without_a_server_and_bound_to_the_domains_of_the_settings(kai: BoardKai) -> None:
    with pytest.raises(TargetRefused, match="KAI_MAIL__HOST is not set"):
        Mail(MailSettings()).check(ADDRESS)
    bound = Mail(MailSettings(host="localhost", sender="kai@kai.example", domains=("kai.example",)))
    assert bound.check("ada@KAI.example") == "ada@KAI.example"
    with pytest.raises(TargetRefused, match=r"of these domains only: kai\.example"):
        bound.check(ADDRESS)


async def test_a_server_without_tls_gets_neither_a_mail_nor_the_password(
    kai: BoardKai, mailbox: Mailbox
) -> None:
    settings = MailSettings(
        host="127.0.0.1",
        port=mailbox.port,
        user="kai",
        password=SecretStr("secret"),
        sender="kai@kai.example",
    )
    made = await ran(kai, targets=[{"address": ADDRESS}])
    sender = Deliveries(
        ScheduleRepository(kai.services.storage),
        deliveries_of(kai)._box,
        Mail(settings),
        chats=Chats(()),
        picture=deliveries_of(kai)._picture,
        page=None,
    )
    await sender.deliver_due(made)
    assert (mailbox.mails, mailbox.logins) == ([], [])
    assert [state for _, state, _ in await outcomes(kai)] == ["waiting"]


@pytest.mark.parametrize("tls", ["starttls", "tls"])
async def test_mail_goes_over_tls_with_its_login_to_a_server_that_is_trusted(
    tls: Literal["starttls", "tls"], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority(tmp_path)
    message = NoticeMessage(
        notice_id="01970000-0000-7000-8000-000000000000",
        owner="ada",
        board_id=None,
        pin_id=None,
        at=1_780_000_000_000,
        headline="Orders: it ran: 1 row",
        lines=["Time of the schedule: 28 May 2026, 22:26 (Europe/Berlin)."],
        link=None,
        link_text="Open it in KAI",
        is_failure=False,
    )
    async with mail_server(authority.sign("mail"), tls=tls) as server:
        server.password = b"right"

        async def send(password: str) -> str | None:
            settings = MailSettings(
                host="127.0.0.1",
                port=server.port,
                tls=tls,
                user="kai",
                password=SecretStr(password),
                sender="kai@kai.example",
            )
            try:
                await Mail(settings).send(ADDRESS, message, PNG)
            except DeliveryFailed as failed:
                return str(failed)
            return None

        unknown = await send("right")
        assert unknown == "The mail server cannot be reached as it is set."
        assert (server.mails, server.logins) == ([], [])
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
        assert await send("wrong") == "The mail server refuses the login of KAI_MAIL__USER."
        assert await send("right") is None
        assert server.logins[-1] == (b"kai", b"right")
        assert set(server.logins) == {(b"kai", b"wrong"), (b"kai", b"right")}
        (mail,) = server.mails
        assert (mail["To"], mail["Subject"]) == (ADDRESS, message.headline)
        assert [part.get_content_type() for part in mail.walk() if not part.is_multipart()] == [
            "text/plain",
            "text/html",
            "image/png",
        ]
