"""Judges values behind names such as `password` and `token`: secrets, or else words and placeholders."""

import re

_NO_SECRETS = frozenset(
    """
    null none nil true false yes no on off undefined default text string str varchar nvarchar char
    integer int bigint smallint number numeric boolean bool uuid date datetime timestamp json jsonb
    bytea binary blob float double bytes secretstr any object array required optional missing empty
    invalid expired unknown hidden wrong encrypted hashed redacted masked changed reset forgotten
    forgot not valid correct incorrect strong weak stored kept sent checked used here example
    placeholder password passwd pwd secret token key apikey the a an your my this that it is must
    should see at in access refresh bearer basic digest csrf id session bot user system api jwt
    oauth oauth2 sso saml ldap scram trust peer cert env environment vault file prompt stdin keyring
    manual auto new old only never always may can cannot has was are be to for of min max minimum
    maximum length characters policy field column value select from where and or like primary
    foreign unique index include omit same-origin rotate rotated revoked enabled disabled pending
    active inactive passwort kennwort
    """.split()  # noqa: SIM905 - a list would take a hundred lines
)
_PLACEHOLDER = re.compile(
    r"(.)\1{2,}|\$[a-z_][a-z0-9_]*|%[a-z]|%\w+%|\?\d{0,3}|:[a-z_]\w*|@[a-z_]+|[*.x\u2022\u2026-]+|sha\d+:.*"
)
_PLACEHOLDERS = frozenset(
    """
    todo tbd n/a mypassword my_password my-password mysecret my_secret my-secret mytoken my_token my-token
    mykey my_key my-key
    """.split()  # noqa: SIM905 - a list would take a line each
)
_PLACEHOLDER_ENDS = ("placeholder", "changeme", "change_me", "change-me", "redacted", "_here", "-here")
_PLACEHOLDER_BEGINS = tuple(
    """
    < ${ $( %( { [ your_ your- insert getenv ref+ vault: secretref: file: arn: http: https: op: ssm: gcp: aws:
    azurekv:
    """.split()  # noqa: SIM905 - a list would take a line each
) + tuple(
    name + sign
    for name in (
        *("env", "os", "process.env", "settings", "config", "self", "args", "option", "options", "request"),
        *("user", "this", "var", "local", "data"),
    )
    for sign in ".:["
)
_PATH = re.compile(r"(?:~|\.{1,2}|[a-z]:)?(?:[/\\][a-z0-9._-]+)+[/\\]?")
_NAME = re.compile(r"[a-z_]\w*(?:\.\w+)*")
_NAMED_AGAIN = re.compile(r"(?:\w+_)?(?:password|passwd|pwd|pass|passphrase)\d?")
_WORDS = re.compile(r"[a-z]+(?:[_. -][a-z]+)*")
_LABEL = re.compile(
    r"passwor|enter |must |required|characters|invalid|incorrect|forgot|at least|choose |type ", re.IGNORECASE
)
_VERSION = re.compile(
    r"v?\d+(?:\.\d+)+\w{0,6}|(?:v|http|utf|sha|md|hs|rs|es|ps|aes|base|tls|ssl)-?\d{1,4}"
    r"|\d+(?:st|nd|rd|th|x|%|ms|s|d|h)",
    re.IGNORECASE,
)
_AMOUNT = re.compile(r"\d{1,4}[a-z]{1,12}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}[:/.]\d\d")
_DIGITS = re.compile(r"\d")
_LETTERS = re.compile(r"[A-Za-z]")
_MARKS = re.compile(r".[!@#$%^&*+=~]")
_SURE = re.compile(
    r"(?!(?i:insert|getenv|oauth2))[0-9]*[A-Za-z]+[0-9][A-Za-z0-9!@#$%^&*+=~]*"
    r"(?<!(?i:placeholder))(?<!(?i:changeme))(?<!(?i:redacted))"
)
"""A digit after the first letters: of `_SURE_LENGTH` characters, no rule below takes it for a word."""
_SURE_LENGTH = 9
_LONG_DIGITS = 16
_LONG = 20


def is_placeholder(value: str) -> bool:
    """True for what stands in the place of a value, such as `${DB_PASSWORD}`, `?` or `*****`."""
    lowered = value.strip().lower()
    return "\n" not in lowered and (
        lowered in _PLACEHOLDERS
        or lowered.startswith(_PLACEHOLDER_BEGINS)
        or lowered.endswith(_PLACEHOLDER_ENDS)
        or _PLACEHOLDER.fullmatch(lowered) is not None
    )


def is_password(value: str, *, is_prose: bool, is_variable: bool) -> bool:
    """`is_prose`: more words follow. `is_variable`: the value is in quotes, or its name is in capitals."""
    if is_variable and _is_sure(value):
        return True
    if len(value) < 3 or not _may_be_secret(value) or (" " in value and _LABEL.search(value)):
        return False
    if is_prose:
        return is_strong(value)
    return is_variable or not _is_code(value)


def is_key(value: str, *, is_prose: bool, is_variable: bool) -> bool:
    """As `is_password`, for keys and tokens: those are hardly ever words."""
    if _is_sure(value):
        return True
    if len(value) < 6 or " " in value.strip() or not _may_be_secret(value) or _DATE.match(value):
        return False
    if value.isdigit():
        return len(value) >= _LONG_DIGITS
    if _LETTERS.search(value) is None:
        return False
    if _DIGITS.search(value) is not None:
        return _VERSION.fullmatch(value) is None
    if is_prose:
        return False
    is_one = is_variable and len(value) >= 8 and _WORDS.fullmatch(value) is None
    return is_one or (len(value) >= _LONG and is_mixed(value) and not _is_code(value))


def is_strong(value: str) -> bool:
    """True for a word that is hardly one of a sentence: letters with digits, or with marks within."""
    if _is_sure(value):
        return True
    if len(value) < 5 or not _may_be_secret(value) or _DATE.match(value):
        return False
    if _VERSION.fullmatch(value) or _AMOUNT.fullmatch(value):
        return False
    has_more = _DIGITS.search(value) or _MARKS.search(value)
    return _LETTERS.search(value) is not None and has_more is not None


def is_complex(value: str) -> bool:
    """True for a strong word with a mark, or with capitals and small letters: a password, most likely."""
    has_kinds = _DIGITS.search(value) and value.lower() != value and value.upper() != value
    return is_strong(value) and bool(has_kinds or _MARKS.search(value))


def is_mixed(value: str) -> bool:
    """True for two of small letters, capitals and digits."""
    kinds = (str.islower, str.isupper, str.isdigit)
    return sum(any(map(kind, value)) for kind in kinds) >= 2


def _is_sure(value: str) -> bool:
    """True for most secrets that no name in a program could be, in one step: a table may hold little else."""
    return len(value) >= _SURE_LENGTH and _SURE.fullmatch(value) is not None


def _may_be_secret(value: str) -> bool:
    stripped = value.strip()
    return (
        stripped.casefold().rstrip(".,;:!?") not in _NO_SECRETS
        and not is_placeholder(stripped)
        and _PATH.fullmatch(stripped) is None
    )


def _is_code(value: str) -> bool:
    """True for what a program or a statement would have there: another name, such as `user.password`."""
    if _NAME.fullmatch(value) is None:
        return False
    return "." in value or _NAMED_AGAIN.fullmatch(value.casefold()) is not None
