"""Values that are secret by the name before them (`password=...`, `"api_key": "..."`), or by their place: in
URLs, headers, commands and statements.
"""

import re
from base64 import b64decode
from collections import deque
from collections.abc import Iterator

from app.core.redaction.columns import (
    ENDS_CELL,
    Judge,
    NamedPlace,
    TableHead,
    column_spans,
    last_head,
)
from app.core.redaction.shapes import Span
from app.core.redaction.words import is_complex, is_key, is_mixed, is_password, is_placeholder, is_strong

_VALUE = (
    r"""(?:"(?P<text>(?:\\[^\n]|[^"\\\n]){1,400}+)"|'(?P<literal>(?:'\\''|''|\\[^\n]|[^'\\\n]){1,400}+)'"""
)
"""Text in quotes, in which a backslash or another quote may stand before a quote; or in quotes that are
escaped themselves, as in JSON within a string."""
_VALUE += r"""|\\*"(?P<double>[^"\\\n]{1,400})\\*"|\\*'(?P<single>[^'\\\n]{1,400})\\*'"""
_BARE = r"""|`(?P<tick>[^`\n]{1,400})`|(?P<bare>(?:\\'|[^\s"'`,;&<>()\[\]{}|\\]){1,400}))"""
_AFTER = (
    r"\d{0,2}(?P<close>[\"'`]|\\\")?\]?[ \t]{0,4}"
    r"(?P<sign>=>|:=|==|=|:|(?<=[\"']),(?=[ \t]{0,4}[\"'](?!value))|>(?=[^<>\s]{3,200}</)|"
    r"[\"']?[ \t]{0,4},?[ \t\n]{0,8}[\"']?value[\"']?[ \t]{0,2}[=:]|"
    r"\{(?:\s{1,12}\w{1,20}[ \t]{0,12}=[ \t]{0,4}[\w\"]{1,40}){0,2}?\s{1,12}default[ \t]{0,12}=)"
    r"[ \t]{0,4}(?:\n[ \t]{2,12}(?=value)|[>|][+-]?\n[ \t]{1,12}"
    r"|convertto-securestring[ \t](?:-string[ \t])?)?"
)
_PASSWORD = re.compile(
    rf"(?:w(?:ord|ort|d)?s?|phrase|code|e)?(?:[_-]?confirm\w{{0,6}})?{_AFTER}{_VALUE}{_BARE}", re.IGNORECASE
)
_KEY = re.compile(
    rf"(?:[_-]?(?:access[_-]?)?(?:key|text|value|secret|base|pem)){{0,3}}{_AFTER}{_VALUE}{_BARE}",
    re.IGNORECASE,
)
_KEYS = (
    *("api", "app", "access", "account", "private", "auth", "encryption", "signing", "master", "secret"),
    *("shared", "sas", "bot", "license", "service", "session", "subscription", "instrumentation", "storage"),
    *("client", "webhook", "server", "ssh", "rsa", "crypt", "hmac", "jwt", "admin", "application", "fastly"),
    "write",
)
"""What stands before `key` in the name of a secret."""
_NO_TOKENS = (
    *("page", "next", "prev", "continuation", "sync", "cancel", "cancellation", "pad", "eos", "bos", "unk"),
    *("special", "stop", "mask", "sep", "cls", "start", "end", "first", "last"),
)
"""What stands before `token` in the name of something else."""
_SPOKEN = re.compile(
    r"(?:w(?:ord|ort|d)|phrase|code|e|xa| key)?"
    r"(?:\s+(?:for|of|fxr|von|der|des|de|du|pour|del|para)(?:\s+[\w@.'-]{1,40}){1,6}?)?"
    r"\s+(?:is|was|to|ist|lautet|war|heixt|heisst|est|es|era|xtait|sera|x)"
    r"(?:\s+(?:now|been|set|reset|changed|updated)){0,3}(?:\s+to)?\s*:?\s+"
    r"[\"'`]?(?P<bare>[^\s\"'`,;]{4,200})",
    re.IGNORECASE,
)
_SAID = re.compile(
    r"(?:w(?:ord|ort|d)|phrase|code|e|xa)?[ \t][\"'`]?(?P<bare>[^\s\"'`,;]{8,200})", re.IGNORECASE
)
"""A name and a value without a word between them."""
_LONG_KEY = 20
"""Characters of a key that stands behind its name without a sign between them."""
_CALLS = ("(", "[")
_FOREIGN = re.compile(rf"(?:x[ao]s?)?{_AFTER}{_VALUE}{_BARE}", re.IGNORECASE)
_OPTION = re.compile(rf"[\w-]{{0,30}}[ \t]+{_VALUE}{_BARE}")
_SIGNATURE = re.compile(rf"(?P<sign>)(?:{_VALUE[3:]}{_BARE}")
_PASSWORDS = ("pass", "pwd", "pw", "kennwort", "contrase", "psk")
_JUDGES: dict[str, Judge] = {
    **dict.fromkeys(("pass", "pwd", "kennwort", "secret"), "password"),
    **dict.fromkeys(("token", "key"), "key"),
    "pw": "word",
}
"""Parts of names of columns, and how the values of these are judged."""
_PLAIN = re.compile(
    r"(?:passw(?:or)?d|pwd)(?:=|:[ \t]{0,4})"
    r"(?!insert|getenv|oauth2(?:\s|\Z)|(?:pass(?:w(?:or)?d|phrase)?|pwd)\d?(?:\s|\Z))"
    r"(?=[a-z]*\d)(?=\d*[a-z])(?P<secret>[a-z0-9]{5,200})(?=\n|\Z)"
    r"(?<!placeholder)(?<!changeme)(?<!redacted)",
    re.IGNORECASE,
)
"""The name of a password and a value of letters and digits that ends its line: what `_PASSWORD` matches and
`is_password` finds secret, in one step, because a text may hold little else."""
_NAMES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("pass", _PASSWORD),
    ("pwd", _PASSWORD),
    ("pw", _PASSWORD),
    ("kennwort", _FOREIGN),
    ("contrase", _FOREIGN),
    ("clave", _FOREIGN),
    ("psk", _FOREIGN),
    ("secret", _KEY),
    ("token", _KEY),
    ("key", _KEY),
    ("credential", re.compile(rf"s?{_AFTER}{_VALUE}{_BARE}", re.IGNORECASE)),
    ("_auth", _KEY),
    ("sig=", _SIGNATURE),
    ("signature=", _SIGNATURE),
    ("jwt", _KEY),
)
"""Parts of names, and what follows them up to the value."""

