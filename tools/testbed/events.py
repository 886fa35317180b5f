"""Waits for news of the kernel's MPTCP path manager instead of looking again and again."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

from .errors import MeasurementError

_NETLINK_GENERIC = 16
_CTRL_ID, _CTRL_GETFAMILY = 0x10, 3
_FAMILY_NAME, _MCAST_GROUPS = 2, 7
_GROUP_NAME, _GROUP_ID = 1, 2
_NLM_F_REQUEST = 1
_NLMSG_ERROR = 2
_HEADER = struct.Struct("=IHHII")
_GENERIC_BYTES = 4
_SOL_NETLINK, _ADD_MEMBERSHIP = 270, 1


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, at)
        if length < 4:
            return
        yield kind & 0x3FFF, data[at + 4 : at + length]
        at += (length + 3) & ~3


def _group(sock: socket.socket, family: str, group: str) -> int:
    name = family.encode() + b"\0"
    attribute = struct.pack("=HH", 4 + len(name), _FAMILY_NAME) + name
    body = struct.pack("=BBH", _CTRL_GETFAMILY, 1, 0) + attribute.ljust(
        -(-len(attribute) // 4) * 4, b"\0"
    )
    sock.send(_HEADER.pack(_HEADER.size + len(body), _CTRL_ID, _NLM_F_REQUEST, 1, 0) + body)
    answer = sock.recv(1 << 16)
    if _HEADER.unpack_from(answer)[1] != _NLMSG_ERROR:
        for kind, value in _attributes(answer[_HEADER.size + _GENERIC_BYTES :]):
            if kind != _MCAST_GROUPS:
                continue
            for _, entry in _attributes(value):
                row = dict(_attributes(entry))
                if row[_GROUP_NAME].rstrip(b"\0").decode() == group:
                    return int.from_bytes(row[_GROUP_ID], "little")
    raise MeasurementError(f"netlink: no group {group} in family {family}: kernel without MPTCP?")


def subscribe() -> socket.socket:
    """A socket that becomes readable when a subflow of this namespace changes."""
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_GENERIC)
    sock.bind((0, 0))
    group = _group(sock, "mptcp_pm", "mptcp_pm_events")
    sock.setsockopt(_SOL_NETLINK, _ADD_MEMBERSHIP, group)
    return sock
