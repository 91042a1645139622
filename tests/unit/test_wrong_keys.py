"""Wrong credentials are counted per address, and slowed."""

import pytest
from prometheus_client import CollectorRegistry

from app.core.auth.caller import LOCAL_CALLER, Caller, unknown_credential
from app.core.errors import Unauthenticated
from app.http.wrong_keys import MAX_WAIT_SECONDS, TooManyWrongKeys, WrongKeys, address_of
from tests.support.clock import Clock

PER_MINUTE = 30
ONE_SECONDS = 60 / PER_MINUTE


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(round(seconds, 3))

    monkeypatch.setattr("app.http.wrong_keys.asyncio.sleep", sleep)
    return waits


@pytest.fixture
def wrong_keys(metrics: CollectorRegistry, clock: Clock, slept: list[float]) -> WrongKeys:
    return WrongKeys(PER_MINUTE, metrics, clock)


async def right() -> Caller:
    return LOCAL_CALLER


async def wrong() -> Caller:
    raise unknown_credential()


async def guess(wrong_keys: WrongKeys, times: int, address: str = "192.0.2.1") -> None:
    for number in range(times):
        with pytest.raises(Unauthenticated):
            await wrong_keys.checked(address, f"kai_guess_{number}", wrong)


async def test_the_first_wrong_ones_are_answered_at_once_then_after_a_wait_then_not(
    wrong_keys: WrongKeys, slept: list[float], metrics: CollectorRegistry
) -> None:
    await guess(wrong_keys, PER_MINUTE)
    assert slept == []
    await guess(wrong_keys, 2)
    assert slept == [ONE_SECONDS, 2 * ONE_SECONDS]
    with pytest.raises(TooManyWrongKeys) as refused:
        await wrong_keys.checked("192.0.2.1", "kai_one_more", wrong)
    assert int(refused.value.headers["Retry-After"]) > MAX_WAIT_SECONDS
    assert metrics.get_sample_value("kai_wrong_credentials_total") == PER_MINUTE + 2


async def test_other_addresses_and_later_minutes_are_free(
    wrong_keys: WrongKeys, slept: list[float], clock: Clock
) -> None:
    await guess(wrong_keys, PER_MINUTE)
    await guess(wrong_keys, PER_MINUTE, "192.0.2.2")
    clock.now += 60
    await guess(wrong_keys, PER_MINUTE)
    assert slept == []


async def test_a_credential_that_was_right_is_never_slowed(wrong_keys: WrongKeys, slept: list[float]) -> None:
    for _ in range(2 * PER_MINUTE):
        assert await wrong_keys.checked("192.0.2.1", "kai_right", right) == LOCAL_CALLER
    await guess(wrong_keys, PER_MINUTE)
    assert await wrong_keys.checked("192.0.2.1", "kai_right", right) == LOCAL_CALLER
    assert slept == []


async def test_a_new_right_credential_waits_behind_wrong_ones_and_uses_nothing_up(
    wrong_keys: WrongKeys, slept: list[float]
) -> None:
    await guess(wrong_keys, PER_MINUTE)
    for number in range(5):
        assert await wrong_keys.checked("192.0.2.1", f"kai_right_{number}", right) == LOCAL_CALLER
    assert slept == [ONE_SECONDS] * 5


async def test_a_credential_that_is_wrong_from_now_on_counts(
    wrong_keys: WrongKeys, slept: list[float]
) -> None:
    await wrong_keys.checked("192.0.2.1", "kai_revoked", right)
    for _ in range(PER_MINUTE + 2):
        with pytest.raises(Unauthenticated):
            await wrong_keys.checked("192.0.2.1", "kai_revoked", wrong)
    assert slept == [ONE_SECONDS]


async def test_zero_is_no_limit(metrics: CollectorRegistry, slept: list[float]) -> None:
    await guess(WrongKeys(0, metrics), 10 * PER_MINUTE)
    assert slept == []


def test_addresses_of_one_ipv6_network_are_one() -> None:
    def of(host: str) -> str:
        return address_of({"type": "http", "client": (host, 1)})

    assert of("2001:db8::1") == of("2001:db8::2") != of("2001:db8:0:1::1")
    assert of("192.0.2.1") != of("192.0.2.2")
    assert address_of({"type": "http", "client": None}) == ""
