"""Requests of webhooks, as their receiver reads them."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

_TOLERANCE_SECONDS = 300


class WebhookInvalid(ValueError):
    """The request was not signed with the secret, or it is older than five minutes."""


def verify_webhook(body: bytes, headers: Mapping[str, str], secret: str) -> dict[str, Any]:
    """Returns the event of a request that KAI has sent: `type`, `timestamp` and `data`.

    `body` is the body as it came. Raises `WebhookInvalid`. The same event may come twice, with the same
    `webhook-id`.
    """
    sent = {name.lower(): value for name, value in headers.items()}
    webhook_id, timestamp = sent.get("webhook-id", ""), sent.get("webhook-timestamp", "")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    content = f"{webhook_id}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    given = sent.get("webhook-signature", "").split()
    if not any(hmac.compare_digest(expected.encode(), each.encode()) for each in given):
        raise WebhookInvalid("The request was not signed with this secret.")
    if abs(time.time() - int(timestamp)) > _TOLERANCE_SECONDS:
        raise WebhookInvalid("The request is older than five minutes, or its clock differs from this one.")
    event: dict[str, Any] = json.loads(body)
    return event
