"""What answers say of rates is structured fields, as the draft has them."""

import http_sf

from app.core.rates import Policy, RemainingQuota
from app.http.rate_limit_fields import limit_field, policy_field

COUNTS = [
    RemainingQuota(Policy("requests", 600, 60), remaining=598, reset_seconds=58, exceeded=False),
    RemainingQuota(Policy("questions", 60, 60), remaining=0, reset_seconds=1, exceeded=True),
]


def test_the_policy_field_is_a_list_of_strings_with_quota_and_window() -> None:
    assert http_sf.parse(policy_field(COUNTS).encode(), tltype="list") == [
        ("requests", {"q": 600, "w": 60}),
        ("questions", {"q": 60, "w": 60}),
    ]


def test_the_limit_field_says_for_each_policy_what_remains_and_for_how_long() -> None:
    assert http_sf.parse(limit_field(COUNTS).encode(), tltype="list") == [
        ("requests", {"r": 598, "t": 58}),
        ("questions", {"r": 0, "t": 1}),
    ]