_URL_REST = re.compile(r"[^\s\"'<>`]{1,2000}")
_END_OF_AUTHORITY = re.compile(r"[/?#]")
_EXAMPLE_USERS = ("user", "username", "login", "name")
_EXAMPLE_PASSWORDS = ("password", "passwd", "pass", "pwd", "secret")
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?P<secret>.*?)"
    r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)
_PUTTY = re.compile(r"Private-Lines: \d+\s(?P<secret>[\w+/=\s]{20,8000})")
_BEARER = re.compile(r"bearer[ \t]+(?P<secret>[\w.~+/-]{12,4000}=*)", re.IGNORECASE)
_BASIC = re.compile(r"basic[ \t]+(?P<secret>[A-Za-z0-9+/]{10,2000}={0,2})(?![\w.-])", re.IGNORECASE)
_AUTHORIZATION = re.compile(
    r"authorization[\"'\\]{0,3}\s{0,3}[:=,]\s{0,3}[\"'\\]{0,3}"
    r"(?:(?:bearer|basic|token|apikey|key|digest|bot|ssws)\s+|[a-z][\w-]{2,20}[ \t]+(?=[\w.~+/:=-]{16}))?"
    r"(?!(?:bearer|basic|token|apikey|key|digest|bot|required|missing)\b)"
    r"(?P<secret>[^\s\"',;<>\\]{6,4000})",
    re.IGNORECASE,
)
_COOKIE = re.compile(
    r"cookie:[^\n\"']{0,300}?(?P<secret>(?:sess|sid|token|auth)\w{0,30}=[^\s;\"']{8,4000})", re.IGNORECASE
)
_STATEMENT = re.compile(
    r"(?:identified\s+(?:with\s+\w+\s+)?by|password(?:\s+for\s+\S{1,200})?|secret)\s+"
    r"(?:=\s*)?(?:N|E|PASSWORD\()?'(?P<secret>(?:''|[^'\n]){3,200}+)'",
    re.IGNORECASE,
)
_CRYPT = re.compile(r"(?<![a-z_])crypt\('(?P<secret>[^'\n]{3,200})'", re.IGNORECASE)
_MYSQL = re.compile(r"mysql\w*\b[^\n|;]{0,200}?\s-p(?P<secret>[^\s-]\S{2,100})")
_CURL = re.compile(
    r"curl\b[^\n|;]{0,200}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,80}:(?P<secret>[^\s\"']{3,100})"
)
_REDIS = re.compile(r"redis-cli\b[^\n]{0,100}\s-a\s+[\"']?(?P<secret>[^\s\"']{3,100})")
_SSHPASS = re.compile(r"sshpass\s+-p\s*[\"']?(?P<secret>[^\s\"']{3,100})")
_LOGIN = re.compile(r"login\s+\S{1,100}\s+password\s+(?P<secret>\S{3,100})")
_PGPASS_PORT = ":5432:"
_LONGEST_HOST = 101
_PGPASS = re.compile(r"[\w.*-]{1,100}:5432:[\w*-]{1,63}:[\w*.-]{1,63}:(?P<secret>\S{3,100})(?!\S)")
_OPTION_P = re.compile(
    r"(?:(?:docker|podman|helm registry|az) login|sqlcmd|bcp|cqlsh|mongo(?:sh|dump|restore|export|import)?)\b"
    r"[^\n|;]{0,200}?\s-[pP]\s{0,3}(?P<secret>'[^'\n]{3,200}'|\"[^\"\n]{3,200}\"|[^\s\"'-][^\s\"']{2,200})"
)
_SQLPLUS = re.compile(r"sqlplus\s+(?:-\w+\s+){0,4}[\"']?[\w$#.]{1,60}/[\"']?(?P<secret>[^\s@\"'/]{3,100})@")
_ORACLE = re.compile(r"jdbc:oracle:\w{1,8}:(?P<secret>[^\s/@:]{1,100}/[^\s@]{1,100})@")
_ACCESS_PAIR = re.compile(
    r"(?:AKIA|ASIA)[0-9A-Z]{16}[\"'\s,:;|]{1,8}(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
)

