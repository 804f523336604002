"""Which addresses are on the public internet, and what the others are.

The ranges are those of IANA's special-purpose registries for IPv4 and IPv6 and of the RFCs named beside them. They are
written out because the standard library's `is_global` is not enough: it passes multicast (224.0.1.1) and NAT64
(64:ff9b::7f00:1, which may be a gateway's way to 127.0.0.1), and what it says of 6to4, of 192.0.0.0/24 and of mapped
addresses differs between the Python versions that we run on. It is asked as well, at the end, so that a range it learns
of later is refused too.
"""

from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
WhyRefused = Callable[[Address], str | None]


def _ranges(*ranges: str) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(ip_network(each) for each in ranges)


# In this order: a range that lies in another one comes before it. docs/sources.md has the same table, held by a test.
REFUSED: dict[str, tuple[IPv4Network | IPv6Network, ...]] = {
    "unspecified": _ranges("0.0.0.0/8", "::/128"),
    "loopback": _ranges("127.0.0.0/8", "::1/128"),
    "private network": _ranges("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
    "carrier-grade NAT": _ranges("100.64.0.0/10"),  # RFC 6598; some clouds keep their metadata here
    "cloud metadata": _ranges("169.254.169.254/32", "fd00:ec2::254/128", "168.63.129.16/32"),  # the last is Azure's
    "link-local": _ranges("169.254.0.0/16", "fe80::/10"),
    "unique local": _ranges("fc00::/7"),
    "site-local": _ranges("fec0::/10"),
    "IPv4 in IPv6": _ranges("::ffff:0:0/96", "::ffff:0:0:0/96", "::/96"),  # mapped, translated (RFC 2765), compatible
    "NAT64": _ranges("64:ff9b::/96", "64:ff9b:1::/48"),  # RFC 6052, RFC 8215
    "6to4": _ranges("2002::/16", "192.88.99.0/24"),
    "Teredo": _ranges("2001::/32"),
    "documentation": _ranges(
        "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20"
    ),  # RFC 5737, 3849, 9637
    "benchmarking": _ranges("198.18.0.0/15", "2001:2::/48"),
    "protocol assignments": _ranges("192.0.0.0/24", "2001::/23"),
    "multicast": _ranges("224.0.0.0/4", "ff00::/8"),
    "reserved": _ranges("240.0.0.0/4"),  # 255.255.255.255 included
}

_GLOBAL_UNICAST = IPv6Network("2000::/3")  # all that IANA has given out so far


def why_refused(address: Address) -> str | None:
    """The class that keeps an address off the public internet; None where it is on it."""
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        return "address with a zone"
    for name, ranges in REFUSED.items():
        if any(address in each for each in ranges):
            return name
    if isinstance(address, IPv6Address) and address not in _GLOBAL_UNICAST:
        return "reserved"
    return None if address.is_global else "reserved"


def why_text_refused(text: str, rule: WhyRefused = why_refused) -> str | None:
    """The same of an address as text; what is no address is refused too."""
    try:
        address = ip_address(text)
    except ValueError:
        return "not an address"
    return rule(address)
