"""Which addresses are connected to, and which files are opened."""

import os
import socket
import subprocess
import sys
from ipaddress import ip_network
from itertools import product
from pathlib import Path

import pytest

from app.core.network import addresses
from app.modules.database_connection.engines.urls import read_url
from app.modules.database_connection.errors import UrlNotSupported
from app.modules.database_connection.network import ONE_USER, Access
from graph.errors import DatabaseUnavailable
from tests.support.cases import assert_each

PUBLIC_ONLY = Access(networks=())


def test_an_address_that_is_not_public_is_refused_in_whatever_form() -> None:
    def check(host: str) -> None:
        with pytest.raises(DatabaseUnavailable, match=r"private, local or reserved|host is unknown"):
            PUBLIC_ONLY.addresses(host, 5432)

    assert_each(
        [
            *(
                "127.0.0.1",
                "127.9.9.9",
                "::1",
                "localhost",
                "10.1.2.3",
                "172.20.0.1",
                "192.168.1.1",
                "100.64.0.1",
            ),
            *(
                "169.254.169.254",
                "fe80::1",
                "fd00:ec2::254",
                "0.0.0.0",
                "::",
                "224.0.0.1",
                "ff02::1",
                "255.255.255.255",
            ),
            *(
                "::ffff:127.0.0.1",
                "::ffff:169.254.169.254",
                "64:ff9b::a9fe:a9fe",
                "2002:7f00:1::",
                "2130706433",
                "0x7f.1",
                "::127.0.0.1",
                "::ffff:0:127.0.0.1",
                "64:ff9b::7f00:1",
                "64:ff9b:1::1",
                "2001:0:5db8:d822::80ff:fffe",  # Teredo of client 127.0.0.1
                "2001:0:7f00:1::a247:27dd",  # Teredo through server 127.0.0.1
            ),
            *("192.0.0.192", "168.63.129.16", "100.100.100.200", "198.18.0.1", "192.88.99.1", "240.0.0.1"),
            *("fec0::1", "5f00::1", "3fff::1", "2001:db8::1", "100::1", "4000::1", "fd00:ec2::254"),
        ],
        check,
    )


def test_public_addresses_may_be_connected_to() -> None:
    assert PUBLIC_ONLY.addresses("93.184.216.34", 5432) == ["93.184.216.34"]
    assert PUBLIC_ONLY.addresses("2606:2800:220:1::1", 5432) == ["2606:2800:220:1::1"]


def test_one_user_reaches_their_own_networks_but_not_where_clouds_keep_secrets() -> None:
    assert ONE_USER.addresses("127.0.0.1", 5432) == ["127.0.0.1"]
    assert ONE_USER.addresses("192.168.1.1", 5432) == ["192.168.1.1"]
    with pytest.raises(DatabaseUnavailable, match="KAI_DATABASES__NETWORKS"):
        ONE_USER.addresses("169.254.169.254", 80)


def test_an_ipv4_address_inside_an_ipv6_one_is_judged_as_itself() -> None:
    for host in ("::ffff:93.184.216.34", "64:ff9b::5db8:d822", "2002:5db8:d822::1"):
        assert PUBLIC_ONLY.addresses(host, 5432)
    ten = Access(networks=(ip_network("10.0.0.0/8"),))
    for host in ("::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::"):
        assert ten.addresses(host, 5432)


@pytest.mark.parametrize(
    "address", ["169.254.169.254", "100.100.100.200", "192.0.0.192", "168.63.129.16", "fd00:ec2::254"]
)
def test_no_setting_opens_the_metadata_service_of_a_cloud(address: str) -> None:
    everything = Access(networks=(ip_network("0.0.0.0/0"), ip_network("::/0")))
    for access in (PUBLIC_ONLY, ONE_USER, everything):
        with pytest.raises(DatabaseUnavailable, match="metadata"):
            access.addresses(address, 80)


@pytest.mark.parametrize("host", ["metadata.google.internal", "Metadata.Google.Internal.", "instance-data"])
def test_the_names_of_metadata_services_are_refused_without_a_look_up(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: pytest.fail("the name was looked up"))
    with pytest.raises(DatabaseUnavailable, match="metadata"):
        ONE_USER.addresses(host, 80)