_PLACES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("bearer", _BEARER),
    ("basic", _BASIC),
    ("authorization", _AUTHORIZATION),
    ("cookie:", _COOKIE),
    ("identified", _STATEMENT),
    ("password ", _STATEMENT),
    ("secret '", _STATEMENT),
    ("crypt('", _CRYPT),
    ("curl ", _CURL),
    ("redis-cli", _REDIS),
    ("login ", _LOGIN),
    ("sqlplus", _SQLPLUS),
    ("jdbc:oracle", _ORACLE),
    ("akia", _ACCESS_PAIR),
    ("asia", _ACCESS_PAIR),
    ("private-lines", _PUTTY),
    ("-----begin ", _PRIVATE_KEY),
)
"""Texts in lower case, and the patterns that begin with them."""

_COMMANDS = (
    ("mysql", _MYSQL),
    ("sshpass", _SSHPASS),
    *((f"{command} login", _OPTION_P) for command in ("docker", "podman", "helm registry", "az")),
    *((command, _OPTION_P) for command in ("sqlcmd", "bcp", "cqlsh", "mongo")),
)
"""Commands whose password stands behind `-p` or `-P`."""


def secret_spans(text: str) -> Iterator[Span]:
    """Yields the places of values that are secret by what stands before them, in any order.

    The text has ASCII characters only.
    """
    lowered = text.lower()
    columns: list[NamedPlace] = []
    for part, pattern in _NAMES:
        yield from _named(text, lowered, part, pattern=pattern, columns=columns)
    yield from column_spans(text, columns)
    for part, pattern in _PLACES:
        yield from _placed(text, lowered, part, pattern=pattern)
    if " -p" in lowered:
        for part, pattern in _COMMANDS:
            yield from _placed(text, lowered, part, pattern=pattern)
    yield from _in_password_files(text)
    yield from _in_urls(text)


