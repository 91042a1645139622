"""Networks that a database is not connected to, whatever Python's `ipaddress` thinks of them.

The table follows IANA's special-purpose registries for IPv4 and IPv6 and IANA's list of IPv6 address space.
It imports the standard library only and reads no `is_global`: that changes from one Python to the next.
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
IpNetwork: TypeAlias = IPv4Network | IPv6Network

_SPECIAL_PURPOSE = """
    0.0.0.0/8           this network
    10.0.0.0/8          private use
    100.64.0.0/10       shared address space of providers
    127.0.0.0/8         loopback
    169.254.0.0/16      link-local
    172.16.0.0/12       private use
    192.0.0.0/24        IETF protocol assignments
    192.0.2.0/24        documentation
    192.31.196.0/24     AS112
    192.52.193.0/24     AMT
    192.88.99.0/24      6to4 relays, deprecated
    192.168.0.0/16      private use
    192.175.48.0/24     AS112
    198.18.0.0/15       benchmarking
    198.51.100.0/24     documentation
    203.0.113.0/24      documentation
    224.0.0.0/4         multicast
    240.0.0.0/4         reserved, and limited broadcast

    ::/3                not global unicast: unspecified, loopback, 64:ff9b:1::/48, discard-only 100::/64
    2001::/23           IETF protocol assignments
    2001:db8::/32       documentation
    2620:4f:8000::/48   AS112
    3fff::/20           documentation
    4000::/2            not global unicast: SRv6 SIDs 5f00::/16
    8000::/1            not global unicast: fc00::/7, fe80::/10, fec0::/10, multicast ff00::/8
"""

_CLOUD_METADATA = """
    100.100.100.200/32      Alibaba Cloud
    168.63.129.16/32        Azure
    169.254.0.23/32         Tencent Cloud
    169.254.42.42/32        Scaleway
    169.254.169.252/30      AWS, Azure, Google Cloud, Oracle Cloud, OpenStack and others
    169.254.170.2/32        AWS containers
    169.254.170.23/32       AWS pods
    192.0.0.192/32          Oracle Cloud
    fd00:42::42/128         Scaleway
    fd00:c1::a9fe:a9fe/128  Oracle Cloud
    fd00:ec2::/32           AWS
    fd20:ce::254/128        Google Cloud
    fe80::a9fe:a9fe/128     OpenStack
"""

METADATA_NAMES = frozenset(
    {
        "instance-data",
        "instance-data.ec2.internal",
        "metadata",
        "metadata.azure.internal",
        "metadata.goog",
        "metadata.google.internal",
        "metadata.packet.net",
        "metadata.platformequinix.com",
        "metadata.tencentyun.com",
        "rancher-metadata",
    }
)


def _networks(table: str) -> Sequence[IpNetwork]:
    return tuple(ip_network(line.split()[0]) for line in table.splitlines() if line.strip())


REFUSED_NETWORKS = _networks(_SPECIAL_PURPOSE)
METADATA_NETWORKS = _networks(_CLOUD_METADATA)
"""Addresses of cloud metadata services, which no setting allows: they are no databases, and they hold
credentials."""

_MAPPED = IPv6Network("::ffff:0:0/96")
_COMPATIBLE = IPv6Network("::/96")
_TRANSLATED = IPv6Network("::ffff:0:0:0/96")
_NAT64 = IPv6Network("64:ff9b::/96")
_6TO4 = IPv6Network("2002::/16")
_TEREDO = IPv6Network("2001::/32")
_NOT_COMPATIBLE = frozenset({IPv6Address("::"), IPv6Address("::1")})


def is_metadata_name(host: str) -> bool:
    """True if a host name is known to lead to a cloud's metadata service."""
    return host.rstrip(".").casefold() in METADATA_NAMES


def is_connectable(address: Address, allowed: Sequence[IpNetwork]) -> bool:
    """True if a database at this address may be connected to: a public address, or one in `allowed`.

    An IPv6 address that carries IPv4 addresses is judged by these. Metadata services are never connectable.
    """
    return all(_is_connectable(each, allowed) for each in _reached(address))


def _is_connectable(address: Address, allowed: Sequence[IpNetwork]) -> bool:
    if any(address in network for network in METADATA_NETWORKS):
        return False
    public = not any(address in network for network in REFUSED_NETWORKS)
    return public or any(address in network for network in allowed)


def _reached(address: Address) -> Sequence[Address]:
    """Returns the IPv4 addresses inside an IPv6 address, or else the address itself."""
    if isinstance(address, IPv4Address) or address in _NOT_COMPATIBLE:
        return (address,)
    number = int(address)
    if any(address in network for network in (_MAPPED, _COMPATIBLE, _TRANSLATED, _NAT64)):
        return (_ipv4(number),)
    if address in _6TO4:
        return (_ipv4(number >> 80),)
    if address in _TEREDO:
        return (_ipv4(number >> 64), _ipv4(~number))  # the server, and the client with its bits inverted
    return (address,)


def _ipv4(number: int) -> IPv4Address:
    return IPv4Address(number & 0xFFFF_FFFF)
