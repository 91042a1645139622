"""Messages to chats, over apprise.

The URL of a chat is a secret. It reaches the services named here and no other address: their hosts are
apprise's own or checked, redirects are not followed, and no parameter loads a template or a file.
"""

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from app.core.bounded_threads import BoundedThreads, WorkTimedOut
from app.modules.schedules.errors import TargetRefused
from app.modules.schedules.messages import NoticeMessage
from app.modules.webhooks.retries import DeliveryFailed

if TYPE_CHECKING:
    from apprise.attachment.base import AttachBase
    from apprise.plugins.base import NotifyBase

_SECONDS = 30.0
_AT_ONCE = 8
_LONGEST = 2_000
_SHOWN = 4
_LONG_ENOUGH = 32
"""Characters of a URL of which the last few may be shown."""
_MENTION = re.compile("[@<]")

for name in ("apprise", "urllib3.connectionpool"):
    logging.getLogger(name).setLevel(logging.CRITICAL)  # their lines name tokens and paths of chats


@dataclass(frozen=True, kw_only=True)
class Service:
    """A chat service of apprise: its plugin, and what a URL of it may hold.

    `host` is a pattern of hosts; None if the plugin has its own. `is_own` are servers of the installation,
    which the settings name.
    """

    title: str
    module: str
    plugin: str
    schemes: Sequence[str]
    parameters: frozenset[str] = frozenset()
    host: re.Pattern[str] | None = None
    is_own: bool = False


_MICROSOFT = re.compile(
    r"[a-z0-9.-]+\.(?:logic\.azure\.(?:com|us|cn)|(?:power|apps)platform\.(?:com|cn|us)"
    r"|(?:power|apps)platform\.(?:microsoft\.(?:us|com)|partner\.microsoftonline\.cn))",
    re.IGNORECASE,
)
SERVICES: Sequence[Service] = (
    Service(title="Slack", module="slack", plugin="NotifySlack", schemes=["slack"]),
    Service(
        title="Microsoft Teams",
        module="workflows",
        plugin="NotifyWorkflows",
        schemes=["workflow", "workflows"],
        parameters=frozenset({"api-version", "sp", "sv", "sig", "pa"}),
        host=_MICROSOFT,
    ),
    Service(title="Discord", module="discord", plugin="NotifyDiscord", schemes=["discord"]),
    Service(
        title="Google Chat",
        module="google_chat",
        plugin="NotifyGoogleChat",
        schemes=["gchat"],
        parameters=frozenset({"key", "token"}),
    ),
    Service(title="Telegram", module="telegram", plugin="NotifyTelegram", schemes=["tgram"]),
    Service(title="Webex", module="webexteams", plugin="NotifyWebexTeams", schemes=["webex", "wxteams"]),
    Service(
        title="Mattermost",
        module="mattermost",
        plugin="NotifyMattermost",
        schemes=["mmost", "mmosts"],
        is_own=True,
    ),
    Service(
        title="Rocket.Chat",
        module="rocketchat",
        plugin="NotifyRocketChat",
        schemes=["rocket", "rockets"],
        is_own=True,
    ),
)

SETTING = "KAI_SCHEDULES__CHAT_SERVERS"
_UNREADABLE = "This is no URL of a chat: give the webhook's https:// URL, or one as apprise writes it."