def table_head(text: str) -> TableHead | None:
    """Returns what the last line of a text names, if it is the head of a table with secrets.

    The text has ASCII characters only.
    """
    lowered = text.lower()
    line = lowered.rfind("\n") + 1
    columns: list[NamedPlace] = []
    for part, pattern in _NAMES:
        if part in _JUDGES and lowered.find(part, line) >= 0:
            deque(_named(text, lowered, part, pattern=pattern, columns=columns), maxlen=0)
    return last_head(text, columns) if columns else None


def _in_password_files(text: str) -> Iterator[Span]:
    """Yields the passwords in lines such as `host:5432:database:user:password`."""
    at = text.find(_PGPASS_PORT)
    while at >= 0:
        least = max(0, at - _LONGEST_HOST)
        start = max(text.rfind(" ", least, at), text.rfind("\n", least, at), least - 1) + 1
        if (found := _PGPASS.match(text, start)) is not None:
            yield found.span("secret")
        at = text.find(_PGPASS_PORT, at + len(_PGPASS_PORT))


def _placed(text: str, lowered: str, part: str, *, pattern: re.Pattern[str]) -> Iterator[Span]:
    at = lowered.find(part)
    while at >= 0:
        found = pattern.match(text, at)
        if found is None:
            at = lowered.find(part, at + len(part))
            continue
        secret = found["secret"]
        is_word = (pattern is _BEARER or part == "secret '") and not is_mixed(secret)
        is_word = is_word or (pattern is _BASIC and not _is_encoded_login(secret))
        if not is_placeholder(secret) and not is_word:
            yield found.span("secret")
        at = lowered.find(part, found.end())


def _is_encoded_login(word: str) -> bool:
    """True for base64 of a user, a colon and a password."""
    letters = word.rstrip("=")
    whole = letters[: -1 if len(letters) % 4 == 1 else None]
    return b":" in b64decode(whole + "=" * (-len(whole) % 4))


def _named(
    text: str, lowered: str, part: str, *, pattern: re.Pattern[str], columns: list[NamedPlace]
) -> Iterator[Span]:
    """Yields values behind names. Names that may be those of columns are added to `columns`."""
    size = len(part)
    judge_of_column = _JUDGES.get(part)
    is_password_name = part in _PASSWORDS
    judge = is_password if is_password_name else is_key
    at = lowered.find(part)
    while at >= 0:
        end = at + size
        if is_password_name and (plain := _PLAIN.match(text, at)) is not None:
            yield plain.span("secret")
            at = lowered.find(part, end)
            continue
        if _is_name(lowered, at, part):
            is_short = part == "pass" and lowered[end : end + 1] not in ("w", "p")
            if judge_of_column is not None and ENDS_CELL.match(text, end):
                columns.append((at, "word" if is_short else judge_of_column))
            if (found := pattern.match(text, end)) is not None:
                group = found.lastgroup or "bare"
                is_prose = group == "bare" and found["sign"] == ":" and _goes_on(text, found.end())
                is_variable = group != "bare" or text[at:end].isupper() or text[at - 1 : at] == ";"
                is_called = group == "bare" and text[found.end() : found.end() + 1] in _CALLS
                is_setting = (
                    text[at - 1 : end] == "_PASS" and found["sign"] == "=" and not found[group].isdigit()
                )
                is_prose = is_prose or (is_short and not is_setting) or part == "pw"
                is_word = (part == "clave" or found["sign"] == ",") and not is_complex(found[group])
                is_secret = is_password if part == "secret" and is_variable else judge
                if (
                    not is_called
                    and not is_word
                    and is_secret(found[group], is_prose=is_prose, is_variable=is_variable)
                ):
                    yield found.span(group)
            elif (found := _OPTION.match(text, end)) is not None and _is_option(text, at):
                group = found.lastgroup or "bare"
                if judge(found[group], is_prose=False, is_variable=True):
                    yield found.span(group)
            elif (found := _SPOKEN.match(text, end)) is not None:
                value = found["bare"].rstrip(".!?)")
                if is_strong(value):
                    yield found.start("bare"), found.start("bare") + len(value)
            elif (found := _SAID.match(text, end)) is not None:
                value = found["bare"].rstrip(".!?)")
                is_quoted = is_password_name and text[found.start("bare") - 1] == '"'
                is_long = is_password_name or len(value) >= _LONG_KEY
                if is_long and (is_strong(value) if is_quoted else is_complex(value)):
                    yield found.start("bare"), found.start("bare") + len(value)
        at = lowered.find(part, end)


