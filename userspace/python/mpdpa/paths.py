# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Paths, and what a byte costs on them."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass

from ._lib import LimitsStruct, PathStruct
from .constants import LIMIT_CHEAP_RATE, LIMIT_QUOTA, QUOTA_SOFT

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True)
class Path:
    """A path, named by exactly one of endpoint, ifindex and addr, and its cost."""

    endpoint: int | None = None
    ifindex: int | None = None
    addr: Address | None = None
    cost: int = 0

    @classmethod
    def of_interface(cls, name: str, cost: int = 0) -> Path:
        """A path by the name of its interface."""
        return cls(ifindex=socket.if_nametoindex(name), cost=cost)

    @classmethod
    def of_address(cls, address: str, cost: int = 0) -> Path:
        """A path by its local address."""
        return cls(addr=ipaddress.ip_address(address), cost=cost)


@dataclass(frozen=True)
class Quota:
    """Bytes that deadlines and overflow may put on a path in a period."""

    bytes: int
    period_ns: int
    soft: bool = False  # when it is spent that is told, no more
    spent: int = 0  # in this period; when read


@dataclass(frozen=True)
class Limits:
    """What a path may carry, for all connections together."""

    quota: Quota | None = None
    cheap_rate: int | None = None  # bytes a second that it counts for at most


def limits_to_struct(limits: Limits) -> LimitsStruct:
    raw = LimitsStruct(what=LIMIT_QUOTA | LIMIT_CHEAP_RATE, cheap_rate=limits.cheap_rate or 0)
    if limits.quota:
        raw.quota_bytes = limits.quota.bytes
        raw.quota_period_ns = limits.quota.period_ns
        raw.flags = QUOTA_SOFT if limits.quota.soft else 0
    return raw


def limits_from_struct(raw: LimitsStruct) -> Limits:
    quota = None
    if raw.what & LIMIT_QUOTA:
        quota = Quota(raw.quota_bytes, raw.quota_period_ns, bool(raw.flags & QUOTA_SOFT), raw.quota_spent)
    return Limits(quota, raw.cheap_rate if raw.what & LIMIT_CHEAP_RATE else None)


def to_struct(path: Path) -> PathStruct:
    raw = PathStruct(endpoint_id=path.endpoint or 0, ifindex=path.ifindex or 0, cost=path.cost)
    if path.addr is not None:
        raw.family = socket.AF_INET if path.addr.version == 4 else socket.AF_INET6
        raw.addr[: len(path.addr.packed)] = list(path.addr.packed)
    return raw


def from_struct(raw: PathStruct) -> Path:
    addr: Address | None = None
    if raw.family == socket.AF_INET:
        addr = ipaddress.IPv4Address(bytes(raw.addr)[:4])
    elif raw.family == socket.AF_INET6:
        addr = ipaddress.IPv6Address(bytes(raw.addr))
    return Path(raw.endpoint_id or None, raw.ifindex or None, addr, raw.cost)
