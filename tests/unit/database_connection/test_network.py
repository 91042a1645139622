"""Which addresses are connected to, and which files are opened."""

import socket
from ipaddress import ip_network
from pathlib import Path

import pytest

from app.modules.database_connection.engines.urls import read_url
from app.modules.database_connection.errors import UrlNotSupported
from app.modules.database_connection.network import ONE_USER, Access
from graph.errors import DatabaseUnavailable

PUBLIC_ONLY = Access(networks=())


@pytest.mark.parametrize(
    "host",
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
        ),
    ],
)
def test_an_address_that_is_not_public_is_refused_in_whatever_form(host: str) -> None:
    with pytest.raises(DatabaseUnavailable, match=r"private, local or reserved|host is unknown"):
        PUBLIC_ONLY.addresses(host, 5432)


def test_public_addresses_may_be_connected_to() -> None:
    assert PUBLIC_ONLY.addresses("93.184.216.34", 5432) == ["93.184.216.34"]
    assert PUBLIC_ONLY.addresses("2606:2800:220:1::1", 5432) == ["2606:2800:220:1::1"]


def test_one_user_reaches_his_own_networks_but_not_where_clouds_keep_secrets() -> None:
    assert ONE_USER.addresses("127.0.0.1", 5432) == ["127.0.0.1"]
    assert ONE_USER.addresses("192.168.1.1", 5432) == ["192.168.1.1"]
    with pytest.raises(DatabaseUnavailable, match="KAI_DATABASES__NETWORKS"):
        ONE_USER.addresses("169.254.169.254", 80)


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
