"""Monitoring that cannot work as configured is reported before anything is served."""

import errno
import socket
import time
from pathlib import Path

import pytest

from tests.support.command_line import kai
from tests.support.server import client_of, running_server


def test_an_audit_log_that_cannot_be_written_is_named_with_its_cure(tmp_path: Path) -> None:
    served = kai("serve", data=tmp_path, KAI_AUDIT__FILE=str(tmp_path / "none" / "audit.jsonl"))
    assert served.returncode == 1
    assert "audit log cannot be written" in served.stderr
    assert "KAI_AUDIT__FILE" in served.stderr


def test_a_format_that_does_not_exist_is_named(tmp_path: Path) -> None:
    served = kai("serve", data=tmp_path, KAI_LOG_FORMAT="xml")
    assert (served.returncode, served.stderr.count("\n")) == (2, 1)
    assert "KAI_LOG_FORMAT" in served.stderr


async def test_an_address_of_ipv6_is_printed_as_a_url_that_works(tmp_path: Path) -> None:
    if not has_ipv6_loopback():
        pytest.skip("this machine has no ::1")
    with running_server(tmp_path, {"KAI_HOST": "::1"}) as server:
        assert server.address.startswith("http://[::1]:")
        async with client_of(server) as client:
            assert (await client.http.get("/sessions")).status_code == 200
            refused = await client.http.get("/sessions", headers={"Host": "evil.example.com"})
            assert refused.status_code == 400
            assert refused.headers["content-type"] == "application/problem+json"
            assert "KAI_ALLOWED_HOSTS" in refused.json()["detail"]


def has_ipv6_loopback() -> bool:
    with socket.socket(socket.AF_INET6) as probe:
        return probe.connect_ex(("::1", 9)) in (0, errno.ECONNREFUSED)


async def test_a_collector_that_is_unavailable_disturbs_neither_the_work_nor_the_stop(tmp_path: Path) -> None:
    settings = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    with running_server(tmp_path / "data", settings, tmp_path / "log") as server:
        async with client_of(server) as client:
            assert (await client.http.get("/sessions")).status_code == 200
        began = time.monotonic()
        server.stop()
        assert time.monotonic() - began < 30
