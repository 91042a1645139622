"""Addresses that KAI may connect to, and files that it may open as databases."""

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from pathlib import Path

from app.core.network.addresses import IpNetwork, is_connectable, is_metadata_name
from app.modules.database_connection.errors import UrlNotSupported
from graph.errors import DatabaseUnavailable

LOCAL_NETWORKS: Sequence[IpNetwork] = tuple(
    ip_network(each)
    for each in (
        "127.0.0.0/8",
        "::1/128",
        "10.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "100.64.0.0/10",
        "fc00::/7",
    )
)


@dataclass(frozen=True)
class Access:
    """Networks and folders of databases that KAI may open, besides public addresses.

    `ONE_USER`, the default, is for one user on their own machine: every file they may read, and every
    network they are in, but no link-local address. No setting allows the metadata services of clouds.
    `own_files` are KAI's own and never opened, by whatever name, nor are files in `own_folders`: uploaded
    files belong to their uploaders.
    """

    networks: Sequence[IpNetwork] = LOCAL_NETWORKS
    folders: Sequence[Path] = (Path("/"),)
    own_files: Sequence[Path] = ()
    own_folders: Sequence[Path] = ()

    def check_file(self, path: Path) -> None:
        """`path` is resolved already and exists. Raises `UrlNotSupported`."""
        in_own_folder = any(path.is_relative_to(folder.resolve()) for folder in self.own_folders)
        if in_own_folder or any(own.exists() and path.samefile(own) for own in self.own_files):
            raise UrlNotSupported("This file is part of KAI's own data. Questions about it are not allowed.")
        self._check_place(path)

    def check_folder(self, path: Path) -> None:
        """`path` is resolved already and exists. Raises `UrlNotSupported`."""
        for own in (folder.resolve() for folder in self.own_folders):
            if path.is_relative_to(own) or own.is_relative_to(path):
                raise UrlNotSupported("This folder has KAI's own data. Name a folder beside it.")
        self._check_place(path)

    def _check_place(self, path: Path) -> None:
        if not any(path.is_relative_to(folder.resolve()) for folder in self.folders):
            raise UrlNotSupported(
                "Database files are opened in certain folders only. Move the file into one of them, or "
                "name its folder in KAI_DATABASES__FOLDERS."
            )

    def addresses(self, host: str, port: int) -> list[str]:
        """Resolve a host and check all its addresses. Connect to these, not to the name.

        Raises `DatabaseUnavailable` if the host is unknown or one of the addresses is not allowed.
        """
        if is_metadata_name(host):
            raise DatabaseUnavailable("The host is a cloud's metadata service, not a database.")
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            raise DatabaseUnavailable("The database cannot be used: the host is unknown.") from None
        addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
        if not all(is_connectable(ip_address(each), self.networks) for each in addresses):
            raise DatabaseUnavailable(
                "The host has a private, local or reserved address, and KAI does not connect to those here. "
                "To allow databases there, add the network to KAI_DATABASES__NETWORKS; a cloud's metadata "
                "service is never connected to."
            )
        return addresses


ONE_USER = Access()