_VERDICTS = """
import runpy, sys
from ipaddress import ip_address
is_connectable = runpy.run_path(sys.argv[1])["is_connectable"]
print(sys.version_info[:2], *(int(is_connectable(ip_address(each), ())) for each in sys.argv[2:]))
"""
_EDGES = {
    "0.255.255.255": 0, "1.0.0.0": 1, "9.255.255.255": 1, "10.0.0.0": 0, "100.63.255.255": 1, "100.64.0.0": 0,
    "100.128.0.0": 1, "126.255.255.255": 1, "128.0.0.0": 1, "169.253.255.255": 1, "169.254.0.0": 0,
    "172.15.255.255": 1, "172.16.0.0": 0, "172.31.255.255": 0, "172.32.0.0": 1, "192.0.0.9": 0,
    "192.0.0.192": 0, "192.0.1.0": 1, "192.0.2.1": 0, "192.31.196.1": 0, "192.52.193.1": 0, "192.88.99.2": 0,
    "192.175.48.1": 0, "198.17.255.255": 1, "198.19.255.255": 0, "198.20.0.0": 1, "198.51.100.1": 0,
    "203.0.113.255": 0, "223.255.255.255": 1, "224.0.0.0": 0, "255.255.255.255": 0,
    "168.63.129.15": 1, "168.63.129.16": 0,
    "::": 0, "::1": 0, "::127.0.0.1": 0, "::8.8.8.8": 1, "::ffff:192.0.0.192": 0, "64:ff9b::a9fe:a9fe": 0,
    "64:ff9b::808:808": 1, "64:ff9b:1::808:808": 0, "100::1": 0, "1fff::1": 0, "2001::1": 0, "2001:1::1": 0,
    "2001:2::1": 0, "2001:20::1": 0, "2001:200::1": 1, "2001:db8::1": 0, "2001:db9::1": 1,
    "2002:808:808::1": 1, "2002:a9fe:a9fe::1": 0, "2606:4700::1111": 1, "2620:4f:8000::1": 0,
    "3fff:fff::1": 0, "3fff:1000::1": 1, "4000::1": 0, "5f00::1": 0, "fc00::1": 0, "fe80::1": 0,
    "fec0::1": 0, "ff02::1": 0,
}  # fmt: skip


def test_every_supported_python_judges_alike() -> None:
    for python in _pythons():
        ended = subprocess.run(
            [python, "-I", "-c", _VERDICTS, addresses.__file__, *_EDGES],
            capture_output=True,
            text=True,
            check=True,
        )
        assert ended.stdout.split(") ")[1].split() == [str(each) for each in _EDGES.values()], ended.stdout


def _pythons() -> list[str]:
    """This Python, and the others of this machine from 3.11 on."""
    folders = [*os.environ["PATH"].split(os.pathsep), *map(str, Path.home().glob(".pyenv/versions/*/bin"))]
    found = {sys.executable}
    for folder, minor in product(folders, range(11, 20)):
        python = Path(folder, f"python3.{minor}")
        if "shims" not in folder and python.exists():
            found.add(str(python.resolve()))
    return sorted(found)


def test_a_named_network_is_allowed_and_its_neighbour_is_not() -> None:
    access = Access(networks=(ip_network("10.1.0.0/16"),))
    assert access.addresses("10.1.2.3", 5432) == ["10.1.2.3"]
    with pytest.raises(DatabaseUnavailable):
        access.addresses("10.2.0.1", 5432)


def test_one_private_address_among_public_ones_is_enough_to_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 5432)) for address in ("1.1.1.1", "10.0.0.1")
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    with pytest.raises(DatabaseUnavailable):
        PUBLIC_ONLY.addresses("rebinding.example", 5432)


@pytest.fixture
def folders(tmp_path: Path) -> Access:
    for folder in ("data", "elsewhere"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "shop.db").touch()
    (tmp_path / "data" / "kai.db").write_text("own")
    return Access(folders=(tmp_path / "data",), own_files=(tmp_path / "data" / "kai.db",))


def test_files_are_opened_in_named_folders_only(folders: Access, tmp_path: Path) -> None:
    assert read_url(f"sqlite:///{tmp_path}/data/shop.db", folders).masked_url == "shop.db"
    for path in ("elsewhere/shop.db", "data/../elsewhere/shop.db"):
        with pytest.raises(UrlNotSupported, match="KAI_DATABASES__FOLDERS"):
            read_url(f"sqlite:///{tmp_path}/{path}", folders)


def test_a_link_counts_as_what_it_leads_to(folders: Access, tmp_path: Path) -> None:
    (tmp_path / "data" / "link.db").symlink_to(tmp_path / "elsewhere" / "shop.db")
    with pytest.raises(UrlNotSupported, match="KAI_DATABASES__FOLDERS"):
        read_url(f"sqlite:///{tmp_path}/data/link.db", folders)


def test_kais_own_files_are_refused_by_every_name(folders: Access, tmp_path: Path) -> None:
    (tmp_path / "data" / "soft.db").symlink_to(tmp_path / "data" / "kai.db")
    (tmp_path / "data" / "hard.db").hardlink_to(tmp_path / "data" / "kai.db")
    for name in ("kai.db", "soft.db", "hard.db"):
        with pytest.raises(UrlNotSupported, match="KAI's own"):
            read_url(f"sqlite:///{tmp_path}/data/{name}", folders)
