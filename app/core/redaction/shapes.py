"""Keys and tokens of services, by their shapes.

Patterns take linear time: texts may come from attackers, and may hold nothing but tokens.
"""

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias, cast

Span: TypeAlias = tuple[int, int]
"""The start and the end of a place in a text."""

# Keys and tokens that begin with a text of their own. What follows is all of the secret.
_TOKENS: dict[str, str] = {
    # Clouds
    **dict.fromkeys(("AKIA", "ASIA", "ABIA", "ACCA"), r"[0-9A-Z]{16}\b"),
    "ABSK": r"[A-Za-z0-9+/]{60,}={0,2}",
    "AIza": r"[\w-]{35}",
    "GOCSPX-": r"[\w-]{20,}",
    "ya29.": r"[\w.-]{20,}",
    "1//0": r"[\w-]{30,}",
    "LTAI": r"[A-Za-z0-9]{12,24}\b",
    "AKID": r"[A-Za-z0-9]{32}\b",
    "AQVN": r"[\w-]{30,}",
    "dop_v1_": r"[0-9a-f]{64}",
    "doo_v1_": r"[0-9a-f]{64}",
    "dor_v1_": r"[0-9a-f]{64}",
    "HRKU-": r"[\w-]{20,}",
    "fo1_": r"[\w-]{40,}",
    "scw_": r"[\w-]{20,}",
    # Code and packages
    **dict.fromkeys(("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"[A-Za-z0-9_]{30,}"),
    "github_pat_": r"\w{20,}",
    **dict.fromkeys(
        (
            *("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glimt-", "glagent-"),
            *("glffct-", "glwt-", "gloas-", "GR1348941"),
        ),
        r"[\w.-]{16,}",
    ),
    "ATBB": r"[A-Za-z0-9_=-]{24,}",
    "ATATT3": r"[\w=-]{40,}",
    "ATCTT3": r"[\w=-]{40,}",
    "npm_": r"[A-Za-z0-9]{30,}",
    "pypi-": r"[\w-]{50,}",
    "rubygems_": r"[0-9a-f]{48}",
    "crates.io_": r"\w{20,}",
    "cio": r"[A-Za-z0-9]{32}\b",
    "oy2": r"[a-z0-9]{43}\b",
    "dckr_pat_": r"[\w-]{20,}",
    "dckr_oat_": r"[\w-]{20,}",
    "AKCp": r"[A-Za-z0-9]{10,}",
    "hf_": r"[A-Za-z0-9]{30,}",
    "api_org_": r"[A-Za-z]{30,}",
    "sqp_": r"[0-9a-f]{40}",
    "squ_": r"[0-9a-f]{40}",
    "sqa_": r"[0-9a-f]{40}",
    "PMAK-": r"[0-9a-f-]{40,}",
    "figd_": r"[\w-]{30,}",
    "lin_api_": r"\w{30,}",
    "ntn_": r"[A-Za-z0-9]{30,}",
    "secret_": r"[A-Za-z0-9]{32,}",
    "CFPAT-": r"[\w-]{30,}",
    "pk_": r"\d{5,10}_[A-Z0-9]{32}\b",  # ClickUp
    **dict.fromkeys(("pbkdf2_sha256$", "pbkdf2_sha512$"), r"\d{3,8}\$[\w./+-]{1,100}\$[\w./+=-]{20,}"),
    "1/": r"\d{13,19}:[0-9a-f]{32}\b",  # Asana
    "2/": r"\d{13,19}/\d{13,19}:[0-9a-f]{32}\b",
    # Talking and mailing
    **dict.fromkeys(("xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxc-", "xoxd-"), r"[\w%-]{10,}"),
    "CCIPAT_": r"\w{20,}",
    "bkua_": r"[0-9a-f]{40}",
    "nfp_": r"[A-Za-z0-9]{30,}",
    "rnd_": r"[A-Za-z0-9]{28,}",
    **dict.fromkeys(("pat-na1-", "pat-eu1-", "amzn.mws."), r"[0-9a-f-]{36}"),
    **dict.fromkeys(("access-production-", "access-sandbox-", "access-development-"), r"[0-9a-f-]{36}"),
    "tfp_": r"[\w-]{40,}",
    "pnu_": r"[a-z0-9]{30,}",
    "sl.": r"[\w-]{100,}",
    "xoxe.": r"[\w.-]{20,}",
    "xoxe-": r"[\w-]{20,}",
    "xapp-": r"[\w-]{20,}",
    "api/webhooks/": r"\d{5,20}/[\w-]{20,}",
    "webhook.office.com/": r"[\w@/-]{30,}",
    "pat": r"[A-Za-z0-9]{14}\.[0-9a-f]{64}\b",
    "SK": r"[0-9a-f]{32}(?![A-Za-z0-9])",
    "hooks.slack.com/": r"(?:services|workflows|triggers)/[\w/]{15,}",
    "SG.": r"[\w-]{16,}\.[\w-]{16,}",
    "key-": r"[0-9a-z]{32}\b",
    "xkeysib-": r"[0-9a-f]{32,}-\w{8,}",
    "EAAC": r"[A-Za-z0-9]{60,}",
    "EAAG": r"[A-Za-z0-9]{60,}",
    "EAAB": r"[A-Za-z0-9]{60,}",
    "AAAAAAAAAAAAAAAAAAAA": r"[\w%]{40,}",
    # Money
    **dict.fromkeys(("sk_live_", "sk_test_", "rk_live_", "rk_test_"), r"[A-Za-z0-9]{16,}"),
    "whsec_": r"[A-Za-z0-9+/=]{20,}",
    "sq0atp-": r"[\w-]{20,}",
    "sq0csp-": r"[\w-]{30,}",
    "EAAAE": r"[\w-]{50,}",
    "access_token$production$": r"\w{10,}\$[0-9a-f]{20,}",
    "access_token$sandbox$": r"\w{10,}\$[0-9a-f]{20,}",
    **dict.fromkeys(("shpat_", "shpss_", "shpca_", "shppa_", "shptka_"), r"[0-9a-fA-F]{30,}"),
    "FLWSECK_TEST-": r"[\w-]{12,}",
    "FLWSECK-": r"[\w-]{12,}",
    "rzp_live_": r"[A-Za-z0-9]{14,}",
    "rzp_test_": r"[A-Za-z0-9]{14,}",
    "live_": r"[A-Za-z0-9]{35,}\b",
    # Models
    **dict.fromkeys(
        ("sk-svcacct-", "sk-proj-", "sk-admin-", "sk-ant-", "sk-or-v1-", "sk-None-"),
        r"(?=[\w-]{0,80}[A-Z0-9])[\w-]{16,}",
    ),
    "sk-": r"(?=[\w-]{0,80}\d)(?:[a-z0-9]{2,10}-){0,4}[A-Za-z0-9_]{12,}[\w-]*",
    "sk.eyJ": r"[\w.-]{20,}",
    "gsk_": r"[A-Za-z0-9]{40,}",
    "xai-": r"[A-Za-z0-9]{40,}",
    "pplx-": r"[A-Za-z0-9]{30,}",
    "r8_": r"[A-Za-z0-9]{30,}",
    "kai_": r"(?=[\w-]{0,60}\d)(?=[\w-]{0,60}[A-Z])[\w-]{30,}",
    "nvapi-": r"[\w-]{40,}",
    "jina_": r"[A-Za-z0-9_-]{40,}",
    "tgp_v1_": r"[\w-]{30,}",
    "rpa_": r"[A-Z0-9]{30,}",
    "e2b_": r"[0-9a-f]{30,}",
    "tvly-": r"[\w-]{20,}",
    "pcsk_": r"\w{30,}",
    "lsv2_": r"(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}",
    "sk_prod_": r"[A-Za-z0-9]{16,}",
    # Running and watching
    "p8e-": r"[A-Za-z0-9]{32}\b",
    "4b1d": r"[A-Za-z0-9]{38}\b",
    **dict.fromkeys(("EZAK", "EZTK"), r"[A-Za-z0-9]{54}\b"),
    **dict.fromkeys(("shippo_live_", "shippo_test_"), r"[0-9a-f]{40}\b"),
    **dict.fromkeys(("duffel_live_", "duffel_test_"), r"[\w=-]{43}"),
    **dict.fromkeys(("sm_aat_", "sm_pat_", "sm_sat_"), r"[A-Za-z0-9]{16,}"),
    "fio-u-": r"[\w=-]{64}",
    "ico-": r"[A-Za-z0-9]{32}\b",
    "dnkey-": r"[\w=-]{26}-[\w=-]{52}",
    "rdme_": r"[a-z0-9]{70}\b",
    "NRII-": r"[A-Za-z0-9-]{32}",
    **dict.fromkeys(("glrtr-", "gldx-"), r"[\w.-]{16,}"),
    "dapi": r"[0-9a-f]{32}(?:-\d)?\b",
    "glsa_": r"[A-Za-z0-9]{32}_[0-9a-fA-F]{8}",
    "glc_": r"[A-Za-z0-9+/]{32,}={0,2}",
    "NRAK-": r"[A-Z0-9]{27}",
    "NRJS-": r"[0-9a-f]{19}",
    "sntrys_": r"[\w+/=]{30,}",
    "sntryu_": r"[0-9a-f]{60,}",
    "dt0c01.": r"[A-Z0-9]{24}\.[A-Z0-9]{64}",
    "dt0s01.": r"[A-Z0-9]{8,}\.[A-Z0-9]{64}",
    **dict.fromkeys(("hvs.", "hvb.", "hvr."), r"[\w-]{20,}"),
    **dict.fromkeys(("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."), r"[\w.-]{30,}"),
    "pul-": r"[0-9a-f]{40}\b",
    "pscale_tkn_": r"[\w.=-]{30,}",
    "pscale_pw_": r"[\w.=-]{30,}",
    "pscale_oauth_": r"[\w.=-]{30,}",
    "sha256~": r"[\w-]{43}(?![\w-])",
    "fm2_": r"[\w+/=-]{40,}",
    "sgp_": r"(?:\w{1,20}_)?[0-9a-f]{40}",
    "cmVmdGtu": r"[A-Za-z0-9]{40,}",
    "CLOJARS_": r"[0-9a-f]{60}",
    "API-": r"[A-Z0-9]{26,32}\b",
    "GOOG1E": r"[A-Z0-9]{57}\b",
    "xsmtpsib-": r"[0-9a-f]{32,}-\w{8,}",
    "sbp_": r"[0-9a-f]{40}",
    "sb_secret_": r"[\w-]{20,}",
    "AGE-SECRET-KEY-1": r"[0-9A-Z]{40,}",
    "phx_": r"\w{40,}",
    "tskey-": r"\w+-[\w-]{10,}",
    "ops_eyJ": r"[\w+/=-]{40,}",
    "A3-": r"[A-Z0-9]{6}-[A-Z0-9-]{26,33}",
    "napi_": r"[a-z0-9]{40,}",
    "v1.0-": r"[0-9a-f]{24}-[0-9a-f]{100,}",
    "gAAAA": r"[\w-]{50,}={0,2}",
    "eyJ": r"[\w-]{6,3000}+\.\.?[\w-]{6,}(?:\.[\w-]*){0,3}",
    **{f"S{kind}": r"[A-Z2-7]{56}\b" for kind in "ACNOUX"},  # seeds of NATS keys
}

_LONGEST_BEFORE = 100
_WHOLE: dict[str, str] = {
    ":AA": r"(?<!\d)\d{8,10}:AA[\w-]{32,34}(?![\w-])",  # Telegram
    ":APA91b": r"(?<![\w-])[\w-]{8,12}:APA91b[\w-]{100,}",  # Firebase
    "Q~": r"(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{31,34}",  # Azure
    "-us": r"(?<![\w-])[0-9a-f]{32}-us\d{1,2}\b",  # Mailchimp
    "JQQJ99": r"(?<![A-Za-z0-9])[A-Za-z0-9]{40,60}JQQJ99[A-Za-z0-9]{20,40}",  # Azure's models
    "AzCa": r"(?<![\w+/])[\w+/]{36,42}AzCa[\w+/]{5}={0,2}",  # Azure
    ".atlasv1.": r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{40,}",  # Terraform
    "+ASt": r"(?<![\w+/])[\w+/]{76}\+ASt[\w+/]{6,}={0,2}",  # Azure storage
}
"""Tokens with a text of their own within their first hundred characters: that text, and their pattern."""

_DISCORD = re.compile(r"[MNO](?<![\w.-].)[DTjz][\w-]{21,26}\.[\w-]{6}\.[\w-]{27,45}(?![\w.-])")
_HASH_OF_PASSWORD = re.compile(
    r"\$(?<![A-Za-z0-9].)(?:2[abxy]?|apr1|[156y]|scrypt|argon2\w{1,2})\$[\w./$=,+-]{20,}"
)
_FERNET = re.compile(r"=(?<=[\w-]{43}=)(?<![\w+/:-].{44})(?![\w=])")
_FERNET_LENGTH = 44

_Node: TypeAlias = "dict[str, _Node | str]"


def _pattern_of(tokens: Mapping[str, str]) -> str:
    """Returns a pattern of all tokens, the longest beginning first. Beginnings share what they can."""
    root: _Node = {}
    for beginning, rest in tokens.items():
        node = root
        for character in beginning:
            node = cast("_Node", node.setdefault(character, {}))
        node[""] = rest
    return _joined(root)


def _joined(node: _Node) -> str:
    ways = [re.escape(each) + _joined(below) for each, below in node.items() if isinstance(below, dict)]
    if "" in node:
        ways.append(cast("str", node[""]))
    return ways[0] if len(ways) == 1 else f"(?:{'|'.join(ways)})"


_TOKEN = re.compile(rf"(?=[!-~]{{11}}){_pattern_of(_TOKENS)}")
_TOKEN_BEHIND = re.compile(rf"[^A-Za-z0-9]{_TOKEN.pattern}")
"""A token behind what is no letter or digit. Most characters are passed over without a try, because the
pattern begins with a class of characters, not with a look back."""
_BEGINNINGS = tuple(_TOKENS)
_PARTS_OF_BEGINNINGS = frozenset(each[:length] for each in _TOKENS for length in range(len(each) + 1))
_WHOLE_PATTERNS = [(part, re.compile(pattern)) for part, pattern in _WHOLE.items()]
_WORD = re.compile(r"\S*")


def token_spans(text: str) -> Iterator[Span]:
    """Yields the places of keys and tokens, in any order.

    The text has ASCII characters only.
    """
    yield from _tokens(text)
    for pattern in (_DISCORD, _HASH_OF_PASSWORD):
        for token in pattern.finditer(text):
            yield token.span()
    for part, pattern in _WHOLE_PATTERNS:
        yield from _around(text, part, pattern)
    for end in _FERNET.finditer(text):
        yield end.end() - _FERNET_LENGTH, end.end()


def _tokens(text: str) -> Iterator[Span]:
    """Yields the places of tokens with a beginning of their own, which no letter or digit precedes."""
    end = 0
    if (token := _TOKEN.match(text)) is not None:
        end = token.end()
        yield token.span()
    # A token may end with what precedes the next one.
    while (token := _TOKEN_BEHIND.search(text, max(0, end - 1))) is not None:
        end = token.end()
        yield token.start() + 1, end


def _around(text: str, part: str, pattern: re.Pattern[str]) -> Iterator[Span]:
    """Yields the places of tokens in the words that hold a part of one."""
    at = text.find(part)
    while at >= 0:
        word = _WORD.match(text, at)
        end = word.end() if word is not None else at + len(part)
        for token in pattern.finditer(text, max(0, at - _LONGEST_BEFORE), end):
            yield token.span()
        at = text.find(part, end)


def may_begin_token(word: str) -> bool:
    """True if the word is the beginning of a token, or may become one."""
    return word in _PARTS_OF_BEGINNINGS or word.startswith(_BEGINNINGS)
