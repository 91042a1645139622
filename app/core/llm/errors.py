"""Errors of models, with texts for users that never hold a key or a prompt.

The service's own text is neither passed on nor chained, because some services repeat the request in it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

MAX_PAUSE_SECONDS = 10.0
"""The longest pause that a service may ask for before a retry."""

_TOO_LONG = re.compile(
    r"context.{0,12}(length|size|window)|(prompt|input) is too long|input token count"
    r"|too many (input )?tokens|maximum (prompt|input) length|must have less than \d+ tokens",
    re.IGNORECASE,
)
_ERROR_CODE = re.compile(r"[a-z_]{3,40}")
_VERSION = re.compile(r"/v\d")
_TOOLS = re.compile(r"\btools?\b|\btool_|\bfunction(s|_call|\W+call)", re.IGNORECASE)
_FORMAT = re.compile(
    r"response.?format|json.?schema|structured.?output|\btools?\b|tool.?(choice|call|use)|function.?call",
    re.IGNORECASE,
)
_OUT_OF_QUOTA = "insufficient_quota"


class ModelUnavailable(Exception):
    """The model did not answer, timed out or ended its answer early. A retry may succeed."""


class ModelRejected(Exception):
    """The model's service refused the request, or its reply was incomplete. A retry does not help."""


class EmptyReply(ModelUnavailable):
    """The model's reply was empty."""


class PassingFailure(ModelUnavailable):
    """An error that a retry may get past within seconds. The service may name the pause."""

    def __init__(self, message: str, pause_seconds: float | None = None) -> None:
        super().__init__(message)
        self.pause_seconds = pause_seconds


class ReplyTooLong(ModelRejected):
    """The reply was stopped at the longest that the settings allow."""


class UsageNotCounted(ModelRejected):
    """The service does not support the option that counts tokens; it may answer without it."""


class ReplyTooDeep(ModelRejected):
    """The reply, or the service's message around it, is nested so deeply that it cannot be read."""

    def __init__(self) -> None:
        super().__init__(
            "The model's answer is nested too deeply to be read. Ask again, or rephrase the question."
        )


class FormatRejected(ModelRejected):
    """The service refused the request, perhaps for the format that it asks a reply to have; a request for
    text may be answered."""


class ToolsRejected(FormatRejected):
    """The service refused the request for the tools that it offers: its error names them."""


@dataclass(frozen=True, kw_only=True)
class Cures:
    """What helps against errors of a provider's services, for texts that users read."""

    key: str = "KAI_LLM__API_KEY"
    address: str = "KAI_LLM__BASE_URL"
    has_version: bool = False
    """The address of a service always has a version in it, or needs none."""


OPENAI_CURES = Cures()


@dataclass(frozen=True, kw_only=True)
class ServiceRefusal:
    """A response that is not a success. `code` is the service's own code of the error, if it names one."""

    status: int
    code: str = ""
    message: str
    path: str = ""
    headers: Mapping[str, str]
    cures: Cures


def translated(error: Exception, model: str, cures: Cures = OPENAI_CURES) -> ModelUnavailable | ModelRejected:
    """Returns an error of OpenAI's client library as one of KAI's."""
    import openai  # noqa: PLC0415 - loaded with the client by now

    match error:
        case openai.APIStatusError():
            refusal = ServiceRefusal(
                status=error.status_code,
                code=error.code or "",
                message=error.message,
                path=error.request.url.path,
                headers=error.response.headers,
                cures=cures,
            )
            return refused(refusal, model)
        case openai.APITimeoutError():
            return not_accepted(cures)
        case openai.APIConnectionError():
            return not_connected(cures)
        case _:
            return ended_early(model, cures=cures)


def not_accepted(cures: Cures) -> ModelUnavailable:
    """Returns the error for a connection that was not made in time."""
    return ModelUnavailable(
        f"No connection to the model's service was made in time. Check {cures.address}, and whether "
        "this machine is overloaded."
    )


def not_connected(cures: Cures) -> ModelUnavailable:
    """Returns the error for a connection that failed."""
    return PassingFailure(f"The connection to the model's service failed. Check {cures.address}.")


def ended_early(model: str, error: str = "", cures: Cures = OPENAI_CURES) -> ModelUnavailable | ModelRejected:
    """Returns the error for a stream that ended early, held something else than chunks, or an `error`."""
    if _TOO_LONG.search(error):
        return _too_long(model)
    return PassingFailure(
        "The model's service ended its answer too early or sent one that cannot be read. If it does so "
        f"every time, check {cures.address}."
    )


def refused(refusal: ServiceRefusal, model: str) -> ModelUnavailable | ModelRejected:
    """Returns the error for a refusal."""
    status = refusal.status
    cures = refusal.cures
    if 300 <= status < 400:
        return ModelRejected(
            f"The model's service sends its requests on ({status}). KAI does not follow: a prompt goes only "
            f"where the settings say. Check {cures.address}."
        )
    if status in {404, 500, 501} and _FORMAT.search(refusal.message):
        return _rejected(refusal)
    if status in {401, 403}:
        return ModelRejected(f"The model's service refused the key ({status}). Check {cures.key}.")
    if status == 404:
        if not (cures.has_version or _VERSION.search(refusal.path)):
            return ModelRejected(
                f"The model's service has nothing at this address, or no model {model} (404). Check "
                "KAI_LLM__MODEL, and KAI_LLM__BASE_URL: most services need /v1 at its end, as in "
                "http://127.0.0.1:11434/v1."
            )
        cure = f"Check KAI_LLM__MODEL and {cures.address}."
        return ModelRejected(f"The model's service does not know the model {model} (404). {cure}")
    if status == 402 or refusal.code == _OUT_OF_QUOTA:
        cure = f"Check the plan behind {cures.key}."
        return ModelRejected(f"The account with the model's service is used up ({status}). {cure}")
    if status in {408, 409, 429} or status >= 500:
        return _passing(status, refusal.headers)
    if status == 413 or refusal.code == "context_length_exceeded" or _TOO_LONG.search(refusal.message):
        return _too_long(model)
    if "stream_options" in refusal.message:
        return UsageNotCounted(f"The model's service does not count tokens ({status}).")
    return _rejected(refusal)


def _rejected(refusal: ServiceRefusal) -> FormatRejected:
    code = f", {refusal.code}" if _ERROR_CODE.fullmatch(refusal.code) else ""
    cure = "Check KAI_LLM__MODEL, KAI_LLM__TEMPERATURE and KAI_LLM__MAX_OUTPUT_TOKENS."
    kind = ToolsRejected if _TOOLS.search(refusal.message) else FormatRejected
    return kind(f"The model's service refused the request ({refusal.status}{code}). {cure}")


def _passing(status: int, headers: Mapping[str, str]) -> ModelUnavailable:
    pause = _retry_after_seconds(headers)
    if pause is not None and pause > MAX_PAUSE_SECONDS:
        return ModelUnavailable(f"The model's service is busy ({status}) and asks to wait {pause:g} s.")
    return PassingFailure(f"The model's service is busy or broken ({status}).", pause)


def _retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """Returns None without the header, or for a date, which no known model service sends."""
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if seconds >= 0 else None


def _too_long(model: str) -> ModelRejected:
    return ModelRejected(
        f"The question with its context is too long for the model {model}. Lower KAI_LLM__CONTEXT_TOKENS."
    )