def _is_name(lowered: str, at: int, part: str) -> bool:
    """True if the part of a name means a secret, as in `api_key` and `db_pass`, but not in `primary_key`."""
    match part:
        case "key":
            return _ends_with(lowered[max(0, at - 16) : at], _KEYS, "_- .")
        case "pass" if lowered[at + 4 : at + 5] not in ("w", "p"):
            return (
                at == 0 or not lowered[at - 1].isalpha() or lowered[max(0, at - 2) : at] in ("db", "er", "re")
            )
        case "pw":
            is_begun = at > 0 and lowered[at - 1].isalnum()
            return not is_begun and not lowered[at + 2 : at + 3].isalnum()
        case "signature=":
            return lowered[at - 1 : at] in ("?", "&", ";", "-")
        case "token":
            return not _ends_with(lowered[max(0, at - 14) : at], _NO_TOKENS, "_- ")
        case "sig=" | "jwt" | "psk":
            return at == 0 or not lowered[at - 1].isalpha()
        case _:
            return True


def _ends_with(before: str, words: tuple[str, ...], signs: str) -> bool:
    """True if the text ends with one of the words, or with one and a sign."""
    return before.endswith(words) or (before[-1:] in signs and before[:-1].endswith(words))


def _is_option(text: str, at: int) -> bool:
    """True if the name is an option of a command, such as `--db-password`."""
    start = max(text.rfind(" ", max(0, at - 40), at), text.rfind("\n", max(0, at - 40), at)) + 1
    return text.startswith("--", start)


def _goes_on(text: str, end: int) -> bool:
    """True if more words follow on the line, as in `Password: at least 12 characters`."""
    return text[end : end + 1] == " " and text[end + 1 : end + 2].isalnum()


def _in_urls(text: str) -> Iterator[Span]:
    """Yields the user and password of URLs: all between `://` and the last @ that may end them."""
    at = text.find("://")
    while at >= 0:
        found = _URL_REST.match(text, at + 3)
        if found is not None and (size := _credentials(found[0])):
            yield found.start(), found.start() + size
        at = text.find("://", at + 3)


def _credentials(rest: str) -> int:
    """Returns the length of what stands before the @ of a URL; 0 if that is no secret.

    A password may hold a slash and an @, and so may a path.
    """
    last = rest.rfind("@")
    if last < 0:
        return 0
    authority = _END_OF_AUTHORITY.split(rest, maxsplit=1)[0]
    user, colon, password = authority.rpartition("@")[0].partition(":")
    if "@" in authority:
        if colon:
            is_example = user.lower() in _EXAMPLE_USERS and password.lower() in _EXAMPLE_PASSWORDS
            return last if password and not is_example and not is_placeholder(password) else 0
        return len(user) if len(user) >= 16 and is_strong(user) else 0
    port = authority.partition(":")[2]
    return last if port and not port.isdigit() and "/@" not in rest else 0