class Chats:
    """Checks URLs of chats and sends messages to them. `servers` are hosts, perhaps with ports, that the
    installation names for services that it runs itself.
    """

    def __init__(self, servers: Sequence[str]) -> None:
        self._servers = frozenset(each.lower() for each in servers)
        self._threads = BoundedThreads(_AT_ONCE, _SECONDS, "chat")

    def label(self, url: str) -> str:
        """Returns the service of a URL and its last characters. Raises `TargetRefused`."""
        service, _ = self._plugin(url)
        secret = re.sub(r"[^A-Za-z0-9]+", "", url.partition("://")[2])
        return f"{service.title} …{secret[-_SHOWN:]}" if len(secret) >= _LONG_ENOUGH else service.title

    async def send(self, url: str, message: NoticeMessage, picture: bytes | None) -> None:
        """Raises `DeliveryFailed`."""
        try:
            is_taken = await self._threads.run(message.owner, self._notify, url, message, picture)
        except TargetRefused as error:
            raise DeliveryFailed(error.detail, again=False) from None
        except WorkTimedOut:
            raise DeliveryFailed("The chat service does not answer in time.", again=True) from None
        if not is_taken:
            raise DeliveryFailed("The chat service has not taken it.", again=True)

    def _notify(self, url: str, message: NoticeMessage, picture: bytes | None) -> bool:
        """Raises `TargetRefused`."""
        from apprise import AppriseAttachment, NotifyFormat, NotifyType  # noqa: PLC0415 - slow to load

        _, plugin = self._plugin(url)
        attached = None
        if picture is not None:
            attached = AppriseAttachment()
            attached.add(_attachment(picture))
        link = [] if message.link is None else [f"{message.link_text}: {message.link}"]
        body = "\n".join([*map(_defuse_mentions, message.lines), *link])
        return bool(
            plugin.notify(
                title=_defuse_mentions(message.headline),
                body=body,
                body_format=NotifyFormat.TEXT,
                notify_type=NotifyType.FAILURE if message.is_failure else NotifyType.INFO,
                attach=attached,
            )
        )

    def _plugin(self, url: str) -> tuple[Service, "NotifyBase"]:
        """Returns the service of a URL and apprise's plugin for it. Raises `TargetRefused`."""
        if len(url) > _LONGEST or not url.isascii() or not url.isprintable() or " " in url:
            raise TargetRefused(_UNREADABLE)
        try:
            parts = urlsplit(url)
            names = {name.lower() for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
        except ValueError:
            raise TargetRefused(_UNREADABLE) from None
        for service in SERVICES:
            plugin = _plugin_class(service)
            if parts.scheme.lower() in service.schemes:
                found = plugin.parse_url(url)
            elif parts.scheme.lower() == "https":
                found = plugin.parse_native_url(url)
            else:
                continue
            if not found:
                continue
            if not names <= service.parameters:
                raise TargetRefused("This URL has parameters that KAI does not pass on. Leave them out.")
            self._check_host(service, found)
            return service, _opened(plugin, found)
        known = ", ".join(each.title for each in SERVICES)
        raise TargetRefused(f"{_UNREADABLE} KAI sends to these services: {known}.")

    def _check_host(self, service: Service, parts: Mapping[str, object]) -> None:
        """Raises `TargetRefused`."""
        host, port = str(parts.get("host") or "").lower(), parts.get("port")
        if service.host is not None and (service.host.fullmatch(host) is None or port not in (None, 443)):
            raise TargetRefused(f"This is no host of {service.title}.")
        if service.is_own and not {host if port is None else f"{host}:{port}"} & self._servers:
            raise TargetRefused(
                f"{service.title} is run by yourselves: name its host, with the port of the URL, in "
                f"{SETTING}."
            )


def _attachment(picture: bytes) -> "AttachBase":
    memory = import_module("apprise.attachment.memory")
    found: AttachBase = memory.AttachMemory(content=picture, name="chart.png", mimetype="image/png")
    return found


def _plugin_class(service: Service) -> "type[NotifyBase]":
    module = import_module(f"apprise.plugins.{service.module}")
    found: type[NotifyBase] = getattr(module, service.plugin)
    return found


def _opened(plugin: "type[NotifyBase]", parts: Mapping[str, object]) -> "NotifyBase":
    """Raises `TargetRefused`."""
    from apprise import AppriseAsset  # noqa: PLC0415 - slow to load

    asset = AppriseAsset(
        app_id="KAI",
        app_desc="KAI",
        app_url="",
        image_url_mask="",
        image_url_logo="",
        image_path_mask=False,
        http_redirects=False,
        allow_templates=False,
        storage_mode="memory",
        service_timeout=_SECONDS,
    )
    try:
        return plugin(**parts, asset=asset)
    except TypeError:  # what plugins raise for a part that cannot be
        raise TargetRefused(_UNREADABLE) from None


def _defuse_mentions(text: str) -> str:
    """Data calls no one: the signs that begin a mention are followed by a space without width."""
    return _MENTION.sub("\\g<0>\u200b", text)
