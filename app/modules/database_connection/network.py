"""Where databases may stand: which addresses may be connected to, and which files may be opened."""

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import TypeAlias

from app.modules.database_connection.errors import UrlNotSupported
from graph.errors import DatabaseUnavailable

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

LOCAL_NETWORKS: Sequence[Network] = tuple(
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
_NAT64 = ip_network("64:ff9b::/96")


@dataclass(frozen=True)
class Access:
    """What a server of KAI may connect to besides public addresses.

    `ONE_USER`, the default, is for one user on his own machine: every file he may read, and every
    network he is in, but no link-local address (where clouds tell machines their secrets).
    `own_files` are KAI's own and never opened, by whatever name.
    """

    networks: Sequence[Network] = LOCAL_NETWORKS
    folders: Sequence[Path] = (Path("/"),)
    own_files: Sequence[Path] = ()

    def check_file(self, path: Path) -> None:
        """`path` is resolved already and exists. Raises `UrlNotSupported`."""
        if any(own.exists() and path.samefile(own) for own in self.own_files):
            raise UrlNotSupported("This file is KAI's own; it cannot be asked about.")
        if not any(path.is_relative_to(folder.resolve()) for folder in self.folders):
            raise UrlNotSupported(
                "Database files are opened in certain folders only. Move the file into one of them, or "
                "name its folder in KAI_DATABASES__FOLDERS."
            )

    def addresses(self, host: str, port: int) -> list[str]:
        """Where a host is now, if all its addresses may be connected to; connect to these, not to the name.

        Raises `DatabaseUnavailable`.
        """
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            raise DatabaseUnavailable("The database cannot be used: the host is unknown.") from None
        addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
        if not all(self._is_allowed(ip_address(each)) for each in addresses):
            raise DatabaseUnavailable(
                "The host has a private, local or reserved address, which is not connected to from here. "
                "If databases stand there, name the network in KAI_DATABASES__NETWORKS."
            )
        return addresses

    def _is_allowed(self, address: Address) -> bool:
        meant = _meant(address)
        public = meant.is_global and not meant.is_multicast
        return public or any(meant in network for network in self.networks)


ONE_USER = Access()


def _meant(address: Address) -> Address:
    """The IPv4 address inside an IPv6 one that only wraps it."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour or address
